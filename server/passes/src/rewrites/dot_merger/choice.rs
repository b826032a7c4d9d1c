//! Which dots are merged.
//!
//! Source: `BuildEquivalenceClasses`, `FindDotsToMerge`.

use ir::{ElementTypeExt as _, Shape};
use rustc_hash::{FxHashMap, FxHashSet};
use syntax::hlo::{AttributeKey, Opcode};

use super::categories::{Category, Operand};
use super::{Classes, Sided, ages};
use crate::module::{ComputationId, InstructionId, Module};

/// Operations that a GPU does in the time in which it moves a byte.
const OPERATIONS_PER_BYTE: f64 = 290.0;
/// Products whose sizes differ by more are not merged.
const MOST_RATIO: i64 = 20;
const LEAST_SAVING: f64 = 1e-5;
/// Source: `xla_gpu_dot_merger_threshold_mb`.
const MOST_BYTES: i64 = 64 << 20;

/// A dot as one that shares an operand.
#[derive(Debug, Clone)]
pub(super) struct Usage {
    pub(super) dot: InstructionId,
    /// Which operand is shared.
    pub(super) side: usize,
    pub(super) source: InstructionId,
    pub(super) at_source: Operand,
    pub(super) shared: Operand,
    pub(super) other_source: InstructionId,
    pub(super) other: Operand,
    /// Whether the elements of each category have the same order in the source and in the operand.
    pub(super) keeps_order: bool,
    free: i64,
    age: usize,
}

/// What is left to merge in a computation.
pub(super) struct Choice {
    classes: Classes,
    merged: FxHashSet<InstructionId>,
    /// Dots that are one now, each with the others.
    groups: FxHashMap<InstructionId, Vec<InstructionId>>,
}

impl Choice {
    pub(super) fn of(module: &Module, computation: ComputationId) -> Choice {
        let ages = ages(module, computation);
        let mut classes = Classes::new();
        for id in module.instructions(computation) {
            cancel::tick();
            let is_dot = module[id].opcode() == Opcode::Dot && !module[id].has_control_dependencies();
            if !is_dot || module[id].operands().iter().any(|&operand| is_widened(module, operand)) {
                continue;
            }
            let [Some(left), Some(right)] = [0, 1].map(|side| Operand::of(module, id, side)) else {
                continue;
            };
            let walk = |side: usize, operand: &Operand| walk(module, module.operand(id, side), operand);
            let (at_left, at_right) = (walk(0, &left), walk(1, &right));
            let sided: Sided<'_> = [(&left, at_left.0, at_left.2), (&right, at_right.0, at_right.2)];
            let sources = [at_left.1, at_right.1];
            for side in 0..2 {
                let (shared, source, keeps_order) = sided[side];
                let (other, other_source, _) = sided[1 - side];
                let at_source = sources[side].clone();
                let types = format!(
                    "{:?} {:?} {:?} {:?}",
                    module[module.operand(id, side)].shape().element(),
                    module[module.operand(id, 1 - side)].shape().element(),
                    module[id].shape().element(),
                    [AttributeKey::OperandPrecision, AttributeKey::Algorithm]
                        .map(|key| module[id].attributes().get(key)),
                );
                let age = ages.get(&source).copied().unwrap_or(0);
                let key = (age, at_source.without_units().categories, types);
                classes.entry(key).or_default().push(Usage {
                    dot: id,
                    side,
                    source,
                    at_source,
                    shared: shared.clone(),
                    other_source,
                    other: other.clone(),
                    keeps_order,
                    free: other.size(Category::Free),
                    age: ages.get(&id).copied().unwrap_or(0),
                });
            }
        }
        classes.retain(|_, usages| usages.len() > 1);
        for usages in classes.values_mut() {
            number(module, usages);
            usages.sort_by_key(|usage| (usage.free, usage.age));
        }
        Choice { classes, merged: FxHashSet::default(), groups: FxHashMap::default() }
    }

    /// The next dots to merge.
    pub(super) fn next_group(&mut self, module: &Module) -> Option<Vec<Usage>> {
        let mut group = self.classes.values().find_map(|usages| self.find(module, usages))?;
        group.sort_by_key(|usage| (std::cmp::Reverse((usage.free.trailing_zeros(), usage.free)), usage.age));
        let dots: Vec<InstructionId> = group.iter().map(|usage| usage.dot).collect();
        for &dot in &dots {
            self.merged.insert(dot);
            self.groups.insert(dot, dots.clone());
        }
        Some(group)
    }

    fn find(&self, module: &Module, usages: &[Usage]) -> Option<Vec<Usage>> {
        let left: Vec<&Usage> = usages.iter().filter(|usage| !self.merged.contains(&usage.dot)).collect();
        let first = left.first().filter(|_| left.len() > 1)?;
        let size = |category| first.shared.size(category);
        let (batch, free, contracting) =
            (size(Category::Batch), size(Category::Free), size(Category::Contracting));
        let bytes = |id: InstructionId| element_bytes(module[id].shape());
        let (shared, other) =
            (module.operand(first.dot, first.side), module.operand(first.dot, 1 - first.side));
        let shared_bytes = module[shared].dims().iter().product::<i64>() * bytes(shared);
        let bytes_per_column = batch * (contracting * bytes(other) + free * bytes(first.dot));
        let cost = 2.0 * batch as f64 * free as f64 * contracting as f64 / OPERATIONS_PER_BYTE
            + bytes_per_column as f64;
        for (i, seed) in left.iter().enumerate() {
            let mut group = vec![(*seed).clone()];
            let mut sum = seed.free;
            let most = sum.saturating_mul(MOST_RATIO);
            for next in &left[i + 1..] {
                if bytes_per_column.saturating_mul(sum) > MOST_BYTES || next.free > most {
                    break;
                }
                let is_connected = |member: &Usage| {
                    self.reaches(module, member.dot, next.dot) || self.reaches(module, next.dot, member.dot)
                };
                if group.iter().any(is_connected) {
                    continue;
                }
                let total = sum + next.free;
                let time = cost * total as f64 + (group.len() as f64 + 1.0) * shared_bytes as f64;
                if shared_bytes as f64 * group.len() as f64 / time <= LEAST_SAVING {
                    continue;
                }
                group.push((*next).clone());
                sum = total;
            }
            if group.len() > 1 {
                return Some(group);
            }
        }
        None
    }

    /// Whether one dot depends on another.
    fn reaches(&self, module: &Module, from: InstructionId, to: InstructionId) -> bool {
        let mut seen: FxHashSet<InstructionId> = FxHashSet::default();
        let mut open = vec![to];
        while let Some(id) = open.pop() {
            cancel::tick();
            if id == from {
                return true;
            }
            if !seen.insert(id) {
                continue;
            }
            open.extend(module[id].operands());
            open.extend(module[id].control_predecessors());
            open.extend(self.groups.get(&id).into_iter().flatten());
        }
        false
    }
}

/// Orders dots that were read from a text by the numbers of their names, where those differ in nothing else: XLA gives the numbers
/// when it creates them.
fn number(module: &Module, usages: &mut [Usage]) {
    let parts = |usage: &Usage| {
        let (stem, number) = module[usage.dot].name().rsplit_once('.')?;
        Some((stem.to_owned(), number.parse::<usize>().ok()?))
    };
    let Some(parts) = usages.iter().map(parts).collect::<Option<Vec<_>>>() else { return };
    if module.is_as_read() && parts.windows(2).all(|pair| pair[0].0 == pair[1].0) {
        usages.iter_mut().zip(parts).for_each(|(usage, (_, number))| usage.age = number);
    }
}

fn element_bytes(shape: &Shape) -> i64 {
    shape.element().and_then(|element| element.bits()).map_or(1, |bits| i64::from(bits.div_ceil(8)))
}

/// The source of an operand, its dimensions there, and whether each category's elements keep their order.
fn walk(module: &Module, operand: InstructionId, dims: &Operand) -> (InstructionId, Operand, bool) {
    let (mut id, mut at, mut keeps_order) = (operand, dims.clone(), true);
    while matches!(module[id].opcode(), Opcode::Transpose | Opcode::Reshape) {
        let Some(before) = at.before(module, id) else { break };
        if module[id].opcode() == Opcode::Transpose {
            let all = module[id].dimensions();
            let keeps = |category: Category| {
                let indices = at.indices(category).into_iter().filter(|&dim| at.dims[dim] != 1);
                indices.map(|dim| all[dim]).collect::<Vec<_>>().is_sorted()
            };
            keeps_order &= [Category::Batch, Category::Free, Category::Contracting].into_iter().all(keeps);
        }
        at = before;
        id = module.operand(id, 0);
    }
    (id, at, keeps_order)
}

/// Whether an operand was converted from numbers below a byte. Source: `HasSubByteUpcast`.
fn is_widened(module: &Module, mut id: InstructionId) -> bool {
    use Opcode::{Bitcast, Convert, Reshape, Transpose};
    while matches!(module[id].opcode(), Bitcast | Convert | Reshape | Transpose) {
        let source = module.operand(id, 0);
        let element = module[source].shape().element();
        let is_small = element.is_some_and(|element| {
            element != ir::ElementType::Pred && element.bits().is_some_and(|bits| bits < 8)
        });
        if module[id].opcode() == Convert && is_small {
            return true;
        }
        id = source;
    }
    false
}
