//! Maps from a value through its producers to arguments.

use indexing_map::IndexingMap;
use mlir::{Definition, OpId, Parse, ValueId};
use rustc_hash::FxHashMap;

use crate::access::{Access, Role, Space};

/// The largest number of ops followed for one query.
const MAX_OPS: usize = 256;
/// The largest number of maps in a result, and of maps to one intermediate value.
const MAX_MAPS: usize = 64;
/// The largest number of compositions for one query.
const MAX_COMPOSITIONS: usize = 1000;

/// The indirect accesses of a value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Producers {
    pub accesses: Vec<FarAccess>,
    /// A limit was reached: the list is incomplete.
    pub is_cut: bool,
}

/// An access through several ops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FarAccess {
    pub access: Access,
    /// The number of ops on the way, including the first.
    pub through: usize,
}

/// Returns the maps of one result of an op; `None` if it has none.
pub type MapsOf<'a> = dyn Fn(OpId, usize) -> Option<(Space, Vec<Access>)> + 'a;

/// Maps the elements of a result of `op` to those of block and function arguments, and of values computed by
/// ops without maps; with a `target`, only to that value. Without one, direct operands of the op are left
/// out.
///
/// `reads_nothing` is asked of ops without maps: a constant is no argument. The work is bounded: some hundred ops, each value by
/// a bounded number of maps.
pub fn through_producers(
    parse: &Parse,
    maps_of: &MapsOf<'_>,
    reads_nothing: &dyn Fn(OpId) -> bool,
    op: OpId,
    result: usize,
    target: Option<ValueId>,
) -> Producers {
    let mut found = Producers { accesses: Vec::new(), is_cut: false };
    let mut seen: FxHashMap<(ValueId, u32), Vec<IndexingMap>> = FxHashMap::default();
    let Some((Space::Result(_), first)) = maps_of(op, result) else { return found };
    let mut open: std::collections::VecDeque<FarAccess> = first
        .into_iter()
        .filter(|a| a.role == Role::Read && a.map.is_mapped())
        .map(|access| FarAccess { access, through: 1 })
        .collect();
    let (mut looked_at, mut composed) = (1, 0);
    let is_constant = |value| producer(parse, value).is_some_and(|(op, _)| reads_nothing(op));
    while let Some(far) = open.pop_front() {
        let Some(value) = far.access.value else { continue };
        let maps = seen.entry(value).or_default();
        if maps.contains(&far.access.map) {
            continue;
        }
        if maps.len() >= MAX_MAPS {
            found.is_cut = true;
            continue;
        }
        maps.push(far.access.map.clone());
        let is_target = target == Some(value.0);
        let deeper = if is_target || looked_at >= MAX_OPS {
            found.is_cut |= !is_target && producer(parse, value).is_some();
            None
        } else {
            producer(parse, value).and_then(|(op, result)| {
                looked_at += 1;
                match maps_of(op, result) {
                    Some((Space::Result(_), accesses)) => Some(accesses),
                    _ => None,
                }
            })
        };
        match deeper {
            Some(accesses) => {
                for inner in accesses.iter().filter(|a| a.role == Role::Read) {
                    if inner.map.is_known_empty() {
                        continue;
                    }
                    composed += 1;
                    if composed > MAX_COMPOSITIONS {
                        found.is_cut = true;
                        break;
                    }
                    match far.access.compose(inner) {
                        Some(access) if access.map.is_known_empty() => {}
                        Some(access) => open.push_back(FarAccess { access, through: far.through + 1 }),
                        None => found.is_cut = true,
                    }
                }
            }
            None if is_target || target.is_none() && far.through > 1 && !is_constant(value) => {
                match found.accesses.len() < MAX_MAPS {
                    true => found.accesses.push(far),
                    false => found.is_cut = true,
                }
            }
            None => {}
        }
    }
    found
}

/// The op that computes a value, and the number of the result.
fn producer(parse: &Parse, (value, index): (ValueId, u32)) -> Option<(OpId, usize)> {
    let Definition::Result(op) = parse.values.get(value as usize)?.definition else { return None };
    let before: u32 =
        parse.op(op).results.clone().take_while(|&v| v < value).map(|v| parse.values[v as usize].count).sum();
    Some((op, (before + index) as usize))
}
