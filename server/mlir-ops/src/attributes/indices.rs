//! Ops that compute indices: digits and their bases, extents, maps.

use std::ops::Range;
use std::rc::Rc;

use mlir::{TokenKind, integer};

use crate::affine_map::AffineMap;
use crate::map_use::{WrittenMap, map_use};
use crate::no_map::NoMap;
use crate::op_kind::OpKind;
use crate::op_text::{Mixed, OpText};
use crate::source::Operand;

impl OpText<'_> {
    /// The list of the basis in the custom form: `into (3, %n)`, `by (3, %n)`.
    pub fn basis_list(&self) -> Option<Range<usize>> {
        self.behind_word(if self.op == OpKind::Linearize { "by" } else { "into" })
    }

    /// The number and the basis of `affine.delinearize_index %i into (3, %n)`.
    pub fn delinearized(&self) -> Option<(Operand, Vec<Mixed>)> {
        match self.is_generic() {
            true => {
                let basis = self.generic_mixed(1, &["static_basis"])?.pop()?;
                Some((self.operands().into_iter().next()?, basis))
            }
            false => Some((self.operand_at(0)?, self.mixed(self.basis_list()?)?)),
        }
    }

    /// The digits and the basis of `affine.linearize_index [%a, %b] by (3, %n)`.
    pub fn linearized(&self) -> Option<(Vec<Mixed>, Vec<Mixed>)> {
        if !self.is_generic() {
            let digits = self.squares().into_iter().next()?;
            return Some((self.mixed(digits)?, self.mixed(self.basis_list()?)?));
        }
        // The dynamic entries of the basis are the last operands.
        let is_dynamic = |n: &&i64| **n == i64::MIN;
        let dynamic = self.list(&["static_basis"])?.iter().filter(is_dynamic).count();
        let mut operands = self.operands();
        operands.truncate(operands.len().checked_sub(dynamic)?);
        let basis = self.generic_mixed(operands.len(), &["static_basis"])?.pop()?;
        Some((operands.into_iter().map(Mixed::Dynamic).collect(), basis))
    }

    /// The map that the op applies to its operands, whatever its form.
    pub fn applied_map(&self) -> Option<Rc<WrittenMap>> {
        match self.attribute("map") {
            Some(map) if self.is_generic() => self.source.written_map(map, self.start()).ok(),
            _ => Some(map_use(self, 0)?.ok()?.map),
        }
    }

    /// The map of the subscripts of an access in the generic form, if it has one.
    ///
    /// # Errors
    ///
    /// If it is no affine map.
    pub fn subscript_map(&self) -> Result<Option<AffineMap>, NoMap> {
        Ok(self.resolved("map").map(AffineMap::parse).transpose()?)
    }

    /// The number of the dimension whose extent `stablehlo.get_dimension_size` returns.
    pub fn extent_dimension(&self) -> Option<usize> {
        let written = self.attribute("dimension").or_else(|| self.attribute("dim"));
        usize::try_from(written.and_then(integer)?).ok()
    }

    /// The number of the loop that `linalg.index` counts.
    pub fn loop_number(&self) -> Option<usize> {
        let is_written = self.kind(0) == Some(TokenKind::Number);
        let written = is_written.then(|| self.word(0).parse().ok()).flatten();
        written.or_else(|| self.index("dim"))
    }
}
