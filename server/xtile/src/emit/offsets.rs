//! Where a tile starts, as values.

use std::sync::Arc;

use indexing_map::{Expr, IndexingMap, Interval, RangeContext, Variable};

use super::Emission;
use crate::Reason;
use crate::program::{Arithmetic, Kind, Op, Type, ValueId};
use crate::schedule::Schedule;
use crate::tiled::TiledId;

impl Emission<'_> {
    /// The offsets of a tiled op's tile. Source: `EmitterContext::EvaluateTilingParameters`.
    pub(super) fn offsets(&mut self, id: TiledId) -> Result<Vec<ValueId>, Reason> {
        let exprs: Vec<Expr> = self.tiled_op(id).tile.iter().map(|dim| dim.offset.clone()).collect();
        let count = self.space.dimensions.len();
        let mut used = vec![false; count + self.space.offsets.len()];
        for expr in &exprs {
            expr.for_each_var(&mut |v| {
                if let Some(used) = used.get_mut(v as usize) {
                    *used = true;
                }
            });
        }
        // The number of the block, the number of its tile, the counters of loops, the runtime offsets.
        let mut operands = vec![self.block_number, self.tile_number];
        let mut symbols = Vec::new();
        let mut replaced: Vec<Option<Expr>> = self.schedule.tile_along.clone();
        replaced.resize(used.len(), None);
        let sequential = self.space.dimensions.iter().filter(|dim| dim.is_sequential).count();
        let parallel = count - sequential;
        for variable in (0..used.len()).filter(|&variable| used[variable]) {
            if replaced[variable].is_some() {
                continue;
            }
            let (value, upper, name) = match variable.checked_sub(count) {
                None => {
                    let (counter, steps) =
                        *(self.counters.get(&variable)).ok_or("a tile that is used outside of its loop")?;
                    (counter, steps - 1, format!("k_{}", variable as i64 - parallel as i64))
                }
                Some(offset) => (self.runtime_offset(offset)?, self.space.offsets[offset].upper, {
                    format!("rt_{variable}")
                }),
            };
            replaced[variable] = Some(Expr::var(operands.len()));
            operands.push(value);
            symbols.push((Variable::new(0, upper), name));
        }
        let Schedule { tile, tiles, blocks, tiles_per_block, .. } = self.schedule;
        let dims = vec![Variable::new(0, blocks - 1), Variable::new(0, tiles_per_block - 1)];
        let (symbols, names): (Vec<Variable>, Vec<String>) = symbols.into_iter().unzip();
        let mut map = IndexingMap::new(dims, symbols, Vec::new(), Vec::new());
        let names = ["pid", "tid"].into_iter().chain(names.iter().map(String::as_str));
        for (id, name) in names.enumerate() {
            map.rename(id, Some(name));
        }
        // Over the number of the tile among all, which has a smaller range than what it is computed from.
        let mut of_tile = map.variables().to_vec();
        of_tile[0] = Variable::new(0, tiles - 1);
        let mut applied = Vec::with_capacity(exprs.len());
        for expr in exprs {
            let offset = expr.substitute(&mut |v| replaced.get(v as usize).cloned().flatten());
            let range = (*tiles_per_block > 1).then(|| RangeContext::new(&of_tile, &[]).range(&offset));
            let offset = offset.substitute(&mut |v| (v == 0).then(|| tile.clone()));
            applied.push(self.apply(&map, &operands, offset, range));
        }
        Ok(applied)
    }

    /// One index; an operand or a constant needs no op.
    fn apply(
        &mut self,
        map: &IndexingMap,
        operands: &[ValueId],
        expr: Expr,
        range: Option<Interval>,
    ) -> ValueId {
        if let Some(value) = expr.as_const() {
            return self.index(value);
        }
        if let Some(&operand) = expr.as_var().and_then(|v| operands.get(v as usize)) {
            return operand;
        }
        let kind = Kind::Apply { map: Arc::new(map.with_results(vec![expr])), range };
        self.push(kind, operands.to_vec(), Type::Index)
    }

    /// Starts the loop over the tiles of a block, where it has several. Returns the bounds of the loop.
    /// Source: `EmitGeneric`.
    pub(super) fn open_tiles(&mut self) -> Option<Vec<ValueId>> {
        let Schedule { tiles, blocks, tiles_per_block, .. } = *self.schedule;
        if tiles_per_block == 1 {
            return None;
        }
        let (zero, one) = (self.index(0), self.index(1));
        let left = Expr::var(0) * -tiles_per_block + tiles;
        let mut map =
            IndexingMap::new(vec![Variable::new(0, blocks - 1)], Vec::new(), Vec::new(), Vec::new());
        map.rename(0, Some("pid"));
        let map = Arc::new(map.with_results(vec![left.min(tiles_per_block)]));
        let end = self.push(Kind::Apply { map, range: None }, vec![self.block_number], Type::Index);
        self.tile_number = self.new_value(Type::Index);
        self.open(vec![self.tile_number]);
        Some(vec![zero, end, one])
    }

    /// Ends the loop over the tiles of a block.
    pub(super) fn close_tiles(&mut self, bounds: Vec<ValueId>) {
        let body = self.close(Vec::new());
        let (results, origin) = (Vec::new(), self.origin);
        self.add(Op { kind: Kind::For, operands: bounds, results, blocks: vec![body], origin });
    }

    /// The start of a dynamic slice, clamped so that the slice is within the array. It is computed where the
    /// start is.
    fn runtime_offset(&mut self, offset: usize) -> Result<ValueId, Reason> {
        let tiled = *self.tiled.offsets.get(&offset).ok_or("a slice whose start is not computed")?;
        let start = self.value(tiled)?;
        let element = self.element(start).ok_or("a start that is no number")?;
        let upper = self.space.offsets[offset].upper;
        self.open(Vec::new());
        let scalar = self.push(Kind::ToElement, vec![start], Type::Scalar(element));
        let least = self.number(element, 0);
        let clamped = self.arithmetic(Arithmetic::Maximum, scalar, least);
        let most = self.number(element, upper);
        let clamped = self.arithmetic(Arithmetic::Minimum, clamped, most);
        let index = self.push(Kind::IndexCast, vec![clamped], Type::Index);
        let block = self.close(Vec::new());
        self.insert_after(start, block.ops);
        Ok(index)
    }

    /// Inserts ops after the one that computes `value`.
    fn insert_after(&mut self, value: ValueId, ops: Vec<Op>) {
        for block in self.open.iter_mut().rev() {
            if let Some(at) = block.ops.iter().rposition(|op| op.result() == Some(value)) {
                block.ops.splice(at + 1..at + 1, ops);
                return;
            }
        }
        if let Some(block) = self.open.last_mut() {
            block.ops.extend(ops);
        }
    }
}
