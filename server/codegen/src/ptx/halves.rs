//! Numbers of 16 bits that are computed two at a time.

use rustc_hash::{FxHashMap, FxHashSet};

use super::machine::{Class, Inst, Kind, Operand, Reg, Space};

/// Which registers of 16 bits are halves of a word: what is computed two at a time. LLVM does so from what is stored up to
/// what is loaded, or not at all: a number that something else needs as well, or makes, is computed on its own. What is
/// only moved goes in words, too.
#[derive(Default)]
pub(super) struct Halves {
    pub computed: FxHashSet<Reg>,
    pub used: FxHashSet<Reg>,
    /// Rounded from `f32`.
    pub rounded: FxHashSet<Reg>,
    pub loaded: FxHashSet<Reg>,
    /// From where numbers are loaded: base and offset.
    places: FxHashMap<Reg, (Operand, i64)>,
    /// Loaded together with neighbours.
    pub joined: FxHashSet<Reg>,
    /// Read by something else than a store.
    pub read: FxHashSet<Reg>,
    /// Halves of what arms of branches bring.
    kept: FxHashSet<Reg>,
    /// How many numbers of 16 bits each array in global memory has in loads or stores.
    accesses: FxHashMap<Space, u32>,
    /// Where numbers are stored to: base and offset.
    stored: FxHashMap<Reg, Vec<(Operand, i64)>>,
}

impl Halves {
    /// `packed` are registers of vectors that arms of branches bring: those stay together whatever becomes of them.
    pub fn of(insts: &[Inst], in_pairs: bool, packed: &FxHashSet<Reg>) -> Halves {
        let mut halves = Halves::default();
        halves.loaded.extend(packed);
        // Arithmetic on numbers of 16 bits: its result and its operands.
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
                // What loops carry.
                Kind::Move { .. } => {
                    alone.extend(read());
                    alone.extend(inst.to.iter().filter(|reg| reg.class == Class::B16));
                    continue;
                }
                Kind::Load { address, .. } => {
                    let from = (address.base, address.offset);
                    halves.places.extend(inst.to.iter().map(|&reg| (reg, from)));
                    // Out of shared memory they come one by one.
                    match address.space {
                        Space::Shared(_) => alone.extend(&inst.to),
                        Space::Global(_) | Space::Table(_) | Space::Library => halves.loaded.extend(&inst.to),
                    }
                }
                _ => {}
            }
            halves.read.extend(read());
            match &inst.kind {
                Kind::Pure { name, .. } if is_pairwise(name) => {
                    for &to in &inst.to {
                        pairwise.insert(to, read().collect());
                    }
                }
                Kind::Pure { name, .. } if is_rounding(name) => rounded.extend(&inst.to),
                Kind::Pure { name, .. } if name.starts_with("mov") => {}
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
        // What is used on its own, or is made of such, until nothing changes.
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
    /// Returns whether a thread has one pair of an array's numbers and no more. LLVM does not compute those two at a time.
    pub fn is_only_pair(&self, space: Space) -> bool {
        self.accesses.get(&space) == Some(&2)
    }

    /// Returns whether each of the numbers is stored several times. What LLVM packs for several stores it packs once.
    pub fn are_stored_again(&self, numbers: &[Operand]) -> bool {
        numbers.iter().all(|number| match number {
            Operand::Reg(reg) => self.stored.get(reg).is_some_and(|places| places.len() > 1),
            _ => false,
        })
    }

    /// Do the numbers, of that many bytes, lie side by side where they are loaded from?
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
    /// Are two numbers that were loaded together, of that many bytes each, only moved, and together again?
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

/// Is there an instruction that does the same to two halves of a word?
fn is_pairwise(name: &str) -> bool {
    (name.ends_with(".bf16") || name.ends_with(".f16"))
        && !name.starts_with("cvt")
        && !name.starts_with("setp")
}

fn is_rounding(name: &str) -> bool {
    matches!(name, "cvt.rn.bf16.f32" | "cvt.rn.f16.f32" | "cvt.rn.bf16.f64" | "cvt.rn.f16.f64")
}
