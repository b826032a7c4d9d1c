//! PTX instructions as data, so that neighbouring loads can be joined and dead instructions dropped before
//! printing.

use std::borrow::Cow;

use ir::OpId;

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

    pub fn declared(self) -> &'static str {
        match self {
            Class::Pred => ".pred",
            Class::B16 => ".b16",
            Class::B32 => ".b32",
            Class::B64 => ".b64",
        }
    }

    pub fn of_bits(bits: u32) -> Class {
        match bits {
            0..=16 => Class::B16,
            17..=32 => Class::B32,
            _ => Class::B64,
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
        name: Cow<'static, str>,
        from: Vec<Operand>,
    },
    /// Loads `width` bits into each register; `name` is the type: `b32`, `b8`.
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
    /// An atomic operation `name`, such as `add.f32`, on adjacent elements in memory; the results are the old
    /// elements. Without results, a store of the type `name`.
    Atomic {
        name: &'static str,
        address: Address,
        from: Vec<Operand>,
    },
    /// Any other instruction with side effects: `bar.sync 0`, a shuffle, an atomic.
    Effect {
        name: Cow<'static, str>,
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
            Kind::Label(_) | Kind::Return | Kind::Note(_) => Vec::new(),
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
