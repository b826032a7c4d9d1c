//! Instructions of PTX as data, so that neighbouring loads can be joined and dead ones dropped before they are text.

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

    /// The name of its registers, without number.
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
    /// Bits, written as `0f…` or `0d…`.
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
    /// Global as well: a constant array of the module.
    Table(u32),
    /// Global as well: a table of a function that is approximated, see [`super::library`].
    Library,
}

/// Where a load or store goes: a register that holds an address, and bytes behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Address {
    pub space: Space,
    pub base: Operand,
    pub offset: i64,
    /// The address is a multiple of this, a power of two.
    pub align: i64,
}

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// Depends on its operands alone.
    Pure {
        name: Cow<'static, str>,
        from: Vec<Operand>,
    },
    /// `width` bits into each register; `name` is its type: `b32`, `b8`.
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
    /// A word in memory becomes `new` if it is `expected`; what it was.
    Exchange {
        address: Address,
        bits: u32,
        expected: Operand,
        new: Operand,
    },
    /// Elements in memory become what `name` makes of them and the operands: `add.f32`; what they were. Several lie side
    /// by side. With no result, a store of the type `name`.
    Atomic {
        name: &'static str,
        address: Address,
        from: Vec<Operand>,
    },
    /// Anything else that must stay where it is: `bar.sync 0`, a shuffle, an atomic.
    Effect {
        name: Cow<'static, str>,
        from: Vec<Operand>,
    },
    Branch {
        target: Label,
        guard: Option<(Reg, bool)>,
    },
    Label(Label),
    /// A register is given another value: the only writes to registers that have one.
    Move {
        from: Operand,
    },
    /// The two halves of a register, or a register of two halves.
    Unpack {
        from: Reg,
    },
    Pack {
        from: Vec<Operand>,
    },
    Return,
    /// A remark for the reader.
    Note(String),
}

#[derive(Debug, Clone)]
pub(crate) struct Inst {
    pub kind: Kind,
    pub to: Vec<Reg>,
    pub origin: Option<OpId>,
}

impl Inst {
    /// All that it reads.
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

    /// The argument of the kernel whose memory it reads or writes.
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

    /// May it go where nobody reads what it writes?
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

    /// Does straight-line code end here?
    pub fn is_boundary(&self) -> bool {
        matches!(
            self.kind,
            Kind::Branch { .. } | Kind::Label(_) | Kind::Effect { .. } | Kind::Exchange { .. } | Kind::Return
        )
    }
}
