//! Dots: a loop over the contracted dimension that adds the dot of two tiles.
//! Source: `EmitDot`, `codegen/xtile/codegen/dot_algorithms.cc`.

use ir::{AttributeKey, ElementTypeExt, Op};
use syntax::hlo::ElementType;

use super::packed::packed_dimension;
use super::{Emission, checked_element, is_integer};
use crate::Reason;
use crate::program::{Arithmetic, Cast, DotDims, Kind, Predicate, Type, ValueId};
use crate::space::result_rank;
use crate::tiled::TiledId;

const ONE_DIMENSION: &str = "Expected exactly one loop iteration count for dot";

impl Emission<'_> {
    pub(super) fn dot(&mut self, id: TiledId) -> Result<ValueId, Reason> {
        let op = self.hlo(id);
        let dims = DotDims::of(op);
        let [Some(left), Some(right)] = [0, 1].map(|at| op.operand_shapes.get(at).and_then(|s| s.element()))
        else {
            return Err("a dot of something that is no array".into());
        };
        let result = checked_element(op.shape.element().ok_or("a dot that is no array")?)?;
        let algorithm = Algorithm::of(dims.algorithm.as_deref(), [left, right], result)?;
        let sum = self.dot_loop(id, algorithm.sum, true, |emission, lhs, rhs, carried| {
            let &[left_tile, right_tile] = &emission.tiled_op(id).operands[..] else {
                return Err("a dot without its operands".into());
            };
            let step = carried.step;
            let mut operands = Vec::new();
            for (tile, value, element, dim) in [
                (left_tile, lhs, left, dims.contracted[0].first()),
                (right_tile, rhs, right, dims.contracted[1].first()),
            ] {
                let dim = dim.and_then(|&dim| usize::try_from(dim).ok()).ok_or(ONE_DIMENSION)?;
                let zero = emission.number(element, 0);
                operands.push(emission.masked(tile, value, step, dim, zero)?);
            }
            if let Some(operand) = algorithm.operand {
                for value in &mut operands {
                    *value = emission.cast(*value, operand);
                }
            }
            let ty = emission.values[carried.sum as usize].clone();
            Ok(emission.push(Kind::Dot(dims.clone()), operands, ty))
        })?;
        Ok(self.cast(sum, result))
    }

    pub(super) fn scaled_dot(&mut self, id: TiledId) -> Result<ValueId, Reason> {
        let op = self.hlo(id);
        let dims = DotDims::of(op);
        let elements = [0, 1].map(|at| op.operand_shapes.get(at).and_then(|shape| shape.element()));
        let [Some(left), Some(right)] = elements else {
            return Err("a dot of something that is no array".into());
        };
        let result = checked_element(op.shape.element().ok_or("a dot that is no array")?)?;
        let is_scaled =
            |element| matches!(element, ElementType::F4e2m1fn | ElementType::F8e4m3fn | ElementType::F8e5m2);
        let sum = self.dot_loop(id, ElementType::F32, false, |emission, lhs, rhs, carried| {
            let &[_, _, left_scale, right_scale] = &emission.tiled_op(id).operands[..] else {
                return Err("a scaled dot without its scales".into());
            };
            let mut operands = vec![lhs, rhs];
            for (number, (tile, element)) in
                [(left_scale, left), (right_scale, right)].into_iter().enumerate()
            {
                if !is_scaled(element) {
                    continue;
                }
                let mut scale = emission.value(tile)?;
                let sizes = emission.sizes_of(scale);
                if emission.element(scale) == Some(ElementType::F8e8m0fnu) {
                    let ty = Type::Tile(ElementType::S8, sizes.clone());
                    scale = emission.push(Kind::Cast(Cast::Bits), vec![scale], ty);
                }
                if number == 1 {
                    let rank = sizes.len();
                    if rank < 2 {
                        return Err("RHS scale must be at least rank 2 for scaled dot.".into());
                    }
                    let mut permutation: Vec<usize> = (0..rank).collect();
                    permutation.swap(rank - 2, rank - 1);
                    let element = emission.element(scale).unwrap_or(ElementType::S8);
                    let ty = Type::Tile(element, gpu::permuted(&sizes, &permutation));
                    scale = emission.push(Kind::Transpose { permutation }, vec![scale], ty);
                }
                operands.push(scale);
            }
            let is_packed_along_k = [0, 1].map(|operand| {
                let dim = op.operand_shapes.get(operand).and_then(packed_dimension);
                dim.is_none_or(|dim| dims.contracted[operand].first() == Some(&(dim as i64)))
            });
            let kind = Kind::ScaledDot {
                dims: dims.clone(),
                is_packed_along_k,
                has_scales: [is_scaled(left), is_scaled(right)],
                elements: [left, right],
            };
            let ty = emission.values[carried.sum as usize].clone();
            Ok(emission.push(kind, operands, ty))
        })?;
        Ok(self.cast(sum, result))
    }

    /// The loop over the contracted dimension. `body` gives the dot of one step.
    fn dot_loop(
        &mut self,
        id: TiledId,
        sum: ElementType,
        masks: bool,
        body: impl FnOnce(&mut Self, ValueId, ValueId, Carried) -> Result<ValueId, Reason>,
    ) -> Result<ValueId, Reason> {
        let of = self.tiled_op(id).op;
        let op = self.analysis.fused.op(of);
        if op.attributes.ints(AttributeKey::LhsContractingDims).len() != 1 {
            return Err(ONE_DIMENSION.into());
        }
        let dimension = self.space.dimension(of, result_rank(op)).ok_or(ONE_DIMENSION)?;
        let steps = self.space.dimensions[dimension].tiles();
        let sizes = self.sizes(id)?;
        let ty = Type::Tile(sum, sizes.clone());
        let start = self.filled(sum, 0, sizes);
        let bounds = [self.index(0), self.index(steps), self.index(1)];
        let (counter, carried) = (self.new_value(Type::Index), self.new_value(ty.clone()));
        self.open(vec![counter, carried]);
        // Masks compare the number of the step.
        let step = if masks { self.cast(counter, ElementType::S32) } else { counter };
        self.counters.insert(dimension, (counter, steps));
        for region in &self.tiled_op(id).regions {
            self.ops(&region.ops)?;
        }
        let operand = |emission: &Self, at: usize| {
            let id = emission.tiled_op(id).operands.get(at).ok_or("a dot without its operands")?;
            emission.value(*id)
        };
        let (lhs, rhs) = (operand(self, 0)?, operand(self, 1)?);
        let partial = body(self, lhs, rhs, Carried { sum: carried, step })?;
        let next = self.arithmetic(Arithmetic::Add, carried, partial);
        let block = self.close(vec![next]);
        let operands = bounds.into_iter().chain([start]).collect();
        Ok(self.push_with(Kind::For, operands, vec![block], ty))
    }

    /// Replaces the elements beyond the end of a dimension, in the last step alone. Source: `MaskOperand`.
    pub(super) fn masked(
        &mut self,
        tile: TiledId,
        value: ValueId,
        step: ValueId,
        dim: usize,
        neutral: ValueId,
    ) -> Result<ValueId, Reason> {
        let int = ElementType::S32;
        let of = self.tiled_op(tile).op;
        let extent = self.analysis.fused.op(of).shape.dims().get(dim).copied();
        let sizes = self.sizes_of(value);
        let (Some(extent), Some(&size)) = (extent, sizes.get(dim)) else {
            return Err("a contracted dimension that the operand lacks".into());
        };
        if size == 0 || extent % size == 0 {
            return Ok(value);
        }
        let ty = self.values[value as usize].clone();
        let tile_size = self.number(int, size);
        let extent_value = self.number(int, extent);
        let whole = self.arithmetic(Arithmetic::Divide, extent_value, tile_size);
        let is_last = self.arithmetic(Arithmetic::Compare(Predicate::AtLeast), step, whole);
        self.open(Vec::new());
        let offset = self.arithmetic(Arithmetic::Multiply, step, tile_size);
        let range = self.iota_of(size);
        let offset = self.splat(offset, vec![size]);
        let indices = self.arithmetic(Arithmetic::Add, range, offset);
        let end = self.filled(int, extent, vec![size]);
        let mask = self.arithmetic(Arithmetic::Compare(Predicate::Less), indices, end);
        let mask = self.broadcast_to(mask, sizes.clone(), vec![dim]);
        let neutral = self.splat(neutral, sizes);
        let chosen = self.push(Kind::Select, vec![mask, value, neutral], ty.clone());
        let masked = self.close(vec![chosen]);
        self.open(Vec::new());
        let plain = self.close(vec![value]);
        Ok(self.push_with(Kind::If, vec![is_last], vec![masked, plain], ty))
    }
}

/// The values of one step of a dot's loop.
struct Carried {
    /// The sum so far.
    sum: ValueId,
    /// The number of the step.
    step: ValueId,
}

/// The types that a dot computes in.
struct Algorithm {
    /// The type to which operands are converted; `None` if they are taken as they are.
    operand: Option<ElementType>,
    sum: ElementType,
}

impl Algorithm {
    /// By the name of the algorithm, or by the operands. Source: `service/algorithm_util.cc`.
    fn of(name: Option<&str>, operands: [ElementType; 2], result: ElementType) -> Result<Algorithm, Reason> {
        use ElementType::*;
        let Some(name) = name else {
            let is_f8 = |element: &ElementType| element.name().starts_with("f8");
            let sum = match operands {
                _ if operands.iter().all(is_f8) => F32,
                [S8 | U8, S8 | U8] if matches!(result, S32 | U32) => S32,
                [F64, _] if result == F64 => F64,
                _ => F32,
            };
            return Ok(Algorithm { operand: (operands == [F32, F32]).then_some(F32), sum });
        };
        let (operand, sum) = match name {
            "dot_f16_f16_f16" => (Some(F16), F16),
            "dot_f16_f16_f32" => (Some(F16), F32),
            "dot_f32_f32_f32"
            | "dot_tf32_tf32_f32"
            | "dot_tf32_tf32_f32_x3"
            | "dot_bf16_bf16_f32_x3"
            | "dot_bf16_bf16_f32_x6"
            | "dot_bf16_bf16_f32_x9" => (Some(F32), F32),
            "dot_f64_f64_f64" => (Some(F64), F64),
            "dot_bf16_bf16_bf16" => (Some(Bf16), Bf16),
            "dot_bf16_bf16_f32" => (Some(Bf16), F32),
            "dot_any_f8_any_f8_f32" | "dot_any_f8_any_f8_f32_fast_accum" => {
                let [left, right] = operands;
                if left != right || left.bits() != Some(8) || is_integer(left) {
                    return Err(
                        "Expected dot operands to both have the same type, and for this type to be one \
                                of the 8-bit floating-point types"
                            .into(),
                    );
                }
                (None, F32)
            }
            other => return Err(format!("GetDotAccumulatorType: unsupported algorithm {other}").into()),
        };
        Ok(Algorithm { operand, sum })
    }
}

impl DotDims {
    fn of(op: &Op) -> DotDims {
        use AttributeKey::*;
        let list = |key| op.attributes.ints(key).to_vec();
        let text = op.attributes.text(OperandPrecision).unwrap_or_default();
        let mut words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let mut next = || match words.next() {
            Some("high") => "HIGH",
            Some("highest") => "HIGHEST",
            _ => "DEFAULT",
        };
        DotDims {
            batch: [list(LhsBatchDims), list(RhsBatchDims)],
            contracted: [list(LhsContractingDims), list(RhsContractingDims)],
            precision: [next(), next()],
            // XLA drops the algorithm of nine products.
            algorithm: (op.attributes.text(Algorithm).map(str::to_owned))
                .filter(|name| !matches!(&name[..], "dot_unset" | "dot_bf16_bf16_f32_x9")),
        }
    }
}
