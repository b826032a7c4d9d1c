//! The queries of the grammars: that they fit, and what they find.

use tree_sitter::{Query, QueryCursor, StreamingIterator};
use tree_sitter_grammars::{Grammar, HLO, MLIR, PTX};

use crate::parse;

/// The captures of a query as `CAPTURE TEXT`, in text order, the later pattern first where two capture the same.
fn captures(grammar: &Grammar, query: &str, text: &str) -> Vec<String> {
    let source = grammar.queries.iter().find(|(name, _)| *name == query).expect("a query").1;
    let query = Query::new(&grammar.language.into(), source).expect("the query fits the grammar");
    let tree = parse(grammar, text);
    let mut cursor = QueryCursor::new();
    let mut found = cursor.captures(&query, tree.root_node(), text.as_bytes());
    let mut shown = Vec::new();
    while let Some((found, at)) = found.next() {
        let capture = found.captures[*at];
        let name = query.capture_names()[capture.index as usize];
        shown.push(format!("{name} {}", &text[capture.node.byte_range()]));
    }
    shown
}

#[test]
fn every_query_fits_its_grammar() {
    for grammar in [HLO, MLIR, PTX] {
        for (name, source) in grammar.queries {
            if let Err(why) = Query::new(&grammar.language.into(), source) {
                panic!("{} of {}: {why}", name, grammar.name);
            }
        }
    }
}

/// Zed's own queries, beside the copies of the grammars' ones.
#[test]
fn queries_of_zed_fit_the_grammars() {
    let languages = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../editor-clients/zed/languages");
    for grammar in [HLO, MLIR, PTX] {
        let files = test_files::below(languages.join(grammar.name), ".scm");
        assert!(files.len() >= 4, "{files:?}");
        for file in files {
            let source = std::fs::read_to_string(&file).expect("it is text");
            let query = Query::new(&grammar.language.into(), &source);
            let query = query.unwrap_or_else(|why| panic!("{}: {why}", file.display()));
            // Without these, Zed refuses the file.
            let needed: &[&str] = match file.file_stem().and_then(|name| name.to_str()) {
                Some("brackets") => &["open", "close"],
                Some("outline") => &["item", "name"],
                _ => &[],
            };
            let names = query.capture_names();
            assert!(needed.iter().all(|name| names.contains(name)), "{}: {names:?}", file.display());
        }
    }
}

const HLO_TEXT: &str = "HloModule m\n\nENTRY %e (p: f32[2]) -> f32[2] {\n  %p = f32[2]{0} parameter(0)\n  ROOT %n = f32[2]{0} negate(%p), backend_config={\"a\":[1]} // why\n}\n";

#[test]
fn hlo_is_coloured_folded_and_resolved() {
    let colours = captures(&HLO, "highlights", HLO_TEXT);
    for expected in [
        "keyword ENTRY",
        "keyword ROOT",
        "function negate",
        "type f32",
        "variable %n",
        "attribute backend_config",
        "string \"a\"",
        "comment // why",
        "variable.parameter p",
    ] {
        assert!(colours.iter().any(|found| found == expected), "{expected}: {colours:?}");
    }
    let folds = captures(&HLO, "folds", HLO_TEXT);
    assert_eq!(folds.len(), 1);
    assert!(folds[0].starts_with("fold {\n  %p = ") && folds[0].ends_with('}'), "{folds:?}");
    let locals = captures(&HLO, "locals", HLO_TEXT);
    assert_eq!(
        locals[1..],
        ["local.definition p", "local.definition %p", "local.definition %n", "local.reference %p"]
    );
    let injected = captures(&HLO, "injections", HLO_TEXT);
    assert!(injected.contains(&"injection.content {\"a\":[1]}".to_owned()), "{injected:?}");
}

#[test]
fn mlir_is_coloured_folded_and_resolved() {
    let text = "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n  %b = stablehlo.add %a, %a : tensor<4xf32>\n  return %b : tensor<4xf32>\n}\n";
    let colours = captures(&MLIR, "highlights", text);
    for expected in ["function func.func", "function @f", "variable %b", "type f32", "keyword return"] {
        assert!(colours.iter().any(|found| found == expected), "{expected}: {colours:?}");
    }
    assert_eq!(captures(&MLIR, "folds", text).len(), 1);
    let locals = captures(&MLIR, "locals", text);
    assert!(locals.contains(&"local.definition %b".to_owned()), "{locals:?}");
    assert_eq!(locals.iter().filter(|found| *found == "local.reference %b").count(), 1, "{locals:?}");
}

#[test]
fn ptx_is_coloured_folded_and_resolved() {
    let text = ".version 8.0\n.target sm_90a\n.visible .entry f(.param .b32 a)\n{\n  .reg .b32 %r<3>;\n$L:\n  add.s32 %r1, %r2, 4;\n  bra $L;\n}\n";
    let colours = captures(&PTX, "highlights", text);
    for expected in ["keyword .entry", "function f", "function add.s32", "variable %r1", "label $L"] {
        assert!(colours.iter().any(|found| found == expected), "{expected}: {colours:?}");
    }
    assert_eq!(captures(&PTX, "folds", text).len(), 1);
    assert_eq!(captures(&PTX, "locals", text)[1..], ["local.definition $L", "local.reference $L"]);
}
