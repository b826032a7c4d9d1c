//! Stretches: the parts of a text or module body in which its values are visible, each up to the next
//! function or module.
//!
//! A piece may start at each of those functions and modules, and does not see values of the pieces above.
//! Ending visibility there gives names the same meaning whether or not the text is cut.

use crate::tree::{OpId, Parse};
use crate::words::{is_function_like, is_module_like, unquoted};

/// The functions and modules at the top level and directly in module bodies.
///
/// Scopes of names are numbered: first the regions, by id, then the independent parts of the text, then the
/// stretch after each function or module.
pub(crate) struct Stretches {
    /// In text order.
    units: Vec<OpId>,
    /// Sorted by scope and offset: the scope, the start of a unit in it, and the scope after that start.
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

    /// The number of scopes.
    pub(crate) fn count(&self) -> usize {
        self.first + self.units.len()
    }

    /// The scope that starts with an op, if it is one of the units. `next` counts the units seen so far.
    pub(crate) fn starting_with(&self, op: OpId, next: &mut usize) -> Option<usize> {
        let scope = self.first + *next;
        (self.units.get(*next) == Some(&op)).then(|| {
            *next += 1;
            scope
        })
    }

    /// The scope of a definition at an offset in a region, or in no region.
    pub(crate) fn at(&self, out: &Parse, region: Option<u32>, offset: u32) -> usize {
        let scope = scope_of(out, region, offset);
        // The first result of a unit has the unit's offset and belongs to the scope before it.
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
