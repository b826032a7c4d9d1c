//! Ops whose elements come from one of several sources: pad, concatenate, dynamic-update-slice.

use indexing_map::{Constraint, Expr, Interval, Variable};
use ir::{AttributeKey, Op, OpId};

use crate::Reason;
use crate::emit::elemental::{Elements, MapArguments, element};
use crate::kernel::{Condition, OpKind, ValueId};

impl<'a> Elements<'a> {
    /// One of two values.
    pub(super) fn either(
        &mut self,
        conditions: Vec<Constraint>,
        op: &Op,
        then: impl FnOnce(&mut Self) -> Result<ValueId, Reason>,
        otherwise: impl FnOnce(&mut Self) -> Result<ValueId, Reason>,
    ) -> Result<ValueId, Reason> {
        if conditions.is_empty() {
            return then(self);
        }
        self.enter(Vec::new());
        let value = then(self)?;
        let then = self.leave(vec![value]);
        self.enter(Vec::new());
        let value = otherwise(self)?;
        let otherwise = self.leave(vec![value]);
        let kind = OpKind::If { condition: Condition::Within(conditions), then, otherwise };
        Ok(self.body.compute_as(kind, element(op)))
    }

    /// The operand if the index is inside it, else the padding value.
    pub(super) fn padded(&mut self, id: OpId, op: &'a Op, at: &[Expr]) -> Result<ValueId, Reason> {
        let accesses = self.indexing(id);
        let map = accesses.first().and_then(|list| list.first()).map(|access| access.map.clone());
        let map = map.ok_or("nothing is known of its operand")?;
        let &[operand, padding] = self.operands(id) else { return Err("it takes two operands".into()) };
        if map.is_known_empty() {
            return Ok(self.value(padding, &[]));
        }
        let place = MapArguments { at, ranges: &[], runtime: &[] };
        let conditions = self.conditions(&map, &place);
        let index: Vec<Expr> = map.results().iter().map(|e| place.of(&map, e)).collect();
        self.either(conditions, op, |e| Ok(e.value(operand, &index)), |e| Ok(e.value(padding, &[])))
    }

    /// A binary tree of comparisons that find the operand along the dimension.
    pub(super) fn concatenated(&mut self, id: OpId, op: &'a Op, at: &[Expr]) -> Result<ValueId, Reason> {
        let dim = op.attributes.ints(AttributeKey::Dimensions).first().copied().unwrap_or(0) as usize;
        let index = at.get(dim).cloned().ok_or("its dimension is none of the shape")?;
        let mut starts = Vec::new();
        let mut start = 0i64;
        for shape in &op.operand_shapes {
            let size = *shape.dims().get(dim).ok_or("an operand lacks the dimension")?;
            if size > 0 {
                starts.push((start, starts.len()));
            }
            start = start.checked_add(size).ok_or("its size is beyond 64 bits")?;
        }
        let kept: Vec<OpId> = self
            .operands(id)
            .iter()
            .zip(&op.operand_shapes)
            .filter(|(_, shape)| shape.dims()[dim] > 0)
            .map(|(&operand, _)| operand)
            .collect();
        let starts: Vec<i64> = starts.into_iter().map(|(start, _)| start).collect();
        self.one_of(op, &kept, &starts, dim, &index, at)
    }

    fn one_of(
        &mut self,
        op: &'a Op,
        operands: &[OpId],
        starts: &[i64],
        dim: usize,
        index: &Expr,
        at: &[Expr],
    ) -> Result<ValueId, Reason> {
        match operands {
            [] => Err("it has no element".into()),
            [only] => {
                let mut inside = at.to_vec();
                inside[dim] = index.clone() + -starts[0];
                Ok(self.value(*only, &inside))
            }
            _ => {
                let half = operands.len() / 2;
                let middle = starts[half];
                let below =
                    Constraint { expr: index.clone(), interval: Interval::new(starts[0], middle - 1) };
                let (left, right) = (&operands[..half], &operands[half..]);
                self.either(
                    vec![below],
                    op,
                    |e| e.one_of(op, left, &starts[..half], dim, index, at),
                    |e| e.one_of(op, right, &starts[half..], dim, index, at),
                )
            }
        }
    }

    /// The update if the index is inside it, else the operand.
    pub(super) fn updated(&mut self, id: OpId, op: &'a Op, at: &[Expr]) -> Result<ValueId, Reason> {
        let operands = self.operands(id);
        let [operand, update, indices @ ..] = operands else { return Err("it lacks operands".into()) };
        let sizes = op.shape.dims();
        let updates = op.operand_shapes.get(1).map(|shape| shape.dims()).unwrap_or_default();
        if indices.len() != sizes.len() || updates.len() != sizes.len() {
            return Err("it does not have an index for each dimension".into());
        }
        let mut conditions = Vec::new();
        let mut inside = Vec::new();
        for (dim, &start) in indices.iter().enumerate() {
            let value = self.value(start, &[]);
            let start = self.clamped(value, Variable::new(0, (sizes[dim] - updates[dim]).max(0)));
            let offset = self.body.simplify(&(at[dim].clone() + start * -1));
            conditions.push(Constraint { expr: offset.clone(), interval: Interval::from_size(updates[dim]) });
            inside.push(offset);
        }
        let conditions = self.body.open_constraints(conditions);
        self.either(conditions, op, |e| Ok(e.value(*update, &inside)), |e| Ok(e.value(*operand, at)))
    }
}
