//! Executable PTX: a flat list of instructions with resolved registers, labels and variables.

use ptx::Position;

use super::async_copies::AsyncCopy;
use super::lanes::Map;
use super::matrices::MatrixStep;

/// The number of a register in its class, or of a constant, which has [`CONSTANT`] set.
pub(crate) type Slot = u32;

/// The bit of a [`Slot`] that marks a constant.
pub(crate) const CONSTANT: u32 = 1 << 31;

/// The slot of an unused destination.
pub(crate) const NOWHERE: Slot = u32::MAX;

/// A predicate operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Condition {
    /// A predicate register, or [`CONSTANT`] for always, `CONSTANT + 1` for never.
    pub(crate) slot: Slot,
    pub(crate) is_negated: bool,
}

pub(crate) const ALWAYS: Condition = Condition { slot: CONSTANT, is_negated: false };

/// A register that a load writes or a store reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cell {
    /// With the mask of its bits.
    Word(Slot, u32),
    Double(Slot),
    Nowhere,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Space {
    Global,
    Shared,
    Local,
    /// The arguments of the kernel.
    Parameter,
    /// Determined by the address.
    Generic,
}

impl Space {
    pub(crate) fn of(space: ptx::Space) -> Space {
        match space {
            ptx::Space::Global | ptx::Space::Const => Space::Global,
            ptx::Space::Shared | ptx::Space::SharedCta | ptx::Space::SharedCluster => Space::Shared,
            ptx::Space::Local => Space::Local,
            ptx::Space::Param | ptx::Space::ParamEntry | ptx::Space::ParamFunc => Space::Parameter,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Base {
    Word(Slot),
    Double(Slot),
}

/// A load or a store of `cells` (a range of [`Program::cells`]), each of `width` bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Access {
    pub(crate) space: Space,
    pub(crate) width: u8,
    pub(crate) is_signed: bool,
    pub(crate) base: Base,
    pub(crate) offset: i64,
    pub(crate) cells: (u32, u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Update {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exchange,
    CompareAndSwap,
    /// Increments up to a limit, then wraps to 0; decrements to 0, then wraps to the limit.
    Increment,
    Decrement,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Signed,
    Unsigned,
    F32,
    F64,
    F16,
    Bf16,
    F16x2,
    Bf16x2,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Vote {
    All,
    Any,
    Uniform,
    Ballot,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Special {
    Thread(u8),
    Threads(u8),
    Block(u8),
    Blocks(u8),
    Lane,
    Warp,
    WarpSize,
    /// The masks of lanes below, up to, above, and from this one; this one alone.
    LanesBelow,
    LanesUpTo,
    LanesAbove,
    LanesFrom,
    LaneItself,
    DynamicShared,
    Zero,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gate {
    And,
    Or,
    Xor,
    /// Only the first element.
    First,
}

#[derive(Clone, Copy)]
pub(crate) enum DecodedOp {
    Map {
        map: Map,
        to: Slot,
        from: [Slot; 4],
        mask: u32,
    },
    Compare {
        map: Map,
        to: Slot,
        other: Slot,
        from: [Slot; 2],
        gate: Gate,
        with: Condition,
    },
    SelectWord {
        to: Slot,
        from: [Slot; 2],
        by: Condition,
    },
    SelectDouble {
        to: Slot,
        from: [Slot; 2],
        by: Condition,
    },
    Logic {
        to: Slot,
        gate: Gate,
        a: Condition,
        b: Condition,
    },
    /// `mov.b32 {a, b}, c` and `mov.b64 {a, b}, c`: halves, lower first.
    SplitWord {
        to: [Slot; 2],
        from: Slot,
    },
    SplitDouble {
        to: [Slot; 2],
        from: Slot,
    },
    SplitQuarters {
        to: [Slot; 4],
        from: Slot,
    },
    JoinQuarters {
        to: Slot,
        from: [Slot; 4],
    },
    /// `a * b + c` (low or high half) or `a + b`, with carry in and out.
    Carry {
        to: Slot,
        from: [Slot; 3],
        kind: CarryKind,
        takes: bool,
        leaves: bool,
    },
    Special {
        to: Slot,
        which: Special,
        is_wide: bool,
    },
    Load(Access),
    Store(Access),
    /// `to` is a range of cells too, empty for `red`.
    Atomic {
        access: Access,
        update: Update,
        kind: Kind,
        to: (u32, u32),
        swap: Slot,
    },
    Shuffle {
        mode: Shuffle,
        to: Slot,
        found: Slot,
        from: [Slot; 3],
        lanes: Slot,
    },
    Vote {
        mode: Vote,
        to: Slot,
        of: Condition,
        lanes: Slot,
    },
    ActiveLanes {
        to: Slot,
    },
    Reduce {
        update: Update,
        kind: Kind,
        to: Slot,
        from: Slot,
        lanes: Slot,
    },
    /// An index into [`Program::matrix_steps`].
    Matrix(u32),
    /// An index into [`Program::async_copies`].
    AsyncCopy(u32),
    Barrier,
    WarpBarrier,
    Nothing,
    Branch {
        to: u32,
    },
    /// Calls a function: its entry, and the copies of arguments and results (ranges of [`Program::copies`]).
    Call {
        to: u32,
        arguments: (u32, u32),
        results: (u32, u32),
    },
    /// Returns from a function; in the kernel, ends the thread.
    Return,
    Exit,
    Trap,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CarryKind {
    Add,
    Subtract,
    MultiplyLow,
    MultiplyHigh,
}

#[derive(Clone, Copy)]
pub(crate) struct Step {
    pub(crate) op: DecodedOp,
    pub(crate) guard: Condition,
}

/// Bytes of thread-local memory copied at a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Copy {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) bytes: u64,
}

/// A module variable in global memory, with its initial contents.
#[derive(Debug, Clone)]
pub(crate) struct Constant {
    pub(crate) bytes: Vec<u8>,
}

/// A kernel, ready to run. Owned by the caller that runs it; some 100 bytes per instruction.
pub struct Program {
    pub(crate) steps: Vec<Step>,
    pub(crate) places: Vec<Position>,
    pub(crate) cells: Vec<Cell>,
    pub(crate) copies: Vec<Copy>,
    pub(crate) matrix_steps: Vec<MatrixStep>,
    pub(crate) async_copies: Vec<AsyncCopy>,
    pub(crate) words: u32,
    pub(crate) doubles: u32,
    pub(crate) predicates: u32,
    pub(crate) word_constants: Vec<u32>,
    pub(crate) double_constants: Vec<u64>,
    pub(crate) entry: u32,
    pub(crate) shared_bytes: u64,
    pub(crate) local_bytes: u64,
    /// The size of the narrowest access to shared memory, in bytes.
    pub(crate) shared_grain: u64,
    pub(crate) constants: Vec<Constant>,
    pub(crate) name: String,
    /// The byte offset and size of each argument.
    pub(crate) parameters: Vec<(u64, u64)>,
    pub(crate) threads: Option<[u32; 3]>,
}

impl Program {
    /// The number of instructions of the kernel and the functions it calls.
    pub fn instructions(&self) -> usize {
        self.steps.len()
    }

    /// The name of the kernel.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of arguments of the kernel.
    pub fn parameter_count(&self) -> usize {
        self.parameters.len()
    }

    /// The threads of a block, if the text states them (`.reqntid`).
    pub fn threads(&self) -> Option<[u32; 3]> {
        self.threads
    }

    /// The bytes of shared memory that the text declares.
    pub fn shared_bytes(&self) -> u64 {
        self.shared_bytes
    }
}
