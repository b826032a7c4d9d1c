//! From the kernel IR to instructions: functions are written out where they are called, short loops unrolled.

use indexing_map::{Constraint, Expr, IndexingMap, Interval};
use ir::OpId;
use rustc_hash::FxHashMap;

use super::code::Code;
use super::index::Indices;
use super::machine::{Address, Class, Inst, Operand, Reg};
use super::memory::{Place, class_of};
use super::value::Val;
use crate::constant::Constant;
use crate::kernel::{Condition, Function, Kernel, Op, OpKind, Region, SharedArray, Type, ValueId};

/// A loop whose rounds have together at most this many ops is written out. Source: `kMaxSize` of `optimize_loops.cc`.
const UNROLLED_OPS: i64 = 400;
/// Ops of a kernel that are written out, in all.
const MAX_OPS: usize = 200_000;

/// The results of functions at indices, over tensors.
type Calls = FxHashMap<(usize, Vec<Expr>, Vec<Place>), Vec<Val>>;

pub(crate) struct Lowering<'k> {
    pub kernel: &'k Kernel,
    pub code: Code,
    pub indices: Indices,
    /// Per argument, the register with its address, where it was asked for.
    pub pointers: Vec<Option<Reg>>,
    pub shared: Vec<SharedArray>,
    /// Results of calls, per open region.
    calls: Vec<Calls>,
    written: usize,
    pub is_too_large: bool,
    /// Does it convert to and from two formats of eight bits?
    pub has_f8: bool,
    pub bf16: Bf16,
    /// What the rounds of an unrolled loop store, until they are through.
    pub pending: Option<Vec<Pending>>,
    /// Neighbouring elements are not joined here.
    pub is_parted: bool,
    /// Does a result lie where an operand does?
    has_aliases: bool,
    /// Ops that no rule writes.
    pub missing: Vec<(OpId, String)>,
}

/// What a device computes in `bf16`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bf16 {
    None,
    /// Products with a sum, in one rounding; by these a sum or a product alone.
    Fused,
    Full,
}

/// What changes memory, and waits until the rounds of a loop are through.
pub(crate) enum Pending {
    Store(Address, u32, Operand),
    Code(Vec<Inst>),
}

/// A branch around rounds of a loop, and the facts that held before it.
struct Held {
    skip: u32,
    facts: usize,
}

/// One function at one place.
pub(super) struct Frame<'k> {
    function: &'k Function,
    values: Vec<Option<Val>>,
    /// What stands for the function's index variables.
    vars: Vec<Expr>,
}

impl<'k> Lowering<'k> {
    pub fn new(kernel: &'k Kernel, (major, minor): (u32, u32)) -> Lowering<'k> {
        Lowering {
            kernel,
            code: Code::new(),
            indices: Indices::default(),
            pointers: vec![None; kernel.params.len()],
            shared: Vec::new(),
            calls: vec![FxHashMap::default()],
            written: 0,
            is_too_large: false,
            has_f8: (major, minor) >= (8, 9),
            bf16: match major {
                0..=7 => Bf16::None,
                8 => Bf16::Fused,
                _ => Bf16::Full,
            },
            pending: None,
            is_parted: false,
            has_aliases: kernel.params.iter().any(|param| param.aliases.is_some()),
            missing: Vec::new(),
        }
    }

    pub fn run(&mut self) {
        let entry = &self.kernel.functions[0];
        let names = ["%tid.x", "%tid.y", "%tid.z", "%ctaid.x", "%ctaid.y", "%ctaid.z"];
        let vars = self.kernel.launch.sizes().into_iter().zip(names).map(|(size, name)| {
            if size <= 1 {
                return Expr::ZERO;
            }
            let reg = self.code.pure("mov.u32", Class::B32, [Operand::Symbol(name)]);
            self.indices.variable(Interval::from_size(size), reg.into())
        });
        let vars: Vec<Expr> = vars.collect();
        let args = (0..self.kernel.params.len()).map(|n| Val::Tensor(Place::Param(n))).collect();
        self.function(entry, args, vars);
        self.code.push(super::machine::Kind::Return, Vec::new());
    }

    fn function(&mut self, function: &'k Function, args: Vec<Val>, vars: Vec<Expr>) -> Vec<Val> {
        let mut frame = Frame { function, values: vec![None; function.values.len()], vars };
        frame.vars.resize(function.index_vars.len(), Expr::TOO_LARGE);
        for (&value, arg) in function.args.iter().zip(args) {
            frame.values[value as usize] = Some(arg);
        }
        self.region(&mut frame, &function.body)
    }

    /// Writes the ops of a region; what it yields.
    pub(super) fn region(&mut self, frame: &mut Frame<'k>, region: &'k Region) -> Vec<Val> {
        for op in &region.ops {
            self.written += 1;
            if self.written > MAX_OPS {
                self.is_too_large = true;
                break;
            }
            let before = self.code.origin;
            // Inside of a function every op belongs to an instruction.
            self.code.origin = op.origin.or(before);
            self.statement(frame, op);
            self.code.origin = before;
        }
        region.yields.iter().map(|&value| frame.value(value)).collect()
    }

    fn statement(&mut self, frame: &mut Frame<'k>, op: &'k Op) {
        let results = match &op.kind {
            OpKind::Constant(constant) => vec![Val::constant(*constant)],
            OpKind::Table(number) => vec![Val::Tensor(Place::Table(*number as u32))],
            OpKind::Read { tensor, at } => {
                let at = frame.indices(at);
                let element = frame.function.element(*tensor);
                match frame.value(*tensor) {
                    Val::Tensor(place) => vec![self.load(place, element, &at)],
                    _ => vec![Val::constant(Constant::zero(element))],
                }
            }
            OpKind::Write { value, tensor, at } => {
                let at = frame.indices(at);
                let element = frame.function.element(*tensor);
                let (value, tensor) = (frame.value(*value), frame.value(*tensor));
                if let Val::Tensor(place) = tensor {
                    self.store(place, element, &at, &value);
                }
                vec![tensor]
            }
            OpKind::AsIndex { value, var } => {
                let from = frame.function.element(*value);
                let bounds = frame.function.index_vars[*var as usize].bounds;
                let value = frame.value(*value);
                frame.vars[*var as usize] = self.as_index(value, from, bounds);
                Vec::new()
            }
            OpKind::Update { tensor, at, body } => {
                let at = frame.indices(at);
                let element = frame.function.element(*tensor);
                let tensor = frame.value(*tensor);
                if let Val::Tensor(place) = tensor {
                    self.update(frame, place, element, &at, body);
                }
                vec![tensor]
            }
            OpKind::Call { function, args, at } => self.call(frame, *function, args, at),
            OpKind::FromIndex { index } => {
                let index = frame.index(index);
                let index = self.indices.here(&index);
                let to = frame.function.element(op.results[0]);
                let (value, width) = self.indices.compute(&mut self.code, &index);
                vec![self.index_as_number(value, width, to)]
            }
            OpKind::ToIndex { value, var } => {
                let from = frame.function.element(*value);
                let bounds = frame.function.index_vars[*var as usize].bounds;
                let value = frame.value(*value);
                frame.vars[*var as usize] = self.number_as_index(value, from, bounds);
                Vec::new()
            }
            OpKind::Compute { opcode, operands, detail } => {
                let inputs: Vec<Val> = operands.iter().map(|&value| frame.value(value)).collect();
                let from = operands.first().map(|&value| frame.function.element(value));
                let to = frame.function.element(op.results[0]);
                vec![self.scalar(*opcode, &inputs, from.unwrap_or(to), to, *detail)]
            }
            OpKind::If { condition, then, otherwise } => self.branch(frame, op, condition, then, otherwise),
            OpKind::For { var, count, inits, body } => self.for_loop(frame, *var, *count, inits, body),
            OpKind::Loop { map, dims, vars, results, inits, body } => {
                self.map_loop(frame, map, dims, vars, results, inits, body)
            }
            OpKind::AllocateShared => match frame.function.ty(op.results[0]) {
                Type::Shared(array) => {
                    self.shared.push(array.clone());
                    vec![Val::Tensor(Place::Shared(self.shared.len() as u32 - 1))]
                }
                _ => Vec::new(),
            },
            OpKind::Sync { tensors } => {
                self.code.push(
                    super::machine::Kind::Effect { name: "bar.sync".into(), from: vec![Operand::Int(0)] },
                    Vec::new(),
                );
                self.code.forget_loads();
                tensors.iter().map(|&value| frame.value(value)).collect()
            }
            OpKind::Missing => {
                let zero = |&result: &ValueId| Val::constant(Constant::zero(frame.function.element(result)));
                op.results.iter().map(zero).collect()
            }
        };
        for (&result, value) in op.results.iter().zip(results) {
            frame.values[result as usize] = Some(value);
        }
    }

    fn call(&mut self, frame: &Frame<'k>, function: usize, args: &[ValueId], at: &[Expr]) -> Vec<Val> {
        let at: Vec<Expr> = frame.indices(at).iter().map(|e| self.indices.simplify(e)).collect();
        let args: Vec<Val> = args.iter().map(|&value| frame.value(value)).collect();
        let places = args.iter().filter_map(|arg| match arg {
            Val::Tensor(place) => Some(*place),
            _ => None,
        });
        // In an unrolled loop the same expression is another number each round.
        let here: Vec<Expr> = at.iter().map(|e| self.indices.here(e)).collect();
        let key = (function, here, places.collect());
        if let Some(values) = self.calls.iter().rev().find_map(|region| region.get(&key)) {
            return values.clone();
        }
        let kernel = self.kernel;
        let Some(called) = kernel.functions.get(function) else { return Vec::new() };
        let values = self.function(called, args, at);
        if let Some(region) = self.calls.last_mut() {
            region.insert(key, values.clone());
        }
        values
    }

    pub(super) fn enter(&mut self) {
        self.code.enter();
        self.calls.push(FxHashMap::default());
    }

    pub(super) fn leave(&mut self) {
        self.code.leave();
        self.calls.pop();
    }

    fn branch(
        &mut self,
        frame: &mut Frame<'k>,
        op: &'k Op,
        condition: &Condition,
        then: &'k Region,
        otherwise: &'k Region,
    ) -> Vec<Val> {
        let mut facts = Vec::new();
        let guard = match condition {
            Condition::Within(constraints) => {
                for constraint in constraints {
                    let symbolic = Constraint { expr: frame.index(&constraint.expr), ..constraint.clone() };
                    let range = self.indices.range(&self.indices_here(&symbolic.expr));
                    if range.intersect(symbolic.interval).is_empty() {
                        return self.region(frame, otherwise);
                    }
                    facts.push(symbolic);
                }
                self.guard(&facts)
            }
            Condition::Value(value) => match frame.value(*value).num() {
                Operand::Int(0) => return self.region(frame, otherwise),
                Operand::Reg(reg) => Some(reg),
                _ => None,
            },
        };
        let Some(guard) = guard else { return self.region(frame, then) };
        let (other, end) = (self.code.label(), self.code.label());
        let has_other = !otherwise.ops.is_empty();
        let results: Vec<Vec<Reg>> = op.results.iter().map(|&value| self.variables(frame, value)).collect();
        if !has_other {
            // What is yielded is at hand: it is set before, and again inside.
            let values: Vec<Val> = otherwise.yields.iter().map(|&value| frame.value(value)).collect();
            self.assign(&results, &values);
            self.code.branch(end, Some((guard, false)));
        } else {
            self.code.branch(other, Some((guard, false)));
        }
        self.enter();
        let before = self.indices.assume(facts);
        let values = self.region(frame, then);
        self.assign(&results, &values);
        self.indices.forget(before);
        self.leave();
        if has_other {
            self.code.branch(end, None);
            self.code.place(other);
            self.enter();
            let values = self.region(frame, otherwise);
            self.assign(&results, &values);
            self.leave();
        }
        self.code.place(end);
        let kinds = op.results.iter().map(|&value| frame.kind(value));
        kinds.zip(&results).map(|(kind, regs)| kind.with_operands(&operands(regs))).collect()
    }

    fn indices_here(&self, expr: &Expr) -> Expr {
        expr.clone()
    }

    /// Ends rounds that held under one condition: what they store is stored here.
    fn release(&mut self, held: Option<Held>) {
        for pending in self.pending.take().unwrap_or_default() {
            match pending {
                Pending::Store(address, bits, from) => self.code.store(address, bits, from),
                Pending::Code(insts) => {
                    self.code.forget_loads();
                    self.code.insts.extend(insts);
                }
            }
        }
        if let Some(Held { skip, facts }) = held {
            self.indices.forget(facts);
            self.leave();
            self.code.place(skip);
        }
    }

    /// A predicate that holds where all constraints do; nothing where that is known.
    fn guard(&mut self, constraints: &[Constraint]) -> Option<Reg> {
        let open: Vec<Constraint> = constraints.iter().filter_map(|c| self.indices.open(c)).collect();
        self.tests(&open)
    }

    fn tests(&mut self, constraints: &[Constraint]) -> Option<Reg> {
        let mut guard: Option<Reg> = None;
        for constraint in constraints {
            let test = self.indices.test(&mut self.code, constraint);
            guard = Some(match guard {
                None => test,
                Some(before) => self.code.pure("and.pred", Class::Pred, [before.into(), test.into()]),
            });
        }
        guard
    }

    /// Registers for a value that is written at several places.
    fn variables(&mut self, frame: &Frame<'k>, value: ValueId) -> Vec<Reg> {
        let Type::Scalar(element) = frame.function.ty(value) else { return Vec::new() };
        match frame.kind(value) {
            Val::Complex(..) => {
                let class = Class::of_bits(ir::ElementTypeExt::bits(*element).unwrap_or(64) / 2);
                vec![self.code.reg(class), self.code.reg(class)]
            }
            _ => vec![self.code.reg(class_of(*element))],
        }
    }

    fn assign(&mut self, to: &[Vec<Reg>], values: &[Val]) {
        let pairs =
            to.iter().zip(values).flat_map(|(regs, value)| regs.iter().copied().zip(value.operands()));
        let mut pairs: Vec<(Reg, Operand)> = pairs.collect();
        // All at once: what is overwritten before it is read is kept aside.
        for n in 1..pairs.len() {
            let Operand::Reg(from) = pairs[n].1 else { continue };
            if pairs[..n].iter().any(|(reg, value)| *reg == from && *value != Operand::Reg(*reg)) {
                pairs[n].1 = self.code.variable(from.class, from.into()).into();
            }
        }
        for (reg, operand) in pairs {
            self.code.set(reg, operand);
        }
    }

    fn for_loop(
        &mut self,
        frame: &mut Frame<'k>,
        var: u32,
        count: i64,
        inits: &[ValueId],
        body: &'k Region,
    ) -> Vec<Val> {
        let mut carried: Vec<Val> = inits.iter().map(|&value| frame.value(value)).collect();
        if count <= 0 {
            return carried;
        }
        let bounds = Interval::from_size(count);
        if count.saturating_mul(size(body, self.kernel)) <= UNROLLED_OPS || count == 1 {
            let variable = self.indices.variable(bounds, Operand::Int(0));
            frame.vars[var as usize] = variable.clone();
            for round in 0..count {
                self.indices.fix(&variable, Some(round));
                frame.give(&body.args, &carried);
                self.calls.push(FxHashMap::default());
                carried = self.region(frame, body);
                self.calls.pop();
            }
            return carried;
        }
        let counter = self.code.variable(Class::B32, Operand::Int(0));
        let regs: Vec<Vec<Reg>> = body.args.iter().map(|&value| self.variables(frame, value)).collect();
        self.assign(&regs, &carried);
        let kinds: Vec<Val> = body.args.iter().map(|&value| frame.kind(value)).collect();
        let inside: Vec<Val> = kinds
            .iter()
            .zip(&regs)
            .zip(&carried)
            .map(
                |((kind, regs), init)| {
                    if regs.is_empty() { *init } else { kind.with_operands(&operands(regs)) }
                },
            )
            .collect();
        let variable = self.indices.variable(bounds, counter.into());
        frame.vars[var as usize] = variable;
        frame.give(&body.args, &inside);
        let top = self.code.label();
        self.code.place(top);
        self.enter();
        let values = self.region(frame, body);
        self.assign(&regs, &values);
        self.leave();
        self.next_round(counter, count, top);
        inside
    }

    /// Counts, and goes back to `top` until all rounds were done.
    fn next_round(&mut self, counter: Reg, count: i64, top: u32) {
        let next = self.code.reg(Class::B32);
        let from = vec![counter.into(), Operand::Int(1)];
        self.code.push(super::machine::Kind::Pure { name: "add.s32".into(), from }, vec![next]);
        self.code.set(counter, next.into());
        let again = self.code.reg(Class::Pred);
        let from = vec![counter.into(), Operand::Int(count)];
        self.code.push(super::machine::Kind::Pure { name: "setp.lt.u32".into(), from }, vec![again]);
        self.code.branch(top, Some((again, true)));
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one op")]
    fn map_loop(
        &mut self,
        frame: &mut Frame<'k>,
        map: &IndexingMap,
        dims: &[Expr],
        vars: &[u32],
        results: &[u32],
        inits: &[ValueId],
        body: &'k Region,
    ) -> Vec<Val> {
        let carried: Vec<Val> = inits.iter().map(|&value| frame.value(value)).collect();
        if map.is_known_empty() {
            return carried;
        }
        let was_parted = std::mem::replace(&mut self.is_parted, wraps(map));
        let dims: Vec<Expr> = frame.indices(dims);
        let mut ranges: Vec<Expr> = Vec::new();
        // Constraints that do not change in the loop are asked once.
        let of = |expr: &Expr, ranges: &[Expr]| {
            expr.substitute(&mut |v| {
                let v = v as usize;
                dims.get(v).or_else(|| ranges.get(v - dims.len())).cloned()
            })
        };
        let is_outer =
            |c: &&Constraint| !(0..map.num_ranges()).any(|n| c.expr.uses_var((dims.len() + n) as u32));
        // The bounds of the dimensions may be narrower than the grid.
        let bounds = dims.iter().zip(map.dims());
        let mut outer: Vec<Constraint> = bounds
            .map(|(dim, variable)| Constraint { expr: dim.clone(), interval: variable.bounds })
            .collect();
        let stated = map.constraints().iter().filter(is_outer);
        outer.extend(stated.map(|c| Constraint { expr: of(&c.expr, &[]), interval: c.interval }));
        let end = self.code.label();
        let guard = self.guard(&outer);
        if let Some(guard) = guard {
            self.code.branch(end, Some((guard, false)));
            self.enter();
        }
        let before = self.indices.assume(outer);
        let trips: Vec<i64> =
            map.ranges().iter().map(|v| i64::try_from(v.bounds.size()).unwrap_or(i64::MAX)).collect();
        // The innermost loops are written out as far as they are short.
        let mut unrolled = 1i64;
        let mut first_unrolled = trips.len();
        while first_unrolled > 0 && unrolled.saturating_mul(trips[first_unrolled - 1]) <= 32 {
            first_unrolled -= 1;
            unrolled *= trips[first_unrolled];
        }
        let mut loops = Vec::new();
        let mut counters: Vec<Expr> = Vec::new();
        for (n, variable) in map.ranges().iter().enumerate() {
            let lower = variable.bounds.lower;
            if n < first_unrolled {
                let counter = self.code.variable(Class::B32, Operand::Int(0));
                let index = self.indices.variable(Interval::from_size(trips[n]), counter.into());
                let top = self.code.label();
                self.code.place(top);
                self.enter();
                counters.push(index.clone());
                ranges.push(index + lower);
                loops.push((counter, trips[n], top));
            } else {
                let index = self.indices.variable(Interval::from_size(trips[n]), Operand::Int(0));
                counters.push(index.clone());
                ranges.push(index + lower);
            }
        }
        let inner: Vec<Constraint> = map
            .constraints()
            .iter()
            .filter(|c| !is_outer(c))
            .map(|c| Constraint { expr: of(&c.expr, &ranges), interval: c.interval })
            .collect();
        for (&var, expr) in vars.iter().zip(&ranges) {
            frame.vars[var as usize] = expr.clone();
        }
        let values = carried;
        // Rounds that hold under the same condition share a branch; what they store is stored behind them, so that
        // neighbours meet.
        let mut held: Option<(Vec<Constraint>, Option<Held>)> = None;
        let fix = |indices: &mut Indices, round: i64| {
            let mut rest = round;
            for n in (first_unrolled..trips.len()).rev() {
                let at = rest % trips[n];
                rest /= trips[n];
                indices.fix(&counters[n], Some(at));
            }
        };
        // All of them before any holds.
        let conditions: Vec<Vec<Constraint>> = (0..unrolled)
            .map(|round| {
                fix(&mut self.indices, round);
                inner.iter().filter_map(|c| self.indices.open(c)).collect()
            })
            .collect();
        for (round, open) in (0..unrolled).zip(conditions) {
            fix(&mut self.indices, round);
            let is_same = held.as_ref().is_some_and(|(before, _)| *before == open);
            if !is_same {
                if let Some((_, held)) = held.take() {
                    self.release(held);
                }
                let is_never =
                    open.iter().any(|c| self.indices.range(&c.expr).intersect(c.interval).is_empty());
                if is_never {
                    continue;
                }
                let guard = self.tests(&open);
                let inside = guard.map(|guard| {
                    let skip = self.code.label();
                    self.code.branch(skip, Some((guard, false)));
                    self.enter();
                    Held { skip, facts: self.indices.assume(inner.clone()) }
                });
                held = Some((open, inside));
            }
            for (&var, expr) in results.iter().zip(map.results()) {
                frame.vars[var as usize] = of(expr, &ranges);
            }
            frame.give(&body.args, &values);
            self.calls.push(FxHashMap::default());
            // What only changes elements reads none before.
            let only_changes = || body.ops.iter().any(|op| matches!(op.kind, OpKind::Update { .. }));
            let defers = self.pending.is_none() && (!self.has_aliases || only_changes());
            if defers && unrolled > 1 {
                self.pending = Some(Vec::new());
            }
            self.region(frame, body);
            self.calls.pop();
        }
        if let Some((_, held)) = held {
            self.release(held);
        }
        for (counter, count, top) in loops.into_iter().rev() {
            self.leave();
            self.next_round(counter, count, top);
        }
        self.indices.forget(before);
        if guard.is_some() {
            self.leave();
            self.code.place(end);
        }
        self.is_parted = was_parted;
        values
    }
}

impl Frame<'_> {
    pub fn value(&self, value: ValueId) -> Val {
        let found = self.values.get(value as usize).copied().flatten();
        found.unwrap_or_else(|| self.kind(value))
    }

    pub fn give(&mut self, to: &[ValueId], values: &[Val]) {
        for (&value, &given) in to.iter().zip(values) {
            self.values[value as usize] = Some(given);
        }
    }

    /// A value of the right kind.
    fn kind(&self, value: ValueId) -> Val {
        match self.function.ty(value) {
            Type::Scalar(element) => Val::constant(Constant::zero(*element)),
            _ => Val::Tensor(Place::Param(0)),
        }
    }

    fn index(&self, expr: &Expr) -> Expr {
        expr.substitute(&mut |v| self.vars.get(v as usize).cloned())
    }

    fn indices(&self, exprs: &[Expr]) -> Vec<Expr> {
        exprs.iter().map(|e| self.index(e)).collect()
    }
}

fn operands(regs: &[Reg]) -> Vec<Operand> {
    regs.iter().map(|&reg| reg.into()).collect()
}

/// Do the elements of one thread lie in several rows of an array that the threads do not fill evenly? XLA keeps a remainder
/// in the slowest index then, and joins no accesses behind it.
fn wraps(map: &IndexingMap) -> bool {
    let mut moving = map.results().iter().filter(|e| e.as_const().is_none());
    let (Some(slowest), Some(_)) = (moving.next(), moving.next()) else { return false };
    let Some(innermost) = map.num_ranges().checked_sub(1) else { return false };
    !map.constraints().is_empty() && slowest.uses_var((map.num_dims() + innermost) as u32)
}

/// Ops of a region, those of the functions that it calls included, up to a limit.
fn size(region: &Region, kernel: &Kernel) -> i64 {
    fn count(region: &Region, kernel: &Kernel, depth: u32) -> i64 {
        let mut sum = 0i64;
        for op in &region.ops {
            sum += match &op.kind {
                OpKind::Constant(_) => 0,
                OpKind::Update { body, .. } => count(body, kernel, depth) + 1,
                OpKind::If { then, otherwise, .. } => {
                    count(then, kernel, depth) + count(otherwise, kernel, depth) + 1
                }
                OpKind::For { body, count: rounds, .. } => {
                    count(body, kernel, depth).saturating_mul((*rounds).max(1))
                }
                OpKind::Loop { body, .. } => count(body, kernel, depth),
                OpKind::Call { function, .. } if depth < 8 => {
                    kernel.functions.get(*function).map_or(1, |called| count(&called.body, kernel, depth + 1))
                }
                _ => 1,
            };
            if sum > 1 << 20 {
                break;
            }
        }
        sum
    }
    count(region, kernel, 0).max(1)
}
