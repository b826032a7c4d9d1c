//! The layouts that the users of a tile ask for. A tile of fewer elements than threads is cheap to read: Triton reads it in
//! the layouts of its users rather than exchanging it between threads.
//! Source: `lib/Dialect/TritonGPU/Transforms/RemoveLayoutConversions.cpp` of Triton.

use gpu::{CodeAccessKind, Device};
use rustc_hash::FxHashMap;
use syntax::hlo::ElementType;

use super::layout::Layout;
use super::tiles::TileAccess;
use crate::program::{Block, Kind, Op, Program, Triton, ValueId};

/// The most layouts in which one tile is read.
const MOST_LAYOUTS: usize = 4;

/// Whether each thread would hold an element of its own, so that the tile keeps its coalesced layout.
fn is_expensive(layout: &Layout, warps: i64) -> bool {
    let count = layout.sizes.iter().fold(1i64, |count, &size| count.saturating_mul(size));
    count > 1 && count >= 32 * warps
}

/// The layouts in which each access reads or writes its tile, of the coalesced ones.
pub(super) fn chosen(
    program: &Program,
    accesses: &[TileAccess],
    coalesced: Vec<Layout>,
    device: &Device,
    warps: i64,
) -> Vec<Vec<Layout>> {
    let is_cheap = |(access, layout): (&TileAccess, &Layout)| {
        access.kind == CodeAccessKind::Read && !is_expensive(layout, warps)
    };
    if !accesses.iter().zip(&coalesced).any(is_cheap) {
        return coalesced.into_iter().map(|layout| vec![layout]).collect();
    }
    let mut values =
        Values { program, device, warps, fixed: FxHashMap::default(), asked: FxHashMap::default() };
    let mut stores: FxHashMap<ValueId, Layout> = FxHashMap::default();
    for (access, layout) in accesses.iter().zip(&coalesced) {
        let sizes = values.sizes(access.value).to_vec();
        let several: Vec<usize> = (0..sizes.len()).filter(|&dim| sizes[dim] > 1).collect();
        let layout = layout.spread(&several, &sizes);
        match access.kind {
            CodeAccessKind::Read if is_cheap((access, &layout)) || access.is_packed => {}
            CodeAccessKind::Read => _ = values.fixed.insert(access.value, layout),
            _ => _ = stores.insert(access.value, layout),
        }
    }
    values.fix(&program.body);
    let mut ops = Vec::new();
    flatten(&program.body, &mut ops);
    for op in ops.into_iter().rev() {
        values.ask(op, &stores);
    }
    let layouts = |(access, layout): (&TileAccess, Layout)| {
        let asked = values.asked.get(&access.value).filter(|_| is_cheap((access, &layout)));
        let asked: Vec<Layout> = asked.into_iter().flatten().map(Layout::squeezed).collect();
        if asked.is_empty() { vec![layout] } else { asked }
    };
    accesses.iter().zip(coalesced).map(layouts).collect()
}

/// All ops, each before those of its blocks.
fn flatten<'p>(block: &'p Block, ops: &mut Vec<&'p Op>) {
    for op in &block.ops {
        ops.push(op);
        op.blocks.iter().for_each(|inner| flatten(inner, ops));
    }
}

struct Values<'p> {
    program: &'p Program,
    device: &'p Device,
    warps: i64,
    /// Layouts that follow from those of expensive reads and of dots.
    fixed: FxHashMap<ValueId, Layout>,
    /// Layouts that users ask for, of values without a fixed one.
    asked: FxHashMap<ValueId, Vec<Layout>>,
}

impl Values<'_> {
    fn sizes(&self, value: ValueId) -> &[i64] {
        self.program.values.get(value as usize).map_or(&[][..], |ty| ty.sizes())
    }

    /// Fixes the layouts of values from their operands, in order.
    fn fix(&mut self, block: &Block) {
        for op in &block.ops {
            cancel::tick();
            let Some(result) = op.result() else { continue };
            if matches!(op.kind, Kind::For | Kind::If) {
                op.blocks.iter().for_each(|inner| self.fix(inner));
                let yielded = op.blocks.iter().flat_map(|inner| inner.yields.first());
                if let Some(layout) = yielded.filter_map(|value| self.fixed.get(value)).next().cloned() {
                    self.fixed.insert(result, layout);
                }
                continue;
            }
            if let Some(layout) = self.of_result(op, result) {
                self.fixed.insert(result, layout);
            }
        }
    }

    fn of_result(&self, op: &Op, result: ValueId) -> Option<Layout> {
        let fixed = |at: usize| self.fixed.get(op.operands.get(at)?);
        match &op.kind {
            Kind::Triton(Triton::Dot { .. } | Triton::ScaledDot { .. }) => self.of_dot(op, result),
            Kind::Triton(Triton::Transpose { order }) => Some(fixed(0)?.transposed(order)),
            Kind::Triton(Triton::Reshape) => Some(fixed(0)?.reshaped(self.sizes(result))),
            Kind::Triton(Triton::Reduce { axis }) => Some(fixed(0)?.without(*axis)),
            Kind::Triton(Triton::Scan { .. }) => fixed(0).cloned(),
            _ if is_elementwise(&op.kind) => {
                let alike = op.operands.iter().filter(|&&value| self.sizes(value) == self.sizes(result));
                let known: Vec<&Layout> = alike.filter_map(|value| self.fixed.get(value)).collect();
                known.iter().find(|layout| layout.is_of_dot).or(known.first()).map(|layout| (*layout).clone())
            }
            _ => None,
        }
    }

    /// `None` where the result of a dot is elsewhere than in registers.
    fn of_dot(&self, op: &Op, result: ValueId) -> Option<Layout> {
        let &[rows, columns] = self.sizes(result) else { return None };
        let element = self.program.values.get(*op.operands.first()? as usize)?.element()?;
        let is_of_warp_groups = self.device.is_hopper()
            && self.warps % 4 == 0
            && rows % 64 == 0
            && columns % 8 == 0
            && element != ElementType::F64;
        (!self.device.is_blackwell_or_later())
            .then(|| Layout::of_dot([rows, columns], self.warps, is_of_warp_groups))
    }

    /// Asks for the operands of an op in the layouts of its result, or for what it writes in that of the array.
    fn ask(&mut self, op: &Op, stores: &FxHashMap<ValueId, Layout>) {
        let wanted: Vec<Layout> = match op.result() {
            None => op.operands.first().and_then(|value| stores.get(value)).cloned().into_iter().collect(),
            Some(result) => match self.fixed.get(&result) {
                Some(layout) => vec![layout.clone()],
                None => self.asked.get(&result).cloned().unwrap_or_default(),
            },
        };
        for layout in wanted {
            for &operand in &op.operands {
                if self.fixed.contains_key(&operand) || self.sizes(operand).is_empty() {
                    continue;
                }
                let Some(layout) = self.of_operand(op, operand, &layout) else { continue };
                let asked = self.asked.entry(operand).or_default();
                if asked.len() < MOST_LAYOUTS && !asked.contains(&layout) {
                    asked.push(layout);
                }
            }
        }
    }

    /// The layout of an operand of an op whose result has this layout; `None` if it is exchanged between threads.
    fn of_operand(&self, op: &Op, operand: ValueId, layout: &Layout) -> Option<Layout> {
        let sizes = self.sizes(operand);
        match &op.kind {
            Kind::Insert { .. } => (op.operands.first() == Some(&operand)).then(|| layout.clone()),
            Kind::Triton(Triton::ExpandDims { axis }) => Some(layout.without(*axis)),
            Kind::Triton(Triton::Broadcast) => Some(layout.before_broadcast(sizes)),
            Kind::Triton(Triton::Scan { .. }) => Some(layout.clone()),
            Kind::Triton(Triton::Reshape) => Some(layout.reshaped(sizes)),
            Kind::Triton(Triton::Transpose { order }) => {
                let back: Option<Vec<usize>> =
                    (0..order.len()).map(|dim| order.iter().position(|&from| from == dim)).collect();
                Some(layout.transposed(&back?))
            }
            kind if is_elementwise(kind) && sizes == layout.sizes => Some(layout.clone()),
            _ => None,
        }
    }
}

/// Whether each element of the result depends on the elements at the same place of the operands.
fn is_elementwise(kind: &Kind) -> bool {
    match kind {
        Kind::Elementwise(_)
        | Kind::Arithmetic(_)
        | Kind::Compare(_)
        | Kind::Convert
        | Kind::Cast(_)
        | Kind::Math(_)
        | Kind::IndexCast
        | Kind::Bitcast
        | Kind::Unsigned
        | Kind::Select
        | Kind::Mask { .. } => true,
        Kind::Triton(triton) => {
            matches!(triton, Triton::Bitcast | Triton::Extern { .. } | Triton::FloatToFloat { .. })
        }
        _ => false,
    }
}
