//! Loads and stores that are neighbours, and between which nothing touches the same memory.

use rustc_hash::FxHashMap;

use super::machine::{Address, Inst, Kind, Operand, Space};

/// Accesses that belong together.
pub(super) struct Group {
    /// By offset; positions in the straight-line code.
    pub members: Vec<(i64, usize)>,
    pub bits: u32,
}

/// What is joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Load,
    Store,
    /// To an `f32` in memory.
    Add,
}

/// The address of an access of that kind, and the bits that it is about.
pub(super) fn access(inst: &Inst, kind: Access) -> Option<(Address, u32)> {
    match &inst.kind {
        Kind::Load { address, bits, .. } if kind == Access::Load && inst.to.len() == 1 => {
            Some((*address, *bits))
        }
        Kind::Store { address, bits, from } if kind == Access::Store && from.len() == 1 => {
            Some((*address, *bits))
        }
        Kind::Atomic { name: "add.f32", address, from } if kind == Access::Add && from.len() == 1 => {
            Some((*address, 32))
        }
        _ => None,
    }
}

/// The memory that an access of another kind touches.
fn other_access(inst: &Inst, kind: Access) -> Option<Space> {
    match &inst.kind {
        Kind::Load { address, .. } if kind != Access::Load => Some(address.space),
        Kind::Store { address, .. } if kind != Access::Store => Some(address.space),
        Kind::Atomic { address, .. } if access(inst, kind).is_none() => Some(address.space),
        _ => None,
    }
}

/// Accesses to the same base with the same width, between which nothing touches the same memory in another way.
pub(super) fn groups(insts: &[Inst], kind: Access) -> Vec<Group> {
    let mut open: FxHashMap<(Space, Operand, u32), Group> = FxHashMap::default();
    let mut done = Vec::new();
    for (n, inst) in insts.iter().enumerate() {
        // Another kind of access to the same memory parts the group.
        if let Some(space) = other_access(inst, kind) {
            let parted: Vec<_> = open.keys().filter(|key| key.0 == space).copied().collect();
            done.extend(parted.into_iter().filter_map(|key| open.remove(&key)));
        }
        let Some((address, bits)) = access(inst, kind) else { continue };
        // In the block's memory, only elements that are smaller than a byte.
        if !matches!(address.space, Space::Global(_) | Space::Library) && bits >= 8 {
            continue;
        }
        let key = (address.space, address.base, bits);
        let group = open.entry(key).or_insert_with(|| Group { members: Vec::new(), bits });
        if group.members.iter().any(|(offset, _)| *offset == address.offset) {
            // Written twice: the order counts.
            if let Some(old) = open.remove(&key) {
                done.push(old);
            }
            open.insert(key, Group { members: vec![(address.offset, n)], bits });
            continue;
        }
        group.members.push((address.offset, n));
    }
    done.extend(open.into_values());
    for group in &mut done {
        group.members.sort_unstable();
    }
    done.sort_by_key(|group| group.members.first().map(|(_, n)| *n));
    done
}

/// Runs of neighbours: a power of two of them, aligned as a whole.
pub(super) fn runs(insts: &[Inst], group: &Group, kind: Access, widest: i64) -> Vec<Vec<usize>> {
    // Elements of fewer than eight bits count for themselves.
    let bytes = i64::from(group.bits / 8).max(1);
    let widest = if group.bits < 8 { widest * i64::from(8 / group.bits) } else { widest };
    let mut runs = Vec::new();
    let mut at = 0;
    let members = &group.members;
    while at < members.len() {
        let (offset, first) = members[at];
        let align = access(&insts[first], kind).map_or(1, |(address, _)| address.align);
        let mut length = 1;
        while at + length < members.len() && members[at + length].0 == offset + length as i64 * bytes {
            length += 1;
        }
        let mut taken = 1;
        let mut size = 2;
        while size <= length {
            let total = size as i64 * bytes;
            if total <= widest && align % total == 0 && offset % total == 0 {
                taken = size;
            }
            size *= 2;
        }
        runs.push(members[at..at + taken].iter().map(|&(_, n)| n).collect());
        at += taken;
    }
    runs
}
