//! Counts that are known: the kernels of a file, and the stages of a compile, have many accesses in common.

use std::sync::{LazyLock, Mutex, PoisonError};

use indexing_map::IndexingMap;
use rustc_hash::FxHashMap;

use super::traffic::{Access, Traffic};

/// The largest number of accesses whose counts are kept. With more, all are forgotten; one takes some kilobytes.
const MOST: usize = 4096;

/// What decides the counts of an access. Names and the order of constraints do not.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    map: IndexingMap,
    gathered_at: Vec<IndexingMap>,
    element_bits: i64,
    at_once: Option<i64>,
    beside: Vec<i64>,
    grid: [i64; 3],
    block: [i64; 3],
    threads_per_warp: i64,
    budget: u64,
}

impl Key {
    fn of(access: &Access<'_>, budget: u64) -> Key {
        let &Access { map, gathered_at, element_bits, at_once, beside, grid, block, threads_per_warp } =
            access;
        Key {
            map: map.clone(),
            gathered_at: gathered_at.to_vec(),
            element_bits,
            at_once,
            beside: beside.to_vec(),
            grid,
            block,
            threads_per_warp,
            budget,
        }
    }
}

/// Owned by the process. Nothing makes an entry invalid, because the counts follow from the key.
static KNOWN: LazyLock<Mutex<FxHashMap<Key, Option<Traffic>>>> = LazyLock::new(Mutex::default);

/// The counts of an access: those that are known, or what `count` returns.
pub(super) fn known(
    access: &Access<'_>,
    budget: u64,
    count: impl FnOnce() -> Option<Traffic>,
) -> Option<Traffic> {
    let key = Key::of(access, budget);
    let lock = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(&found) = lock().get(&key) {
        return found;
    }
    // Without the lock: it takes long, and may be cancelled.
    let counted = count();
    let mut known = lock();
    if known.len() >= MOST {
        known.clear();
    }
    known.insert(key, counted);
    counted
}
