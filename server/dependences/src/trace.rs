//! Dispatches an op to the evaluation of its opcode.

use eval::{Checked, Reason, ensure, leaves};
use ir::{AttributeKey, Op, Opcode, elementwise};

use crate::case::{Case, Setting};
use crate::traced::Traced;
use crate::{contractions, graph, indexed, moves, replicas, rows, windows};

/// The dependences of each element of output `output` of `op` (0 unless the result is a tuple; nested tuples
/// flattened).
///
/// The dependences are those of the op's definition, whatever the data: a select depends on both branches, a
/// sort on the row. Integers that determine places must be known, see [`Setting`]. `Err` says why an op is
/// not evaluated: it is broken, too large ([`crate::MAX_ELEMENTS`]), needs unknown values, or does not
/// specify what it reads (custom calls).
pub fn trace(op: &Op, output: usize, setting: &Setting<'_>) -> Result<Traced, Reason> {
    let case = Case { op, output, setting: *setting };
    use Opcode::*;
    match op.opcode {
        Copy if op.shape.tuple_elements().is_some() => moves::leaf_of_operand(&case, 0, output),
        Map | SetDimensionSize => moves::elementwise(&case),
        Constant | Iota | PartitionId | ReplicaId | GetDimensionSize | RngGetAndUpdateState => {
            case.trace(|_, _| ())
        }
        Parameter => Err("a parameter is what it is".into()),
        Broadcast => moves::broadcast(&case),
        Transpose => moves::transpose(&case),
        Reverse => moves::reverse(&case),
        Shuffle => moves::shuffle(&case),
        Slice => moves::slice(&case),
        Concatenate => moves::concatenate(&case),
        Pad => moves::pad(&case),
        Reshape | DynamicReshape => moves::reshape(&case),
        Bitcast => moves::bitcast(&case),
        DynamicSlice => indexed::dynamic_slice(&case),
        DynamicUpdateSlice => indexed::dynamic_update_slice(&case),
        Gather => indexed::gather(&case),
        Scatter => indexed::scatter(&case),
        Reduce => windows::reduce(&case),
        ReduceWindow => windows::reduce_window(&case),
        SelectAndScatter => windows::select_and_scatter(&case),
        Scan => windows::scan(&case),
        Dot | ScaledDot => contractions::dot(&case),
        RaggedDot => contractions::ragged_dot(&case),
        Convolution => {
            ensure(op.operand_shapes.len() == 2, "a sparse convolution")?;
            contractions::convolution(&case)
        }
        Sort => rows::sort(&case),
        Topk => rows::topk(&case),
        Fft => rows::fft(&case),
        Cholesky => rows::cholesky(&case),
        TriangularSolve => rows::triangular_solve(&case),
        BatchNormTraining | BatchNormInference | BatchNormGrad => rows::batch_norm(&case),
        AllGather => replicas::all_gather(&case),
        AllReduce | AllReduceStart => replicas::all_reduce(&case),
        ReduceScatter => replicas::reduce_scatter(&case),
        AllToAll => replicas::all_to_all(&case),
        CollectivePermute => replicas::collective_permute(&case),
        CollectiveBroadcast => replicas::collective_broadcast(&case),
        CollectiveReduce => replicas::collective_reduce(&case),
        AllGatherStart | CollectivePermuteStart => replicas::start(&case),
        AllGatherDone | CollectivePermuteDone => {
            let results = leaves(&op.shape).len();
            moves::leaf_of_operand(&case, 0, results + output)
        }
        AllReduceDone | OptBarrier | Domain | AddDependency | CopyDone => {
            moves::leaf_of_operand(&case, 0, output)
        }
        CopyStart => {
            ensure(output < 2, "an output that holds no data")?;
            moves::copy(&case)
        }
        Tuple => tuple(&case),
        GetTupleElement => get_tuple_element(&case),
        Rng | RngBitGenerator => {
            let mut traced =
                case.trace(|_, reads| (0..op.operand_shapes.len()).for_each(|i| reads.all(i)))?;
            traced.is_exact = false;
            Ok(traced)
        }
        Fusion | Call => graph::call(&case),
        While => graph::while_loop(&case),
        Conditional => graph::conditional(&case),
        elementwise!() => moves::elementwise(&case),
        AfterAll | AsyncDone | AsyncStart | AsyncUpdate | CustomCall | Infeed | Outfeed | RaggedAllToAll
        | Recv | RecvDone | Send | SendDone => Err(format!("what {} reads is not known", op.opcode).into()),
    }
}

/// Concatenates the arrays of the operands.
fn tuple(case: &Case<'_>) -> Checked<Traced> {
    let mut leaf = case.output;
    for i in 0..case.operand_count() {
        let count = leaves(case.operand_shape(i)?).len();
        if leaf < count {
            return moves::leaf_of_operand(case, i, leaf);
        }
        leaf -= count;
    }
    Err("there is no such element".into())
}

fn get_tuple_element(case: &Case<'_>) -> Checked<Traced> {
    let elements = case.operand_shape(0)?.tuple_elements().ok_or("the operand is no tuple")?;
    let index = case.op.attributes.int(AttributeKey::Index).and_then(|i| usize::try_from(i).ok());
    let index = index.filter(|&i| i < elements.len()).ok_or("the tuple has no such element")?;
    let before: usize = elements[..index].iter().map(|e| leaves(e).len()).sum();
    moves::leaf_of_operand(case, 0, before + case.output)
}
