//! The instruction list under construction: registers, scopes of available values, and constant folding.

use ir::OpId;
use ptx::Opcode;
use rustc_hash::{FxHashMap, FxHashSet};

use super::machine::{Address, Class, Inst, Kind, Label, Operand, Reg};

/// The key that equal instructions share.
type Key = (Opcode, Vec<Operand>);

#[derive(Default)]
pub(crate) struct Code {
    pub insts: Vec<Inst>,
    registers: [u32; 4],
    labels: Label,
    /// Labels inside the code of one scalar op. Arrays are not accessed between such a label and the branches
    /// to it, so accesses before and after it can be joined.
    inner: FxHashSet<Label>,
    /// Per open region, instructions whose result can be reused.
    known: Vec<FxHashMap<Key, Reg>>,
    /// The same for loads, with whether the memory is never written.
    loads: Vec<FxHashMap<(Address, u32), (Reg, bool)>>,
    pub origin: Option<OpId>,
}

impl Code {
    pub fn new() -> Code {
        Code { known: vec![FxHashMap::default()], loads: vec![FxHashMap::default()], ..Code::default() }
    }

    pub fn reg(&mut self, class: Class) -> Reg {
        let count = &mut self.registers[class as usize];
        *count += 1;
        Reg { class, number: *count }
    }

    pub fn label(&mut self) -> Label {
        self.labels += 1;
        self.labels
    }

    /// A label inside the code of one scalar op that accesses no array.
    pub fn inner_label(&mut self) -> Label {
        let label = self.label();
        self.inner.insert(label);
        label
    }

    /// Whether the code of some scalar op branches.
    pub fn has_inner_labels(&self) -> bool {
        !self.inner.is_empty()
    }

    /// Whether accesses before and after the instruction must not be joined.
    pub fn parts_accesses(&self, inst: &Inst) -> bool {
        match &inst.kind {
            Kind::Label(label) | Kind::Branch { target: label, .. } => !self.inner.contains(label),
            _ => inst.is_boundary(),
        }
    }

    pub fn reads(&self, operand: Operand) -> bool {
        self.insts.iter().any(|inst| inst.reads().contains(&operand))
    }

    /// Opens a scope; values computed in it are unavailable after [`Code::leave`].
    pub fn enter(&mut self) {
        self.known.push(FxHashMap::default());
        self.loads.push(FxHashMap::default());
    }

    pub fn leave(&mut self) {
        self.known.pop();
        self.loads.pop();
    }

    pub fn push(&mut self, kind: Kind, to: Vec<Reg>) {
        cancel::tick();
        let origin = self.origin;
        self.insts.push(Inst { kind, to, origin });
    }

    /// An instruction without side effects, or the register that already holds its result.
    pub fn pure(&mut self, opcode: Opcode, from: impl Into<Vec<Operand>>) -> Reg {
        let key: Key = (opcode, from.into());
        if let Some(&reg) = self.known.iter().rev().find_map(|region| region.get(&key)) {
            return reg;
        }
        let reg = self.reg(Class::of_result(&opcode));
        self.push(Kind::Pure { opcode, from: key.1.clone() }, vec![reg]);
        if let Some(region) = self.known.last_mut() {
            region.insert(key, reg);
        }
        reg
    }

    /// A new register with a value that may change.
    pub fn variable(&mut self, class: Class, from: Operand) -> Reg {
        let reg = self.reg(class);
        self.set(reg, from);
        reg
    }

    pub fn set(&mut self, reg: Reg, from: Operand) {
        if from != Operand::Reg(reg) {
            self.push(Kind::Move { from }, vec![reg]);
        }
    }

    /// A load, or the registers that already hold its value.
    pub fn load(&mut self, address: Address, bits: u32, is_invariant: bool) -> Reg {
        let key = (Address { align: 0, ..address }, bits);
        if let Some(found) = self.loads.iter().rev().find_map(|region| region.get(&key)) {
            return found.0;
        }
        let reg = self.reg(Class::of_bits(bits));
        self.push(Kind::Load { address, bits, is_invariant }, vec![reg]);
        if let Some(region) = self.loads.last_mut() {
            region.insert(key, (reg, is_invariant));
        }
        reg
    }

    pub fn store(&mut self, address: Address, bits: u32, from: Operand) {
        // Discards loads of the same memory.
        for region in &mut self.loads {
            region.retain(|(known, _), _| known.space != address.space);
        }
        self.push(Kind::Store { address, bits, from: vec![from] }, Vec::new());
    }

    pub fn forget_loads(&mut self) {
        self.loads.iter_mut().for_each(FxHashMap::clear);
    }

    /// Discards loads since the innermost [`Code::enter`].
    pub fn forget_inner_loads(&mut self) {
        self.loads.last_mut().into_iter().for_each(FxHashMap::clear);
    }

    /// Discards loads, except those of arrays that are never written.
    pub fn forget_changing_loads(&mut self) {
        for region in &mut self.loads {
            region.retain(|_, (_, is_invariant)| *is_invariant);
        }
    }

    pub fn branch(&mut self, target: Label, guard: Option<(Reg, bool)>) {
        self.push(Kind::Branch { target, guard }, Vec::new());
    }

    pub fn place(&mut self, label: Label) {
        self.push(Kind::Label(label), Vec::new());
    }

    /// Drops instructions whose results are unused.
    pub fn drop_dead(&mut self) {
        let mut uses: FxHashMap<Reg, u32> = FxHashMap::default();
        for operand in self.insts.iter().flat_map(Inst::reads) {
            if let Operand::Reg(reg) = operand {
                *uses.entry(reg).or_default() += 1;
            }
        }
        // Runs backwards: instructions read values that are written above them, except in loops, whose
        // variables are kept.
        let mut kept: Vec<bool> = vec![true; self.insts.len()];
        for (n, inst) in self.insts.iter().enumerate().rev() {
            let is_used = inst.to.iter().any(|reg| uses.get(reg).is_some_and(|&count| count > 0));
            if is_used || !inst.is_removable() {
                continue;
            }
            kept[n] = false;
            for operand in inst.reads() {
                if let Operand::Reg(reg) = operand
                    && let Some(count) = uses.get_mut(&reg)
                {
                    *count -= 1;
                }
            }
        }
        let mut kept = kept.into_iter();
        self.insts.retain(|_| kept.next().unwrap_or(true));
    }

    /// Renumbers registers in the order in which they are written; returns the number of registers per class.
    pub fn renumber(&mut self) -> [u32; 4] {
        let mut numbers: FxHashMap<Reg, Reg> = FxHashMap::default();
        let mut counts = [0u32; 4];
        let mut renamed = |reg: &mut Reg| {
            *reg = *numbers.entry(*reg).or_insert_with(|| {
                let count = &mut counts[reg.class as usize];
                *count += 1;
                Reg { class: reg.class, number: *count }
            });
        };
        for inst in &mut self.insts {
            inst.to.iter_mut().for_each(&mut renamed);
            let mut operand = |operand: &mut Operand| {
                if let Operand::Reg(reg) = operand {
                    renamed(reg);
                }
            };
            match &mut inst.kind {
                Kind::Pure { from, .. } | Kind::Effect { from, .. } | Kind::Pack { from } => {
                    from.iter_mut().for_each(&mut operand)
                }
                Kind::Load { address, .. } => operand(&mut address.base),
                Kind::Store { address, from, .. } | Kind::Atomic { address, from, .. } => {
                    operand(&mut address.base);
                    from.iter_mut().for_each(&mut operand);
                }
                Kind::Exchange { address, expected, new, .. } => {
                    operand(&mut address.base);
                    operand(expected);
                    operand(new);
                }
                Kind::Branch { guard: Some((reg, _)), .. } => renamed(reg),
                Kind::Move { from } => operand(from),
                Kind::Unpack { from } => renamed(from),
                Kind::Branch { .. } | Kind::Argument(_) | Kind::Label(_) | Kind::Return | Kind::Note(_) => {}
            }
        }
        counts
    }
}
