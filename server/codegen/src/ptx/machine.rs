//! Instructions with virtual registers and with addresses that know their array, so that neighbouring accesses
//! can be joined and dead instructions dropped before they become PTX.

use ir::OpId;
use ptx::{Modifier, Name, Opcode, Type};

/// A virtual register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Reg {
    pub class: Class,
    pub number: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Class {
    Pred,
    B16,
    B32,
    B64,
}

impl Class {
    pub const ALL: [Class; 4] = [Class::Pred, Class::B16, Class::B32, Class::B64];

    /// The prefix of its registers' names, without the number.
    pub fn prefix(self) -> &'static str {
        match self {
            Class::Pred => "%p",
            Class::B16 => "%rs",
            Class::B32 => "%r",
            Class::B64 => "%rd",
        }
    }

    pub fn of_bits(bits: u32) -> Class {
        match bits {
            0..=16 => Class::B16,
            17..=32 => Class::B32,
            _ => Class::B64,
        }
    }

    pub fn of_type(ty: Type) -> Class {
        match ty.bits() {
            Some(1) => Class::Pred,
            Some(bits) => Class::of_bits(bits),
            // Pairs of numbers of eight bits.
            None => Class::B16,
        }
    }

    /// The registers of the result of an instruction without side effects.
    pub fn of_result(opcode: &Opcode) -> Class {
        match opcode.name {
            Name::Setp => Class::Pred,
            Name::Clz | Name::Popc => Class::B32,
            Name::Mul if opcode.has(Modifier::Wide) => Class::B64,
            _ => opcode.types().next().map_or(Class::B32, Class::of_type),
        }
    }

    /// The type of a move of such registers.
    pub fn ty(self) -> Type {
        match self {
            Class::Pred => Type::Pred,
            Class::B16 => Type::B16,
            Class::B32 => Type::B32,
            Class::B64 => Type::B64,
        }
    }

    pub fn bits(self) -> u32 {
        match self {
            Class::Pred => 1,
            Class::B16 => 16,
            Class::B32 => 32,
            Class::B64 => 64,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Operand {
    Reg(Reg),
    Int(i64),
    /// The bits, written as `0f…` or `0d…`.
    F32(u32),
    F64(u64),
    /// `%tid.x`, a symbol.
    Symbol(&'static str),
    /// An array in shared memory.
    Shared(u32),
    /// A constant array of the module.
    Table(u32),
}

impl From<Reg> for Operand {
    fn from(reg: Reg) -> Operand {
        Operand::Reg(reg)
    }
}

pub(crate) type Label = u32;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Space {
    /// The argument of this number.
    Global(usize),
    Shared(u32),
    /// A constant array of the module, also in global memory.
    Table(u32),
    /// A table of an approximated function, also in global memory; see [`super::library`].
    Library,
}

/// The address of a load or store: a register with an address, plus an offset in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Address {
    pub space: Space,
    pub base: Operand,
    pub offset: i64,
    /// The alignment of the address, a power of two.
    pub align: i64,
}

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// An instruction without side effects.
    Pure {
        opcode: Opcode,
        from: Vec<Operand>,
    },
    /// The address of the argument of this number.
    Argument(usize),
    /// Loads `bits` bits into each register.
    Load {
        address: Address,
        bits: u32,
        is_invariant: bool,
    },
    Store {
        address: Address,
        bits: u32,
        from: Vec<Operand>,
    },
    /// Compare-and-swap: replaces a word by `new` if it equals `expected`; the result is the old word.
    Exchange {
        address: Address,
        bits: u32,
        expected: Operand,
        new: Operand,
    },
    /// Combines adjacent elements in memory with numbers; the results are the old elements. Without an update,
    /// a store that other threads see only as a whole.
    Atomic {
        update: Option<Modifier>,
        ty: Type,
        address: Address,
        from: Vec<Operand>,
    },
    /// Any other instruction with side effects: `bar.sync 0`, a shuffle, an atomic.
    Effect {
        opcode: Opcode,
        from: Vec<Operand>,
    },
    Branch {
        target: Label,
        guard: Option<(Reg, bool)>,
    },
    Label(Label),
    /// Assigns a register. Only these instructions write registers that already have a value.
    Move {
        from: Operand,
    },
    /// Splits a register into two halves, or joins two halves.
    Unpack {
        from: Reg,
    },
    Pack {
        from: Vec<Operand>,
    },
    Return,
    /// A comment in the text.
    Note(String),
}

#[derive(Debug, Clone)]
pub(crate) struct Inst {
    pub kind: Kind,
    pub to: Vec<Reg>,
    pub origin: Option<OpId>,
}

impl Inst {
    /// All operands that it reads.
    pub fn reads(&self) -> Vec<Operand> {
        match &self.kind {
            Kind::Pure { from, .. } | Kind::Effect { from, .. } | Kind::Pack { from } => from.clone(),
            Kind::Load { address, .. } => vec![address.base],
            Kind::Store { address, from, .. } | Kind::Atomic { address, from, .. } => {
                let mut all = from.clone();
                all.push(address.base);
                all
            }
            Kind::Exchange { address, expected, new, .. } => vec![address.base, *expected, *new],
            Kind::Branch { guard, .. } => guard.iter().map(|&(reg, _)| reg.into()).collect(),
            Kind::Move { from } => vec![*from],
            Kind::Unpack { from } => vec![(*from).into()],
            Kind::Argument(_) | Kind::Label(_) | Kind::Return | Kind::Note(_) => Vec::new(),
        }
    }

    /// The argument of the kernel that it reads or writes.
    pub fn argument(&self) -> Option<usize> {
        let (Kind::Load { address, .. }
        | Kind::Store { address, .. }
        | Kind::Atomic { address, .. }
        | Kind::Exchange { address, .. }) = &self.kind
        else {
            return None;
        };
        match address.space {
            Space::Global(number) => Some(number),
            Space::Shared(_) | Space::Table(_) | Space::Library => None,
        }
    }

    /// Whether it can be removed if its results are unused.
    pub fn is_removable(&self) -> bool {
        matches!(
            self.kind,
            Kind::Pure { .. }
                | Kind::Load { .. }
                | Kind::Move { .. }
                | Kind::Unpack { .. }
                | Kind::Pack { .. }
        )
    }

    /// Whether it ends straight-line code.
    pub fn is_boundary(&self) -> bool {
        matches!(
            self.kind,
            Kind::Branch { .. } | Kind::Label(_) | Kind::Effect { .. } | Kind::Exchange { .. } | Kind::Return
        )
    }
}
