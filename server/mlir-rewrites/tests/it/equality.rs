//! Random slices of reshapes, run before and after: the new code reads the same elements.

use std::collections::BTreeMap;

use mlir::{OpId, PieceState, parse};
use mlir_rewrites::{Form, Rewrite, Source, extract_from_collapse};

use crate::interpreter::run;
use crate::programs::{Program, slice_of_collapse};
use crate::random::Random;

pub type Find = for<'a> fn(&'a Source<'a>, OpId) -> Vec<Rewrite>;

/// Every rewrite that is found in a text, and the text behind it.
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
    let old = run(&program.text, &program.arguments).unwrap_or_else(|e| panic!("{e}\n{}", program.text));
    let mut found = Vec::new();
    for (rewrite, new) in rewritten(&program.text, find) {
        let result = run(&new, &program.arguments);
        let same = result.as_ref() == Ok(&old);
        assert!(same, "{}\n{}\n{new}\n{result:?}\n{old:?}", rewrite.title, program.text);
        found.push(rewrite);
    }
    found
}

#[test]
fn slices_of_collapsed_tensors_read_the_same() {
    let mut random = Random::new(1);
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
    println!("{cases} cases, without a rewrite {none}: {forms:?}");
    assert!(none * 200 < cases, "{none} without a rewrite");
    for form in Form::ALL {
        assert!(forms.get(&form).is_some_and(|&n| n >= 200), "{form:?} of {forms:?}");
    }
}
