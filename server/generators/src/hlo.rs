//! Random valid programs: one instruction of a given opcode, or a chain of instructions as a fused
//! computation.
//!
//! Shapes are small (at most [`MAX_SIZE`] elements per array, including sizes 0 and 1), layouts and
//! attributes are random, index operands hold known integers, in and out of bounds. A seed determines the
//! program, on every machine. Programs are HLO text that is then parsed, so that a failing one can be pasted.

mod calls;
mod computed;
mod contractions;
mod elementwise;
mod extents;
mod indexed;
mod moves;
mod program;
mod replicas;
mod rows;
mod spoilt;
mod typed;
mod windows;

use std::borrow::Cow;
use std::sync::Arc;

use dependences::Setting;
use eval::{Callees, Column, Evaluator, Kind, Reason};
use ir::{Graph, Op, OpId, Opcode};
use random::Rng;

pub use computed::with_computed_indices;
pub use extents::without_some_extents;
pub use program::MAX_SIZE;
use program::{Operand, Program};
pub use spoilt::{Spoilt, nearly_valid_op, spoilt_op};

/// A module; the root of its entry computation is the subject.
#[derive(Debug, Clone)]
pub struct Generated {
    /// The state of the generator: `Rng::new(seed)` reproduces the program.
    pub seed: u64,
    /// The text of the whole module, ready to paste.
    pub text: String,
    /// The entry computation.
    pub graph: Arc<Graph>,
    /// Every computation by name.
    pub computations: Vec<(String, Arc<Graph>)>,
    /// For each parameter of the entry, its integers if they determine places.
    pub values: Vec<Option<Vec<i64>>>,
    /// The number of replicas that run it.
    pub replicas: u32,
}

/// A text without the layouts of its shapes: the numbers in braces after sizes.
pub fn without_layouts(text: &str) -> String {
    let mut parts = text.split("]{");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push(']');
        out.push_str(part.split_once('}').map_or(part, |(_, rest)| rest));
    }
    out
}

/// A module whose entry's root is one instruction; its operands are the parameters, in order.
pub type GeneratedOp = Generated;

impl Generated {
    pub fn root(&self) -> OpId {
        self.graph.root
    }

    /// The instruction.
    pub fn op(&self) -> &Op {
        &self.graph.ops[self.graph.root as usize]
    }

    pub fn callee(&self, name: &str) -> Option<Arc<Graph>> {
        self.computations.iter().find(|(own, _)| own == name).map(|(_, graph)| graph.clone())
    }

    /// The elements of a parameter for the interpreter: its known integers, else random numbers from this
    /// seed, small ones for integer types. `graph` is the entry, or a graph derived from it. The error says
    /// why there are none.
    pub fn input(
        &self,
        graph: &Graph,
        seed: u64,
        (number, leaf): (u32, usize),
        positions: &[i64],
    ) -> Result<Column, Cow<'static, str>> {
        let id = graph.parameter(number).ok_or("no such parameter")?;
        let leaves = eval::leaves(&graph.ops[id as usize].shape);
        let element = leaves.get(leaf).and_then(|shape| shape.element()).ok_or("no array")?;
        let kind = Kind::of(element).ok_or("no values")?;
        if let Some(Some(known)) = self.values.get(number as usize) {
            let at = |&p: &i64| known.get(p as usize).copied().ok_or("no such element");
            return Ok(Column::int(kind, positions.iter().map(at).collect::<Result<_, _>>()?));
        }
        let bits = |&p: &i64| element_of(kind, seed ^ u64::from(number) << 32 ^ p as u64).bits(0);
        Ok(Column::from_bits(kind, positions.iter().map(bits)))
    }

    /// Each array of the result of a computation, the entry or one made of it, on the parameters of this seed; or why it has no
    /// value.
    pub fn results(
        &self,
        computation: Arc<Graph>,
        callees: &Callees<'_>,
        seed: u64,
    ) -> Vec<Result<Column, Reason>> {
        let inputs = |number: u32, leaf: usize, positions: &[i64]| {
            self.input(&self.graph, seed, (number, leaf), positions)
        };
        let root = computation.root;
        let leaves = eval::leaves(&computation.ops[root as usize].shape).len();
        let mut evaluator = Evaluator::new(computation, callees, &inputs);
        (0..leaves).map(|leaf| evaluator.whole(root, leaf)).collect()
    }

    /// Calls `f` with the setting for `replica`.
    pub fn on<T>(&self, replica: u32, f: impl FnOnce(&Setting<'_>) -> T) -> T {
        let callees = |name: &str| self.callee(name);
        f(&Setting { values: &self.values, replica, replicas: self.replicas, callees: &callees })
    }
}

/// The opcodes that [`random_op`] supports.
pub fn opcodes() -> Vec<Opcode> {
    Opcode::ALL.iter().copied().filter(|&opcode| family(opcode).is_some()).collect()
}

/// The most attempts of a family to make random choices that fit together.
const ATTEMPTS: usize = 200;

/// A random valid instruction; `None` for an opcode that is not in [`opcodes`].
pub fn random_op(opcode: Opcode, rng: &mut Rng) -> Option<GeneratedOp> {
    let family = family(opcode)?;
    for _ in 0..ATTEMPTS {
        let seed = rng.state();
        let mut program = Program::new(rng);
        if let Some(root) = family(&mut program, opcode)
            && let Some(generated) = program.finish(&root, seed)
        {
            return Some(generated);
        }
    }
    None
}

/// A chain of 3 to 6 instructions, each using the previous one and some also an earlier one. All opcodes are
/// ones that fusions contain.
pub fn random_graph(rng: &mut Rng) -> Generated {
    use Opcode::*;
    let opcodes = [
        Add,
        Subtract,
        Negate,
        Select,
        Broadcast,
        Transpose,
        Reverse,
        Slice,
        Pad,
        Concatenate,
        Reshape,
        Bitcast,
        DynamicSlice,
        DynamicUpdateSlice,
        Gather,
        Reduce,
        ReduceWindow,
        Dot,
    ];
    loop {
        let seed = rng.state();
        let mut program = Program::new(rng);
        let wanted = program.rng.range(3, 6);
        let mut last: Option<Operand> = None;
        let mut count = 0;
        for _ in 0..20 {
            let opcode = *program.rng.pick(&opcodes);
            let before = program.mark();
            program.chain = last.clone();
            let made = family(opcode).and_then(|family| family(&mut program, opcode));
            // An instruction that does not use the chain would leave it dead; the others take `f32`.
            let goes_on = |value: &Operand| value.element == "f32" && !value.shape.starts_with('(');
            match made.filter(|value| program.chain.is_none() && goes_on(value)) {
                Some(value) => {
                    program.remember(&value);
                    last = Some(value);
                    count += 1;
                }
                None => program.undo(before),
            }
            if count == wanted {
                break;
            }
        }
        if let (Some(root), true) = (last, count >= 3)
            && let Some(generated) = program.finish(&root, seed)
        {
            return generated;
        }
    }
}

/// Some elementwise instructions and reductions on arrays of several element types.
pub fn random_typed(rng: &mut Rng) -> Generated {
    loop {
        let seed = rng.state();
        let mut program = Program::new(rng);
        let root = typed::typed(&mut program);
        if let Some(generated) = program.finish(&root, seed) {
            return generated;
        }
    }
}

fn element_of(kind: Kind, seed: u64) -> Column {
    let x = Rng::new(seed).next_u64();
    match kind {
        _ if kind.is_integral() => Column::int(kind, vec![kind.wrap((x >> 40) as i64 % 7 - 2)]),
        Kind::Complex { .. } => Column::complex(kind, vec![[(x >> 60) as f64, 1.0]]),
        _ => Column::real(kind, vec![kind.round((x >> 50) as f64 / 1000.0 - 4.0)]),
    }
}

/// Adds an instruction of this opcode with its operands; `None` if the random choices do not fit together.
type Family = fn(&mut Program<'_>, Opcode) -> Option<Operand>;

fn family(opcode: Opcode) -> Option<Family> {
    use Opcode::*;
    Some(match opcode {
        Parameter | Infeed | Outfeed | Send | SendDone | Recv | RecvDone | AsyncStart | AsyncUpdate
        | AsyncDone | CustomCall | Domain | RaggedAllToAll | AddDependency | AfterAll
        | RngGetAndUpdateState | Shuffle => return None,
        Constant | Iota | PartitionId | ReplicaId | Rng | RngBitGenerator => elementwise::without_data,
        Map => elementwise::map,
        BitcastConvert => elementwise::bitcast_convert,
        Broadcast => moves::broadcast,
        Transpose => moves::transpose,
        Reverse => moves::reverse,
        Slice => moves::slice,
        Concatenate => moves::concatenate,
        Pad => moves::pad,
        Reshape | DynamicReshape => moves::reshape,
        Bitcast => moves::bitcast,
        GetDimensionSize | SetDimensionSize => moves::dimension_size,
        CopyStart | OptBarrier => moves::in_place,
        CopyDone => moves::copy_done,
        DynamicSlice => indexed::dynamic_slice,
        DynamicUpdateSlice => indexed::dynamic_update_slice,
        Gather => indexed::gather,
        Scatter => indexed::scatter,
        Reduce => windows::reduce,
        ReduceWindow => windows::reduce_window,
        SelectAndScatter => windows::select_and_scatter,
        Scan => windows::scan,
        Dot | ScaledDot => contractions::dot,
        RaggedDot => contractions::ragged_dot,
        Convolution => contractions::convolution,
        Sort => rows::sort,
        Topk => rows::topk,
        Fft => rows::fft,
        Cholesky | TriangularSolve => rows::solve,
        BatchNormTraining | BatchNormInference | BatchNormGrad => rows::batch_norm,
        AllGather
        | AllGatherStart
        | AllReduce
        | AllReduceStart
        | ReduceScatter
        | AllToAll
        | CollectivePermute
        | CollectivePermuteStart
        | CollectiveBroadcast
        | CollectiveReduce => replicas::collective,
        AllGatherDone | AllReduceDone | CollectivePermuteDone => replicas::done,
        Tuple | GetTupleElement => calls::tuple,
        Fusion | Call | While | Conditional => calls::call,
        ir::elementwise!() => elementwise::elementwise,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_program() {
        assert_eq!(random_typed(&mut Rng::new(7)).text, random_typed(&mut Rng::new(7)).text);
        for opcode in opcodes() {
            let make = || random_op(opcode, &mut Rng::new(7)).unwrap_or_else(|| panic!("no {opcode}"));
            let first = make();
            assert_eq!(first.text, make().text);
            let again = random_op(opcode, &mut Rng::new(first.seed)).map(|generated| generated.text);
            assert_eq!(again, Some(first.text), "{opcode}");
        }
    }
}
