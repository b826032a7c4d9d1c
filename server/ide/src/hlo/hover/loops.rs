//! A summary of how a loop computes each element of its state: states have dozens of elements, and most are
//! passed through unchanged.

use std::collections::BTreeMap;

use indexing::{OpIndexing, OperandIndexing};

use crate::rich_text::{RichText, code, parts, strong};

/// For a `while` whose state is a tuple of `elements` arrays; `maps` returns the maps of one element. `None`
/// if one is unknown.
pub(super) fn of_loop(state: &str, elements: usize, maps: impl Fn(usize) -> OpIndexing) -> Option<RichText> {
    let mut unchanged = Vec::new();
    let mut computed: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    for element in 0..elements {
        let maps = maps(element);
        let accesses = maps.operands.first()?;
        let read: Vec<usize> = accesses.iter().map(|access| access.element).collect::<Option<_>>()?;
        match accesses.as_slice() {
            [one] if one.element == Some(element) && is_handed_on(one) => unchanged.push(element),
            _ => computed.entry(read).or_default().push(element),
        }
    }
    let title = |written: &[usize]| strong(parts!["output ", ranges(written), " → ", code(state)]);
    let mut text = RichText::default();
    for (read, written) in computed {
        text.paragraph(parts![title(&written), " at most all of ", elements_of(&read)]);
    }
    if !unchanged.is_empty() {
        text.paragraph(parts![title(&unchanged), " the same element, unchanged"]);
    }
    text.paragraph("A loop reads what its body reads in each turn.");
    Some(text)
}

fn is_handed_on(access: &OperandIndexing) -> bool {
    !access.is_upper_bound && (access.is_identity() || access.map.results().is_empty())
}

fn elements_of(numbers: &[usize]) -> String {
    let plural = if numbers.len() == 1 { "" } else { "s" };
    format!("element{plural} {}", ranges(numbers))
}

/// `0, 2 to 5, 9`, for ascending numbers.
fn ranges(numbers: &[usize]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let run = |(first, last): (usize, usize)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first} to {last}"),
    };
    runs.into_iter().map(run).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::fixture::open;

    #[test]
    fn each_element_of_the_state_is_told() {
        let (analysis, file, offset) = open(
            "HloModule m

body {
  s = (s32[], f32[8,4], f32[4], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  a = f32[8,4] get-tuple-element(s), index=1
  b = f32[4] get-tuple-element(s), index=2
  c = f32[] get-tuple-element(s), index=3
  one = s32[] constant(1)
  next = s32[] add(i, one)
  wide = f32[8,4] broadcast(b), dimensions={1}
  sum = f32[8,4] add(a, wide)
  ROOT r = (s32[], f32[8,4], f32[4], f32[]) tuple(next, sum, b, c)
}

cond {
  s = (s32[], f32[8,4], f32[4], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(10)
  ROOT c = pred[] compare(i, n), direction=LT
}

ENTRY e {
  t = (s32[], f32[8,4], f32[4], f32[]) parameter(0)
  ROOT w = (s32[], f32[8,4], f32[4], f32[]) while$0(t), condition=cond, body=body
}
",
        );
        let hover = analysis.hover(file, offset).expect("nobody cancels").expect("an instruction");
        let markdown = hover.markdown();
        let maps = markdown.find("**output").map_or("", |at| &markdown[at..]);
        expect![[r#"
            **output 0 → `%t`** at most all of element 0

            **output 1 → `%t`** at most all of elements 0 to 2

            **output 2, 3 → `%t`** the same element, unchanged

            A loop reads what its body reads in each turn.

        "#]]
        .assert_eq(maps);
    }
}
