//! Checks the types that ops state: of operands and results, of arguments, and of returned values.

use smallvec::SmallVec;
use text::Span;

use super::{Finding, index_of};
use crate::array_type::parts;
use crate::impossible_types::{impossible, is_scalar};
use crate::op_types::{OperandTypes, operand_types};
use crate::tree::*;
use crate::words::is_call;

/// An op, and what its name and its form say of its types.
pub(super) struct Named<'t> {
    id: OpId,
    name: &'t str,
    table: Option<OperandTypes>,
    is_functional: bool,
}

impl<'t> Named<'t> {
    pub(super) fn of(parse: &Parse, text: &'t str, id: OpId) -> Named<'t> {
        let name = parse.name(id, text);
        Named { id, name, table: operand_types(name), is_functional: is_functional(parse, text, id) }
    }
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

/// Compares the operand types that an op states with those of its operands.
pub(super) fn check_types(parse: &Parse, text: &str, op: &Named<'_>, findings: &mut Vec<Finding>) {
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
pub(super) struct Written {
    pub(super) used: Use,
    ty: Span,
    /// Whether the type is for this operand alone.
    is_own: bool,
}

/// The operands with the types that the op states for them, if the assignment is known.
pub(super) fn written_types(parse: &Parse, op: &Named<'_>) -> SmallVec<[Written; 4]> {
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

pub(super) fn mismatch(text: &str, written: &Written, defined: &str) -> Option<Finding> {
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
pub(super) fn check_counts(parse: &Parse, of: &Named<'_>, findings: &mut Vec<Finding>) {
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
pub(super) fn check_own_types(parse: &Parse, text: &str, of: &Named<'_>, findings: &mut Vec<Finding>) {
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
pub(super) fn check_declared_types(parse: &Parse, text: &str, checked: &[Span], findings: &mut Vec<Finding>) {
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
