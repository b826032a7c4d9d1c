//! Lowers the kernel IR to instructions: inlines functions and unrolls short loops.

use indexing_map::{Constraint, Expr, Interval};
use ir::OpId;
use ptx::{Modifier, Name, Opcode};
use rustc_hash::{FxHashMap, FxHashSet};

use super::code::Code;
use super::features::Features;
use super::frame::Frame;
use super::index::Indices;
use super::machine::{Address, Inst, Kind, Operand, Reg};
use super::map_loop::MapLoop;
use super::scalar::Scalars;
use super::value::{ArrayPlace, Val};
use crate::constant::Constant;
use crate::kernel::{Function, Kernel, Op, OpKind, Region, SharedArray, Type, ValueId};

/// The maximum number of ops of a kernel after inlining and unrolling.
pub(crate) const MAX_OPS: usize = 200_000;
/// The maximum number of elements of a vector; XLA uses at most 8.
const MAX_VECTOR: usize = 64;

/// The results of functions at indices, for given tensors.
type Calls = FxHashMap<(usize, Vec<Expr>, Vec<ArrayPlace>), Vec<Val>>;

/// Instruction selection for one kernel.
pub(crate) struct Lowering<'k> {
    pub kernel: &'k Kernel,
    pub features: Features,
    pub code: Code,
    pub indices: Indices,
    /// Per argument, the register with its address, if it is used.
    pub pointers: Vec<Option<Reg>>,
    pub shared: Vec<SharedArray>,
    /// Available results of calls, per open region.
    pub calls: Vec<Calls>,
    written: usize,
    /// The stores of an unrolled loop, deferred until its iterations end.
    pub pending: Option<Vec<Pending>>,
    /// The elements of each [`Val::Vector`], by number.
    pub vectors: Vec<Vec<Val>>,
    pub scope: Scope,
    /// Whether the loop that wrote the tile of a packed transpose was in a branch.
    pub is_tile_guarded: bool,
    pub joins: Joins,
    /// Ops that no rule implements.
    pub missing: Vec<(OpId, String)>,
}

/// What the loops around the code say about its accesses.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Scope {
    /// Whether neighbouring elements are not joined here.
    pub is_parted: bool,
    /// Whether the elements of a thread span several rows, so that they need not be adjacent.
    pub wraps: bool,
    /// In the loop of several transposes: the number of elements of a row that a thread reads.
    pub tile_vector: Option<i64>,
}

/// What later stages need to know to join accesses.
pub(crate) struct Joins {
    /// Whether 16-bit numbers are computed in pairs before they go to shared memory.
    pub in_pairs: bool,
    /// Registers of vectors that are results of branches.
    pub vectors: FxHashSet<Reg>,
}

/// The instructions of a kernel as they were selected.
pub(crate) struct Selected {
    pub code: Code,
    /// Per argument, the register with its address, if it is used.
    pub pointers: Vec<Option<Reg>>,
    pub shared: Vec<SharedArray>,
    /// Ops that no rule implements, with the reason.
    pub missing: Vec<(OpId, String)>,
    pub is_too_large: bool,
    pub joins: Joins,
}

/// Selects the instructions of a kernel.
pub(crate) fn select(kernel: &Kernel, features: Features) -> Selected {
    let mut lowering = Lowering::new(kernel, features);
    lowering.run();
    let is_too_large = lowering.written > MAX_OPS;
    let Lowering { code, pointers, shared, missing, joins, .. } = lowering;
    Selected { code, pointers, shared, missing, is_too_large, joins }
}

/// A write to memory that is deferred until the iterations of a loop end.
pub(crate) enum Pending {
    /// Address, bits, value.
    Store(Address, u32, Operand),
    Code(Vec<Inst>),
}

impl<'k> Lowering<'k> {
    fn new(kernel: &'k Kernel, features: Features) -> Lowering<'k> {
        Lowering {
            kernel,
            features,
            code: Code::new(),
            indices: Indices::default(),
            pointers: vec![None; kernel.params.len()],
            shared: Vec::new(),
            calls: vec![FxHashMap::default()],
            written: 0,
            pending: None,
            vectors: Vec::new(),
            scope: Scope::default(),
            is_tile_guarded: false,
            joins: Joins { in_pairs: true, vectors: FxHashSet::default() },
            missing: Vec::new(),
        }
    }

    /// Elementwise ops at the end of the code.
    pub(super) fn scalars(&mut self) -> Scalars<'_> {
        Scalars { code: &mut self.code, features: self.features, missing: &mut self.missing }
    }

    /// Runs `write` in loops that say `scope`.
    pub(super) fn within<T>(&mut self, scope: Scope, write: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.scope, scope);
        let result = write(self);
        self.scope = outer;
        result
    }

    /// Runs `write` in a scope of its own: values computed in it are unavailable after it.
    pub(super) fn scoped<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> T {
        self.enter();
        let result = write(self);
        self.leave();
        result
    }

    /// Runs `write` where the constraints hold.
    pub(super) fn assuming<T>(&mut self, facts: Vec<Constraint>, write: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.indices.assume(facts);
        let result = write(self);
        self.indices.forget(before);
        result
    }

    /// Whether a result shares memory with an operand.
    pub(super) fn has_aliases(&self) -> bool {
        self.kernel.params.iter().any(|param| param.aliases.is_some())
    }

    fn run(&mut self) {
        let entry = &self.kernel.functions[0];
        if self.kernel.waits && self.features.has_dependent_launches {
            let opcode = Opcode::new(Name::Griddepcontrol).with(Modifier::Wait);
            self.code.push(Kind::Effect { opcode, from: Vec::new() }, Vec::new());
        }
        let names = ["%tid.x", "%tid.y", "%tid.z", "%ctaid.x", "%ctaid.y", "%ctaid.z"];
        let vars = self.kernel.launch.sizes().into_iter().zip(names).map(|(size, name)| {
            if size <= 1 {
                return Expr::ZERO;
            }
            let reg = self.code.pure(Name::Mov.of(ptx::Type::U32), [Operand::Symbol(name)]);
            self.indices.variable(Interval::from_size(size), reg.into())
        });
        let vars: Vec<Expr> = vars.collect();
        // An operand that is passed twice is one array.
        let params = &self.kernel.params;
        let place = |n: usize| match params.get(params[n].same_as) {
            Some(first) if first.shape == params[n].shape => params[n].same_as,
            _ => n,
        };
        let args = (0..params.len()).map(|n| Val::Tensor(ArrayPlace::Param(place(n)))).collect();
        self.function(entry, args, vars);
        self.code.push(Kind::Return, Vec::new());
    }

    pub(super) fn function(&mut self, function: &'k Function, args: Vec<Val>, vars: Vec<Expr>) -> Vec<Val> {
        let mut frame = Frame { function, values: vec![None; function.values.len()], vars };
        frame.vars.resize(function.index_vars.len(), Expr::TOO_LARGE);
        for (&value, arg) in function.args.iter().zip(args) {
            frame.values[value as usize] = Some(arg);
        }
        self.region(&mut frame, &function.body)
    }

    /// Emits the ops of a region; returns its yields.
    pub(super) fn region(&mut self, frame: &mut Frame<'k>, region: &'k Region) -> Vec<Val> {
        for op in &region.ops {
            self.written += 1;
            if self.written > MAX_OPS {
                break;
            }
            self.statement(frame, op);
        }
        region.yields.iter().map(|&value| frame.value(value)).collect()
    }

    fn statement(&mut self, frame: &mut Frame<'k>, op: &'k Op) {
        // Ops of inlined functions keep the instruction of the call.
        let outer = self.code.origin;
        self.code.origin = op.origin.or(outer);
        let results = self.results(frame, op);
        self.code.origin = outer;
        for (&result, value) in op.results.iter().zip(results) {
            frame.values[result as usize] = Some(value);
        }
    }

    /// Emits an op; returns its results.
    fn results(&mut self, frame: &mut Frame<'k>, op: &'k Op) -> Vec<Val> {
        match &op.kind {
            OpKind::Constant(constant) => vec![Val::constant(*constant)],
            OpKind::Table(number) => vec![Val::Tensor(ArrayPlace::Table(*number as u32))],
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
                vec![self.scalars().index_as_number(value, width, to)]
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
                vec![self.scalars().scalar(*opcode, &inputs, from.unwrap_or(to), to, *detail)]
            }
            OpKind::Switch { on, cases } => self.switch(frame, op, on, cases),
            OpKind::If { condition, then, otherwise } => self.branch(frame, op, condition, then, otherwise),
            OpKind::For { var, count, inits, body } => self.for_loop(frame, *var, *count, inits, body),
            OpKind::Loop { map, dims, vars, results, inits, body } => {
                self.map_loop(frame, MapLoop { map, dims, vars, results, inits, body })
            }
            OpKind::Splat { value } => match frame.function.ty(op.results[0]) {
                Type::Vector { size, .. } => {
                    let size = usize::try_from(*size).unwrap_or(0).min(MAX_VECTOR);
                    let elements = vec![frame.value(*value); size];
                    vec![self.vector(elements)]
                }
                _ => Vec::new(),
            },
            OpKind::Extract { vector, at } => {
                let (elements, at) = self.element_of(frame, *vector, at);
                vec![at.and_then(|at| elements.get(at).copied()).unwrap_or(frame.kind(op.results[0]))]
            }
            OpKind::Insert { value, vector, at } => {
                let (mut elements, at) = self.element_of(frame, *vector, at);
                if let Some(element) = at.and_then(|at| elements.get_mut(at)) {
                    *element = frame.value(*value);
                }
                vec![self.vector(elements)]
            }
            OpKind::ShuffleReduce { values, distance, combiner } => {
                let values = values.iter().map(|&value| frame.value(value)).collect();
                self.shuffle_reduce(values, *distance, *combiner)
            }
            OpKind::ReadIf { tensor, at, constraints, otherwise } => {
                let (at, constraints) = (frame.indices(at), frame.constraints(constraints));
                let element = frame.function.element(*tensor);
                match frame.value(*tensor) {
                    Val::Tensor(place) => {
                        let result = self.carry(frame, &op.results, &[frame.value(*otherwise)]);
                        self.only_if(constraints, |lowering| {
                            let value = lowering.load(place, element, &at);
                            lowering.assign(&result, &[value]);
                        });
                        result.values
                    }
                    _ => vec![frame.value(*otherwise)],
                }
            }
            OpKind::WriteIf { value, tensor, at, constraints } => {
                let (at, constraints) = (frame.indices(at), frame.constraints(constraints));
                let element = frame.function.element(*tensor);
                let (value, tensor) = (frame.value(*value), frame.value(*tensor));
                if let Val::Tensor(place) = tensor {
                    self.only_if(constraints, |lowering| lowering.store(place, element, &at, &value));
                }
                vec![tensor]
            }
            OpKind::AllocateShared => match frame.function.ty(op.results[0]) {
                Type::Shared(array) => {
                    self.shared.push(array.clone());
                    vec![Val::Tensor(ArrayPlace::Shared(self.shared.len() as u32 - 1))]
                }
                _ => Vec::new(),
            },
            OpKind::Sync { tensors } => {
                let opcode = Opcode::new(Name::Bar).with(Modifier::Sync);
                self.code.push(Kind::Effect { opcode, from: vec![Operand::Int(0)] }, Vec::new());
                self.code.forget_loads();
                tensors.iter().map(|&value| frame.value(value)).collect()
            }
            OpKind::Missing => {
                let known = self.kernel.missing.iter().find(|missing| Some(missing.op) == op.origin);
                if let Some(missing) = known {
                    let note = format!("not written: %{}: {}", missing.instruction, missing.reason);
                    self.code.push(super::machine::Kind::Note(note), Vec::new());
                }
                let zero = |&result: &ValueId| Val::constant(Constant::zero(frame.function.element(result)));
                op.results.iter().map(zero).collect()
            }
        }
    }

    pub(super) fn enter(&mut self) {
        self.code.enter();
        self.calls.push(FxHashMap::default());
    }

    pub(super) fn leave(&mut self) {
        self.code.leave();
        self.calls.pop();
    }
}
