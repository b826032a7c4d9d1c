//! Loops that run at most once.
//!
//! Source: `TryRemoveWhileLoop`.

use syntax::hlo::{AttributeKey, Opcode};

use super::super::loops::{index_of, integer, only_index};
use super::{Loop, replace_loop};
use crate::driver::Run;
use crate::module::{InstructionId, Module, NewOp};

pub(super) fn remove_loop(run: &mut Run<'_>, parts: &Loop) -> bool {
    let has_effect = |root: InstructionId| run.module.has_side_effect(root);
    let frontend =
        run.module[parts.id].attributes().text(AttributeKey::FrontendAttributes).unwrap_or_default();
    let is_kept = frontend.contains("skip-simplify-while-loops_trip-count-one");
    let effects = [parts.condition, parts.body]
        .map(|computation| run.module.instructions(computation).into_iter().any(has_effect));
    match trips(run.module, parts) {
        Some(0) if !effects[0] => replace_loop(run, parts, parts.init, "never runs"),
        Some(1) if !effects[0] && !effects[1] && !is_kept => {
            let shape = run.module[parts.id].shape().clone();
            let call =
                NewOp::new(Opcode::Call, shape, &[parts.init]).calling(AttributeKey::ToApply, &[parts.body]);
            let call = run.module.add(run.module[parts.id].parent(), call);
            replace_loop(run, parts, call, "runs once");
            run.module.inline(call, parts.body);
        }
        _ => return false,
    }
    true
}

/// How often a loop runs, if that is never or once.
fn trips(module: &Module, parts: &Loop) -> Option<i64> {
    let root = module.root(parts.condition);
    let index = only_index(module, parts.condition, root)?;
    let at = usize::try_from(index).ok()?;
    let results = parts.results(module).filter(|_| parts.has_tuple_init(module))?;
    let start = integer(module, *module[parts.init].operands().get(at)?)?;
    if !holds(module, root, index, start)? {
        return Some(0);
    }
    let next = stepped(module, *results.get(at)?, index, start)?;
    (!holds(module, root, index, next)?).then_some(1)
}

/// Whether a comparison of the element with a constant holds.
fn holds(module: &Module, root: InstructionId, index: i64, value: i64) -> Option<bool> {
    let &[a, b] = module[root].operands() else { return None };
    if module[root].opcode() != Opcode::Compare {
        return None;
    }
    let of = |id: InstructionId| match index_of(module, id) {
        Some(own) => (own == index).then_some(value),
        None => integer(module, id),
    };
    let (a, b) = (of(a)?, of(b)?);
    eval::holds(module[root].attributes().text(AttributeKey::Direction)?, &a, &b).ok()
}

/// The element after an iteration, if a constant is added to or subtracted from it.
fn stepped(module: &Module, result: InstructionId, index: i64, value: i64) -> Option<i64> {
    let &[a, b] = module[result].operands() else { return None };
    let of = |id: InstructionId| match index_of(module, id) {
        Some(own) => (own == index).then_some(value),
        None => integer(module, id),
    };
    match module[result].opcode() {
        Opcode::Add => of(a)?.checked_add(of(b)?),
        Opcode::Subtract => of(a)?.checked_sub(of(b)?),
        _ => None,
    }
}
