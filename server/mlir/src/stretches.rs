//! Where the values of a text or of the body of a module are visible: up to the next function or module.
//!
//! Those are the places where pieces may start, and a piece does not see the values of the pieces above. Whether the text is
//! cut there or not, the names mean the same.

use crate::tree::{OpId, Parse};
use crate::words::{is_function_like, is_module_like, unquoted};

/// The functions and modules among the ops of texts and of bodies of modules.
///
/// Scopes of names have numbers: regions have their own, behind them come the parts of the text, and then what follows each
/// function or module in its scope.
pub(crate) struct Stretches {
    /// In the order of the text.
    units: Vec<OpId>,
    /// By scope, and in the order of the text: the scope, where a unit starts in it, and the scope behind that start.
    starts: Vec<(usize, u32, usize)>,
    first: usize,
}

impl Stretches {
    pub(crate) fn of(out: &Parse, text: &str) -> Stretches {
        let first = out.regions.len() + out.splits.len() + 1;
        let is_continued_module = |op| out.is_continued(op) && out.continued_function != Some(op);
        let holds_units =
            |op: OpId| is_continued_module(op) || is_module_like(unquoted(out.op(op).name.of(text)));
        let mut units = Vec::new();
        let mut starts = Vec::new();
        for (id, op) in out.ops.iter().enumerate() {
            let id = id as OpId;
            let name = unquoted(op.name.of(text));
            if !(out.is_continued(id) || is_function_like(name) || is_module_like(name)) {
                continue;
            }
            let region = op.block.map(|block| out.blocks[block as usize].region);
            if region.is_none_or(|region| holds_units(out.regions[region as usize].op)) {
                let scope = scope_of(out, region, op.span.start);
                starts.push((scope, op.span.start, first + units.len()));
                units.push(id);
            }
        }
        starts.sort_unstable();
        Stretches { units, starts, first }
    }

    /// How many scopes there are.
    pub(crate) fn count(&self) -> usize {
        self.first + self.units.len()
    }

    /// The scope that starts with an op, where it is such a function or module. `next`: how many of those are behind.
    pub(crate) fn starting_with(&self, op: OpId, next: &mut usize) -> Option<usize> {
        let scope = self.first + *next;
        (self.units.get(*next) == Some(&op)).then(|| {
            *next += 1;
            scope
        })
    }

    /// The scope of what is defined at an offset in a region, or in no region.
    pub(crate) fn at(&self, out: &Parse, region: Option<u32>, offset: u32) -> usize {
        let scope = scope_of(out, region, offset);
        // What a function itself is said to result in stands in front of it.
        let behind = self.starts.partition_point(|&(of, start, _)| (of, start) < (scope, offset));
        match self.starts[..behind].last() {
            Some(&(of, _, stretch)) if of == scope => stretch,
            _ => scope,
        }
    }
}

fn scope_of(out: &Parse, region: Option<u32>, offset: u32) -> usize {
    let part = || out.regions.len() + out.splits.partition_point(|&split| split <= offset);
    region.map_or_else(part, |region| region as usize)
}
