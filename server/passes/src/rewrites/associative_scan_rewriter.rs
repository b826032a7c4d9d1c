//! `associative-scan-rewriter`: computes scans as reductions over windows.
//!
//! Source: XLA `hlo/transforms/simplifiers/reduce_window_rewriter.cc`, `AssociativeScanRewriter`.

use ir::{ElementType, Shape};
use rustc_hash::FxHashMap;
use syntax::hlo::{AttributeKey, Opcode};

use super::every::{add, every, replace};
use super::scans_as_trees::{BASE, Scan, in_two_steps, reduce_window};
use crate::driver::{Run, Stop};
use crate::module::{ComputationId, InstructionId, Module, NewOp};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    every(run, |run, id| {
        if is_standard(run.module, id) && !run.module[id].has_control_dependencies() {
            rewrite(run, id);
        }
    });
    Ok(())
}

/// Source: `IsStandardAssociativeScan`.
fn is_standard(module: &Module, id: InstructionId) -> bool {
    let scan = &module[id];
    let attributes = scan.attributes();
    let is_pair = matches!(scan.shape(), Shape::Tuple(elements) if elements.len() == 2);
    let is_forward = attributes.bool(AttributeKey::IsReverse) != Some(true);
    let reads_sums = |&user: &InstructionId| {
        let index = attributes_index(module, user);
        module.is_dead(user)
            || module[user].opcode() == Opcode::GetTupleElement
                && !(index == Some(1) && (!module[user].users().is_empty() || module.is_root(user)))
    };
    scan.opcode() == Opcode::Scan
        && !module.is_root(id)
        && scan.operands().len() == 2
        && attributes.int(AttributeKey::NumCarries) == Some(1)
        && attributes.bool(AttributeKey::IsAssociative) == Some(true)
        && is_pair
        && is_forward
        && scan.users().iter().all(reads_sums)
}

fn attributes_index(module: &Module, id: InstructionId) -> Option<i64> {
    module[id].attributes().int(AttributeKey::Index)
}

fn rewrite(run: &mut Run<'_>, id: InstructionId) {
    let &[source, start] = run.module[id].operands() else { return };
    let dim = run.module[id].dimensions().first().and_then(|&dim| usize::try_from(dim).ok());
    let body = run.module[id].callee(AttributeKey::ToApply);
    let (Some(dim), Some(body), Some(init)) = (dim, body, scalar(run.module, start)) else { return };
    let Some(&length) = run.module[source].dims().get(dim) else { return };
    if length > BASE && !is_safe(run.module, body, init) {
        return;
    }
    let Some(body) = scalarized(run.module, body) else { return };
    let Some(reducer) = wrapper(run.module, body) else { return };
    let scan = Scan { source, init, reducer, dim, is_forward: true, is_exclusive: false };
    let result = match length <= BASE {
        true => {
            let mut window = vec![ir::WindowDim::of_size(1); run.module[source].dims().len()];
            window[dim].size = length;
            window[dim].pad_low = length - 1;
            let shape = run.module[source].shape().clone();
            add(run, id, reduce_window(source, init, shape, window, reducer))
        }
        false => {
            let Some(shape) = run.module[id].shape().element_at(&[0]).cloned() else { return };
            in_two_steps(run, id, scan, &shape)
        }
    };
    let tuple = run.module.add_tuple(run.module[id].parent(), &[result, start]);
    replace(run, id, tuple, "computed as reductions over windows");
}

/// The scalar of which the initial value has copies. A constant of many equal elements is not found, as it is no scalar.
/// Source: `FindScalarInitSource`.
fn scalar(module: &Module, mut init: InstructionId) -> Option<InstructionId> {
    while matches!(module[init].opcode(), Opcode::Broadcast | Opcode::Reshape | Opcode::Bitcast) {
        init = module.operand(init, 0);
    }
    module[init].dims().is_empty().then_some(init)
}

/// Whether the initial value may be added twice. Source: `IsTreeRewriteSafeInit`.
fn is_safe(module: &Module, body: ComputationId, init: InstructionId) -> bool {
    let &[first, second] = module[module.root(body)].operands() else { return false };
    let is = |value: f64| {
        let literal = module[init].literal().map(str::trim);
        let number = match literal {
            Some("false") => Some(0.0),
            Some("true") => Some(1.0),
            literal => literal.and_then(|literal| literal.parse().ok()),
        };
        number == Some(value)
    };
    first == second
        && match module[first].opcode() {
            Opcode::Minimum | Opcode::Maximum => true,
            Opcode::Add | Opcode::Or | Opcode::Xor => is(0.0),
            Opcode::Multiply => is(1.0) || is(0.0),
            _ => false,
        }
}

/// The same computation of single elements. Source: `ScalarizeComputation`.
fn scalarized(module: &mut Module, body: ComputationId) -> Option<ComputationId> {
    let scalar = |shape: &Shape| shape.element().map(|element: ElementType| Shape::array(element, &[]));
    let of = |shape: &Shape| match shape {
        Shape::Tuple(elements) => {
            Some(Shape::tuple(elements.iter().map(scalar).collect::<Option<Vec<_>>>()?))
        }
        shape => scalar(shape),
    };
    let all = module.post_order(body);
    if all.iter().all(|&id| of(module[id].shape()).as_ref() == Some(module[id].shape())) {
        return Some(body);
    }
    let name = format!("{}_scalarized", module[body].name());
    for &id in &all {
        use Opcode::{Bitcast, Broadcast, Constant, GetTupleElement, Parameter, Reshape, Tuple};
        let is_known = match module[id].opcode() {
            Broadcast => module[module.operand(id, 0)].dims().is_empty(),
            Constant => module[id].dims().is_empty(),
            Parameter | Tuple | GetTupleElement | Bitcast | Reshape => true,
            opcode => ir::is_elementwise(opcode),
        };
        if !is_known {
            return None;
        }
    }
    let computation = module.add_computation(&name);
    let mut small: FxHashMap<InstructionId, InstructionId> = FxHashMap::default();
    for id in all {
        let operands: Vec<_> = module[id].operands().iter().map(|operand| small[operand]).collect();
        let new = match module[id].opcode() {
            Opcode::Broadcast | Opcode::Bitcast | Opcode::Reshape => operands[0],
            _ => {
                let shape = of(module[id].shape())?;
                let new = module.add_copy(computation, id, &operands);
                module.set_shape(new, shape);
                new
            }
        };
        small.insert(id, new);
    }
    module.set_root(computation, small[&module.root(body)]);
    Some(computation)
}

/// A reducer that calls the body of a scan, whose parameters are the other way round, and returns its carry.
fn wrapper(module: &mut Module, body: ComputationId) -> Option<ComputationId> {
    let parameters = module.parameters(body);
    let &[input, carry] = &parameters[..] else { return None };
    let (of_carry, of_input) = (module[carry].shape().clone(), module[input].shape().clone());
    let computation = module.add_computation(&format!("{}_rw_wrapper", module[body].name()));
    let carry = module.add_named(computation, NewOp::parameter(of_carry, 0), "carry_0");
    let input = module.add_named(computation, NewOp::parameter(of_input, 1), "input_0");
    let shape = module[module.root(body)].shape().clone();
    let call = NewOp::new(Opcode::Call, shape, &[input, carry]).calling(AttributeKey::ToApply, &[body]);
    let call = module.add(computation, call);
    let root = module.add_element(call, 1);
    module.set_root(computation, root);
    Some(computation)
}
