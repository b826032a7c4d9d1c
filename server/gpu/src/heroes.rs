//! The hero of a fusion, and the emitter that it requires.

use std::collections::VecDeque;

use ir::{ElementTypeExt, OpId, Opcode, Shape, is_elementwise};

use crate::device::Device;
use crate::emitters::CUSTOM_FUSION;
use crate::fused::Fused;
use crate::launch::product;
use crate::reduction_dims::{ReductionDims, is_race_free, is_reduction_hero};
use crate::transpose::Tiling;

/// The family of a fusion's emitter.
/// Source: `HloFusionAnalysis::EmitterFusionKind`, `service/gpu/hlo_fusion_analysis.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Loop,
    Transpose,
    Reduction,
    Concatenate,
    Scatter,
    Sort,
    /// Triton writes the kernel.
    Triton,
    /// cuDNN runs it.
    CuDnn,
    /// A library or custom code runs it.
    Custom,
}

/// The hero of a root: the op whose elements the kernel distributes over threads. The ops between hero and
/// root are computed as its epilogue.
/// Source: `FindNonTrivialHero`, `codegen/ir_emission_utils.cc`.
pub fn hero(fused: &Fused, root: OpId) -> OpId {
    let mut hero = root;
    while is_intermediate(fused, hero, 1) && fused.is_inside(fused.operands(hero)[0]) {
        hero = fused.operands(hero)[0];
    }
    let is_transpose = |op: OpId| tiling(fused, op).is_some();
    let is_concatenate = |op: OpId| fused.op(op).opcode == Opcode::Concatenate;
    if let Some(found) = only_hero(fused, hero, &is_transpose) {
        return found;
    }
    if let Some(found) = only_hero(fused, hero, &is_concatenate) {
        return found;
    }
    if fused.op(hero).opcode == Opcode::Reduce { hero } else { root }
}

/// How a transpose of the fusion goes through shared memory; `None` for other ops.
pub fn tiling(fused: &Fused, op: OpId) -> Option<Tiling> {
    match fused.op(op).opcode {
        Opcode::Transpose => Tiling::of(fused.op(*fused.operands(op).first()?), fused.op(op)),
        _ => None,
    }
}

/// The only op that `is_hero`, reached from `root` through intermediates of up to three operands, if nothing
/// else uses it.
fn only_hero(fused: &Fused, root: OpId, is_hero: &dyn Fn(OpId) -> bool) -> Option<OpId> {
    let mut found = None;
    let mut queue = VecDeque::from([root]);
    let mut seen = vec![false; fused.graph.ops.len()];
    seen[root as usize] = true;
    while let Some(op) = queue.pop_front() {
        if is_hero(op) {
            if found.is_some() {
                return None;
            }
            found = Some(op);
        } else if is_intermediate(fused, op, 3) {
            for &operand in fused.operands(op) {
                if fused.is_inside(operand) && !std::mem::replace(&mut seen[operand as usize], true) {
                    queue.push_back(operand);
                }
            }
        }
    }
    found.filter(|&hero| only_feeds_intermediates(fused, hero))
}

fn only_feeds_intermediates(fused: &Fused, hero: OpId) -> bool {
    let mut seen = vec![false; fused.graph.ops.len()];
    let mut stack = vec![hero];
    while let Some(op) = stack.pop() {
        for &user in &fused.users[op as usize] {
            if std::mem::replace(&mut seen[user as usize], true) {
                continue;
            }
            if fused.op(user).opcode != Opcode::Tuple && !is_intermediate(fused, user, 3) {
                return false;
            }
            stack.push(user);
        }
    }
    true
}

/// Whether each element of the op can be computed where it is used, from one element of each of at most
/// `most_operands` operands.
/// Source: `IsIntermediate`, as above.
pub(crate) fn is_intermediate(fused: &Fused, id: OpId, most_operands: usize) -> bool {
    let (op, operands) = (fused.op(id), fused.operands(id));
    if operands.is_empty() || operands.len() > most_operands {
        return false;
    }
    let operand = &fused.op(operands[0]).shape;
    match op.opcode {
        Opcode::Copy => has_same_layout(&op.shape, operand),
        Opcode::Bitcast => true,
        Opcode::Reshape => crate::bitcasts::reshape_is_bitcast(operand, &op.shape),
        Opcode::Transpose => crate::bitcasts::transpose_is_bitcast(operand, op),
        opcode => is_elementwise(opcode),
    }
}

fn has_same_layout(a: &Shape, b: &Shape) -> bool {
    match (a.as_array(), b.as_array()) {
        (Some(a), Some(b)) => a.dims == b.dims && a.minor_to_major() == b.minor_to_major(),
        _ => false,
    }
}

/// The kind that the fusion's roots and heroes require. With [`Kind::Loop`] every root is its own hero.
/// Source: `GetEmitterFusionKind`, `service/gpu/hlo_fusion_analysis.cc`.
pub fn kind(fused: &Fused, heroes: &[OpId], device: &Device) -> Kind {
    if fused.left_to.is_some() {
        return Kind::Custom;
    }
    match fused.backend_kind.as_deref() {
        Some(CUSTOM_FUSION) => return Kind::Custom,
        Some("__cudnn$fusion") => return Kind::CuDnn,
        Some(name) if name.starts_with("__triton") => return Kind::Triton,
        // The producer of this kind has its own emitter, which is not implemented here.
        Some(_) if fused.is_custom => return Kind::Custom,
        _ => {}
    }
    if has_compatible_reductions(fused, heroes, device) {
        return Kind::Reduction;
    }
    if has_compatible_transposes(fused, heroes) {
        return Kind::Transpose;
    }
    let [root] = fused.roots[..] else { return Kind::Loop };
    match (fused.op(root).opcode, fused.op(heroes[0])) {
        (Opcode::Scatter, _) => Kind::Scatter,
        (Opcode::Sort, _) => Kind::Sort,
        (_, hero) if hero.opcode == Opcode::Concatenate && hero.operand_shapes.len() <= 4 => {
            Kind::Concatenate
        }
        _ => Kind::Loop,
    }
}

/// Whether the hero is a reduction that warrants a reduction kernel under this root.
/// Source: `IsRealReductionHero`, as above.
pub fn is_real_reduction(fused: &Fused, root: OpId, hero: OpId, device: &Device) -> bool {
    let op = fused.op(hero);
    is_reduction_hero(op, device) && (root == hero || ReductionDims::of(op).is_some_and(|d| is_race_free(&d)))
}

fn has_compatible_reductions(fused: &Fused, heroes: &[OpId], device: &Device) -> bool {
    let mut pairs = fused.roots.iter().zip(heroes);
    let is_real = |root: OpId, hero: OpId| is_real_reduction(fused, root, hero, device);
    let Some((_, &first)) = pairs.find(|(root, hero)| is_real(**root, **hero)) else { return false };
    let dims = ReductionDims::of(fused.op(first));
    let elements = fused.op(first).operand_shapes.first().map(|shape| product(shape.dims()).ok());
    fused.roots.iter().zip(heroes).enumerate().all(|(i, (&root, &hero))| {
        if root == first {
            true
        } else if is_real(root, hero) {
            ReductionDims::of(fused.op(hero)) == dims
        } else {
            Some(product(fused.root_shape(i).dims()).ok()) == elements
        }
    })
}

fn has_compatible_transposes(fused: &Fused, heroes: &[OpId]) -> bool {
    let mut first: Option<(Tiling, OpId)> = None;
    let mut others = Vec::new();
    // Tiles in shared memory must have the same size.
    let bits = |hero: OpId| fused.op(hero).shape.element().and_then(|e| e.bits());
    for (i, &hero) in heroes.iter().enumerate() {
        match (tiling(fused, hero), &first) {
            (Some(tiling), None) => first = Some((tiling, hero)),
            (Some(tiling), Some((known, other)))
                if known.is_equivalent(&tiling) && bits(hero) == bits(*other) => {}
            (Some(_), Some(_)) => return false,
            (None, _) => others.push(i),
        }
    }
    let Some((_, hero)) = first else { return false };
    let input = &fused.op(hero).operand_shapes[0];
    others.into_iter().all(|i| crate::bitcasts::is_bitcast(fused.root_shape(i), input))
}
