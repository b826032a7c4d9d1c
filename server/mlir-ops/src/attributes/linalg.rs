//! Structured ops of linalg.

use mlir::lists::{dictionary, split};
use mlir::{TokenKind, integer};

use crate::affine_expr::NoAffineText;
use crate::affine_map::AffineMap;
use crate::named_ops::NamedOp;
use crate::no_map::NoMap;
use crate::op_kind::Linalg;
use crate::op_text::OpText;
use crate::source::Operand;

/// `F(m, r)` of Winograd's convolution: `m` results per side of a tile, for a kernel of side `r`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WinogradTile {
    pub m: i64,
    pub r: i64,
}

/// The attribute that says how many operands each group has, current and older.
pub const OPERAND_SEGMENTS: [&str; 2] = ["operandSegmentSizes", "operand_segment_sizes"];

impl OpText<'_> {
    /// How many operands each group of the generic form has.
    pub(crate) fn operand_segments(&self) -> Option<Vec<i64>> {
        self.list(&OPERAND_SEGMENTS)
    }

    /// The inputs and outputs of a structured op: `ins(%a, %b : A, B) outs(%c : C)`.
    ///
    /// # Errors
    ///
    /// If it does not say which operands are which.
    pub fn ins_and_outs(&self) -> Result<(Vec<Operand>, Vec<Operand>), NoMap> {
        let read = || {
            if !self.is_generic() {
                let outs = self.operands_in(self.behind_word("outs").or_else(|| self.behind_word("init"))?);
                let ins = self.behind_word("ins").map_or_else(Vec::new, |list| self.operands_in(list));
                return Some((ins, outs));
            }
            let mut operands = self.operands();
            let [ins, outs] = self.operand_segments()?[..] else { return None };
            let (ins, outs) = (usize::try_from(ins).ok()?, usize::try_from(outs).ok()?);
            let outs = (ins.checked_add(outs)? == operands.len()).then(|| operands.split_off(ins))?;
            Some((operands, outs))
        };
        read().ok_or(NoMap::ListNotRead("operands"))
    }

    /// `indexing_maps = [#map, affine_map<…>]`, of the op or of the trait that it names.
    pub fn indexing_maps(&self) -> Option<Result<Vec<AffineMap>, NoAffineText>> {
        let at = self.start();
        let list = self.resolved("indexing_maps").or_else(|| {
            // `linalg.generic #trait ins(…)`
            let token = self.top().find(|&t| self.kind(t) == Some(TokenKind::AttributeName))?;
            let entries = dictionary(self.source.resolved(self.word(token), at));
            Some(entries.into_iter().find(|(key, _)| *key == "indexing_maps")?.1)
        })?;
        let parts = split(list.trim().strip_prefix('[')?.strip_suffix(']')?);
        Some(parts.into_iter().map(|part| AffineMap::parse(self.source.resolved(part, at))).collect())
    }

    /// The number of `iterator_types`, if they are written.
    pub fn iterator_count(&self) -> Option<usize> {
        Some(split(self.resolved("iterator_types")?.trim().strip_prefix('[')?.strip_suffix(']')?).len())
    }

    /// The maps of a product, a convolution or a pooling with this many operands.
    ///
    /// # Errors
    ///
    /// If it takes another number of operands.
    pub fn named_maps(&self, op: NamedOp, ins: usize, outs: usize) -> Result<Vec<AffineMap>, NoMap> {
        let [strides, dilations] =
            ["strides", "dilations"].map(|name| self.list(&[name]).unwrap_or_default());
        op.maps(&strides, &dilations, ins, outs)
    }

    /// The permutation of `linalg.transpose`, the added dimensions of `linalg.broadcast`, the reduced ones of
    /// `linalg.reduce`.
    ///
    /// # Errors
    ///
    /// If the list is missing, or has something else than dimensions.
    pub fn listed_dimensions(&self, op: Linalg) -> Result<Vec<usize>, NoMap> {
        self.dimensions(if op == Linalg::Transpose { "permutation" } else { "dimensions" }, usize::MAX)
    }

    /// The dimensions below `rank` in an attribute.
    pub(crate) fn dimensions(&self, name: &'static str, rank: usize) -> Result<Vec<usize>, NoMap> {
        dimensions(self.list(&[name]).ok_or(NoMap::ListNotRead(name))?, rank).ok_or(NoMap::NoDimensions(name))
    }

    /// `dimension(1)` of `linalg.softmax`.
    pub fn softmax_dimension(&self) -> Option<usize> {
        let custom = || self.text_of(self.behind_word("dimension")?).trim().parse().ok();
        custom().or_else(|| self.index("dimension"))
    }

    /// `fmr(F_4_3)`, or `m(4) r(3)`.
    pub fn winograd_tile(&self) -> Option<WinogradTile> {
        let behind = |word: &str| {
            let at = self.top().find(|&at| self.word(at) == word)?;
            Some(self.text_of(self.inside(at + 1)).trim())
        };
        let number = |name: &str| match behind(name) {
            Some(number) => number.parse().ok(),
            None => self.attribute(name).and_then(integer),
        };
        let numbers: Vec<i64> = match behind("fmr").or_else(|| self.attribute("fmr")) {
            Some(named) => {
                named.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect()
            }
            None => vec![number("m")?, number("r")?],
        };
        // `fmr = 0`, stored for a kernel of one element, gives no sizes.
        let [m, r] = numbers[..] else { return None };
        [m, r].iter().all(|n| (1..1 << 16).contains(n)).then_some(WinogradTile { m, r })
    }
}

/// The numbers as dimensions below `rank`; `None` if one is none.
pub(super) fn dimensions(list: Vec<i64>, rank: usize) -> Option<Vec<usize>> {
    list.into_iter().map(|d| usize::try_from(d).ok().filter(|&d| d < rank)).collect()
}
