//! A value as a document: its type, its rows, and the rows of the parameters it was computed from.

use eval::{Arguments, EvaluatedArray, Fill};

use crate::evaluate::Evaluated;
use crate::units::counted;

/// The text of a value that was evaluated as a summary from `arguments`, or the reason why there is none.
pub fn evaluated_page(evaluated: &Evaluated, arguments: &Arguments) -> String {
    let name = &evaluated.name;
    let evaluation = match &evaluated.answer {
        Ok(evaluation) => evaluation,
        Err(why) => return format!("%{name} is not evaluated: {}\n", why.0),
    };
    let mut text = String::new();
    write(&mut text, name, &evaluation.shape, &evaluation.arrays);
    for note in &evaluation.notes {
        text += &format!("\nnote: {note}\n");
    }
    if evaluation.left_out > 0 {
        text += &format!("\n… {} …\n", counted(evaluation.left_out as u64, "more array"));
    }
    if !evaluation.parameters.is_empty() {
        let filled = arguments.fill.map_or_else(String::new, |fill| format!(" ({})", described(fill)));
        text += &format!("\nParameters{filled}\n");
    }
    for (name, arrays) in &evaluation.parameters {
        text.push('\n');
        let shape = arrays.first().filter(|array| array.index.is_empty()).map_or("", |array| &array.shape);
        write(&mut text, name, shape, arrays);
    }
    text
}

/// The name with its type, then the arrays; those of a tuple with their indices.
fn write(text: &mut String, name: &str, shape: &str, arrays: &[EvaluatedArray]) {
    let is_tuple = !matches!(arrays, [array] if array.index.is_empty());
    if !is_tuple || !shape.is_empty() {
        *text += &format!("%{name}: {shape}\n");
    }
    for array in arrays {
        if is_tuple {
            let index: Vec<String> = array.index.iter().map(usize::to_string).collect();
            let owner = if shape.is_empty() { format!("%{name} ") } else { String::new() };
            if !text.is_empty() && !text.ends_with("\n\n") {
                text.push('\n');
            }
            *text += &format!("{owner}{{{}}}: {}\n", index.join(","), array.shape);
        }
        match &array.values {
            Ok(rows) => *text += &format!("{rows}\n"),
            Err(why) => *text += &format!("not evaluated: {why}\n"),
        }
    }
}

fn described(fill: Fill) -> String {
    match fill {
        Fill::Zeros => "zeros".to_owned(),
        Fill::Random { seed } => format!("random, seed {seed}"),
        Fill::Iota => "iota".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use eval::Form;

    use super::*;
    use crate::fixture::{open, open_mlir};

    const TUPLES: &str = "HloModule m
ENTRY e {
  p = f32[3,40]{0,1} parameter(0)
  t = (s8[2], pred[]) parameter(1)
  s = s8[2] get-tuple-element(t), index=0
  c = f32[2] custom-call(p), custom_call_target=\"x\"
  ROOT $0r = (f32[3,40]{0,1}, (s8[2], f32[2])) tuple(p, s, c)
}
";

    #[track_caller]
    fn check(
        (analysis, file, offset): (crate::Analysis, crate::FileId, usize),
        fill: Option<Fill>,
        literals: &[&str],
        expect: &str,
    ) {
        let literals = literals.iter().map(|&text| text.to_owned()).collect();
        let arguments = Arguments { literals, fill };
        let answer = analysis.evaluate_at(file, offset, &arguments, Form::Summary).expect("nobody cancels");
        assert_eq!(evaluated_page(&answer.expect("there is one"), &arguments), expect);
    }

    #[test]
    fn an_array_and_its_parameters() {
        let text = "\
HloModule m
ENTRY e {
  p = f32[2,2] parameter(0)
  ROOT $0n = f32[2,2]{0,1} negate(p)
}
";
        check(
            open(text),
            Some(Fill::Iota),
            &[],
            "\
%n: f32[2,2]{0,1}
[0]  -0  -1
[1]  -2  -3

Parameters (iota)

%p: f32[2,2]
[0]  0  1
[1]  2  3
",
        );
        check(
            open(text),
            None,
            &["{{1, 2}, {3, 4}}"],
            "\
%n: f32[2,2]{0,1}
[0]  -1  -2
[1]  -3  -4

Parameters

%p: f32[2,2]
[0]  1  2
[1]  3  4
",
        );
        check(open(text), None, &[], "%n is not evaluated: the value of parameter 0 is not given\n");
        let text = "\
func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = $0stablehlo.negate %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
";
        let random = Some(Fill::Random { seed: 4 });
        let (analysis, file, offset) = open_mlir(text);
        let arguments = Arguments { literals: Vec::new(), fill: random };
        let answer = analysis.evaluate_at(file, offset, &arguments, Form::Summary).expect("nobody cancels");
        let page = evaluated_page(&answer.expect("there is one"), &arguments);
        assert!(
            page.starts_with("%negate.0: f32[2]\n")
                && page.contains("\nParameters (random, seed 4)\n\n%x: f32[2]\n"),
            "{page}"
        );
    }

    #[test]
    fn tuples_element_by_element() {
        let row = "  0  0  0  0  0  0  … 28 more …  0  0  0  0  0  0";
        let rows = format!("[0]{row}\n[1]{row}\n[2]{row}\n");
        check(
            open(TUPLES),
            Some(Fill::Zeros),
            &[],
            &format!(
                "\
%r: (f32[3,40]{{0,1}}, (s8[2], f32[2]))

{{0}}: f32[3,40]{{0,1}}
{rows}
{{1,0}}: s8[2]
0  0

{{1,1}}: f32[2]
not evaluated: custom-call is not evaluated [c]

Parameters (zeros)

%p: f32[3,40]{{0,1}}
{rows}
%t {{0}}: s8[2]
0  0

%t {{1}}: pred[]
false
"
            ),
        );
    }
}
