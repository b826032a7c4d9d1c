//! The kernel IR: functions of typed SSA values with structured control flow.
//!
//! Tensors are parameters and results; there are no pointers before PTX. An index is not a value but an
//! expression over the function's index variables. These are defined by ops ([`OpKind::Loop`],
//! [`OpKind::For`], [`OpKind::ToIndex`]), by the arguments of the function, and in the entry by the ids of
//! thread and block.

use std::sync::Arc;

use gpu::Launch;
use indexing_map::{Constraint, Expr, IndexingMap, Variable};
use ir::{ArrayShape, OpId};
use syntax::hlo::{ElementType, Opcode};

use crate::constant::Constant;

/// A value of a function, by number.
pub type ValueId = u32;

/// The kernel of a fusion. Lives for one preview.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// The name, of letters, digits and `_`.
    pub name: String,
    pub launch: Launch,
    /// The arguments in order: operands of the fusion, then its results.
    pub params: Vec<Param>,
    /// The functions, the entry first.
    pub functions: Vec<Function>,
    /// Constant arrays of the module.
    pub tables: Vec<Table>,
    /// Ops that no rule implements; the code has zero in their place.
    pub missing: Vec<Missing>,
    /// Whether the kernel uses programmatic dependent launch: it may be launched before the kernel on which
    /// it depends ends, and waits for it. Sorts do not.
    pub waits: bool,
    /// Kernels of the same op that run after it, in this order, with the same arguments. Their own lists are
    /// empty.
    pub then: Vec<Kernel>,
}

/// A constant array of the fused computation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    pub shape: Arc<ArrayShape>,
    /// The elements in row-major order.
    pub elements: Vec<Constant>,
    /// The bytes in memory.
    pub bytes: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    pub op: OpId,
    pub instruction: String,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    pub role: Role,
    pub shape: Arc<ArrayShape>,
    pub bytes: u64,
    /// The alignment of its address: 16 for arguments of the module, 256 for buffers that XLA allocates.
    pub align: u32,
    /// The parameter whose memory this one shares, if a buffer is updated in place.
    pub aliases: Option<usize>,
    /// The first parameter that is the same array: the parameter itself, unless an operand is passed twice.
    pub same_as: usize,
    /// Whether the memory may be written from elsewhere while the kernel runs.
    pub is_changing: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Operand(usize),
    Result(usize),
}

#[derive(Debug, Clone, Default)]
pub struct Function {
    pub name: String,
    /// Tensors, then scalars that the caller computes.
    pub args: Vec<ValueId>,
    /// The number of index variables that are arguments; they are the first ones.
    pub index_args: usize,
    pub index_vars: Vec<Variable>,
    /// Types, by [`ValueId`].
    pub values: Vec<Type>,
    pub body: Region,
    /// The op of the fused computation that the function computes.
    pub root: Option<OpId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type {
    /// A number; a `pred` is 0 or 1.
    Scalar(ElementType),
    /// An array in global or shared memory.
    Tensor(Arc<ArrayShape>),
    Shared(SharedArray),
    /// Several elements of one thread, in registers.
    Vector {
        element: ElementType,
        size: i64,
    },
}

/// A row-major array in shared memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedArray {
    pub element: ElementType,
    pub dims: Vec<i64>,
}

#[derive(Debug, Clone, Default)]
pub struct Region {
    /// Arguments of the region: the values that a loop carries.
    pub args: Vec<ValueId>,
    pub ops: Vec<Op>,
    pub yields: Vec<ValueId>,
}

#[derive(Debug, Clone)]
pub struct Op {
    pub results: Vec<ValueId>,
    pub kind: OpKind,
    /// The op of the fused computation to which it belongs.
    pub origin: Option<OpId>,
}

#[derive(Debug, Clone)]
pub enum OpKind {
    Constant(Constant),
    /// A constant array of the kernel, by number. The result is a tensor.
    Table(usize),
    /// Reads an element. Indices are within the tensor.
    Read {
        tensor: ValueId,
        at: Vec<Expr>,
    },
    /// The tensor with one element replaced.
    Write {
        value: ValueId,
        tensor: ValueId,
        at: Vec<Expr>,
    },
    /// Calls a function at an index. Tensors are those of the caller, by position.
    Call {
        function: usize,
        args: Vec<ValueId>,
        at: Vec<Expr>,
    },
    /// Converts an index to a number of the result's type.
    FromIndex {
        index: Expr,
    },
    /// Converts a number to an index: the variable `var`, clamped to its bounds. HLO clamps in the type of
    /// the number.
    ToIndex {
        value: ValueId,
        var: u32,
    },
    /// Converts a number to an index without clamping: `var` is used only where the number is within its
    /// bounds.
    AsIndex {
        value: ValueId,
        var: u32,
    },
    /// The tensor with one element updated atomically by `body`. The body's argument is the old element, and
    /// it yields the new one.
    Update {
        tensor: ValueId,
        at: Vec<Expr>,
        body: Region,
    },
    /// An elementwise op of HLO on scalars.
    Compute {
        opcode: Opcode,
        operands: Vec<ValueId>,
        detail: Detail,
    },
    /// Runs one of the regions. Their yields are the results.
    If {
        condition: Condition,
        then: Region,
        otherwise: Region,
    },
    /// A loop of `count` sequential iterations; `var` counts from 0.
    For {
        var: u32,
        count: i64,
        inits: Vec<ValueId>,
        body: Region,
    },
    /// A loop over all points of the map's range variables at which its constraints hold. `dims` are the
    /// values of its dimensions, `vars` its range variables, and `results` the variables of its results.
    Loop {
        map: IndexingMap,
        dims: Vec<Expr>,
        vars: Vec<u32>,
        results: Vec<u32>,
        inits: Vec<ValueId>,
        body: Region,
    },
    /// Allocates shared memory. The result is of type [`Type::Shared`].
    AllocateShared,
    /// A vector with this value in all elements.
    Splat {
        value: ValueId,
    },
    /// An element of a vector. The index is constant once the loops around it are unrolled.
    Extract {
        vector: ValueId,
        at: Expr,
    },
    /// The vector with one element replaced.
    Insert {
        value: ValueId,
        vector: ValueId,
        at: Expr,
    },
    /// Reduces values among the threads of a warp. In each step a thread takes those of the thread `distance`
    /// above it and combines both with `combiner` (a function, by number); `distance` is halved until it
    /// reaches the neighbour.
    ShuffleReduce {
        values: Vec<ValueId>,
        distance: i64,
        combiner: usize,
    },
    /// Reads an element if all constraints hold; otherwise the result is `otherwise`.
    ReadIf {
        tensor: ValueId,
        at: Vec<Expr>,
        constraints: Vec<Constraint>,
        otherwise: ValueId,
    },
    /// The tensor with one element replaced if all constraints hold.
    WriteIf {
        value: ValueId,
        tensor: ValueId,
        at: Vec<Expr>,
        constraints: Vec<Constraint>,
    },
    /// Runs the region with the number `on`. The region's yields are the results.
    Switch {
        on: Expr,
        cases: Vec<Region>,
    },
    /// A barrier for all threads of the block. The results are the tensors with the writes of all threads.
    Sync {
        tensors: Vec<ValueId>,
    },
    /// An op that no rule implements.
    Missing,
}

/// The properties of an elementwise op other than its opcode and the types of its operands and its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Detail {
    None,
    Compare(Comparison),
    /// For reduce-precision: the number of bits of exponent and mantissa.
    Precision(u32, u32),
}

/// A comparison of two numbers. `is_total`: by the total order of floating-point numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Comparison {
    pub direction: Direction,
    pub is_total: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

#[derive(Debug, Clone)]
pub enum Condition {
    /// Holds if all constraints hold.
    Within(Vec<Constraint>),
    /// The value of a `pred`.
    Value(ValueId),
}

impl Kernel {
    /// The kernel itself, and those that run after it.
    pub fn stages(&self) -> impl Iterator<Item = &Kernel> {
        std::iter::once(self).chain(&self.then)
    }
}

impl Function {
    pub fn ty(&self, value: ValueId) -> &Type {
        &self.values[value as usize]
    }

    /// The element type of a scalar or of a tensor's elements.
    pub fn element(&self, value: ValueId) -> ElementType {
        match self.ty(value) {
            Type::Scalar(element) => *element,
            Type::Tensor(shape) => shape.element,
            Type::Shared(array) => array.element,
            Type::Vector { element, .. } => *element,
        }
    }
}

impl Kernel {
    /// Per parameter, the number of its memory: parameters that share memory have the same number.
    pub fn slices(&self) -> Vec<usize> {
        let first = |n: usize| {
            let own = self.params[n].aliases.unwrap_or(n);
            self.params.get(own).map_or(own, |param| param.same_as)
        };
        let firsts: Vec<usize> = (0..self.params.len()).map(first).collect();
        let is_new = |n: &usize| firsts[*n] == *n;
        firsts.iter().map(|&first| (0..first).filter(is_new).count()).collect()
    }
}

impl Param {
    pub fn is_result(&self) -> bool {
        matches!(self.role, Role::Result(_))
    }
}
