//! Whether a result may overwrite an operand that nothing reads later.

use gpu::FusionAnalysis;
use ir::{ElementTypeExt, Opcode, Shape};
use rustc_hash::FxHashSet;

use crate::program::{Id, Program};

/// How a fusion's kernel reads and writes, as far as the order of reads and writes depends on it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FusionOrder {
    /// The reduction that the kernel computes before it writes anything.
    pub reduction: Option<Box<str>>,
    /// The results, and whether their elements are written in the order of a transpose.
    pub roots: Vec<(Box<str>, bool)>,
}

impl FusionOrder {
    pub fn of(analysis: &FusionAnalysis) -> FusionOrder {
        let fused = &analysis.fused;
        let name = |op: ir::OpId| fused.graph.names[op as usize].as_str().into();
        let is_reduction = |(root, hero): &(&ir::OpId, &ir::OpId)| {
            analysis.kind == gpu::Kind::Reduction
                && gpu::is_real_reduction(fused, **root, **hero, analysis.device)
        };
        let reduction = fused.roots.iter().zip(&analysis.heroes).find(is_reduction);
        let roots = fused.roots.iter().zip(&analysis.heroes).map(|(&root, &hero)| {
            (name(root), matches!(fused.op(hero).opcode, Opcode::Transpose | Opcode::Copy))
        });
        FusionOrder { reduction: reduction.map(|(_, &hero)| name(hero)), roots: roots.collect() }
    }
}

/// Whether the result of a fusion at `path` may take the memory of its operand, whole, if that is not read later.
/// Source: `FusionCanShareBufferHint`, `service/gpu/alias_info.cc`.
pub(crate) fn fusion_may_overwrite(
    program: &Program,
    fusion: Id,
    operand: Id,
    path: &[i64],
    order: &FusionOrder,
) -> bool {
    let instruction = program.instruction(fusion);
    let Some(result) = instruction.shape.element_at(path) else { return false };
    if !is_same_iteration(&program.instruction(operand).shape, result) {
        return false;
    }
    let Some(body) = program.callee(fusion, ir::AttributeKey::Calls) else { return false };
    let parameter = program.operand_number(fusion, operand).and_then(|number| body.parameters.get(number));
    let Some(&parameter) = parameter.filter(|&&id| id != Id::MAX) else { return false };
    let mut output = body.root;
    for &index in path {
        let root = program.instruction(output);
        if root.opcode != Some(Opcode::Tuple) {
            break;
        }
        let Some(&part) = usize::try_from(index).ok().and_then(|i| root.operands.get(i)) else {
            return false;
        };
        output = part;
    }
    let reduction = order.reduction.as_deref();
    let is_reduction = |id: Id| reduction == Some(&*program.instruction(id).name);
    let Some(visited) = Walk { program, output, path }.from(parameter, is_reduction) else { return false };
    let is_reached = |name: &str| {
        body.instructions.iter().any(|id| visited.contains(id) && &*program.instruction(*id).name == name)
    };
    if order.roots.len() > 1 {
        let own = &*program.instruction(output).name;
        let reached = || order.roots.iter().filter(|(name, _)| is_reached(name));
        let is_moved = reached().any(|(_, is_transposed)| *is_transposed);
        if reached().any(|(name, _)| &**name != own)
            && (is_moved || !is_elementwise(program, without_bitcast(program, output)))
        {
            return false;
        }
    }
    visited.contains(&output)
}

/// Whether arrays have as many elements of the same size.
fn is_same_iteration(operand: &Shape, result: &Shape) -> bool {
    let bits = |shape: &Shape| Some((shape.as_array()?.elements()?, shape.element()?.bits()?));
    operand == result || bits(operand).is_some_and(|own| bits(result) == Some(own))
}

fn without_bitcast(program: &Program, id: Id) -> Id {
    let instruction = program.instruction(id);
    match (instruction.opcode, &instruction.operands[..]) {
        (Some(Opcode::Bitcast), [of]) => *of,
        _ => id,
    }
}

fn is_elementwise(program: &Program, id: Id) -> bool {
    program.instruction(id).opcode.is_some_and(ir::is_elementwise)
}

/// Whether an instruction reads operand number `number` at the indices at which it writes.
/// Source: `HloInstruction::IsElementwiseOnOperand`.
pub(crate) fn is_elementwise_on(program: &Program, id: Id, number: usize) -> bool {
    match program.instruction(id).opcode {
        Some(Opcode::DynamicUpdateSlice) => number == 0,
        _ => is_elementwise(program, id),
    }
}

struct Walk<'a> {
    program: &'a Program,
    /// The result in question, in the fused computation.
    output: Id,
    path: &'a [i64],
}

impl Walk<'_> {
    /// All that depends on `parameter`, or nothing if some of it reads at other indices than those it writes.
    fn from(&self, parameter: Id, is_reduction: impl Fn(Id) -> bool) -> Option<FxHashSet<Id>> {
        let program = self.program;
        let mut visited: FxHashSet<Id> = [parameter].into_iter().collect();
        let mut open = std::collections::VecDeque::from([parameter]);
        while let Some(id) = open.pop_front() {
            cancel::tick();
            // The kernel of a reduction computes it first.
            if is_reduction(id) {
                continue;
            }
            for &user in &program.instruction(id).users {
                if visited.insert(user) {
                    open.push_back(user);
                }
                if !self.may_read(id, user, is_reduction(user)) {
                    return None;
                }
            }
        }
        Some(visited)
    }

    fn may_read(&self, id: Id, user: Id, is_reduction: bool) -> bool {
        let program = self.program;
        let root = without_bitcast(program, self.output);
        let reader = program.instruction(user);
        let Some(number) = program.operand_number(user, id) else { return false };
        let is_only_operand = || reader.operands.iter().filter(|&&own| own == id).count() == 1;
        let written = program.instruction(root);
        match reader.opcode {
            Some(Opcode::Scatter) if user == root => {
                let inputs = reader.shape.tuple_elements().map_or(1, <[Shape]>::len);
                if number < inputs && is_only_operand() {
                    return true;
                }
            }
            Some(Opcode::Sort) if user == root && is_only_operand() => return *self.path == [number as i64],
            Some(Opcode::DynamicSlice)
                if written.opcode == Some(Opcode::DynamicUpdateSlice)
                    && written.operands.first() == reader.operands.first()
                    && written
                        .operands
                        .get(1)
                        .is_some_and(|&of| program.instruction(of).shape == reader.shape) =>
            {
                // One element cannot overlap another in part.
                let is_scalar = reader.shape.dims().iter().all(|&size| size == 1);
                return is_scalar || reader.operands[1..] == written.operands[2..];
            }
            _ => {}
        }
        let moves = !is_elementwise_on(program, user, number) || reader.opcode == Some(Opcode::Copy);
        let is_passed_on = matches!(reader.opcode, Some(Opcode::Bitcast | Opcode::Tuple)) || is_reduction;
        // The update of a slice is read before the slice is written.
        let is_update = user == root && reader.opcode == Some(Opcode::DynamicUpdateSlice) && number == 1;
        !moves || is_passed_on || is_update
    }
}
