//! The tree-sitter grammars: they parse what the server parses, and cut it into the same instructions and ops.

mod boundaries;
mod corpus;
mod queries;

use tree_sitter::{Node, Parser, Tree};
use tree_sitter_grammars::Grammar;

fn parse(grammar: &Grammar, text: &str) -> Tree {
    let mut parser = Parser::new();
    parser.set_language(&grammar.language.into()).expect("the parser has a version that tree-sitter runs");
    parser.parse(text, None).expect("nothing cancels")
}

/// The nodes for which `matches` holds, in text order.
fn nodes<'t>(tree: &'t Tree, matches: impl Fn(Node<'t>) -> bool) -> Vec<Node<'t>> {
    let mut found = Vec::new();
    let mut cursor = tree.walk();
    loop {
        if matches(cursor.node()) {
            found.push(cursor.node());
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}

/// The lines around the first error, for a message; `None` if there is none.
fn first_error(tree: &Tree, text: &str) -> Option<String> {
    if !tree.root_node().has_error() {
        return None;
    }
    let error = *nodes(tree, |node| node.is_error() || node.is_missing()).first()?;
    let row = error.start_position().row;
    let line = text.lines().nth(row).unwrap_or_default();
    Some(format!("line {}: {}: {}", row + 1, error.kind(), line.chars().take(200).collect::<String>()))
}
