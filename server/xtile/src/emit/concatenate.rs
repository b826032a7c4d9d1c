//! Concatenations: nested conditions on the offset of the tile, which lies in one operand.

use ir::AttributeKey;

use super::Emission;
use crate::Reason;
use crate::program::{Arithmetic, Kind, Predicate, Type, ValueId};
use crate::tiled::TiledId;

/// The maximum number of operands: each is one condition deeper.
const MAX_OPERANDS: usize = 64;

impl Emission<'_> {
    pub(super) fn concatenate(&mut self, id: TiledId) -> Result<ValueId, Reason> {
        let of = self.tiled_op(id).op;
        let op = self.analysis.fused.op(of);
        let dim =
            op.attributes.ints(AttributeKey::Dimensions).first().and_then(|&dim| usize::try_from(dim).ok());
        let offsets = self.offsets(id)?;
        let sizes = self.sizes(id)?;
        let strides = self.strides(id);
        let (Some(dim), Some(&offset)) = (dim, dim.and_then(|dim| offsets.get(dim))) else {
            return Err("a concatenation without its dimension".into());
        };
        let count = op.operand_shapes.len();
        if count > MAX_OPERANDS {
            return Err(format!("tiles of a concatenation of more than {MAX_OPERANDS} operands").into());
        }
        for (number, shape) in op.operand_shapes.iter().enumerate().take(count.saturating_sub(1)) {
            let size = shape.dims().get(dim).copied().unwrap_or(0);
            let stride = strides.get(dim).copied().unwrap_or(1);
            let reach = sizes[dim].saturating_mul(stride);
            if stride > 1 && sizes[dim] > 1 && size % reach != 0 {
                let why = format!(
                    "XLA takes a tile from the operand that has its first element, but a tile reaches over {reach} \
                     elements of dimension {dim}, and operand {number} has {size}"
                );
                self.doubt(of, why);
            }
            if size % sizes[dim] != 0 {
                let name = self
                    .analysis
                    .fused
                    .operands(of)
                    .get(number)
                    .map_or("?", |&op| self.analysis.fused.name(op));
                return Err(format!(
                    "Expected the tile size of the concatenation dimension of operand %{name} to divide the \
                     dimension size exactly, but got {size} % {} != 0",
                    sizes[dim]
                )
                .into());
            }
        }
        let element =
            crate::emit::checked_element(op.shape.element().ok_or("a concatenation of no arrays")?)?;
        let ty = Type::Tile(element, sizes);
        let (mut conditions, mut branches) = (Vec::new(), Vec::new());
        let mut end = 0i64;
        let mut value = None;
        for (number, region) in self.tiled_op(id).regions.iter().enumerate() {
            if number + 1 < count {
                end += op.operand_shapes[number].dims().get(dim).copied().unwrap_or(0);
                let limit = self.index(end);
                conditions.push(self.arithmetic(Arithmetic::Compare(Predicate::Less), offset, limit));
                self.open(Vec::new());
            }
            self.ops(&region.ops)?;
            let root = *region.roots.first().ok_or("an operand without a tile")?;
            let own = self.value(root)?;
            if number + 1 < count {
                let then = self.close(vec![own]);
                self.open(Vec::new());
                branches.push(then);
            } else {
                value = Some(own);
            }
        }
        let mut value = value.ok_or("a concatenation without operands")?;
        for (condition, then) in conditions.into_iter().zip(branches).rev() {
            let otherwise = self.close(vec![value]);
            value = self.push_with(Kind::If, vec![condition], vec![then, otherwise], ty.clone());
        }
        Ok(value)
    }
}
