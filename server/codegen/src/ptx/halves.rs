//! 16-bit numbers that are computed in pairs.

use ptx::{Arithmetic, Name, Opcode, Rounding, Type};
use rustc_hash::{FxHashMap, FxHashSet};

use super::machine::{Class, Inst, Kind, Operand, Reg, Space};

/// The 16-bit registers that are halves of a word, because they are computed in pairs. LLVM pairs a whole
/// tree from the stores up to the loads, or nothing: a number with another use or another source is computed
/// on its own. Numbers that are only moved are moved as words, too.
#[derive(Default)]
pub(super) struct Halves {
    pub computed: FxHashSet<Reg>,
    pub used: FxHashSet<Reg>,
    /// Numbers rounded from `f32`.
    pub rounded: FxHashSet<Reg>,
    pub loaded: FxHashSet<Reg>,
    /// The addresses from which numbers are loaded: base and offset.
    places: FxHashMap<Reg, (Operand, i64)>,
    /// Numbers loaded together with neighbours.
    pub joined: FxHashSet<Reg>,
    /// Numbers with other uses than stores.
    pub read: FxHashSet<Reg>,
    /// Halves of the results of branches.
    kept: FxHashSet<Reg>,
    /// The number of loads and stores of 16-bit numbers per array in global memory.
    accesses: FxHashMap<Space, u32>,
    /// The addresses to which numbers are stored: base and offset.
    stored: FxHashMap<Reg, Vec<(Operand, i64)>>,
}

impl Halves {
    /// `packed` are registers of vectors that are results of branches; these stay vectors for every use.
    pub fn of(insts: &[Inst], in_pairs: bool, packed: &FxHashSet<Reg>) -> Halves {
        let mut halves = Halves::default();
        halves.loaded.extend(packed);
        // Arithmetic on 16-bit numbers: its result and its operands.
        let mut pairwise: FxHashMap<Reg, Vec<Reg>> = FxHashMap::default();
        let mut rounded: FxHashSet<Reg> = FxHashSet::default();
        let mut alone: FxHashSet<Reg> = FxHashSet::default();
        for inst in insts {
            if let Kind::Load { address, bits: 16, .. } | Kind::Store { address, bits: 16, .. } = &inst.kind {
                *halves.accesses.entry(address.space).or_default() += 1;
            }
            if let Kind::Store { address, from, .. } = &inst.kind
                && let [Operand::Reg(reg)] = from.as_slice()
            {
                halves.stored.entry(*reg).or_default().push((address.base, address.offset));
            }
            let read = || {
                inst.reads().into_iter().filter_map(|operand| match operand {
                    Operand::Reg(reg) if reg.class == Class::B16 => Some(reg),
                    _ => None,
                })
            };
            match &inst.kind {
                // Elements in shared memory are written one by one.
                Kind::Store { address, .. } if matches!(address.space, Space::Shared(_)) => {
                    if !in_pairs {
                        alone.extend(read());
                    }
                    continue;
                }
                Kind::Store { .. } => continue,
                Kind::Move { .. } if inst.to.iter().all(|reg| packed.contains(reg)) => {
                    halves.kept.extend(read());
                    continue;
                }
                // Values that loops carry.
                Kind::Move { .. } => {
                    alone.extend(read());
                    alone.extend(inst.to.iter().filter(|reg| reg.class == Class::B16));
                    continue;
                }
                Kind::Load { address, .. } => {
                    let from = (address.base, address.offset);
                    halves.places.extend(inst.to.iter().map(|&reg| (reg, from)));
                    // Elements in shared memory are read one by one.
                    match address.space {
                        Space::Shared(_) => alone.extend(&inst.to),
                        Space::Global(_) | Space::Table(_) | Space::Library => halves.loaded.extend(&inst.to),
                    }
                }
                _ => {}
            }
            halves.read.extend(read());
            match &inst.kind {
                Kind::Pure { opcode, .. } if is_pairwise(opcode) => {
                    for &to in &inst.to {
                        pairwise.insert(to, read().collect());
                    }
                }
                Kind::Pure { opcode, .. } if is_rounding(opcode) => rounded.extend(&inst.to),
                Kind::Pure { opcode, .. } if opcode.name == Name::Mov => {}
                _ => {
                    alone.extend(read());
                    alone.extend(
                        inst.to
                            .iter()
                            .filter(|reg| reg.class == Class::B16 && !matches!(inst.kind, Kind::Load { .. })),
                    );
                }
            }
        }
        // Propagates: the operands of unpaired results and the results of unpaired operands are unpaired,
        // until nothing changes.
        loop {
            let mut changed = false;
            for (to, from) in &pairwise {
                let is_alone = alone.contains(to)
                    || from.iter().any(|reg| !halves.loaded.contains(reg) && alone.contains(reg))
                    || from.iter().any(|reg| rounded.contains(reg));
                if is_alone {
                    changed |= alone.insert(*to);
                    for reg in from {
                        changed |= alone.insert(*reg);
                    }
                }
            }
            if !changed {
                break;
            }
        }
        halves.computed.extend(&rounded);
        halves.rounded = rounded;
        for (to, from) in pairwise {
            if !alone.contains(&to) {
                halves.computed.insert(to);
                halves.used.extend(from);
            }
        }
        halves
    }
}

impl Halves {
    /// Whether a thread accesses exactly two of an array's numbers. LLVM does not compute a single pair at a
    /// time.
    pub fn is_only_pair(&self, space: Space) -> bool {
        self.accesses.get(&space) == Some(&2)
    }

    /// Whether each of the numbers is stored several times. LLVM packs such numbers once for all their
    /// stores.
    pub fn are_stored_again(&self, numbers: &[Operand]) -> bool {
        numbers.iter().all(|number| match number {
            Operand::Reg(reg) => self.stored.get(reg).is_some_and(|places| places.len() > 1),
            _ => false,
        })
    }

    /// Whether the numbers, of `bytes` bytes each, are loaded from adjacent addresses.
    pub fn are_neighbours(&self, numbers: &[Operand], bytes: i64) -> bool {
        let place = |operand: &Operand| match operand {
            Operand::Reg(reg) => self.places.get(reg).copied(),
            _ => None,
        };
        let places: Option<Vec<(Operand, i64)>> = numbers.iter().map(place).collect();
        places.is_some_and(|places| places.windows(2).all(|pair| pair[1] == (pair[0].0, pair[0].1 + bytes)))
    }
}

impl Halves {
    /// Whether two numbers of `bytes` bytes each that were loaded together are only moved, and stored
    /// together.
    pub fn is_moved(&self, pair: &[Reg], bytes: i64) -> bool {
        let &[low, high] = pair else { return false };
        let places = |reg: Reg| self.stored.get(&reg).map_or(&[][..], Vec::as_slice);
        if self.kept.contains(&low) && self.kept.contains(&high) {
            return true;
        }
        let is_beside = |&(base, offset): &(Operand, i64)| {
            offset % (2 * bytes) == 0 && places(high).contains(&(base, offset + bytes))
        };
        !self.read.contains(&low) && !self.read.contains(&high) && places(low).iter().any(is_beside)
    }
}

/// Whether there is an instruction for the same operation on both halves of a word.
fn is_pairwise(opcode: &Opcode) -> bool {
    matches!(opcode.ty(), Some(Type::F16 | Type::Bf16)) && !matches!(opcode.name, Name::Cvt | Name::Setp)
}

/// Whether it rounds a wider float to 16 bits.
fn is_rounding(opcode: &Opcode) -> bool {
    let Some(Arithmetic { name: Name::Cvt, rounding: Some(Rounding::Rn), ty, from, .. }) =
        Arithmetic::of(opcode)
    else {
        return false;
    };
    matches!(ty, Type::F16 | Type::Bf16) && matches!(from, Some(Type::F32 | Type::F64))
}
