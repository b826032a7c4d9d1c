//! Checks names and types in any dialect, without a verifier.
//!
//! Only inside functions: elsewhere the order of ops has no meaning, and names may belong to another piece.

mod literals;
mod outside;
mod types;

use text::Span;

use self::literals::check_literal;
pub use self::outside::{Outside, check_outside};
use self::types::{Named, check_counts, check_declared_types, check_own_types, check_types};
pub use self::types::{check_returned, differ};
use crate::op_types::is_of_known_dialect;
use crate::tree::*;
use crate::words::{is_function_like, unquoted};

/// A finding in the text of one piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub span: Span,
    /// A stable kebab-case name.
    pub code: &'static str,
    pub message: String,
    /// The related place, with a message.
    pub related: Option<(Span, String)>,
}

/// The largest number of ancestors that are examined.
const MAX_STEPS: usize = 64;

/// The findings in text order. Functions with syntax errors are skipped, since errors in their names follow
/// from those. Other pieces of a cut function may have errors: findings here count only if none has.
pub fn check(parse: &Parse, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut checked = Vec::new();
    let mut behind = 0;
    for (id, op) in parse.ops.iter().enumerate() {
        let is_cut = parse.is_cut_function(id as OpId);
        if id < behind || !is_cut && !is_function_like(unquoted(op.name.of(text))) {
            continue;
        }
        behind = op.behind as usize;
        if is_cut || !has_errors(parse, text, id as OpId) {
            // The text after the end of a function may use arguments that a piece above defines.
            for id in (id..behind).filter(|&id| !parse.is_continued(id as OpId)) {
                check_op(parse, text, id as OpId, &mut findings);
            }
            check_definitions(parse, text, op.span, &mut findings);
            checked.push(op.span);
        }
    }
    check_declared_types(parse, text, &checked, &mut findings);
    findings.sort_by_key(|f| (f.span.start, f.span.end));
    findings
}

/// Whether there is a syntax error between the start of an op and the next op after it.
pub fn has_errors(parse: &Parse, text: &str, id: OpId) -> bool {
    let op = parse.op(id);
    let behind = parse.ops.get(op.behind as usize);
    let end = behind.map_or(text.len() as u32, |next| next.span.start);
    let first = parse.errors.partition_point(|e| e.span.start < op.span.start);
    parse.errors.get(first).is_some_and(|e| e.span.start < end || behind.is_none())
}

fn index_of(name: &str) -> usize {
    result_of(name).and_then(|index| index.parse().ok()).unwrap_or(0)
}

/// `1` of `%a#1`.
fn result_of(name: &str) -> Option<&str> {
    let at = name.bytes().position(|b| b == b'#')?;
    Some(&name[at + 1..])
}

fn unknown_value(name: &str) -> String {
    format!("no value {name} is defined where this stands")
}

fn check_op(parse: &Parse, text: &str, id: OpId, findings: &mut Vec<Finding>) {
    for used in parse.uses_of(id).iter().filter(|u| !u.is_external && !u.may_be_above) {
        let name = used.span.of(text);
        let Some(value) = used.value else {
            findings.push(Finding {
                span: used.span,
                code: "unknown-value",
                message: unknown_value(name),
                related: None,
            });
            continue;
        };
        let definition = &parse.values[value as usize];
        if let Some(index) = result_of(name).and_then(|index| index.parse::<u32>().ok())
            && index >= definition.count
        {
            findings.push(Finding {
                span: used.span,
                code: "unknown-result",
                message: format!("{} has {}", definition.name.of(text), results(definition.count)),
                related: Some((definition.name, "defined here".to_owned())),
            });
        }
        if is_in_front(parse, id, definition) {
            findings.push(Finding {
                span: used.span,
                code: "use-before-definition",
                message: format!("{name} is used before its definition"),
                related: Some((definition.name, "defined here".to_owned())),
            });
        }
    }
    let named = Named::of(parse, text, id);
    check_types(parse, text, &named, findings);
    check_counts(parse, &named, findings);
    check_own_types(parse, text, &named, findings);
    check_literal(parse, text, id, findings);
}

fn results(count: u32) -> String {
    if count == 1 { "one result".to_owned() } else { format!("{count} results") }
}

/// Whether a use in `op` precedes the op that defines the value, in the same block or nested in it.
fn is_in_front(parse: &Parse, op: OpId, value: &Value) -> bool {
    let Definition::Result(defining) = value.definition else { return false };
    let block = parse.op(defining).block;
    let path = std::iter::successors(Some(op), |&id| parse.parent(id)).take(MAX_STEPS);
    path.into_iter().find(|&id| parse.op(id).block == block).is_some_and(|here| here <= defining)
}

fn check_definitions(parse: &Parse, text: &str, within: Span, findings: &mut Vec<Finding>) {
    for &(second, first) in &parse.redefinitions {
        let span = parse.values[second as usize].name;
        if within.start <= span.start && span.end <= within.end {
            let first = parse.values[first as usize].name;
            let related = Some((first, "the first definition".to_owned()));
            findings.push(Finding { related, ..redefinition(span, text) });
        }
    }
    let first = parse.successors.partition_point(|s| s.span.start < within.start);
    for successor in parse.successors[first..].iter().take_while(|s| s.span.end <= within.end) {
        if successor.block.is_none() && !successor.is_external {
            findings.push(unknown_block(successor.span, text));
        }
    }
}

/// The finding for a successor without a block of that name in its region.
pub fn unknown_block(span: Span, text: &str) -> Finding {
    let message = format!("this region has no block {}", span.of(text));
    Finding { span, code: "unknown-block", message, related: None }
}

/// The finding for a value whose name the function's body already defines.
pub fn redefinition(span: Span, text: &str) -> Finding {
    let message = format!("{} is defined already", span.of(text));
    Finding { span, code: "redefinition", message, related: None }
}

/// Whether every MLIR parser or verifier rejects a text with this finding.
pub fn is_refused(code: &str) -> bool {
    matches!(
        code,
        "unknown-value"
            | "unknown-result"
            | "unknown-block"
            | "unknown-alias"
            | "unknown-type"
            | "use-before-definition"
            | "redefinition"
            | "type-mismatch"
            | "type-count"
            | "result-count"
            | "return-count"
            | "return-type"
            | "call-count"
            | "call-type"
            | "literal-shape"
    )
}

/// Whether the op at an offset and all its ancestors have forms known to this crate. An unknown dialect may
/// bind names in its own ways.
pub fn is_certain(parse: &Parse, text: &str, at: u32) -> bool {
    let path = std::iter::successors(parse.op_at(at as usize), |&id| parse.parent(id)).take(MAX_STEPS);
    path.into_iter().all(|id| match parse.op(id).form {
        Form::Custom => is_of_known_dialect(parse.name(id, text)),
        _ => true,
    })
}

#[cfg(test)]
mod tests;
