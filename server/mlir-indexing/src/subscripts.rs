//! Affine expressions over values, as in `affine.load %m[%i + 3 * symbol(%n), %j]`.

use std::ops::Range;

use indexing_map::Expr;
use mlir_ops::{AffineReader, OpText};

use crate::map_builder::MapBuilder;

impl MapBuilder<'_> {
    /// The expression in a range of tokens; `None` if it is not one.
    pub(crate) fn subscript(&mut self, text: &OpText<'_>, range: Range<usize>) -> Option<Expr> {
        // A lone value, the usual case.
        if range.len() == 1
            && let Some(operand) = text.operand_at(range.start)
        {
            return Some(self.index_value(&operand));
        }
        let written = text.text_of(range.clone());
        let mut operands: Vec<_> = range.filter_map(|at| text.operand_at(at)).collect();
        let mut reader = AffineReader::new(written);
        let found = reader.sum(&mut |name| {
            let at = operands.iter().position(|o| o.name == name)?;
            Some(self.index_value(&operands.swap_remove(at).clone()))
        });
        // A name may occur several times; each occurrence is an operand of its own.
        let found = found.ok()?;
        reader.end().is_ok().then_some(found)
    }

    /// The subscripts in the `nth` bracketed list of the op.
    pub(crate) fn subscripts(&mut self, text: &OpText<'_>, nth: usize) -> Option<Vec<Expr>> {
        let list = text.squares().into_iter().nth(nth)?;
        text.items(list).into_iter().map(|item| self.subscript(text, item)).collect()
    }
}
