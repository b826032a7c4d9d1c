//! Ranges of block and thread ids in `gpu.launch`, and in kernels that state their sizes.
//!
//! Source: mlir.llvm.org/docs/Dialects/GPU, gpu.launch and gpu.func.

use indexing_map::{Expr, Interval};
use mlir::{Definition, OpId, TokenKind};
use mlir_ops::{HardwareId, OpKind, OpText, Operand, known_size};

use crate::access::SymbolSource;
use crate::map_builder::{MapBuilder, result_operand};

/// The largest number of regions between an op and the enclosing launch.
const MAX_DEPTH: usize = 64;

/// A value that a launch introduces for one dimension.
struct Launched {
    /// The number of blocks or threads.
    size: Operand,
    /// Whether the value is that number itself, not a block or thread id.
    is_size: bool,
}

impl MapBuilder<'_> {
    /// The value of a name bound by a `gpu.launch`: a block or thread id, or their number.
    pub(crate) fn launched(&mut self, operand: &Operand) -> Option<Expr> {
        let (value, _) = operand.key()?;
        let parse = self.source.parse;
        let found = parse.values.get(value as usize)?;
        let is_launch = |op: OpId| self.source.op(op) == OpKind::GpuLaunch;
        let launched = match found.definition {
            Definition::Binder(op) if is_launch(op) => {
                let text = OpText::new(self.source, op)?;
                let at = text.tokens.iter().position(|t| t.span.start == found.name.start)?;
                named(&text, at)?
            }
            Definition::BlockArgument(block) => {
                let block = parse.blocks.get(block as usize)?;
                let op = parse.regions.get(block.region as usize)?.op;
                let nth = (value - block.arguments.start) as usize;
                // Block ids, thread ids, grid sizes, block sizes.
                let is_plain = is_launch(op) && block.arguments.len() == 12;
                let text = OpText::new(self.source, op).filter(|_| is_plain)?;
                Launched { size: text.launch_sizes()?.into_iter().nth(nth % 6)?, is_size: nth >= 6 }
            }
            _ => return None,
        };
        let size = self.index_value(&launched.size);
        match launched.is_size {
            true => Some(size),
            false => self.below_size(operand, size),
        }
    }

    /// A number in `[0, size)`.
    fn below_size(&mut self, operand: &Operand, size: Expr) -> Option<Expr> {
        let most = self.range_of(&size).upper;
        // An empty launch gives no bounds.
        if most < 1 {
            return None;
        }
        let upper = if most == i64::MAX { most } else { most - 1 };
        let source = SymbolSource::Value { value: operand.key(), name: operand.name.clone() };
        let number = self.symbol(source, Interval::new(0, upper));
        if size.as_const().is_none() {
            self.constrain(number.clone() - size, Interval::new(i64::MIN, -1));
        }
        Some(number)
    }

    /// `gpu.thread_id x` and the like, if the enclosing launch or kernel states the size.
    pub(crate) fn launch_id(&mut self, text: &OpText<'_>, id: HardwareId, nth: usize) -> Option<Expr> {
        let (is_thread, is_size) = match id {
            HardwareId::Thread => (true, false),
            HardwareId::BlockSize => (true, true),
            HardwareId::Block => (false, false),
            HardwareId::GridSize => (false, true),
            _ => return None,
        };
        let axis = text.axis()?;
        let parse = self.source.parse;
        let around = std::iter::successors(parse.parent(text.id), |&id| parse.parent(id));
        let size = around.take(MAX_DEPTH).find_map(|id| match self.source.op(id) {
            OpKind::GpuLaunch => {
                let launch = OpText::new(self.source, id)?;
                let size = launch.launch_sizes()?.into_iter().nth(axis + if is_thread { 3 } else { 0 })?;
                Some(self.index_value(&size))
            }
            OpKind::GpuFunction => known_size(self.source, id, is_thread, axis).map(Expr::Const),
            _ => None,
        })?;
        match is_size {
            true => Some(size),
            false => self.below_size(&result_operand(text, nth), size),
        }
    }
}

/// `blocks(%bx, …) in (%gx = %n, …) threads(…) in (…)`: the meaning of the name at a token.
fn named(text: &OpText<'_>, at: usize) -> Option<Launched> {
    let open = text
        .top()
        .find(|&open| text.kind(open) == Some(TokenKind::OpenParen) && text.inside(open).contains(&at))?;
    let items = text.items(text.inside(open));
    let nth = items.iter().position(|item| item.contains(&at))?;
    let is_size = open > 0 && text.word(open - 1) == "in";
    let behind = text.behind(open);
    let list = match is_size {
        true => open,
        false if text.word(behind) == "in" => behind + 1,
        false => return None,
    };
    Some(Launched { size: text.launch_size(list, nth)?, is_size })
}
