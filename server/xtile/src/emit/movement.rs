//! Ops that move elements of tiles, and ops that make tiles.

use codegen::Constant;
use ir::{AttributeKey, ElementTypeExt, Opcode};
use syntax::hlo::ElementType;

use super::{Emission, checked_element};
use crate::Reason;
use crate::bitcast::{Bitcast, permutation_of};
use crate::program::{Arithmetic, Kind, Predicate, Type, ValueId};
use crate::tiled::TiledId;

impl Emission<'_> {
    pub(super) fn constant(&mut self, id: TiledId) -> Result<ValueId, Reason> {
        let of = self.tiled_op(id).op;
        let op = self.analysis.fused.op(of);
        let array = op.shape.as_array().ok_or("a constant that is no array")?;
        if array.dims.iter().any(|&size| size != 1) {
            return Err(format!("Unsupported non-scalar constant {}", self.instruction(of)).into());
        }
        let element = checked_element(array.element)?;
        let text = op.literal.as_deref().unwrap_or_default();
        let constant =
            Constant::parse(element, text).ok_or_else(|| format!("{text} is no {}", element.name()))?;
        let sizes = self.sizes(id)?;
        Ok(self.constant_of(constant, Type::Tile(element, sizes)))
    }

    pub(super) fn broadcast(&mut self, id: TiledId, operand: ValueId) -> Result<ValueId, Reason> {
        let sizes = self.sizes(id)?;
        if sizes.is_empty() && self.values[operand as usize].sizes().is_empty() {
            return Ok(operand);
        }
        let op = self.hlo(id);
        let dims = op.attributes.ints(AttributeKey::Dimensions);
        let dims = dims.iter().filter_map(|&dim| usize::try_from(dim).ok()).collect();
        Ok(self.broadcast_to(operand, sizes, dims))
    }

    pub(super) fn reshape(&mut self, operand: ValueId, sizes: Vec<i64>) -> Result<ValueId, Reason> {
        let from = self.sizes_of(operand);
        let count = |sizes: &[i64]| sizes.iter().try_fold(1i64, |n, &size| n.checked_mul(size));
        if count(&from) != count(&sizes) {
            let text = |sizes: &[i64]| sizes.iter().map(i64::to_string).collect::<Vec<_>>().join("x");
            return Err(format!(
                "Reshape input and output shapes must be the same, got {} -> {}",
                text(&from),
                text(&sizes)
            )
            .into());
        }
        let element = self.element(operand).ok_or("a reshape of something that is no tile")?;
        Ok(self.push(Kind::Reshape, vec![operand], Type::Tile(element, sizes)))
    }

    pub(super) fn transpose(&mut self, id: TiledId, operand: ValueId) -> Result<ValueId, Reason> {
        let op = self.hlo(id);
        let sizes = self.sizes(id)?;
        let permutation = permutation_of(op.attributes.ints(AttributeKey::Dimensions), sizes.len())?;
        self.permute(operand, permutation)
    }

    fn permute(&mut self, operand: ValueId, permutation: Vec<usize>) -> Result<ValueId, Reason> {
        let element = self.element(operand).ok_or("a transpose of something that is no tile")?;
        let sizes = gpu::permuted(&self.sizes_of(operand), &permutation);
        Ok(self.push(Kind::Transpose { permutation }, vec![operand], Type::Tile(element, sizes)))
    }

    /// Source: `EmitBitcast`.
    pub(super) fn bitcast(&mut self, id: TiledId, operand: ValueId) -> Result<ValueId, Reason> {
        let op = self.hlo(id);
        let from = op.operand_shapes.first().ok_or("a bitcast without an operand")?;
        let (Some(a), Some(b)) = (from.element(), op.shape.element()) else {
            return Err("a bitcast of something that is no array".into());
        };
        let mut value = operand;
        if a != b {
            if a.bits() != b.bits() {
                return Err(
                    "Bitcast with different bitwidth for operand and output shape element type is not \
                            yet supported."
                        .into(),
                );
            }
            let ty = Type::Tile(checked_element(b)?, self.sizes_of(value));
            value = self.push(Kind::Bitcast, vec![value], ty);
        }
        let sizes = self.stored_sizes(id)?;
        match Bitcast::of(from, &op.shape)? {
            Bitcast::Transpose(permutation) => self.permute(value, permutation),
            Bitcast::Reshape { .. } => self.reshape(value, sizes),
            Bitcast::TransposeReshapeTranspose { first, from, to, second } => {
                if !is_identity(&first) {
                    value = self.permute(value, first)?;
                }
                if from != to {
                    let mut between = vec![1; sizes.len()];
                    for (&place, &size) in second.iter().zip(&sizes) {
                        between[place] = size;
                    }
                    value = self.reshape(value, between)?;
                }
                if is_identity(&second) { Ok(value) } else { self.permute(value, second) }
            }
        }
    }

    pub(super) fn iota(&mut self, id: TiledId) -> Result<ValueId, Reason> {
        let op = self.hlo(id);
        let sizes = self.sizes(id)?;
        let dim = op.attributes.int(AttributeKey::IotaDimension).and_then(|dim| usize::try_from(dim).ok());
        let dim = dim.filter(|&dim| dim < sizes.len()).ok_or("an iota without its dimension")?;
        let element = checked_element(op.shape.element().ok_or("an iota that is no array")?)?;
        let stride = crate::tile::static_strides(&self.tiled_op(id).tile)
            .ok_or("strides that depend on the block")?[dim];
        let offset = self.offsets(id)?[dim];
        let steps = self.iota_of(sizes[dim]);
        let stride = self.number(ElementType::S32, stride);
        let stride = self.splat(stride, vec![sizes[dim]]);
        let range = self.arithmetic(Arithmetic::Multiply, steps, stride);
        let offset = self.cast(offset, ElementType::S32);
        let offset = self.splat(offset, vec![sizes[dim]]);
        let range = self.arithmetic(Arithmetic::Add, range, offset);
        let range = self.cast(range, element);
        Ok(self.broadcast_to(range, sizes, vec![dim]))
    }

    /// Selects the padding value where the operand has no element.
    pub(super) fn pad(&mut self, id: TiledId, operands: &[ValueId]) -> Result<ValueId, Reason> {
        let op = self.hlo(id);
        let &[operand, padding] = operands else { return Err("a pad without its operands".into()) };
        let sizes = self.sizes(id)?;
        let offsets = self.offsets(id)?;
        let from = op.operand_shapes.first().map_or(&[][..], |shape| shape.dims());
        let strides = self.strides(id);
        let mut mask: Option<ValueId> = None;
        for (dim, &[low, high, interior]) in op.attributes.triples(AttributeKey::Padding).iter().enumerate() {
            if low != 0 {
                return Err(format!("Low padding is not supported but got edge_padding_low: {low}").into());
            }
            if interior != 0 {
                let why = format!("Interior padding is not supported but got interior_padding: {interior}");
                return Err(why.into());
            }
            let (Some(&size), Some(&tile), Some(&offset)) = (from.get(dim), sizes.get(dim), offsets.get(dim))
            else {
                return Err("a pad of another rank than its operand".into());
            };
            if let Some(why) = wrong_mask(dim, high, size, tile, strides.get(dim).copied().unwrap_or(1)) {
                self.doubt(self.tiled_op(id).op, why);
            }
            if size == tile {
                continue;
            }
            let steps = self.iota_of(tile);
            let index = self.broadcast_to(steps, sizes.clone(), vec![dim]);
            let offset = self.cast(offset, ElementType::S32);
            let size = self.number(ElementType::S32, size);
            let left = self.arithmetic(Arithmetic::Subtract, size, offset);
            let left = self.splat(left, sizes.clone());
            let inside = self.arithmetic(Arithmetic::Compare(Predicate::Less), index, left);
            mask = Some(match mask {
                None => inside,
                Some(mask) => {
                    let ty = Type::Tile(ElementType::Pred, sizes.clone());
                    self.push(Kind::Elementwise(Opcode::And), vec![mask, inside], ty)
                }
            });
        }
        let Some(mask) = mask else { return Ok(operand) };
        let padding = self.splat(padding, sizes);
        let ty = self.values[operand as usize].clone();
        Ok(self.push(Kind::Select, vec![mask, operand, padding], ty))
    }
}

/// Why XLA's mask along a padded dimension is wrong: none where it is right.
fn wrong_mask(dim: usize, high: i64, size: i64, tile: i64, stride: i64) -> Option<String> {
    if high <= 0 {
        return None;
    }
    if size == tile {
        return Some(format!(
            "XLA writes no mask along dimension {dim}, as the operand and a tile both have {size} elements there: \
             tiles behind the operand do not get the padding value"
        ));
    }
    (stride != 1 && tile > 1).then(|| {
        format!(
            "XLA's mask along dimension {dim} counts the elements of a tile as neighbours, but they are {stride} apart: \
             some padding is taken for the operand, or some of the operand for padding"
        )
    })
}

fn is_identity(permutation: &[usize]) -> bool {
    permutation.iter().copied().eq(0..permutation.len())
}
