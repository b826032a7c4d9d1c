//! Instructions and ops of the grammars against those of the server's parsers.

use std::ops::Range;

use syntax::hlo::PieceState;
use tree_sitter_grammars::{HLO, MLIR};

use crate::{nodes, parse};

/// The instructions of the server's parser, from `ROOT` or the name to the last attribute, outside operands.
fn server_instructions(text: &str) -> Vec<Range<usize>> {
    let parse = syntax::hlo::parse(text, PieceState::HEADER);
    let own = parse.instructions.iter().filter(|instruction| !instruction.is_nested);
    let mut spans: Vec<_> =
        own.map(|instruction| instruction.span.start as usize..instruction.span.end as usize).collect();
    spans.sort_by_key(|span| span.start);
    spans
}

/// Compares the instructions of an HLO module; the first difference in words.
pub fn compare_hlo(text: &str) -> Result<usize, String> {
    let tree = parse(&HLO, text);
    let ours: Vec<_> =
        nodes(&tree, |node| node.kind() == "instruction").iter().map(|node| node.byte_range()).collect();
    // The server's spans start behind the `%` of a name.
    let without_percent =
        |span: &Range<usize>| span.start + usize::from(text.as_bytes()[span.start] == b'%')..span.end;
    let ours: Vec<_> = ours.iter().map(without_percent).collect();
    let theirs: Vec<_> = server_instructions(text).iter().map(without_percent).collect();
    let shown = |span: Option<&Range<usize>>| span.map_or("nothing", |span| &text[span.clone()]).to_owned();
    match ours.iter().zip(&theirs).position(|(ours, theirs)| ours != theirs) {
        None if ours.len() == theirs.len() => Ok(ours.len()),
        at => {
            let at = at.unwrap_or(ours.len().min(theirs.len()));
            Err(format!(
                "instruction {at}:\n{}\nis in the server\n{}",
                shown(ours.get(at)),
                shown(theirs.get(at))
            ))
        }
    }
}

/// Compares where the ops of an MLIR module start; how many are the same, and how many the server has.
pub fn compare_mlir(text: &str) -> (usize, usize) {
    let tree = parse(&MLIR, text);
    let ours: std::collections::HashSet<usize> =
        nodes(&tree, |node| node.kind() == "op").iter().map(|node| node.start_byte()).collect();
    let parsed = mlir::parse(text, mlir::PieceState::default());
    let same = parsed.ops.iter().filter(|op| ours.contains(&(op.span.start as usize))).count();
    (same, parsed.ops.len())
}

#[test]
fn instructions_are_those_of_the_server() {
    let mut count = 0;
    for module in hlo_analyzer_tests::corpus::own() {
        count += compare_hlo(&module.text).unwrap_or_else(|why| panic!("{}: {why}", module.name));
    }
    for stage in test_files::below(test_files::dump_folder(), ".txt") {
        let text = std::fs::read_to_string(&stage).expect("a stage is text");
        if text.starts_with("HloModule") {
            count += compare_hlo(&text).unwrap_or_else(|why| panic!("{}: {why}", stage.display()));
        }
    }
    assert!(count > 100, "{count} instructions");
}

#[test]
fn instructions_end_where_no_comma_follows_on_any_line() {
    let text = "HloModule m\nENTRY e {\n  a = f32[2]{0} parameter(0), metadata={op_name=\"x\n\"}\n  ROOT b = f32[2]\n    negate(a),\n    sharding={devices=[2]<=[2]} c = f32[2] negate(a) /* b */\n}\n";
    assert_eq!(compare_hlo(text), Ok(3));
}
