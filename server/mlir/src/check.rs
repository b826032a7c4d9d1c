//! Checks names and types in any dialect, without a verifier.
//!
//! Only inside functions: elsewhere the order of ops has no meaning, and names may belong to another piece.

use std::borrow::Cow;

use smallvec::SmallVec;
use text::Span;

use crate::array_type::{ArrayType, parts};
use crate::dense_shape::{ListShape, list_shape};
use crate::impossible_types::{impossible, is_scalar};
use crate::op_types::{OperandTypes, is_of_known_dialect, operand_types};
use crate::tree::*;
use crate::words::{is_call, is_function_like, unquoted};

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

/// The findings of [`check`] about names defined in other pieces, each with the use whose definition is the
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

/// An op, and what its name and its form say of its types.
struct Named<'t> {
    id: OpId,
    name: &'t str,
    table: Option<OperandTypes>,
    is_functional: bool,
}

impl<'t> Named<'t> {
    fn of(parse: &Parse, text: &'t str, id: OpId) -> Named<'t> {
        let name = parse.name(id, text);
        Named { id, name, table: operand_types(name), is_functional: is_functional(parse, text, id) }
    }
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

/// Compares the operand types that an op states with those of its operands.
fn check_types(parse: &Parse, text: &str, op: &Named<'_>, findings: &mut Vec<Finding>) {
    for written in written_types(parse, op) {
        let used = written.used;
        let Some(value) = used.value else { continue };
        let Some(defined) = parse.type_of(value, index_of(used.span.of(text)), text) else { continue };
        if let Some(mut finding) = mismatch(text, &written, &defined) {
            finding.related = Some((parse.values[value as usize].name, "defined here".to_owned()));
            findings.push(finding);
        }
    }
}

/// An operand with the type that the op states for it.
struct Written {
    used: Use,
    ty: Span,
    /// Whether the type is for this operand alone.
    is_own: bool,
}

/// The operands with the types that the op states for them, if the assignment is known.
fn written_types(parse: &Parse, op: &Named<'_>) -> SmallVec<[Written; 4]> {
    let types = parse.types(&parse.op(op.id).operand_types);
    let mut spans: SmallVec<[Span; 4]> = SmallVec::new();
    for ty in types {
        let TypeRef::Written(span) = ty else { return SmallVec::new() };
        spans.push(*span);
    }
    if spans.is_empty() {
        return SmallVec::new();
    }
    let operands: SmallVec<[Use; 4]> = parse.operands_of(op.id).copied().collect();
    let each = |is_own: bool| {
        let pair = |(&used, &ty): (&Use, &Span)| Written { used, ty, is_own };
        operands.iter().zip(&spans).map(pair).collect()
    };
    let all = |operands: &[Use], ty: Span| {
        operands.iter().map(|&used| Written { used, ty, is_own: false }).collect::<SmallVec<[_; 4]>>()
    };
    if op.is_functional {
        return if operands.len() == spans.len() { each(true) } else { SmallVec::new() };
    }
    if parse.op(op.id).form != Form::Custom {
        return SmallVec::new();
    }
    match (op.table, &spans[..]) {
        (Some(OperandTypes::One(count)), &[ty]) if operands.len() == count => all(&operands, ty),
        (Some(OperandTypes::Choice), &[.., ty]) if operands.len() == 3 && spans.len() <= 2 => {
            let mut written = all(&operands[1..], ty);
            if let [condition, _] = spans[..] {
                written.insert(0, Written { used: operands[0], ty: condition, is_own: false });
            }
            written
        }
        (Some(OperandTypes::Each), _) if operands.len() == spans.len() => each(false),
        (Some(OperandTypes::First), _) => all(&operands[..operands.len().min(1)], spans[0]),
        _ => SmallVec::new(),
    }
}

fn mismatch(text: &str, written: &Written, defined: &str) -> Option<Finding> {
    let here = written.ty.of(text);
    // Most are written alike.
    let is_other = here != defined
        && match written.is_own {
            true => !has_alias(here) && !has_alias(defined) && !is_same(here, defined),
            false => differ(here, defined),
        };
    if !is_other {
        return None;
    }
    let span = if written.is_own { written.ty } else { written.used.span };
    let message = format!("{} is a {defined}, not a {here}", written.used.span.of(text));
    Some(Finding { span, code: "type-mismatch", message, related: None })
}

/// Whether two types are certainly different. Only types with a single spelling are compared.
pub fn differ(a: &str, b: &str) -> bool {
    let is_plain = |ty: &str| match parts(ty) {
        Some(array) => array.rest.is_empty() && is_scalar(array.element),
        None => is_scalar(ty),
    };
    is_plain(a) && is_plain(b) && !is_same(a, b)
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("one {what}") } else { format!("{count} {what}s") }
}

/// Checks the numbers of types, operands and results where each has its own type.
fn check_counts(parse: &Parse, of: &Named<'_>, findings: &mut Vec<Finding>) {
    let &Named { id, name, .. } = of;
    let op = parse.op(id);
    let is_generic = op.form == Form::Generic;
    let table = of.table.filter(|_| op.form == Form::Custom);
    let mut push = |span, code, message| findings.push(Finding { span, code, message, related: None });
    let (operands, types) = (parse.operands_of(id).count(), op.operand_types.len());
    let is_call = is_call(name);
    if (is_generic || is_call) && operands != types {
        let message = format!(
            "{name} has {} here, and {} for them",
            counted(operands, "operand"),
            counted(types, "type")
        );
        push(op.name, "type-count", message);
    }
    let named: u64 = op.results.clone().map(|v| u64::from(parse.values[v as usize].count)).sum();
    let has = match table {
        Some(OperandTypes::One(_) | OperandTypes::Choice | OperandTypes::First) => Some(1),
        _ if is_generic || is_call => Some(op.result_types.len() as u64),
        _ => None,
    };
    if let Some(has) = has.filter(|&has| named > 0 && has != named) {
        let first = parse.values[op.results.start as usize].name;
        let has = counted(has as usize, "result");
        push(first, "result-count", format!("{name} has {has}, and {named} are named here"));
    }
}

/// Reports types written in the op that cannot exist.
fn check_own_types(parse: &Parse, text: &str, of: &Named<'_>, findings: &mut Vec<Finding>) {
    let op = parse.op(of.id);
    let is_type = op.form == Form::Generic
        || of.table.is_some()
        || is_call(of.name)
        || of.is_functional && of.name.starts_with("stablehlo.");
    let operands = parse.types(&op.operand_types);
    let results = match op.result_types.start >= op.operand_types.end {
        true => parse.types(&op.result_types),
        false => &[],
    };
    for ty in operands.iter().chain(results) {
        push_impossible(text, *ty, is_type, findings);
    }
}

fn push_impossible(text: &str, ty: TypeRef, is_type: bool, findings: &mut Vec<Finding>) {
    let TypeRef::Written(span) = ty else { return };
    if let Some(message) = impossible(span.of(text), is_type) {
        findings.push(Finding { span, code: "unknown-type", message, related: None });
    }
}

/// Checks the types of function and block arguments.
fn check_declared_types(parse: &Parse, text: &str, checked: &[Span], findings: &mut Vec<Finding>) {
    for value in parse.values.iter().filter(|v| !matches!(v.definition, Definition::Result(_))) {
        let at = checked.partition_point(|span| span.start <= value.name.start);
        if at.checked_sub(1).is_some_and(|at| value.name.end <= checked[at].end) {
            for ty in parse.types(&value.types) {
                push_impossible(text, *ty, false, findings);
            }
        }
    }
}

/// Compares the returned values with the results that the enclosing function declares.
pub fn check_returned(parse: &Parse, text: &str, id: OpId, declared: &[&str]) -> Vec<Finding> {
    let op = parse.op(id);
    let operands: Vec<Use> = parse.operands_of(id).copied().collect();
    let types = parse.types(&op.operand_types);
    let finding = |span, code, message| Finding { span, code, message, related: None };
    if operands.len() != declared.len() {
        let has = counted(declared.len(), "result");
        let returned = match operands.len() {
            1 => "one is".to_owned(),
            count => format!("{count} are"),
        };
        let message = format!("the function has {has}, and {returned} returned here");
        return vec![finding(op.name, "return-count", message)];
    }
    let mut findings = Vec::new();
    for ((used, ty), there) in operands.iter().zip(types).zip(declared) {
        let TypeRef::Written(written) = ty else { continue };
        let here = written.of(text);
        if types.len() == operands.len() && differ(here, there) {
            let name = used.span.of(text);
            let message = format!("{name} is a {here} here, but the function declares a {there}");
            findings.push(finding(used.span, "return-type", message));
        }
    }
    findings
}

/// Compares the lists of a constant with its type.
fn check_literal(parse: &Parse, text: &str, id: OpId, findings: &mut Vec<Finding>) {
    let op = parse.op(id);
    if !op.name.of(text).trim_end_matches('"').ends_with("constant") {
        return;
    }
    let head = Span { start: op.name.end, end: op.span.end }.of(text);
    // Attributes before the value are not lists.
    let Some((before, literal)) = head.split_once("dense<") else { return };
    let Some(&TypeRef::Written(ty)) = parse.types(&op.result_types).first() else { return };
    let Ok(array) = ArrayType::parse(ty.of(text)) else { return };
    let Some(wanted) = array.static_extents() else { return };
    if before.contains("loc(") || wanted.contains(&0) {
        return;
    }
    let message = match list_shape(literal) {
        Some(ListShape::Even(shape)) if shape != wanted => {
            let extents: Vec<_> = shape.iter().map(i64::to_string).collect();
            format!("the lists of the literal are {}, and the type is {}", extents.join("x"), ty.of(text))
        }
        Some(ListShape::Uneven) => "lists of one depth have as many elements each".to_owned(),
        _ => return,
    };
    findings.push(Finding { span: ty, code: "literal-shape", message, related: None });
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

/// Whether the types are written `: (A, B) -> C`, with one per operand.
fn is_functional(parse: &Parse, text: &str, id: OpId) -> bool {
    let op = parse.op(id);
    // `(%a init: %i), (%b init: %j)`: the operands are in another order than their types.
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

/// Whether a type contains an alias, whose value is elsewhere.
fn has_alias(ty: &str) -> bool {
    ty.match_indices(['!', '#']).any(|(at, _)| {
        let is_letter = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '-');
        let name: String = ty[at + 1..].chars().take_while(is_letter).collect();
        !name.contains('.')
    })
}

/// Whether two types are equal up to white space.
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

#[cfg(test)]
mod tests;
