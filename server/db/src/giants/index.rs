//! The instructions of computations that are cut into blocks, by name, and what an edit changes of it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ir::{ComputationIndex, NameTable, SegmentRef};
use syntax::hlo::InstructionId;

use super::{Giants, ShownNames};

/// An instruction of a giant computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Definition {
    pub piece: u32,
    pub instruction: InstructionId,
}

/// Every instruction of the computations that are cut into blocks, by name.
///
/// Owner: the memo of [`giant_index`](super::giant_index). Invalidated when a name in such a computation changes, not by shapes;
/// made of the index before, if the blocks are the same. Size: 12 bytes per instruction; the names stay with their pieces.
#[derive(Debug, Clone)]
pub struct GiantIndex {
    giants: Arc<Giants>,
    /// Per piece.
    names: Vec<Arc<ShownNames>>,
    /// Parallel to `giants`.
    tables: Vec<Table>,
    /// No other index has this number.
    version: u64,
    /// The last changes, the newest at the end.
    changes: Vec<Change>,
}

/// A part of a computation, its first number, and how many it may have.
type NumberedPart = (SegmentRef, u32, u32);

/// The names of one computation. Each instruction has a number; those of a part follow each other.
#[derive(Debug, Clone, Default)]
struct Table {
    /// The parts, with the first number of each and how many it may have: more than it has now, so that an edit of one part
    /// leaves the numbers of all others.
    parts: Vec<NumberedPart>,
    /// Of instructions with one name, the first.
    by_name: Arc<NameTable>,
    /// The others, ascending.
    duplicates: Vec<u32>,
}

/// How an index differs from the one before.
#[derive(Debug, Clone)]
struct Change {
    /// The version before.
    from: u64,
    /// The pieces in which a definition may have changed, or that are parts of other computations, ascending.
    pieces: Vec<u32>,
    /// A name of a block below is defined in a block above, too.
    shadows: bool,
}

/// A query that last ran more changes ago computes its links again.
const KEPT_CHANGES: usize = 8;
/// Names that are defined twice are looked at one by one.
const MAX_DUPLICATES: usize = 256;

/// The numbers of a part of `count` instructions.
fn room_of(count: u32) -> u32 {
    count + count / 4 + 16
}

/// The pieces with parts in only one of two lists.
fn moved<'a>(before: &'a [SegmentRef], now: &'a [SegmentRef]) -> impl Iterator<Item = usize> + 'a {
    let lacks = |all: &[SegmentRef], part: &SegmentRef| all.binary_search(part).is_err();
    let gone = before.iter().filter(move |part| lacks(now, part));
    let added = now.iter().filter(move |part| lacks(before, part));
    gone.chain(added).map(|part| part.piece)
}

impl Table {
    fn parts_in(&self, pieces: &BTreeSet<usize>) -> Vec<usize> {
        let parts = self.parts.iter().enumerate();
        parts.filter(|(_, (part, ..))| pieces.contains(&part.piece)).map(|(nth, _)| nth).collect()
    }
}

fn next_version() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

/// Where the names that a block does not define were found.
#[derive(Debug, Clone)]
pub(crate) struct Sources {
    version: u64,
    /// Ascending.
    pieces: Vec<u32>,
    /// Some name is not defined above.
    is_incomplete: bool,
}

impl GiantIndex {
    pub(super) fn build(giants: Arc<Giants>, names: Vec<Arc<ShownNames>>) -> GiantIndex {
        let mut index =
            GiantIndex { giants, names, tables: Vec::new(), version: next_version(), changes: Vec::new() };
        index.tables = index.giants.iter().map(|(_, parts)| index.table(parts)).collect();
        index
    }

    fn table(&self, parts: &[SegmentRef]) -> Table {
        let mut table = Table::default();
        let mut first = 0;
        for &part in parts {
            let room = room_of(self.part(part).1.len() as u32);
            table.parts.push((part, first, room));
            first += room;
        }
        let all: u32 = parts.iter().map(|&part| self.part(part).1.len() as u32).sum();
        table.by_name = Arc::new(NameTable::with_capacity(all as usize));
        for nth in 0..parts.len() {
            self.add(&mut table, nth);
        }
        table
    }

    /// Adds the names of a part, and returns whether one is defined below, too.
    fn add(&self, table: &mut Table, nth: usize) -> bool {
        let Table { parts, by_name, duplicates } = table;
        let name_of = |n: u32| self.name_in(parts, n);
        let by_name = Arc::make_mut(by_name);
        let (part, first, _) = parts[nth];
        let names = self.part(part).1;
        let mut shadows = false;
        for local in 0..names.len() {
            let (name, n) = (names.get(local), first + local as u32);
            if name.is_empty() {
                continue;
            }
            let Err(known) = by_name.insert(name, n, name_of) else { continue };
            let mut duplicate = n;
            if n < known {
                by_name.replace(name, n, name_of);
                (duplicate, shadows) = (known, true);
            }
            let at = duplicates.partition_point(|&other| other < duplicate);
            duplicates.insert(at, duplicate);
        }
        shadows
    }

    /// Removes the names of a part.
    fn remove(&self, table: &mut Table, nth: usize) {
        let Table { parts, by_name, duplicates } = table;
        let name_of = |n: u32| self.name_in(parts, n);
        let by_name = Arc::make_mut(by_name);
        let (part, first, _) = parts[nth];
        let names = self.part(part).1;
        for local in 0..names.len() {
            let (name, n) = (names.get(local), first + local as u32);
            if name.is_empty() || !by_name.remove(name, n, name_of) {
                duplicates.retain(|&other| other != n);
            } else if let Some(at) = duplicates.iter().position(|&other| name_of(other) == name) {
                let next = duplicates.remove(at);
                // The name was removed above.
                _ = by_name.insert(name, next, name_of);
            }
        }
    }

    /// The index of as many blocks, of which some have other names or are parts of other computations; `None` if it must be built.
    pub(super) fn updated(&self, giants: Arc<Giants>, names: Vec<Arc<ShownNames>>) -> Option<GiantIndex> {
        let has_many = |table: &Table| table.duplicates.len() > MAX_DUPLICATES;
        if names.len() != self.names.len()
            || giants.len() != self.giants.len()
            || self.tables.iter().any(has_many)
        {
            return None;
        }
        let differ = |&piece: &usize| {
            !Arc::ptr_eq(&names[piece], &self.names[piece]) && names[piece] != self.names[piece]
        };
        let mut changed: BTreeSet<usize> = (0..names.len()).filter(differ).collect();
        if giants != self.giants {
            for ((_, before), (_, now)) in self.giants.iter().zip(&*giants) {
                changed.extend(moved(before, now));
            }
        }
        let mut tables = self.tables.clone();
        for table in &mut tables {
            for nth in table.parts_in(&changed) {
                self.remove(table, nth);
            }
        }
        let pieces = changed.iter().map(|&piece| piece as u32).collect();
        let mut index = GiantIndex { giants, names, tables: Vec::new(), ..self.clone() };
        let mut shadows = false;
        for (table, (_, parts)) in tables.iter_mut().zip(&*index.giants) {
            table.parts = index.numbered(&table.parts, parts)?;
            for nth in table.parts_in(&changed) {
                shadows |= index.add(table, nth);
            }
        }
        index.tables = tables;
        if index.changes.len() == KEPT_CHANGES {
            index.changes.remove(0);
        }
        index.changes.push(Change { from: self.version, pieces, shadows });
        index.version = next_version();
        Some(index)
    }

    /// The first numbers and the room of these parts: those from before, and for others what lies between. `None` if that is too
    /// little.
    fn numbered(&self, before: &[NumberedPart], parts: &[SegmentRef]) -> Option<Vec<NumberedPart>> {
        let mut numbered: Vec<NumberedPart> = Vec::with_capacity(parts.len());
        for &part in parts {
            let count = self.part(part).1.len() as u32;
            let at = before.partition_point(|known| known.0 < part);
            let (first, room) = match before.get(at).filter(|known| known.0 == part) {
                Some(&(_, first, room)) => (first, room),
                None => {
                    let first = numbered.last().map_or(0, |&(_, first, room)| first + room);
                    let end = before[at..].iter().find(|known| parts.binary_search(&known.0).is_ok());
                    (first, end.map_or(room_of(count), |&(_, end, _)| end.saturating_sub(first)))
                }
            };
            if count > room {
                return None;
            }
            numbered.push((part, first, room));
        }
        Some(numbered)
    }

    fn part(&self, segment: SegmentRef) -> (InstructionId, &ir::ExportNames) {
        let (start, names) = &self.names[segment.piece][segment.computation as usize];
        (*start, names)
    }

    fn part_of(parts: &[NumberedPart], n: u32) -> (SegmentRef, u32) {
        let at = parts.partition_point(|&(_, first, _)| first <= n).max(1) - 1;
        (parts[at].0, n - parts[at].1)
    }

    fn name_in<'a>(&'a self, parts: &[NumberedPart], n: u32) -> &'a str {
        let (segment, local) = Self::part_of(parts, n);
        self.part(segment).1.get(local as usize)
    }

    fn definition(&self, table: &Table, n: u32) -> Definition {
        let (segment, local) = Self::part_of(&table.parts, n);
        Definition { piece: segment.piece as u32, instruction: self.part(segment).0 + local }
    }

    /// The definition of `name` in a computation that is cut into blocks.
    pub fn find(&self, computation: ComputationIndex, name: &str) -> Option<Definition> {
        self.find_in(self.giants.binary_search_by_key(&computation, |&(index, _)| index).ok()?, name)
    }

    /// Of the computation whose body goes on at the start of a piece: its place in this index.
    pub(crate) fn giant_at(&self, piece: usize) -> Option<usize> {
        let behind = self.giants.partition_point(|(_, parts)| parts[0].piece <= piece);
        // It is the last that starts above, but for one that starts in this piece.
        (0..behind).rev().take(2).find(|&nth| {
            let parts = &self.giants[nth].1;
            let found = parts.binary_search_by_key(&piece, |part| part.piece);
            found.is_ok_and(|found| parts[found].computation == 0)
        })
    }

    pub(crate) fn find_in(&self, giant: usize, name: &str) -> Option<Definition> {
        let table = self.tables.get(giant)?;
        let n = table.by_name.get(name, |n| self.name_in(&table.parts, n))?;
        Some(self.definition(table, n))
    }

    /// Second definitions of a name, by piece.
    pub(super) fn duplicates(&self) -> Vec<(u32, InstructionId)> {
        let of = |table: &Table| {
            let all = table.duplicates.iter().map(|&n| self.definition(table, n));
            all.map(|found| (found.piece, found.instruction)).collect::<Vec<_>>()
        };
        let mut all: Vec<_> = self.tables.iter().flat_map(of).collect();
        all.sort_unstable();
        all
    }

    /// Remembers where names were found in this index.
    pub(crate) fn sources(&self, found: &[Option<Definition>]) -> Sources {
        let mut pieces: Vec<u32> = found.iter().flatten().map(|found| found.piece).collect();
        pieces.sort_unstable();
        pieces.dedup();
        Sources { version: self.version, pieces, is_incomplete: found.iter().any(Option::is_none) }
    }

    /// Whether the names with these sources, of a block that is piece `at`, are found where they were, and if so the sources for the
    /// next time.
    pub(crate) fn keeps(&self, at: usize, sources: Sources) -> Option<Sources> {
        if sources.version != self.version {
            let since = self.changes.iter().position(|change| change.from == sources.version)?;
            let leaves = |change: &Change| {
                let touches = |piece| sources.pieces.binary_search(piece).is_ok();
                let moves = change.pieces.binary_search(&(at as u32)).is_ok();
                !change.shadows && !sources.is_incomplete && !moves && !change.pieces.iter().any(touches)
            };
            if !self.changes[since..].iter().all(leaves) {
                return None;
            }
        }
        Some(Sources { version: self.version, ..sources })
    }
}

#[cfg(test)]
mod tests {
    use ir::ExportNames;

    use super::*;

    /// Blocks, the second computation of some of which is a part, and whether the first block is one.
    struct Blocks {
        names: Vec<Vec<String>>,
        is_second: Vec<bool>,
        has_first: bool,
    }

    impl Blocks {
        fn giants(&self) -> Arc<Giants> {
            let parts = self.is_second.iter().enumerate().skip(usize::from(!self.has_first));
            let part = |(piece, &second)| SegmentRef { piece, computation: u32::from(second) };
            Arc::new(vec![(3, parts.map(part).collect())])
        }

        fn shown(&self) -> Vec<Arc<ShownNames>> {
            let shown = |(names, &second): (&Vec<String>, &bool)| {
                let part = (names.len() as u32 % 3, ExportNames::of(names.iter().map(String::as_str)));
                let above = second.then(|| (0, ExportNames::of(["v1"].into_iter())));
                Arc::new(above.into_iter().chain([part]).collect())
            };
            self.names.iter().zip(&self.is_second).map(shown).collect()
        }
    }

    /// After random edits, an updated index equals one built from the same names, and the links that it keeps are unchanged.
    #[test]
    fn an_updated_index_equals_a_built_one() {
        let mut random = random::Rng::new(22);
        let names = (0..6).map(|piece| (0..20).map(|i| format!("v{}", piece * 20 + i)).collect()).collect();
        let mut blocks = Blocks { names, is_second: vec![false; 6], has_first: true };
        let mut index = GiantIndex::build(blocks.giants(), blocks.shown());
        let (mut updates, mut kept, mut moves) = (0, 0, 0);
        for _ in 0..2_000 {
            let mut some = || {
                let of_piece = &blocks.names[random.index(6)];
                of_piece[random.index(of_piece.len())].clone()
            };
            let wanted: Vec<String> = (0..3).map(|_| some()).filter(|name| !name.is_empty()).collect();
            let links: Vec<_> = wanted.iter().map(|name| index.find(3, name)).collect();
            let sources = index.sources(&links);
            for _ in 0..=random.index(2) {
                let of_piece = &mut blocks.names[random.index(6)];
                let mut is_move = false;
                match random.index(6) {
                    0 => of_piece.insert(random.index(of_piece.len() + 1), format!("v{}", random.index(300))),
                    1 if of_piece.len() > 4 => drop(of_piece.remove(random.index(of_piece.len()))),
                    2 => of_piece.push(String::new()),
                    3 => {
                        let piece = random.index(6);
                        blocks.is_second[piece] ^= true;
                        is_move = true;
                    }
                    4 => {
                        blocks.has_first ^= true;
                        is_move = true;
                    }
                    _ => {
                        let at = random.index(of_piece.len());
                        of_piece[at] = format!("v{}", random.index(300));
                    }
                }
                let built = GiantIndex::build(blocks.giants(), blocks.shown());
                let updated = index.updated(blocks.giants(), blocks.shown());
                updates += u32::from(updated.is_some());
                moves += u32::from(updated.is_some() && is_move);
                index = updated.unwrap_or_else(|| built.clone());
                for n in 0..300 {
                    let name = format!("v{n}");
                    assert_eq!(index.find(3, &name), built.find(3, &name), "{name} in {:?}", blocks.names);
                }
                assert_eq!(index.duplicates(), built.duplicates());
            }
            // The block that asks is none of these.
            if index.keeps(6, sources).is_some() {
                kept += 1;
                let now: Vec<_> = wanted.iter().map(|name| index.find(3, name)).collect();
                assert_eq!(links, now, "{wanted:?} in {:?}", blocks.names);
            }
        }
        assert!(
            updates > 1_000 && kept > 100 && moves > 300,
            "{updates} updates, {kept} kept, {moves} moves"
        );
    }
}
