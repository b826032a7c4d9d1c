//! The parameters that the user is asked for before an instruction is evaluated: those that it depends on.

use eval::needed_parameters;
use ir::{ElementType, ElementTypeExt, Graph, OpId, Shape};

/// A parameter of the computation that contains an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvaluationParameter {
    pub number: u32,
    /// The name without `%`.
    pub name: String,
    pub shape: String,
    /// A sample literal of that shape; `None` if it is not an array, or too large to type.
    pub sample: Option<String>,
}

/// The largest number of elements of a sample literal.
const MAX_ELEMENTS: i64 = 4096;

/// The parameters that an op of a graph depends on, by number.
pub(crate) fn parameters_of(graph: &Graph, op: OpId) -> Vec<EvaluationParameter> {
    let parameter = |id: OpId| {
        let op = &graph.ops[id as usize];
        Some(EvaluationParameter {
            number: op.parameter?,
            name: graph.names[id as usize].clone(),
            shape: op.shape.to_string(),
            sample: sample(&op.shape),
        })
    };
    needed_parameters(graph, op).into_iter().filter_map(parameter).collect()
}

/// Small numbers that differ from their neighbours.
fn sample(shape: &Shape) -> Option<String> {
    let Shape::Array(array) = shape else { return None };
    let count = array.dims.iter().try_fold(1i64, |count, &size| count.checked_mul(size))?;
    if !(0..=MAX_ELEMENTS).contains(&count) {
        return None;
    }
    let mut next = 0;
    let mut out = String::new();
    write(&array.dims, array.element, &mut next, &mut out);
    Some(out)
}

fn write(dims: &[i64], element: ElementType, next: &mut i64, out: &mut String) {
    let Some((&size, inner)) = dims.split_first() else {
        out.push_str(&number(element, *next));
        *next += 1;
        return;
    };
    out.push('{');
    for n in 0..size {
        if n > 0 {
            out.push_str(", ");
        }
        write(inner, element, next, out);
    }
    out.push('}');
}

fn number(element: ElementType, n: i64) -> String {
    let small = (n % 7).to_string();
    match element {
        ElementType::Pred => (n % 2 == 1).to_string(),
        _ if element.is_complex() => format!("({small}, {})", n % 5),
        _ if element.bits().is_some_and(|bits| bits < 4) => (n % 2).to_string(),
        _ => small,
    }
}

#[cfg(test)]
mod tests {
    use eval::{Arguments, Form};

    use crate::fixture::open;

    #[test]
    fn what_is_needed_is_asked_for() {
        let text = "HloModule m

ENTRY e {
  p = f32[2,2] parameter(0)
  q = pred[3] parameter(1)
  r = c64[] parameter(2)
  big = f32[100000] parameter(3)
  t = (f32[2]) parameter(4)
  $0u = (f32[2,2], c64[], f32[100000]) tuple(p, r, big)
  ROOT v = pred[3] not(q)
}
";
        let (analysis, file, offset) = open(text);
        let found = analysis.evaluation_parameters(file, offset).expect("nobody cancels");
        let shown: Vec<_> = found.iter().map(|p| (p.number, p.name.as_str(), p.sample.as_deref())).collect();
        let expect = [(0, "p", Some("{{0, 1}, {2, 3}}")), (2, "r", Some("(0, 0)")), (3, "big", None)];
        assert_eq!(shown, expect);
        // The evaluation accepts the samples.
        let offset = text.replace("$0", "").find("v = ").expect("it is there");
        let sample = analysis.evaluation_parameters(file, offset).expect("nobody cancels");
        let literals = vec![String::new(), sample[0].sample.clone().expect("it is small")];
        let arguments = Arguments { literals, fill: None };
        let answer = analysis.evaluate_at(file, offset, &arguments, Form::Literal).expect("nobody cancels");
        let evaluation = answer.expect("an instruction").answer.expect("it is evaluated");
        assert_eq!(evaluation.arrays[0].values.as_deref(), Ok("{true, false, true}"));
    }
}
