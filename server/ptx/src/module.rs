//! Modules, functions, variables and statements, over a type `N` of names.

use crate::{Instruction, Position, Space, Type};

/// A text.
#[derive(Debug, Clone, PartialEq)]
pub struct Module<N> {
    /// `.version 8.8`.
    pub version: Option<(u32, u32)>,
    /// `.target sm_90a`: the device, and options.
    pub targets: Vec<N>,
    /// `.address_size 64`.
    pub address_size: Option<u32>,
    pub variables: Vec<Variable<N>>,
    pub functions: Vec<Function<N>>,
}

impl<N> Default for Module<N> {
    fn default() -> Self {
        let (targets, variables, functions) = (Vec::new(), Vec::new(), Vec::new());
        Module { version: None, targets, address_size: None, variables, functions }
    }
}

/// How a name is known to other modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Linkage {
    Visible,
    Weak,
    Common,
    Extern,
}

/// A directive of a function: `.reqntid 128, 1, 1`, `.noreturn`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute<N> {
    /// With its dot.
    pub name: N,
    /// At most three numbers.
    pub values: Vec<u32>,
}

/// A kernel or a function.
#[derive(Debug, Clone, PartialEq)]
pub struct Function<N> {
    pub name: N,
    pub linkage: Option<Linkage>,
    /// Whether it is a kernel.
    pub is_entry: bool,
    pub parameters: Vec<Variable<N>>,
    pub results: Vec<Variable<N>>,
    pub attributes: Vec<Attribute<N>>,
    /// `None` for a declaration.
    pub body: Option<Vec<Statement<N>>>,
    /// The position of the name, if the function was parsed.
    pub at: Position,
    /// Per statement of the body its position, if the function was parsed.
    pub positions: Vec<Position>,
}

/// `.shared .align 4 .b8 name[4224]`, `.param .u64 .ptr .align 16 name`.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable<N> {
    pub name: N,
    pub linkage: Option<Linkage>,
    pub space: Space,
    /// The elements of a vector: 1, 2 or 4.
    pub vector: u32,
    pub ty: Type,
    /// Whether a parameter is declared as an address: `.ptr`. The alignment is then that of its target.
    pub is_pointer: bool,
    /// The state space of the target of such an address, if it is not generic.
    pub target: Option<Space>,
    /// The stated alignment in bytes, a power of two.
    pub align: Option<u64>,
    /// The extents of an array; `None` for `[]`, whose size is elsewhere.
    pub extents: Vec<Option<u64>>,
    /// The bits of the initial elements; the others are zero.
    pub initial: Vec<u64>,
    /// The position of the name, if the variable was parsed.
    pub at: Position,
}

impl<N> Variable<N> {
    /// A single number without an initial value.
    pub fn new(space: Space, ty: Type, name: N) -> Variable<N> {
        Variable {
            name,
            linkage: None,
            space,
            vector: 1,
            ty,
            is_pointer: false,
            target: None,
            align: None,
            extents: Vec::new(),
            initial: Vec::new(),
            at: Position::default(),
        }
    }

    /// The bytes of one element, at least 1.
    pub fn element(&self) -> u64 {
        u64::from(self.ty.bits().unwrap_or(8)).div_ceil(8)
    }

    /// The bytes of the whole variable; 0 if an extent is not stated.
    pub fn size(&self) -> u64 {
        let start = self.element().saturating_mul(u64::from(self.vector));
        self.extents.iter().fold(start, |size, extent| size.saturating_mul(extent.unwrap_or(0)))
    }

    /// The alignment in bytes, a power of two.
    pub fn alignment(&self) -> u64 {
        self.align.unwrap_or_else(|| self.element())
    }
}

impl<N> Function<N> {
    /// The declaration of a kernel without parameters.
    pub fn entry(name: N) -> Function<N> {
        Function {
            name,
            linkage: None,
            is_entry: true,
            parameters: Vec::new(),
            results: Vec::new(),
            attributes: Vec::new(),
            body: None,
            at: Position::default(),
            positions: Vec::new(),
        }
    }
}

impl<N: AsRef<str>> Function<N> {
    /// The threads of a block, if they are fixed: `.reqntid`.
    pub fn threads(&self) -> Option<[u32; 3]> {
        let stated = self.attributes.iter().rfind(|attribute| attribute.name.as_ref() == ".reqntid")?;
        Some(std::array::from_fn(|n| stated.values.get(n).copied().unwrap_or(1)))
    }
}

/// A line of a body.
#[derive(Debug, Clone, PartialEq)]
pub enum Statement<N> {
    Label(N),
    Instruction(Instruction<N>),
    /// `.reg .b32 %r<12>;`: a name, or the stem and the number of them.
    Registers {
        ty: Type,
        name: N,
        count: Option<u32>,
    },
    Variable(Variable<N>),
    /// `{`
    Open,
    /// `}`
    Close,
}
