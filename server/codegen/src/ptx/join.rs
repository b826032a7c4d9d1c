//! Neighbouring loads and stores become one. Within straight-line code: at the place of the first load, of the last store.

use rustc_hash::{FxHashMap, FxHashSet};

use super::code::Code;
use super::halves::Halves;
use super::machine::{Address, Inst, Kind, Operand, Reg, Space};
use super::packed::store_packed;
use super::words::{pack, unpack, words};

/// What the device, and the kernel, allow.
pub(crate) struct Joining {
    /// Bytes of the widest access.
    pub widest: i64,
    /// Does the device add several numbers in one instruction?
    pub vector_atomics: bool,
    /// Numbers of 16 bits may be computed two at a time before they go to shared memory.
    pub in_pairs: bool,
    /// Per argument, has it several elements in a byte?
    pub packed: Vec<bool>,
    /// Registers of vectors that arms of branches bring.
    pub vectors: FxHashSet<Reg>,
}

/// Bytes of the widest access of most devices.
const WIDEST: i64 = 16;
/// Bytes of the widest load of elements that are smaller than a byte.
const PACKED: i64 = 2;

pub(crate) fn join(code: &mut Code, how: Joining) {
    let insts = std::mem::take(&mut code.insts);
    let mut halves = Halves::of(&insts, how.in_pairs, &how.vectors);
    let mut start = 0;
    let mut out = Vec::with_capacity(insts.len());
    for at in 0..=insts.len() {
        if at == insts.len() || insts[at].is_boundary() {
            out.extend(straight(code, &insts[start..at], &how, &mut halves));
            if let Some(boundary) = insts.get(at) {
                out.push(boundary.clone());
            }
            start = at + 1;
        }
    }
    code.insts = out;
}

/// Accesses that belong together.
struct Group {
    /// By offset; positions in the straight-line code.
    members: Vec<(i64, usize)>,
    bits: u32,
}

fn straight(code: &mut Code, insts: &[Inst], how: &Joining, halves: &mut Halves) -> Vec<Inst> {
    let mut replaced: FxHashMap<usize, Vec<Inst>> = FxHashMap::default();
    for group in groups(insts, Access::Load) {
        load(code, insts, &group, how, halves, &mut replaced);
    }
    for group in groups(insts, Access::Store) {
        store(code, insts, &group, how, halves, &mut replaced);
    }
    if how.vector_atomics {
        for group in groups(insts, Access::Add) {
            add(insts, &group, &mut replaced);
        }
    }
    let mut out = Vec::with_capacity(insts.len());
    for (n, inst) in insts.iter().enumerate() {
        match replaced.remove(&n) {
            Some(new) => out.extend(new),
            None => out.push(inst.clone()),
        }
    }
    out
}

/// What is joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Load,
    Store,
    /// To an `f32` in memory.
    Add,
}

/// The address of an access of that kind, and the bits that it is about.
fn access(inst: &Inst, kind: Access) -> Option<(Address, u32)> {
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
fn groups(insts: &[Inst], kind: Access) -> Vec<Group> {
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
        if !matches!(address.space, Space::Global(_)) && bits >= 8 {
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
fn runs(insts: &[Inst], group: &Group, kind: Access, widest: i64) -> Vec<Vec<usize>> {
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

fn load(
    code: &mut Code,
    insts: &[Inst],
    group: &Group,
    how: &Joining,
    halves: &mut Halves,
    replaced: &mut FxHashMap<usize, Vec<Inst>>,
) {
    // Vectors of elements that are smaller than a byte are read two bytes at a time.
    let is_packed = group.bits == 8
        && group.members.first().is_some_and(|&(_, n)| {
            insts[n].argument().is_some_and(|param| how.packed.get(param).copied().unwrap_or(false))
        });
    let widest = if is_packed { PACKED } else { how.widest.max(WIDEST) };
    for run in runs(insts, group, Access::Load, widest) {
        let [first, _, ..] = run.as_slice() else { continue };
        let Kind::Load { address, is_invariant, .. } = insts[*first].kind else { continue };
        let earliest = run.iter().copied().min().unwrap_or(*first);
        let to: Vec<Reg> = run.iter().map(|&n| insts[n].to[0]).collect();
        let is_moved = to.chunks(2).any(|pair| halves.is_moved(pair, i64::from(group.bits / 8)));
        if is_moved || group.bits != 16 {
            halves.joined.extend(&to);
        }
        let in_words = match (group.bits, to.len()) {
            (8, 2) => is_moved || is_packed,
            (16, ..=4) => is_moved || to.iter().any(|reg| halves.used.contains(reg)),
            _ => true,
        };
        let (words, bits) = words(code, to.len(), group.bits, in_words);
        let mut new = Vec::new();
        let mut inst = insts[*first].clone();
        inst.kind = Kind::Load { address, bits, is_invariant };
        if bits == group.bits {
            inst.to = to;
            new.push(inst);
        } else {
            inst.to.clone_from(&words);
            let origin = inst.origin;
            new.push(inst);
            let each = to.len() / words.len();
            for (word, parts) in words.iter().zip(to.chunks(each)) {
                new.extend(unpack(code, *word, parts, group.bits, origin));
            }
        }
        for &n in &run {
            replaced.insert(n, Vec::new());
        }
        replaced.insert(earliest, new);
    }
}

fn store(
    code: &mut Code,
    insts: &[Inst],
    group: &Group,
    how: &Joining,
    halves: &Halves,
    replaced: &mut FxHashMap<usize, Vec<Inst>>,
) {
    for run in runs(insts, group, Access::Store, how.widest.max(WIDEST)) {
        if group.bits < 8 {
            store_packed(code, insts, &run, group.bits, replaced);
            continue;
        }
        let [first, _, ..] = run.as_slice() else { continue };
        let Kind::Store { address, .. } = insts[*first].kind else { continue };
        let latest = run.iter().copied().max().unwrap_or(*first);
        let from: Vec<Operand> = run
            .iter()
            .filter_map(|&n| match &insts[n].kind {
                Kind::Store { from, .. } => from.first().copied(),
                _ => None,
            })
            .collect();
        let is_half = |operand: &Operand| match operand {
            Operand::Reg(reg) => {
                halves.computed.contains(reg) || halves.joined.contains(reg) && !halves.read.contains(reg)
            }
            _ => true,
        };
        let is_read = |operand: &Operand| matches!(operand, Operand::Reg(reg) if halves.read.contains(reg));
        let in_words = group.bits != 16
            || from.len() > 4
            || from.iter().any(is_half)
            || from.iter().all(|operand| !is_read(operand)) && halves.are_neighbours(&from);
        let (words, bits) = words(code, from.len(), group.bits, in_words);
        let mut new = Vec::new();
        let mut inst = insts[latest].clone();
        if bits == group.bits {
            inst.kind = Kind::Store { address, bits, from };
        } else {
            let each = from.len() / words.len();
            for (word, parts) in words.iter().zip(from.chunks(each)) {
                new.extend(pack(code, *word, parts, group.bits, inst.origin));
            }
            let from = words.iter().map(|&word| word.into()).collect();
            inst.kind = Kind::Store { address, bits, from };
        }
        new.push(inst);
        for &n in &run {
            replaced.insert(n, Vec::new());
        }
        replaced.insert(latest, new);
    }
}

/// Up to four sums at once.
fn add(insts: &[Inst], group: &Group, replaced: &mut FxHashMap<usize, Vec<Inst>>) {
    for run in runs(insts, group, Access::Add, WIDEST) {
        let [first, _, ..] = run.as_slice() else { continue };
        let Kind::Atomic { address, name, .. } = insts[*first].kind else { continue };
        let latest = run.iter().copied().max().unwrap_or(*first);
        let mut inst = insts[latest].clone();
        inst.to = run.iter().flat_map(|&n| insts[n].to.clone()).collect();
        let operands = run.iter().filter_map(|&n| match &insts[n].kind {
            Kind::Atomic { from, .. } => from.first().copied(),
            _ => None,
        });
        inst.kind = Kind::Atomic { name, address, from: operands.collect() };
        for &n in &run {
            replaced.insert(n, Vec::new());
        }
        replaced.insert(latest, vec![inst]);
    }
}
