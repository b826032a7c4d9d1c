//! Joins neighbouring loads and stores within straight-line code: at the position of the first load, or of
//! the last store.

use rustc_hash::{FxHashMap, FxHashSet};

use super::code::Code;
use super::groups::{Access, Group, groups, runs};
use super::halves::Halves;
use super::machine::{Inst, Kind, Operand, Reg};
use super::packed::store_packed;
use super::words::{pack, unpack, words};

/// The limits of the device and of the kernel.
pub(crate) struct Joining {
    /// The number of bytes of the widest access.
    pub widest: i64,
    /// Whether the device adds several numbers in one instruction.
    pub vector_atomics: bool,
    /// Whether 16-bit numbers may be computed in pairs before they go to shared memory.
    pub in_pairs: bool,
    /// Whether the device has registers for two 32-bit numbers. Values that are only moved stay in them.
    pub has_wide_pairs: bool,
    /// Per argument, whether it has several elements per byte.
    pub packed: Vec<bool>,
    /// Registers of vectors that are results of branches.
    pub vectors: FxHashSet<Reg>,
}

/// The number of bytes of the widest access of most devices.
const WIDEST: i64 = 16;
/// The number of bytes of the widest load of elements that are smaller than a byte.
const PACKED: i64 = 2;

pub(crate) fn join(code: &mut Code, how: Joining) {
    let insts = std::mem::take(&mut code.insts);
    let mut halves = Halves::of(&insts, how.in_pairs, &how.vectors);
    let mut start = 0;
    let mut out = Vec::with_capacity(insts.len());
    for at in 0..=insts.len() {
        if at == insts.len() || code.parts_accesses(&insts[at]) {
            out.extend(straight(code, &insts[start..at], &how, &mut halves));
            if let Some(boundary) = insts.get(at) {
                out.push(boundary.clone());
            }
            start = at + 1;
        }
    }
    code.insts = out;
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
            (16, 2) if halves.is_only_pair(address.space) => is_moved,
            (16, ..=4) => is_moved || to.iter().any(|reg| halves.used.contains(reg)),
            (32, _) => how.has_wide_pairs && to.chunks(2).all(|pair| halves.is_moved(pair, 4)),
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
        let is_only_pair = from.len() == 2 && halves.is_only_pair(address.space);
        let is_half = |operand: &Operand| match operand {
            // A single pair is not computed as a pair, but rounded as one.
            Operand::Reg(reg) => {
                !is_only_pair && halves.computed.contains(reg)
                    || halves.rounded.contains(reg)
                    || halves.joined.contains(reg) && !halves.read.contains(reg)
            }
            _ => true,
        };
        let is_read = |operand: &Operand| matches!(operand, Operand::Reg(reg) if halves.read.contains(reg));
        let is_moved = |pair: &[Operand]| halves.are_neighbours(pair, 4) && !pair.iter().any(is_read);
        let in_words = group.bits == 32 && how.has_wide_pairs && from.chunks(2).all(is_moved)
            || group.bits == 8
                && from.len() == 2
                && halves.are_neighbours(&from, 1)
                && !from.iter().any(is_read)
            || group.bits == 8 && from.len() > 2
            || group.bits == 64
            || group.bits == 16
                && (from.len() > 4
                    || from.iter().any(is_half)
                    || halves.are_stored_again(&from)
                    || from.iter().all(|operand| !is_read(operand)) && halves.are_neighbours(&from, 2));
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

/// Joins up to four additions.
fn add(insts: &[Inst], group: &Group, replaced: &mut FxHashMap<usize, Vec<Inst>>) {
    for run in runs(insts, group, Access::Add, WIDEST) {
        let [first, _, ..] = run.as_slice() else { continue };
        let Kind::Atomic { update, ty, address, .. } = insts[*first].kind else { continue };
        let latest = run.iter().copied().max().unwrap_or(*first);
        let mut inst = insts[latest].clone();
        inst.to = run.iter().flat_map(|&n| insts[n].to.clone()).collect();
        let operands = run.iter().filter_map(|&n| match &insts[n].kind {
            Kind::Atomic { from, .. } => from.first().copied(),
            _ => None,
        });
        inst.kind = Kind::Atomic { update, ty, address, from: operands.collect() };
        for &n in &run {
            replaced.insert(n, Vec::new());
        }
        replaced.insert(latest, vec![inst]);
    }
}
