//! `copy_fusion`: lets fusions write the copies of their results themselves, as further results.
//!
//! Source: XLA `backends/gpu/transforms/copy_fusion.cc`.

use ir::{Shape, is_elementwise};
use rustc_hash::FxHashSet;
use syntax::hlo::{AttributeKey, Opcode};

use crate::driver::{Run, Stop};
use crate::module::{ComputationId, InstructionId, Module};

/// The maximum number of operands and results of a kernel. Source: `MaxOperandsAndOutputsPerFusion`.
const MAX_BUFFERS: usize = 96;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    // In other computations a copy may share its buffer with an operand.
    for id in run.module.post_order(run.module.entry()) {
        cancel::tick();
        let is_custom = run.module[id].attributes().text(AttributeKey::Kind) == Some("kCustom");
        if let Some(called) = run.module.fused_computation(id).filter(|_| !is_custom) {
            fuse(run, id, called);
        }
    }
    Ok(())
}

fn fuse(run: &mut Run<'_>, fusion: InstructionId, called: ComputationId) {
    let module = &*run.module;
    let root = module.root(called);
    let is_tuple = module[root].opcode() == Opcode::Tuple;
    let results = if is_tuple { module[root].operands().to_vec() } else { vec![root] };
    let is_reduction = |id: InstructionId| gpu::is_reduction_hero(&module.op(id), run.options.device);
    let has_slices_alone = is_tuple && results.iter().all(|&id| module[id].opcode() == Opcode::Slice);
    if !computes_elementwise(module, called)
        || is_reduction(root)
        || module[root].opcode() == Opcode::Scatter
        || has_slices_alone
    {
        return;
    }
    let mut copies = Vec::new();
    let mut others = Vec::new();
    for &user in module[fusion].users() {
        match copy_of(module, user, fusion, &results, &is_reduction) {
            Some(chain) => copies.push(chain),
            None => others.push(user),
        }
    }
    let updates = results.iter().filter(|&&result| is_update(module, result)).count();
    let is_in_place = updates > 0 && (!is_tuple || updates == results.len());
    let buffers = module[fusion].operands().len() + results.len() + copies.len();
    if copies.is_empty() || is_in_place || results.len() + copies.len() > MAX_BUFFERS || buffers > MAX_BUFFERS
    {
        return;
    }
    for chain in &copies {
        run.changed(chain[0], format!("written by %{}", run.module[fusion].name()));
    }
    write(run.module, fusion, called, &results, &copies, &others);
}

/// The way from a copy back to the fusion whose result it copies; nothing if a user leads to no such copy.
fn copy_of(
    module: &Module,
    user: InstructionId,
    fusion: InstructionId,
    results: &[InstructionId],
    is_reduction: &dyn Fn(InstructionId) -> bool,
) -> Option<Vec<InstructionId>> {
    let mut copy = user;
    if module[copy].opcode() == Opcode::GetTupleElement
        && let &[next] = module[copy].users()
    {
        let index =
            module[copy].attributes().int(AttributeKey::Index).and_then(|at| usize::try_from(at).ok());
        if index.and_then(|at| results.get(at)).is_none_or(|&result| is_reduction(result)) {
            return None;
        }
        copy = next;
    }
    if module[copy].opcode() == Opcode::Bitcast
        && let &[next] = module[copy].users()
    {
        copy = next;
    }
    let is_copy = module[copy].opcode() == Opcode::Copy
        && module[copy].shape().as_array().is_some()
        && module[copy].shape() == module[module.operand(copy, 0)].shape()
        && !module[copy].has_control_dependencies();
    if !is_copy {
        return None;
    }
    let mut chain = vec![copy];
    while module.operand(chain[chain.len() - 1], 0) != fusion {
        chain.push(module.operand(chain[chain.len() - 1], 0));
    }
    Some(chain)
}

/// Whether all that depends on the parameters is elementwise. Source: `OnlyElementwiseOpsReachableFromParams`.
fn computes_elementwise(module: &Module, called: ComputationId) -> bool {
    let mut open = module.parameters(called);
    let mut seen: FxHashSet<InstructionId> = open.iter().copied().collect();
    while let Some(id) = open.pop() {
        for &user in module[id].users() {
            let opcode = module[user].opcode();
            let is_first = module[user].operands().first() == Some(&id);
            let is_plain = match opcode {
                Opcode::Bitcast | Opcode::Tuple => true,
                // Where the updated array is read, the update is elementwise.
                Opcode::DynamicUpdateSlice => is_first,
                Opcode::Copy => false,
                opcode => is_elementwise(opcode),
            };
            if !is_plain {
                return false;
            }
            if seen.insert(user) {
                open.push(user);
            }
        }
    }
    true
}

fn is_update(module: &Module, mut id: InstructionId) -> bool {
    if module[id].opcode() == Opcode::Bitcast {
        id = module.operand(id, 0);
    }
    module[id].opcode() == Opcode::DynamicUpdateSlice
}

fn write(
    module: &mut Module,
    fusion: InstructionId,
    called: ComputationId,
    results: &[InstructionId],
    copies: &[Vec<InstructionId>],
    others: &[InstructionId],
) {
    let root = module.root(called);
    let is_tuple = module[root].opcode() == Opcode::Tuple;
    let mut elements = results.to_vec();
    for chain in copies {
        let mut steps = chain.iter().rev().copied().peekable();
        let mut value = root;
        if is_tuple && let Some(&element) = steps.peek() {
            let at = module[element].attributes().int(AttributeKey::Index).unwrap_or_default();
            value = results[usize::try_from(at).unwrap_or_default().min(results.len() - 1)];
            steps.next();
        }
        for step in steps {
            value = module.add_copy(called, step, &[value]);
        }
        elements.push(value);
    }
    let new_root = module.add_tuple(called, &elements);
    module.set_root(called, new_root);
    let shape = Shape::tuple(elements.iter().map(|&id| module[id].shape().clone()));
    module.set_shape(fusion, shape);
    if is_tuple {
        module.remove(root);
    } else {
        let first = module.add_element(fusion, 0);
        for &user in others {
            module.replace_use(fusion, user, first);
        }
        if module.is_root(fusion) {
            let computation = module[fusion].parent();
            module.set_root(computation, first);
        }
    }
    for (at, chain) in copies.iter().enumerate() {
        let element = module.add_element(fusion, (results.len() + at) as i64);
        module.replace(chain[0], element);
    }
}
