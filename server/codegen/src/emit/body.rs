//! A function under construction.

use indexing_map::{Constraint, Expr, RangeContext, Simplifier, SimplifyMode, Variable};
use ir::{ElementTypeExt, OpId};
use syntax::hlo::{ElementType, Opcode};

use crate::Reason;
use crate::constant::Constant;
use crate::kernel::{Detail, Function, Op, OpKind, Region, Type, ValueId};

/// The maximum number of values of a function, and of computations inlined into it. If each conditional emits
/// its operand twice, or each computation calls the next one twice, every level doubles them.
const MAX_VALUES: usize = 1 << 17;
const MAX_INLINED: u32 = 1 << 16;

/// A function body; ops are appended to the innermost open region.
pub(crate) struct Body {
    pub function: Function,
    open: Vec<Region>,
    /// The op of the fused computation that is being emitted.
    pub origin: Option<OpId>,
    inlined: u32,
}

impl Body {
    pub fn new(name: &str, root: Option<OpId>) -> Body {
        let function = Function { name: name.to_owned(), root, ..Function::default() };
        Body { function, open: vec![Region::default()], origin: root, inlined: 0 }
    }

    /// Whether the limits are reached.
    pub fn is_full(&self) -> bool {
        self.function.values.len() > MAX_VALUES || self.inlined > MAX_INLINED
    }

    /// Records that a computation is inlined into the function.
    pub fn inlines(&mut self) {
        self.inlined += 1;
    }

    pub fn arg(&mut self, ty: Type) -> ValueId {
        let value = self.value(ty);
        self.function.args.push(value);
        value
    }

    pub fn value(&mut self, ty: Type) -> ValueId {
        self.function.values.push(ty);
        self.function.values.len() as ValueId - 1
    }

    pub fn scalar(&mut self, element: ElementType) -> ValueId {
        self.value(Type::Scalar(element))
    }

    pub fn index_var(&mut self, variable: Variable) -> u32 {
        self.function.index_vars.push(variable);
        self.function.index_vars.len() as u32 - 1
    }

    /// Adds a variable that is an argument; arguments precede all other variables.
    pub fn index_arg(&mut self, variable: Variable) -> Expr {
        self.function.index_args += 1;
        Expr::var(self.index_var(variable) as usize)
    }

    pub fn push(&mut self, kind: OpKind, results: Vec<ValueId>) {
        self.push_of(self.origin, kind, results);
    }

    /// Appends an op that an op of the fused computation becomes.
    pub fn push_of(&mut self, origin: Option<OpId>, kind: OpKind, results: Vec<ValueId>) {
        if let Some(region) = self.open.last_mut() {
            region.ops.push(Op { results, kind, origin });
        }
    }

    /// Appends an op with one scalar result.
    pub fn compute_as(&mut self, kind: OpKind, element: ElementType) -> ValueId {
        let result = self.scalar(element);
        self.push(kind, vec![result]);
        result
    }

    pub fn constant(&mut self, constant: Constant) -> ValueId {
        self.compute_as(OpKind::Constant(constant), constant.element)
    }

    pub fn compute(
        &mut self,
        opcode: Opcode,
        operands: Vec<ValueId>,
        detail: Detail,
        element: ElementType,
    ) -> ValueId {
        self.compute_as(OpKind::Compute { opcode, operands, detail }, element)
    }

    /// Reinterprets a value as another element type of the same width. A value keeps the type with which it
    /// was computed, so every op that moves a value calls this before an op of another type uses it.
    pub fn retyped(&mut self, value: ValueId, to: ElementType) -> Result<ValueId, Reason> {
        let from = self.function.element(value);
        if from == to {
            return Ok(value);
        }
        // A `pred` is a byte in memory, 0 or 1, so a conversion gives the same numbers.
        let bits = |element: ElementType| match element {
            ElementType::Pred => Some(8),
            other => other.bits(),
        };
        let is_pred = from == ElementType::Pred || to == ElementType::Pred;
        let is_number = |element: ElementType| !(element.is_complex() || is_pred && element.is_floating());
        if bits(from) != bits(to) || !is_number(from) || !is_number(to) {
            return Err(format!("the bits of {from} as {to} are not written").into());
        }
        let opcode = if is_pred { Opcode::Convert } else { Opcode::BitcastConvert };
        Ok(self.compute(opcode, vec![value], Detail::None, to))
    }

    pub fn read(&mut self, tensor: ValueId, at: Vec<Expr>) -> ValueId {
        let element = self.function.element(tensor);
        self.compute_as(OpKind::Read { tensor, at }, element)
    }

    pub fn write(&mut self, value: ValueId, tensor: ValueId, at: Vec<Expr>) -> ValueId {
        let ty = self.function.ty(tensor).clone();
        let result = self.value(ty);
        self.push(OpKind::Write { value, tensor, at }, vec![result]);
        result
    }

    /// Opens a region for the ops that follow, until [`Body::close`].
    pub fn open(&mut self, args: Vec<ValueId>) {
        self.open.push(Region { args, ..Region::default() });
    }

    pub fn close(&mut self, yields: Vec<ValueId>) -> Region {
        let mut region = self.open.pop().unwrap_or_default();
        region.yields = yields;
        region
    }

    pub fn finish(mut self, results: Vec<ValueId>) -> Function {
        self.function.body = self.close(results);
        self.function
    }

    /// Simplifies the expression by the ranges of the function's variables.
    pub fn simplify(&self, expr: &Expr) -> Expr {
        self.simplify_with(expr, &[])
    }

    pub fn simplify_with(&self, expr: &Expr, constraints: &[Constraint]) -> Expr {
        let ranges = RangeContext::new(&self.function.index_vars, constraints);
        Simplifier::new(ranges, SimplifyMode::Replace).simplify(expr)
    }

    /// The constraints that the ranges do not prove.
    pub fn open_constraints(&self, constraints: Vec<Constraint>) -> Vec<Constraint> {
        let ranges = RangeContext::new(&self.function.index_vars, &[]);
        let is_open = |c: &Constraint| !c.interval.contains_interval(ranges.range(&c.expr));
        constraints.into_iter().filter(is_open).collect()
    }
}
