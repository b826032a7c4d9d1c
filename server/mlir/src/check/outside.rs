//! Checks names and types of values that other pieces define.

use std::borrow::Cow;

use super::types::{Named, mismatch, written_types};
use super::{Finding, index_of, results, unknown_value};
use crate::tree::*;

/// A value defined in another piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outside<'a> {
    /// The number of results of its name.
    pub count: u32,
    /// The type of the referenced result.
    pub ty: Option<Cow<'a, str>>,
    /// Whether it is defined after the op that uses it, in the same block or an enclosing one.
    pub is_below: bool,
}

/// The findings of [`check`](super::check) about names defined in other pieces, each with the use whose definition is the
/// related place. `find` resolves a name (with the `#1` of a result pack) used by an op.
pub fn check_outside<'a>(
    parse: &Parse,
    text: &str,
    find: &dyn Fn(&str, OpId) -> Option<Outside<'a>>,
) -> Vec<(Finding, Option<Use>)> {
    let mut findings = Vec::new();
    for used in parse.uses.iter().filter(|u| u.is_external) {
        let name = used.span.of(text);
        let mut push = |code, message, of| {
            findings.push((Finding { span: used.span, code, message, related: None }, of));
        };
        let Some(value) = find(name, used.op) else {
            push("unknown-value", unknown_value(name), None);
            continue;
        };
        if let Some((of, index)) = name.split_once('#')
            && index.parse::<u32>().is_ok_and(|index| index >= value.count)
        {
            push("unknown-result", format!("{of} has {}", results(value.count)), Some(*used));
        }
        if value.is_below {
            push("use-before-definition", format!("{name} is used before its definition"), Some(*used));
        }
    }
    let mut last = None;
    for id in parse.uses.iter().filter(|u| is_typed_elsewhere(parse, u)).map(|u| u.op) {
        if last.replace(id) == Some(id) {
            continue;
        }
        for written in written_types(parse, &Named::of(parse, text, id)) {
            let used = written.used;
            let name = used.span.of(text);
            let source = match used.value {
                None if used.is_external => name,
                Some(_) => match type_of_use(parse, text, &used) {
                    Some(TypeRef::Elsewhere(span)) => span.of(text),
                    _ => continue,
                },
                None => continue,
            };
            let Some(defined) = find(source, used.op).and_then(|value| value.ty) else { continue };
            if let Some(mut finding) = mismatch(text, &written, &defined) {
                let local = used.value.map(|value| parse.values[value as usize].name);
                finding.related = local.map(|name| (name, "defined here".to_owned()));
                findings.push((finding, Some(used).filter(|u| u.is_external)));
            }
        }
    }
    findings.sort_by_key(|(f, _)| (f.span.start, f.span.end));
    findings
}

fn is_typed_elsewhere(parse: &Parse, used: &Use) -> bool {
    let ty = used.value.and_then(|value| parse.types(&parse.values[value as usize].types).first());
    used.is_external || matches!(ty, Some(TypeRef::SameAs(..) | TypeRef::Elsewhere(_)))
}

fn type_of_use(parse: &Parse, text: &str, used: &Use) -> Option<TypeRef> {
    let types = parse.types(&parse.values[used.value? as usize].types);
    parse.followed(*types.get(index_of(used.span.of(text)))?)
}
