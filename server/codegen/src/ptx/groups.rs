//! Groups of neighbouring loads and stores without accesses to the same memory between them.

use ptx::{Modifier, Type};
use rustc_hash::FxHashMap;

use super::machine::{Address, Inst, Kind, Operand, Space};

/// Accesses that may be joined.
pub(super) struct Group {
    /// The accesses by offset, as positions in the straight-line code.
    pub members: Vec<(i64, usize)>,
    pub bits: u32,
}

/// The kind of access to join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Load,
    Store,
    /// An atomic addition to an `f32` in memory.
    Add,
}

/// The address and the bits of an access of that kind.
pub(super) fn access(inst: &Inst, kind: Access) -> Option<(Address, u32)> {
    match &inst.kind {
        Kind::Load { address, bits, .. } if kind == Access::Load && inst.to.len() == 1 => {
            Some((*address, *bits))
        }
        Kind::Store { address, bits, from } if kind == Access::Store && from.len() == 1 => {
            Some((*address, *bits))
        }
        Kind::Atomic { update: Some(Modifier::Add), ty: Type::F32, address, from }
            if kind == Access::Add && from.len() == 1 =>
        {
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

/// Accesses of the same width relative to the same base, without other accesses to the same memory between
/// them.
pub(super) fn groups(insts: &[Inst], kind: Access) -> Vec<Group> {
    let mut open: FxHashMap<(Space, Operand, u32), Group> = FxHashMap::default();
    let mut done = Vec::new();
    for (n, inst) in insts.iter().enumerate() {
        // Another kind of access to the same memory ends the group.
        if let Some(space) = other_access(inst, kind) {
            let parted: Vec<_> = open.keys().filter(|key| key.0 == space).copied().collect();
            done.extend(parted.into_iter().filter_map(|key| open.remove(&key)));
        }
        let Some((address, bits)) = access(inst, kind) else { continue };
        // In shared memory, only elements that are smaller than a byte are joined.
        if !matches!(address.space, Space::Global(_) | Space::Library) && bits >= 8 {
            continue;
        }
        let key = (address.space, address.base, bits);
        let group = open.entry(key).or_insert_with(|| Group { members: Vec::new(), bits });
        if group.members.iter().any(|(offset, _)| *offset == address.offset) {
            // The address is written twice, so the order matters.
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

/// Runs of neighbours: their number is a power of two, and the run is aligned.
pub(super) fn runs(insts: &[Inst], group: &Group, kind: Access, widest: i64) -> Vec<Vec<usize>> {
    // For elements of fewer than eight bits, offsets count elements.
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
