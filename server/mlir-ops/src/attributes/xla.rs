//! Ops of XLA's emitters and of einsums.
//!
//! Source: `xla/codegen/emitters/ir/xla_ops.td`, `xla/codegen/xtile/ir/xtile_ops.td`,
//! `xla/backends/gpu/codegen/triton/ir/triton_xla_ops.td`.

use mlir::{ArrayType, TokenKind, field, integers};

use super::linalg::dimensions;
use crate::map_use::{MapUse, map_use};
use crate::no_map::NoMap;
use crate::op_text::OpText;
use crate::source::Operand;

/// `xtile.scan`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scan {
    /// The number of arrays; the other operands are carries.
    pub inputs: usize,
    pub dimension: usize,
    pub is_reverse: bool,
    /// The extent of the scanned dimension, which a tile may exceed.
    pub size: Option<i64>,
}

/// An operand of `xtile.dot_scaled`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScaledOperand {
    pub operand: Operand,
    pub scale: Option<Operand>,
    /// Batch and contracted dimensions, where the op states them.
    pub dimensions: Option<[Vec<usize>; 2]>,
    /// Elements of 4 bits.
    pub is_f4: bool,
    /// Whether packed numbers are neighbours along the contracted dimension.
    pub is_packed_along_k: bool,
}

impl OpText<'_> {
    /// The buffer in `from %p as memref<512x128xbf16, #xtile.layout<[1, 0]>>` or `into %p as memref<…>`.
    ///
    /// # Errors
    ///
    /// If it is missing, or its type is no array.
    pub fn pointed_to(&self) -> Result<(Operand, ArrayType), NoMap> {
        let at =
            self.top().find(|&at| self.word(at) == "as").ok_or(NoMap::NotRead("the type of its buffer"))?;
        let buffer = at.checked_sub(1).and_then(|at| self.operand_at(at));
        let buffer = buffer.ok_or(NoMap::NotRead("its pointer"))?;
        let end = self.behind(at + 2).min(self.tokens.len());
        let ty = self.source.array(self.text_of(at + 1..end), self.start())?;
        Ok((buffer, ty))
    }

    /// The map of `xla.loop (…) in #map` or `xla_gpu.insert … at #map`, behind that word.
    ///
    /// # Errors
    ///
    /// If it is missing or invalid.
    pub fn map_behind(&self, word: &str) -> Result<MapUse, NoMap> {
        let at = self.top().find(|&at| self.word(at) == word).ok_or(NoMap::NotRead("its map"))? + 1;
        Ok(map_use(self, at).ok_or(NoMap::NotRead("its map"))??)
    }

    /// The dimensions that `xla_gpu.reduce` reduces.
    ///
    /// # Errors
    ///
    /// If they are missing.
    pub fn reduced_dimensions(&self) -> Result<Vec<i64>, NoMap> {
        self.list(&["dimensions"]).ok_or(NoMap::ListNotRead("dimensions"))
    }

    /// `bounds [3, 6]` of `xtile.mask`, one per dimension.
    ///
    /// # Errors
    ///
    /// If they are missing.
    pub fn mask_bounds(&self, rank: usize) -> Result<Vec<i64>, NoMap> {
        const NAME: &str = "bounds";
        let custom = || self.integers_in(self.behind_word(NAME)?);
        let bounds = self.list(&[NAME]).or_else(custom).filter(|b| b.len() == rank);
        bounds.ok_or(NoMap::ListNotRead(NAME))
    }

    /// `axis = 1 : i32` of `triton_xla.squeeze_dims`.
    ///
    /// # Errors
    ///
    /// If it is no dimension of the operand.
    pub fn squeezed_axis(&self, rank: usize) -> Result<usize, NoMap> {
        self.index("axis").filter(|&axis| axis < rank).ok_or(NoMap::NotRead("its axis"))
    }

    /// `(%a) inits(%c) dimension = 2` of `xtile.scan`.
    ///
    /// # Errors
    ///
    /// If the inputs or the dimension are missing.
    pub fn scan(&self) -> Result<Scan, NoMap> {
        let first = || self.top().find(|&at| self.kind(at) == Some(TokenKind::OpenParen));
        let inputs = match self.is_generic() {
            true => self.operand_segments().and_then(|s| usize::try_from(*s.first()?).ok()),
            false => first().map(|at| self.operands_in(self.inside(at)).len()),
        };
        let inputs = inputs.filter(|&n| (1..=self.operands().len()).contains(&n));
        let inputs = inputs.ok_or(NoMap::ListNotRead("inputs"))?;
        let rank = self.array_of(&self.operand(0)?)?.rank();
        let dimension = self.int(&["dimension"]).and_then(|dim| usize::try_from(dim).ok());
        let dimension = dimension.filter(|&dim| dim < rank);
        Ok(Scan {
            inputs,
            dimension: dimension.ok_or(NoMap::NotRead("its dimension"))?,
            is_reverse: self.has("is_reverse") || self.int(&["is_reverse"]) == Some(1),
            size: self.int(&["scan_dim_size"]),
        })
    }

    /// Operand 0 or 1 of `%a scale %sa, %b scale %sb`.
    ///
    /// # Errors
    ///
    /// If it is missing, or the dimension numbers are.
    pub fn scaled_operand(&self, nth: usize) -> Result<ScaledOperand, NoMap> {
        let dimensions = match self.resolved("dot_dimension_numbers") {
            Some(numbers) => Some([
                self.dot_dimensions(numbers, "batching_dims", nth)?,
                self.dot_dimensions(numbers, "contracting_dims", nth)?,
            ]),
            None => None,
        };
        let missing = || NoMap::ListNotRead("operands");
        let (operand, scale) = match self.is_generic() {
            true => {
                let sizes = self.operand_segments().ok_or_else(missing)?;
                let size = |&size: &i64| usize::try_from(size).ok();
                let before = sizes.iter().take(2 + nth).try_fold(0usize, |n, s| n.checked_add(size(s)?));
                let before = before.ok_or_else(missing)?;
                let is_scaled = sizes.get(2 + nth) == Some(&1);
                (self.operand(nth)?, is_scaled.then(|| self.operand(before)).transpose()?)
            }
            false => {
                let is_end =
                    |&t: &usize| matches!(self.kind(t), Some(TokenKind::OpenBrace | TokenKind::Colon));
                let end = self.top().find(is_end).unwrap_or(self.tokens.len());
                let item = self.items(0..end).into_iter().nth(nth).ok_or_else(missing)?;
                let mut operands = self.operands_in(item).into_iter();
                (operands.next().ok_or_else(missing)?, operands.next())
            }
        };
        let side = ["lhs", "rhs"][nth.min(1)];
        let element = self.attribute(&format!("{side}_elem_type")).unwrap_or_default();
        let along_k = self.attribute(&format!("{side}_k_pack"));
        Ok(ScaledOperand {
            operand,
            scale,
            dimensions,
            is_f4: element.starts_with("f4"),
            is_packed_along_k: along_k.is_none_or(|value| value.trim() != "false"),
        })
    }

    /// The side of `batching_dims = [0] x [0]`, or of a field of `#stablehlo.dot<…>`.
    fn dot_dimensions(&self, numbers: &str, name: &'static str, nth: usize) -> Result<Vec<usize>, NoMap> {
        let as_dims = |list: &str| dimensions(integers(list.trim())?, usize::MAX);
        let list = match self.attribute(name) {
            Some(written) => written.split_once('x').and_then(|(left, right)| {
                let lists = [as_dims(left)?, as_dims(right)?];
                lists.into_iter().nth(nth)
            }),
            None => {
                let side = |side| field(numbers, &format!("{side}_{name}").replace("_dims", "_dimensions"));
                let lists = ["lhs", "rhs"].map(|of| side(of).map_or(Some(Vec::new()), as_dims));
                lists.iter().all(Option::is_some).then(|| lists.into_iter().nth(nth)).flatten().flatten()
            }
        };
        list.ok_or(NoMap::ListNotRead(name))
    }

    /// `ab,bc->ac`, which names the dimensions of an einsum.
    ///
    /// # Errors
    ///
    /// If it is missing.
    pub fn einsum_config(&self) -> Result<&str, NoMap> {
        let config = self.attribute("einsum_config").or_else(|| self.attribute("config"));
        Ok(config.ok_or(NoMap::NotRead("its einsum_config"))?.trim().trim_matches('"'))
    }
}
