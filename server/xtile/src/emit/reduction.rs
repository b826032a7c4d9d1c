//! Reductions: of one tile, or in a loop over tiles whose elements are combined first.

use std::sync::Arc;

use ir::{AttributeKey, Graph};

use super::Emission;
use crate::Reason;
use crate::program::{Kind, Type, ValueId};
use crate::tiled::TiledId;

impl Emission<'_> {
    pub(super) fn reduce(&mut self, id: TiledId) -> Result<ValueId, Reason> {
        let op = self.hlo(id);
        let &[input, init] = &self.tiled_op(id).operands[..] else {
            let count = op.operand_shapes.len();
            return Err(format!("Only reduce with two operands is supported. Got {count} operands.").into());
        };
        let dims: Vec<usize> = (op.attributes.ints(AttributeKey::Dimensions).iter())
            .filter_map(|&dim| usize::try_from(dim).ok())
            .collect();
        let callee = op.attributes.computation(AttributeKey::ToApply).and_then(self.callees);
        let callee = callee.ok_or("a reduction by an unknown computation")?;
        let extents: Vec<i64> = op.operand_shapes.first().map_or(&[][..], |shape| shape.dims()).to_vec();
        match self.tiled_op(id).regions.is_empty() {
            true => self.reduce_whole(input, init, &dims, &extents, &callee),
            false => self.reduce_in_loop(id, input, init, &dims, &callee),
        }
    }

    fn reduce_whole(
        &mut self,
        input: TiledId,
        init: TiledId,
        dims: &[usize],
        extents: &[i64],
        callee: &Arc<Graph>,
    ) -> Result<ValueId, Reason> {
        let (mut value, init) = (self.value(input)?, self.value(init)?);
        let sizes = self.sizes_of(value);
        let mut bounds = sizes.clone();
        // XLA masks the first reduced dimension alone.
        if let Some(&dim) = dims.first()
            && let (Some(bound), Some(&extent)) = (bounds.get_mut(dim), extents.get(dim))
        {
            *bound = extent;
        }
        let neutral = self.scalar_of(init)?;
        if bounds != sizes {
            let ty = self.values[value as usize].clone();
            value = self.push(Kind::Mask { bounds }, vec![value, neutral], ty);
        }
        self.reduced(value, init, dims, callee)
    }

    fn reduce_in_loop(
        &mut self,
        id: TiledId,
        input: TiledId,
        init: TiledId,
        dims: &[usize],
        callee: &Arc<Graph>,
    ) -> Result<ValueId, Reason> {
        let init = self.value(init)?;
        let neutral = self.scalar_of(init)?;
        let sizes = self.sizes(input)?;
        let mut carried = self.splat(neutral, sizes);
        let op = self.tiled_op(id).op;
        let own: Vec<usize> = (0..self.space.dimensions.len())
            .filter(|&dim| self.space.dimensions[dim].is_sequential && self.space.dimensions[dim].op == op)
            .collect();
        let steps: Vec<i64> = own.iter().map(|&dim| self.space.dimensions[dim].tiles()).collect();
        let bounds: Vec<[ValueId; 3]> =
            steps.iter().map(|&steps| [self.index(0), self.index(steps), self.index(1)]).collect();
        let ty = self.values[carried as usize].clone();
        let mut loops = Vec::new();
        for (&dim, (&steps, bounds)) in own.iter().zip(steps.iter().zip(bounds)) {
            let counter = self.new_value(Type::Index);
            let inside = self.new_value(ty.clone());
            loops.push((bounds, carried));
            self.open(vec![counter, inside]);
            self.counters.insert(dim, (counter, steps));
            carried = inside;
        }
        for region in &self.tiled_op(id).regions {
            self.ops(&region.ops)?;
        }
        let mut value = self.value(input)?;
        for (&dim, &number) in dims.iter().zip(&own) {
            let (counter, _) = self.counters[&number];
            let step = self.cast(counter, syntax::hlo::ElementType::S32);
            value = self.masked(input, value, step, dim, neutral)?;
        }
        let mut result = self.combined(callee, &[carried, value])?;
        for (bounds, init) in loops.into_iter().rev() {
            let body = self.close(vec![result]);
            let operands = bounds.into_iter().chain([init]).collect();
            result = self.push_with(Kind::For, operands, vec![body], ty.clone());
        }
        self.reduced(result, init, dims, callee)
    }

    fn reduced(
        &mut self,
        value: ValueId,
        init: ValueId,
        dims: &[usize],
        callee: &Arc<Graph>,
    ) -> Result<ValueId, Reason> {
        let element = self.element(value).ok_or("a reduction of something that is no tile")?;
        let sizes = self.sizes_of(value).into_iter().enumerate();
        let kept = sizes.filter(|(dim, _)| !dims.contains(dim)).map(|(_, size)| size).collect();
        let combiner = self.combiner(element, callee)?;
        let kind = Kind::Reduce { dims: dims.to_vec() };
        Ok(self.push_with(kind, vec![value, init], vec![combiner], Type::Tile(element, kept)))
    }

    fn scalar_of(&mut self, value: ValueId) -> Result<ValueId, Reason> {
        let element = self.element(value).ok_or("an initial value that is no number")?;
        Ok(self.push(Kind::ToElement, vec![value], Type::Scalar(element)))
    }
}
