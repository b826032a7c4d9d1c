//! What is wrong with names and types, whatever the dialects: found without a verifier.
//!
//! Only inside of functions: elsewhere the order of ops means nothing, and names may be those of another piece.

use std::borrow::Cow;

use text::Span;

use crate::tree::*;
use crate::words::{is_function_like, unquoted};

/// A finding of the text of one piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub span: Span,
    /// Stable kebab-case name.
    pub code: &'static str,
    pub message: String,
    /// The other side of it.
    pub related: Option<(Span, String)>,
}

/// Ancestors beyond this many are not asked where they stand.
const MAX_STEPS: usize = 64;

/// Findings in the order of the text. Functions that are not read without errors are left alone: what is wrong with their
/// names follows from those. Of a function that is cut the other pieces may have errors: what is found here counts only if none
/// has.
pub fn check(parse: &Parse, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut behind = 0;
    for (id, op) in parse.ops.iter().enumerate() {
        let is_cut = parse.is_cut_function(id as OpId);
        if id < behind || !is_cut && !is_function_like(unquoted(op.name.of(text))) {
            continue;
        }
        behind = op.behind as usize;
        if is_cut || !has_errors(parse, text, id as OpId) {
            // What stands behind the end of a function may use arguments, which a piece above has.
            for id in (id..behind).filter(|&id| !parse.is_continued(id as OpId)) {
                check_op(parse, text, id as OpId, &mut findings);
            }
            check_definitions(parse, text, op.span, &mut findings);
        }
    }
    findings.sort_by_key(|f| (f.span.start, f.span.end));
    findings
}

/// Whether something from the start of an op to the next one behind it could not be read.
pub fn has_errors(parse: &Parse, text: &str, id: OpId) -> bool {
    let op = parse.op(id);
    let behind = parse.ops.get(op.behind as usize);
    let end = behind.map_or(text.len() as u32, |next| next.span.start);
    let first = parse.errors.partition_point(|e| e.span.start < op.span.start);
    parse.errors.get(first).is_some_and(|e| e.span.start < end || behind.is_none())
}

/// A value that another piece defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outside<'a> {
    /// How many results its name stands for.
    pub count: u32,
    /// Of the result that is meant.
    pub ty: Option<Cow<'a, str>>,
    /// It is defined behind the op that uses it, in the same block or around.
    pub is_below: bool,
}

/// What [`check`] finds of names that are defined in other pieces, with the use whose definition is the other side of it. `find`
/// tells what a name (with the `#1` of a result of a pack) that an op uses stands for.
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
            push("unknown-result", format!("{of} stands for {}", results(value.count)), Some(*used));
        }
        if value.is_below {
            push("use-before-definition", format!("{name} is used in front of its definition"), Some(*used));
        }
    }
    let mut last = None;
    for id in parse.uses.iter().filter(|u| is_typed_elsewhere(parse, u)).map(|u| u.op) {
        if last.replace(id) == Some(id) {
            continue;
        }
        for (used, span) in written_types(parse, text, id) {
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
            if let Some(mut finding) = mismatch(text, &used, span, &defined) {
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

fn index_of(name: &str) -> usize {
    result_of(name).and_then(|index| index.parse().ok()).unwrap_or(0)
}

/// `1` of `%a#1`.
fn result_of(name: &str) -> Option<&str> {
    let at = name.bytes().position(|b| b == b'#')?;
    Some(&name[at + 1..])
}

fn type_of_use(parse: &Parse, text: &str, used: &Use) -> Option<TypeRef> {
    let types = parse.types(&parse.values[used.value? as usize].types);
    parse.followed(*types.get(index_of(used.span.of(text)))?)
}

fn unknown_value(name: &str) -> String {
    format!("no value {name} is defined where this stands")
}

fn check_op(parse: &Parse, text: &str, id: OpId, findings: &mut Vec<Finding>) {
    for used in parse.uses_of(id).iter().filter(|u| !u.is_external) {
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
                message: format!("{} stands for {}", definition.name.of(text), results(definition.count)),
                related: Some((definition.name, "defined here".to_owned())),
            });
        }
        if is_in_front(parse, id, definition) {
            findings.push(Finding {
                span: used.span,
                code: "use-before-definition",
                message: format!("{name} is used in front of its definition"),
                related: Some((definition.name, "defined here".to_owned())),
            });
        }
    }
    check_types(parse, text, id, findings);
}

fn results(count: u32) -> String {
    if count == 1 { "one result".to_owned() } else { format!("{count} results") }
}

/// Whether a use in `op` stands in front of the op that defines the value, in the same block or inside of it.
fn is_in_front(parse: &Parse, op: OpId, value: &Value) -> bool {
    let Definition::Result(defining) = value.definition else { return false };
    let block = parse.op(defining).block;
    let path = std::iter::successors(Some(op), |&id| parse.parent(id)).take(MAX_STEPS);
    path.into_iter().find(|&id| parse.op(id).block == block).is_some_and(|here| here <= defining)
}

/// The operand types that an op writes against those of its operands.
fn check_types(parse: &Parse, text: &str, id: OpId, findings: &mut Vec<Finding>) {
    for (used, span) in written_types(parse, text, id) {
        let Some(value) = used.value else { continue };
        let Some(defined) = parse.type_of(value, index_of(used.span.of(text)), text) else { continue };
        if let Some(mut finding) = mismatch(text, &used, span, &defined) {
            finding.related = Some((parse.values[value as usize].name, "defined here".to_owned()));
            findings.push(finding);
        }
    }
}

/// Operands with the types that the op writes for them, where it writes one for each.
fn written_types<'p>(parse: &'p Parse, text: &str, id: OpId) -> impl Iterator<Item = (Use, Span)> + use<'p> {
    let written = parse.types(&parse.op(id).operand_types);
    let is_listed = |ty: &TypeRef| matches!(ty, TypeRef::Written(_));
    let is_one_for_each = !written.is_empty()
        && parse.operands_of(id).count() == written.len()
        && written.iter().all(is_listed)
        && is_functional(parse, text, id);
    let spans = written.iter().map(|ty| match ty {
        TypeRef::Written(span) => *span,
        _ => Span::default(),
    });
    parse.operands_of(id).copied().zip(spans).take(if is_one_for_each { usize::MAX } else { 0 })
}

fn mismatch(text: &str, used: &Use, span: Span, defined: &str) -> Option<Finding> {
    let here = span.of(text);
    if has_alias(here) || has_alias(defined) || is_same(here, defined) {
        return None;
    }
    let message = format!("{} is a {defined}, not a {here}", used.span.of(text));
    Some(Finding { span, code: "type-mismatch", message, related: None })
}

/// `: (A, B) -> C`: each operand has its type there.
fn is_functional(parse: &Parse, text: &str, id: OpId) -> bool {
    let op = parse.op(id);
    // `(%a init: %i), (%b init: %j)`: operands stand in another order than their types.
    if op.form == Form::Custom && op.name.of(text).ends_with(".reduce") {
        return false;
    }
    let (Some(TypeRef::Written(first)), Some(TypeRef::Written(last))) =
        (parse.types(&op.operand_types).first(), parse.types(&op.operand_types).last())
    else {
        return false;
    };
    let before = text.get(op.span.start as usize..first.start as usize).unwrap_or_default().trim_end();
    let behind = text.get(last.end as usize..op.span.end as usize).unwrap_or_default().trim_start();
    let arrow = behind.strip_prefix(')').map(str::trim_start);
    before.ends_with('(')
        && before[..before.len() - 1].trim_end().ends_with(':')
        && arrow.is_some_and(|rest| rest.starts_with("->"))
}

/// An alias stands for a type that is elsewhere.
fn has_alias(ty: &str) -> bool {
    ty.match_indices(['!', '#']).any(|(at, _)| {
        let is_letter = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '-');
        let name: String = ty[at + 1..].chars().take_while(is_letter).collect();
        !name.contains('.')
    })
}

/// The same type but for white space.
fn is_same(a: &str, b: &str) -> bool {
    let letters = |s: &'_ str| s.chars().filter(|c| !c.is_whitespace()).collect::<Vec<_>>();
    a == b || letters(a) == letters(b)
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

/// Of a successor that no block of its region is called like.
pub fn unknown_block(span: Span, text: &str) -> Finding {
    let message = format!("this region has no block {}", span.of(text));
    Finding { span, code: "unknown-block", message, related: None }
}

/// Of a value whose name the body of the function defines before.
pub fn redefinition(span: Span, text: &str) -> Finding {
    let message = format!("{} is defined already", span.of(text));
    Finding { span, code: "redefinition", message, related: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PieceState, parse};

    fn check_body(lines: &str, expect: &[&str]) {
        let text = format!("func.func @f(%a: tensor<4xf32>, %n: index) {{\n{lines}\n}}\n");
        let parse = parse(&text, PieceState::default());
        let shown: Vec<_> = check(&parse, &text)
            .iter()
            .map(|f| {
                let related = f.related.as_ref().map_or("", |(span, _)| span.of(&text));
                format!("{} {} {related}", f.code, f.span.of(&text)).trim_end().to_owned()
            })
            .collect();
        assert_eq!(shown, expect);
    }

    #[test]
    fn names_that_stand_for_nothing() {
        check_body("%0 = a.b %a, %c : f32\nreturn", &["unknown-value %c"]);
        check_body("%0:2 = a.b %a : f32, f32\na.c %0#2, %0#1 : f32, f32", &["unknown-result %0#2 %0"]);
        check_body("cf.br ^bb1\n^bb2:\n  return", &["unknown-block ^bb1"]);
        check_body("%0 = a.b %a : f32\n%0 = a.b %a : f32", &["redefinition %0 %0"]);
    }

    #[test]
    fn uses_in_front_of_definitions() {
        check_body("%0 = a.b %1 : f32\n%1 = a.b %a : f32", &["use-before-definition %1 %1"]);
        check_body("a.b {\n  a.c %1 : f32\n}\n%1 = a.b %a : f32", &["use-before-definition %1 %1"]);
        check_body("cf.br ^bb2\n^bb1:\n  return %1 : f32\n^bb2:\n  %1 = a.b %a : f32\n  cf.br ^bb1", &[]);
    }

    #[test]
    fn types_that_are_others_where_the_value_is_defined() {
        check_body("%0 = a.b %a : (tensor<8xf32>) -> f32", &["type-mismatch tensor<8xf32> %a"]);
        check_body("%0 = a.b %a : (tensor< 4xf32 >) -> f32\n%1 = a.c %a : (!alias) -> f32", &[]);
        check_body("%0 = a.b %a : tensor<8xf32> -> f32", &[]);
    }

    #[test]
    fn what_follows_from_a_syntax_error_is_not_told() {
        check_body("%0 = a.b %c : tensor<4xf32\n%1 = a.b %d : f32", &[]);
    }
}
