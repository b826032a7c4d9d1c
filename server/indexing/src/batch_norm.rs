//! Batch normalisation: sums over all dimensions but the feature dimension.

use indexing_map::{Expr, IndexingMap};
use ir::{AttributeKey, Op, Opcode};

use crate::checks::{self, Checked, ensure};
use crate::operand_indexing::{OpIndexing, OperandIndexing};

/// How an output depends on an operand.
#[derive(Clone, Copy)]
enum Reads {
    /// The element at its own index.
    Same,
    /// Every element of its feature.
    Feature,
    /// The feature's entry of a vector.
    Entry,
    Nothing,
}

/// Operands: x, then vectors with an entry per feature; the last operand of the gradient has the sizes of x.
/// Outputs: the sizes of x; training also returns mean and variance, the gradient also those of scale and
/// offset. The rules are the sums in XLA's operation semantics of BatchNormTraining, BatchNormInference and
/// BatchNormGrad.
pub(crate) fn batch_norm(op: &Op, output_id: usize) -> Checked<OpIndexing> {
    use Reads::{Entry, Feature, Nothing, Same};
    let reads: &[Reads] = match (op.opcode, output_id) {
        // x, scale, offset
        (Opcode::BatchNormTraining, 0) => &[Feature, Entry, Entry],
        (Opcode::BatchNormTraining, _) => &[Feature, Nothing, Nothing],
        // x, scale, offset, mean, variance
        (Opcode::BatchNormInference, _) => &[Same, Entry, Entry, Entry, Entry],
        // x, scale, mean, variance, gradient of the output
        (Opcode::BatchNormGrad, 0) => &[Feature, Entry, Entry, Entry, Feature],
        (Opcode::BatchNormGrad, 1) => &[Feature, Nothing, Entry, Entry, Feature],
        (Opcode::BatchNormGrad, _) => &[Nothing, Nothing, Nothing, Nothing, Feature],
        _ => return Err("no batch norm".into()),
    };
    ensure(
        op.operand_shapes.len() == reads.len(),
        format!("{} takes {} operands", op.opcode.name(), reads.len()),
    )?;
    let (output, x) = (checks::output(op, output_id)?, checks::operand(op, 0)?);
    let feature = op.attributes.int(AttributeKey::FeatureIndex).map_or(-1, |dim| dim);
    let feature = checks::dimension(&[feature], x.len(), "feature_index")?;
    let is_vector = output_id > 0;
    ensure(
        if is_vector { output == [x[feature]] } else { output == x },
        "the output does not fit the operand",
    )?;
    let own = Expr::var(if is_vector { 0 } else { feature });

    let accesses = reads.iter().enumerate().map(|(i, reads)| -> Checked<OperandIndexing> {
        let operand = checks::operand(op, i)?;
        let is_large = matches!(reads, Same | Feature) || operand.len() != 1;
        ensure(
            if is_large { operand == x } else { operand == [x[feature]] },
            format!("operand {i} does not fit"),
        )?;
        Ok(match reads {
            Same => IndexingMap::identity(output).into(),
            Entry => IndexingMap::from_sizes(output, &[], vec![own.clone()]).into(),
            Nothing => OperandIndexing::unread(output.len(), operand.len(), "not needed for this output"),
            Feature => {
                let mut ranges = Vec::new();
                let results = (0..x.len()).map(|dim| {
                    if dim == feature {
                        return own.clone();
                    }
                    ranges.push(x[dim]);
                    Expr::var(output.len() + ranges.len() - 1)
                });
                let results = results.collect();
                IndexingMap::from_sizes(output, &ranges, results).into()
            }
        })
    });
    Ok(OpIndexing::of(accesses.collect::<Checked<Vec<_>>>()?))
}
