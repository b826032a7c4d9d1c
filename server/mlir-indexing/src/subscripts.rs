//! Affine expressions over values, as in `affine.load %m[%i + 3 * symbol(%n), %j]`.

use std::ops::Range;

use indexing_map::Expr;

use crate::affine_expr::Reader;
use crate::map_builder::MapBuilder;
use crate::op_text::OpText;

impl MapBuilder<'_> {
    /// The expression between two tokens; nothing where it is none.
    pub(crate) fn subscript(&mut self, text: &OpText<'_>, range: Range<usize>) -> Option<Expr> {
        // A value alone, as most are.
        if range.len() == 1
            && let Some(operand) = text.operand_at(range.start)
        {
            return Some(self.index_value(&operand));
        }
        let written = text.text_of(range.clone());
        let mut operands: Vec<_> = range.filter_map(|at| text.operand_at(at)).collect();
        let mut reader = Reader::new(written);
        let found = reader.sum(&mut |name| {
            let at = operands.iter().position(|o| o.name == name)?;
            Some(self.index_value(&operands.swap_remove(at).clone()))
        });
        // One name may stand in several places: each is an operand of its own.
        let found = found.ok()?;
        reader.end().is_ok().then_some(found)
    }

    /// The subscripts in the list that stands in the `nth` brackets of the op.
    pub(crate) fn subscripts(&mut self, text: &OpText<'_>, nth: usize) -> Option<Vec<Expr>> {
        let list = text.squares().into_iter().nth(nth)?;
        text.items(list).into_iter().map(|item| self.subscript(text, item)).collect()
    }
}
