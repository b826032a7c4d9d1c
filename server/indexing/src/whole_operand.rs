//! Ops without a map of their own: why, and what can be said instead.

use indexing_map::{Expr, IndexingMap};
use ir::{AttributeKey, Op, Opcode};

use crate::Rules;
use crate::checks::{self, Checked, Reason};
use crate::operand_indexing::{OpIndexing, OperandIndexing};

/// Why XLA gives no map for `opcode`, from output to input.
pub(crate) fn reason(opcode: Opcode) -> Reason {
    Reason::from(match opcode {
        Opcode::Scatter => "scatter: output to operand depends on runtime indices",
        Opcode::SelectAndScatter => "select-and-scatter: output to operand depends on the values",
        Opcode::Sort | Opcode::Topk => "where an element goes depends on the values",
        Opcode::CustomCall => "what a custom call reads is not known",
        Opcode::While => "a loop reads what its body reads in each turn",
        Opcode::Conditional => "what is read depends on the branch taken",
        Opcode::Call => "the called computation is not looked into",
        Opcode::Fusion => "the called computation is not at hand",
        Opcode::Cholesky | Opcode::TriangularSolve | Opcode::Fft => {
            "every output element depends on many inputs"
        }
        Opcode::RaggedDot => "the groups of a ragged dot are runtime values",
        Opcode::DynamicReshape => "the sizes are runtime values",
        Opcode::Rng | Opcode::RngBitGenerator | Opcode::RngGetAndUpdateState => {
            "random numbers do not follow the operands' indices"
        }
        Opcode::BatchNormTraining | Opcode::BatchNormInference | Opcode::BatchNormGrad => {
            "a batch norm is analysed after its expansion"
        }
        Opcode::AllToAll
        | Opcode::RaggedAllToAll
        | Opcode::ReduceScatter
        | Opcode::CollectivePermute
        | Opcode::CollectivePermuteStart
        | Opcode::CollectivePermuteDone
        | Opcode::CollectiveBroadcast
        | Opcode::AllGatherStart
        | Opcode::AllGatherDone
        | Opcode::AllReduceStart
        | Opcode::AllReduceDone => "what other replicas hold is read",
        Opcode::Tuple => "a tuple has a map per element, not one of its own",
        _ => "this op has no indexing map",
    })
}

/// By [`Rules::Exact`]: exact dependences where they are simple, else every element of an operand for every element of
/// the output, with a note that says so. An over-approximation is never silent.
pub(crate) fn output_to_input(op: &Op, output_id: usize, rules: Rules) -> Checked<OpIndexing> {
    if rules == Rules::Xla {
        return Err(reason(op.opcode));
    }
    let output = checks::output(op, output_id)?;
    let access = |i: usize| match op.opcode {
        Opcode::Sort => sorted_row(op, i, output),
        Opcode::OptBarrier | Opcode::CopyDone | Opcode::CopyStart if i == 0 => {
            let fits = checks::operand(op, i)? == output;
            checks::ensure(fits, reason(op.opcode))?;
            Ok(IndexingMap::identity(output).into())
        }
        Opcode::Cholesky
        | Opcode::TriangularSolve
        | Opcode::Fft
        | Opcode::Topk
        | Opcode::Scatter
        | Opcode::SelectAndScatter
        | Opcode::RaggedDot
        | Opcode::BatchNormTraining
        | Opcode::BatchNormInference
        | Opcode::BatchNormGrad
        | Opcode::CustomCall
        | Opcode::Conditional
        | Opcode::While
        | Opcode::Call => whole(op, i, output),
        _ => Err(reason(op.opcode)),
    };
    Ok(OpIndexing::of(
        (0..op.operand_shapes.len()).map(|i| access(i).unwrap_or_else(OperandIndexing::undefined)),
    ))
}

/// An element of a sorted row depends on that row of every operand.
fn sorted_row(op: &Op, i: usize, output: &[i64]) -> Checked<OperandIndexing> {
    let operand = checks::operand(op, i)?;
    checks::ensure(operand == output, "the operands of a sort differ in size")?;
    let dim = checks::dimension(op.attributes.ints(AttributeKey::Dimensions), output.len(), "dimensions")?;
    let mut results: Vec<Expr> = (0..output.len()).map(Expr::var).collect();
    results[dim] = Expr::var(output.len());
    let map = IndexingMap::from_sizes(output, &[output[dim]], results);
    Ok(OperandIndexing::from(map).with_note("where an element of the row goes depends on the values"))
}

fn whole(op: &Op, i: usize, output: &[i64]) -> Checked<OperandIndexing> {
    let operand = checks::operand(op, i)?;
    let results = (0..operand.len()).map(|j| Expr::var(output.len() + j)).collect();
    let map = IndexingMap::from_sizes(output, operand, results);
    Ok(OperandIndexing::from(map)
        .with_note(format!("reads at most the whole operand: {}", reason(op.opcode))))
}
