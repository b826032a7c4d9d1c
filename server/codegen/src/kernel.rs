//! The kernel IR: functions of typed SSA values with structured control flow.
//!
//! Tensors are parameters and results; nothing is a pointer before PTX. An index is no value but an expression over the
//! function's index variables: what defines one says so ([`OpKind::Loop`], [`OpKind::For`], [`OpKind::ToIndex`], the
//! arguments of the function, and in the entry the ids of thread and block).

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
    /// Letters, digits and `_`.
    pub name: String,
    pub launch: Launch,
    /// In the order of the arguments: operands of the fusion, then its results.
    pub params: Vec<Param>,
    /// The entry first.
    pub functions: Vec<Function>,
    /// Arrays of numbers that are written into the module.
    pub tables: Vec<Table>,
    /// Ops that no rule writes: zero stands in their place.
    pub missing: Vec<Missing>,
    /// May it be launched before the kernel that it depends on is through, and waits for it then? XLA's sorts are not.
    pub waits: bool,
    /// Kernels of the same op that run after it, in this order, with the same arguments. They have none themselves.
    pub then: Vec<Kernel>,
}

/// A constant array of the fused computation, as it lies in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    pub shape: Arc<ArrayShape>,
    /// Row by row.
    pub elements: Vec<Constant>,
    /// As they lie in memory.
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
    /// Of its address: 16 for what comes from outside, 256 for what XLA allocates.
    pub align: u32,
    /// The parameter whose memory this one shares: a buffer that is updated in place.
    pub aliases: Option<usize>,
    /// The first parameter that is the same array: itself, unless an operand is passed twice.
    pub same_as: usize,
    /// Something else may write there while the kernel runs.
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
    /// Tensors, then scalars that the caller computed.
    pub args: Vec<ValueId>,
    /// How many of the first index variables are arguments.
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
    /// A `pred` is 0 or 1.
    Scalar(ElementType),
    /// In global memory, or in that of the block.
    Tensor(Arc<ArrayShape>),
    Shared(SharedArray),
    /// Elements of one thread, side by side in registers.
    Vector {
        element: ElementType,
        size: i64,
    },
}

/// An array in the memory that a block shares. Row-major.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedArray {
    pub element: ElementType,
    pub dims: Vec<i64>,
}

#[derive(Debug, Clone, Default)]
pub struct Region {
    /// Values that the region begins with: what a loop carries.
    pub args: Vec<ValueId>,
    pub ops: Vec<Op>,
    pub yields: Vec<ValueId>,
}

#[derive(Debug, Clone)]
pub struct Op {
    pub results: Vec<ValueId>,
    pub kind: OpKind,
    /// The op of the fused computation that it belongs to.
    pub origin: Option<OpId>,
}

#[derive(Debug, Clone)]
pub enum OpKind {
    Constant(Constant),
    /// A constant array of the kernel, by number: a tensor.
    Table(usize),
    /// An element. Indices are within the tensor.
    Read {
        tensor: ValueId,
        at: Vec<Expr>,
    },
    /// The tensor with another element.
    Write {
        value: ValueId,
        tensor: ValueId,
        at: Vec<Expr>,
    },
    /// What a function computes at an index. Tensors are those of the caller, by position.
    Call {
        function: usize,
        args: Vec<ValueId>,
        at: Vec<Expr>,
    },
    /// An index as a number of the result's type.
    FromIndex {
        index: Expr,
    },
    /// A number as an index: the variable `var`, clamped to its bounds. HLO clamps in the type of the number.
    ToIndex {
        value: ValueId,
        var: u32,
    },
    /// A number as an index, as it is: the variable `var`, which is used only where the number is within its bounds.
    AsIndex {
        value: ValueId,
        var: u32,
    },
    /// The tensor with another element: what `body` makes of the one that is there, while no other thread changes it. The
    /// body's argument is that element, what it yields the new one.
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
    /// Only one of the regions runs. Their yields are the results.
    If {
        condition: Condition,
        then: Region,
        otherwise: Region,
    },
    /// `count` rounds, one after the other; `var` counts from 0.
    For {
        var: u32,
        count: i64,
        inits: Vec<ValueId>,
        body: Region,
    },
    /// All points of the map's range variables at which its constraints hold. `dims` stand for its dimensions, `vars` for
    /// its range variables, and `results` name its results.
    Loop {
        map: IndexingMap,
        dims: Vec<Expr>,
        vars: Vec<u32>,
        results: Vec<u32>,
        inits: Vec<ValueId>,
        body: Region,
    },
    /// Memory of the block. The result is of type [`Type::Shared`].
    AllocateShared,
    /// The vector whose elements are all this one.
    Splat {
        value: ValueId,
    },
    /// An element of a vector. The index is known where the loops around it are written out.
    Extract {
        vector: ValueId,
        at: Expr,
    },
    /// The vector with another element.
    Insert {
        value: ValueId,
        vector: ValueId,
        at: Expr,
    },
    /// Values of the threads of a warp become one: each thread takes those of the thread `distance` behind it, then half as
    /// far, down to its neighbour's, and `combiner` (a function, by number) makes one of both.
    ShuffleReduce {
        values: Vec<ValueId>,
        distance: i64,
        combiner: usize,
    },
    /// An element, or the other value where one of the constraints does not hold.
    ReadIf {
        tensor: ValueId,
        at: Vec<Expr>,
        constraints: Vec<Constraint>,
        otherwise: ValueId,
    },
    /// The tensor with another element where all constraints hold.
    WriteIf {
        value: ValueId,
        tensor: ValueId,
        at: Vec<Expr>,
        constraints: Vec<Constraint>,
    },
    /// One of the regions runs, the one whose number `on` is. Their yields are the results.
    Switch {
        on: Expr,
        cases: Vec<Region>,
    },
    /// All threads of the block arrive here before one goes on. The results are the tensors as all threads have written
    /// them.
    Sync {
        tensors: Vec<ValueId>,
    },
    /// An op that no rule writes.
    Missing,
}

/// What an elementwise op does beyond its opcode and the types of its operands and its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Detail {
    None,
    Compare(Comparison),
    /// Of reduce-precision: bits of exponent and mantissa.
    Precision(u32, u32),
}

/// How two numbers are compared. `is_total`: by the total order of floating-point numbers.
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
    /// All of them hold.
    Within(Vec<Constraint>),
    /// A `pred`.
    Value(ValueId),
}

impl Kernel {
    /// Itself, and those that run after it.
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
    /// Per parameter, the number of the memory that it is in: parameters that share one have the same.
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
