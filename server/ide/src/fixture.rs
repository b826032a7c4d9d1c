//! Texts with a cursor, for the tests of features.

use crate::{Analysis, AnalysisHost, Arguments, CodeLens, Evaluated, FileId, Language, TextRange};

/// Opens `text` without its `$0` and returns the offset of `$0` (0 if absent). Fixtures are written indented.
pub(crate) fn open(text: &str) -> (Analysis, FileId, usize) {
    let offset = text.find("$0").unwrap_or_default();
    let text = text.replacen("$0", "", 1);
    let mut host = AnalysisHost::new();
    let file = host.open("fixture.hlo", Language::Hlo, &text);
    (host.analysis(), file, offset)
}

/// Like [`open`], for MLIR text.
pub(crate) fn open_mlir(text: &str) -> (Analysis, FileId, usize) {
    let offset = text.find("$0").unwrap_or_default();
    let mut host = AnalysisHost::new();
    let file = host.open("fixture.mlir", Language::Mlir, &text.replacen("$0", "", 1));
    (host.analysis(), file, offset)
}

/// A module with these lines in its ENTRY computation.
pub(crate) fn in_entry(lines: &str) -> String {
    format!(
        "\
HloModule m

%sum {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}}

ENTRY %e {{
{lines}
}}
"
    )
}

/// The text after non-overlapping edits, given in any order.
pub(crate) fn apply_edits(text: &str, edits: &[crate::TextEdit]) -> String {
    let mut edits: Vec<_> = edits.iter().collect();
    edits.sort_by_key(|e| (e.range.start, e.range.end));
    let mut out = String::new();
    let mut at = 0;
    for edit in edits {
        out += &text[at..edit.range.start];
        out += &edit.insert;
        at = edit.range.end;
    }
    out + &text[at..]
}

/// The lenses of a file, in the order of their places.
pub(crate) fn lenses(text: &str) -> Vec<CodeLens> {
    let (analysis, file, _) = open(text);
    let places = analysis.code_lens_places(file, true, 100).expect("nobody cancels");
    let lens = |place: TextRange| {
        let lens =
            analysis.code_lens(file, place.start, true).expect("nobody cancels").expect("it is a name");
        assert_eq!(lens.range, place);
        lens
    };
    places.into_iter().map(lens).collect()
}

/// The literals of parameters, in order.
pub(crate) fn literals(texts: &[&str]) -> Arguments {
    Arguments { literals: texts.iter().map(|&text| text.to_owned()).collect(), fill: None }
}

/// The values of an evaluation as literals, or why there are none.
pub(crate) fn values_of(evaluated: Evaluated) -> String {
    match evaluated.answer {
        Ok(evaluation) => {
            let values = evaluation.arrays.into_iter().map(|array| array.values.expect("a literal"));
            values.collect::<Vec<_>>().join(" ")
        }
        Err(why) => why.0,
    }
}
