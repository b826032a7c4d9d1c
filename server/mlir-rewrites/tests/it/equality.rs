//! Runs random slices of reshapes before and after a rewrite: the new code reads the same elements.

use std::collections::BTreeMap;

use mlir::{OpId, PieceState, parse};
use mlir_ops::Source;
use mlir_rewrites::{
    Form, Rewrite, extract_from_collapse, extract_from_expand, insert_into_collapse, insert_into_expand,
    rewrites,
};

use crate::interpreter::{Value, run};
use generators::mlir::{
    Program, insertion_into_collapse, insertion_into_expand, large_slice_of_collapse, slice_of_collapse,
    slice_of_expand, stablehlo_slice,
};
use random::Rng;

pub type Find = for<'a> fn(&'a Source<'a>, OpId) -> Vec<Rewrite>;

/// Every rewrite found in a text, with the text after it.
pub fn rewritten(text: &str, find: Find) -> Vec<(Rewrite, String)> {
    let parsed = parse(text, PieceState::default());
    let source = Source::alone(&parsed, text);
    let found = (0..parsed.ops.len() as OpId).flat_map(|op| find(&source, op));
    found
        .map(|rewrite| {
            let mut new = text.to_owned();
            for (span, insert) in rewrite.edits.iter().rev() {
                new.replace_range(span.range(), insert);
            }
            (rewrite, new)
        })
        .collect()
}

#[track_caller]
fn check(program: &Program, find: Find) -> Vec<Rewrite> {
    let arguments: Vec<Value> = program.arguments.iter().map(Value::from).collect();
    let old = run(&program.text, &arguments).unwrap_or_else(|e| panic!("{e}\n{}", program.text));
    let mut found = Vec::new();
    for (rewrite, new) in rewritten(&program.text, find) {
        let result = run(&new, &arguments);
        let same = result.as_ref() == Ok(&old);
        assert!(same, "{}\n{}\n{new}\n{result:?}\n{old:?}", rewrite.title, program.text);
        found.push(rewrite);
    }
    found
}

#[test]
fn slices_of_collapsed_tensors_read_the_same() {
    let mut random = Rng::new(1);
    let mut forms: BTreeMap<Form, usize> = BTreeMap::new();
    let mut none = 0;
    let cases = 10_000;
    for _ in 0..cases {
        let program = slice_of_collapse(&mut random);
        let found = check(&program, extract_from_collapse);
        none += usize::from(found.is_empty());
        for rewrite in found {
            *forms.entry(rewrite.form.expect("it is one of an extraction")).or_default() += 1;
        }
    }
    eprintln!("{cases} cases, without a rewrite {none}: {forms:?}");
    assert!(none * 200 < cases, "{none} without a rewrite");
    for form in Form::ALL {
        assert!(forms.get(&form).is_some_and(|&n| n >= 200), "{form:?} of {forms:?}");
    }
}

/// Slices of tensors of realistic sizes are never refused for lack of a proof, like those small enough to
/// run.
#[test]
fn slices_of_large_tensors_are_rewritten() {
    let mut random = Rng::new(4);
    let cases = 4000;
    let mut none = Vec::new();
    for _ in 0..cases {
        let program = large_slice_of_collapse(&mut random);
        if rewritten(&program.text, extract_from_collapse).is_empty() {
            none.push(program.text);
        }
    }
    assert_eq!(none, [""; 0]);
}

/// At least one in `share` of `cases` programs can be rewritten.
fn check_mirrored(generate: fn(&mut Rng) -> Program, find: Find, share: usize) {
    let mut random = Rng::new(2);
    let cases = 2500;
    let mut found = 0;
    for _ in 0..cases {
        found += check(&generate(&mut random), find).len();
    }
    assert!(found * share > cases, "{found} of {cases}");
}

#[test]
fn insertions_into_collapsed_tensors_write_the_same() {
    check_mirrored(insertion_into_collapse, |s, op| insert_into_collapse(s, op).into_iter().collect(), 2);
}

#[test]
fn slices_of_expanded_tensors_read_the_same() {
    check_mirrored(slice_of_expand, |s, op| extract_from_expand(s, op).into_iter().collect(), 2);
}

#[test]
fn insertions_into_expanded_tensors_write_the_same() {
    check_mirrored(insertion_into_expand, |s, op| insert_into_expand(s, op).into_iter().collect(), 2);
}

#[test]
fn slices_pass_reshapes_of_stablehlo() {
    check_mirrored(stablehlo_slice, rewrites, 3);
}

/// Arbitrary input never panics, and a rewrite parses as MLIR if the text did.
#[test]
fn broken_programs_are_left_alone() {
    let generators: [fn(&mut Rng) -> Program; 5] =
        [slice_of_collapse, insertion_into_collapse, slice_of_expand, insertion_into_expand, stablehlo_slice];
    let numbers = [
        "9223372036854775807",
        "-9223372036854775808",
        "0",
        "-1",
        "4611686018427387904",
        "?",
        "x",
        "%x",
        "]",
        "",
    ];
    let mut random = Rng::new(3);
    for _ in 0..4000 {
        let generate = *random.pick(&generators);
        let mut text = generate(&mut random).text;
        for _ in 0..random.range(1, 4) {
            let is_sign = |c: char| c.is_ascii_digit() || "[],<>x".contains(c);
            let places: Vec<usize> = text.match_indices(is_sign).map(|(at, _)| at).collect();
            let at = *random.pick(&places);
            text.replace_range(at..at + 1, random.pick::<&str>(&numbers));
        }
        for (rewrite, new) in rewritten(&text, rewrites) {
            let errors = |text: &str| parse(text, PieceState::default()).errors.len();
            assert!(errors(&new) <= errors(&text), "{}\n{text}\n{new}", rewrite.title);
        }
    }
}
