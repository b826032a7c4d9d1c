//! Convolution: windows over the spatial dimensions, feature and batch groups.

use indexing_map::{Expr, IndexingMap, SimplifyMode, Variable};
use ir::{AttributeKey, ConvolutionDims, Op};

use crate::Rules;
use crate::checks::{self, Checked, Reason, ensure, variables};
use crate::operand_indexing::{OpIndexing, OperandIndexing};
use crate::window::under_window;

/// Range variables: one per spatial dimension, the input feature, and by XLA's rule the batch group. A
/// variable that neither operand needs is dropped in both; one that a single operand needs stays in both
/// (except the batch group, which the kernel's map never has). The spatial part of the input is a window with
/// padding and dilations. That of the kernel is the range variable, counted from the end if the window is
/// reversed.
///
/// With batch groups, XLA's map of the input reads the batch of every group. Output feature `f` belongs to
/// one group, and [`Rules::Exact`] reads only that one. Source: `ComputeOutputToInputConvolutionOpIndexing`.
pub(crate) fn convolution(op: &Op, rules: Rules) -> Checked<OpIndexing> {
    let (output, input, kernel) = (checks::output(op, 0)?, checks::operand(op, 0)?, checks::operand(op, 1)?);
    let labels = op.attributes.convolution_dims().ok_or("dim_labels is missing or broken")?;
    let window = op.attributes.window();
    check_ranks(&labels, [input.len(), kernel.len(), output.len()], window.len())?;
    let group_count = |key| match op.attributes.int(key).unwrap_or(1) {
        n if n > 0 => Ok(n),
        _ => Err(Reason::from("a group count is not positive")),
    };
    let feature_groups = group_count(AttributeKey::FeatureGroupCount)?;
    let batch_groups = group_count(AttributeKey::BatchGroupCount)?;
    let features = kernel[labels.kernel_input_feature];
    let output_features = output[labels.output_feature];
    let fits = features.checked_mul(feature_groups) == Some(input[labels.input_feature])
        && output_features == kernel[labels.kernel_output_feature]
        && output_features % feature_groups == 0
        && output_features % batch_groups == 0
        && output[labels.output_batch].checked_mul(batch_groups) == Some(input[labels.input_batch])
        && window.iter().zip(&labels.kernel_spatial).all(|(dim, &k)| dim.size == kernel[k]);
    ensure(fits, "the sizes of input, kernel, window and output do not fit together")?;

    let spatial: Vec<i64> = labels.input_spatial.iter().map(|&dim| input[dim]).collect();
    let under = under_window(output, &labels.output_spatial, &spatial, window)?;
    let rank = output.len();
    let symbol = |i: usize| Expr::var(rank + i);
    let feature = symbol(window.len());

    let mut results = vec![Expr::ZERO; rank];
    let batch = Expr::var(labels.output_batch);
    let output_feature = Expr::var(labels.output_feature);
    results[labels.input_batch] = match rules {
        _ if batch_groups == 1 => batch,
        Rules::Xla => symbol(window.len() + 1) * output[labels.output_batch] + batch,
        Rules::Exact => {
            let group = output_feature.clone().floor_div(output_features / batch_groups);
            group * output[labels.output_batch] + batch
        }
    };
    results[labels.input_feature] = if feature_groups == 1 {
        feature.clone()
    } else {
        output_feature.clone().floor_div((output_features / feature_groups).max(1)) * features
            + feature.clone()
    };
    for (&dim, result) in labels.input_spatial.iter().zip(under.results()) {
        results[dim] = result.clone();
    }
    let mut ranges: Vec<Variable> = window.iter().map(|dim| Variable::from_size(dim.size)).collect();
    ranges.push(Variable::from_size(features));
    let mut kernel_results = vec![Expr::ZERO; rank];
    kernel_results[labels.kernel_output_feature] = output_feature;
    kernel_results[labels.kernel_input_feature] = feature;
    for (i, (&dim, window)) in labels.kernel_spatial.iter().zip(window).enumerate() {
        kernel_results[dim] = if window.is_reversed { -symbol(i) + (window.size - 1) } else { symbol(i) };
    }
    let kernel_map = IndexingMap::new(variables(output), ranges.clone(), Vec::new(), kernel_results);
    let has_group = rules == Rules::Xla && batch_groups > 1;
    if has_group {
        ranges.push(Variable::from_size(batch_groups));
    }
    let mut input_map = IndexingMap::new(variables(output), ranges, Vec::new(), results);
    for constraint in under.constraints() {
        input_map.add_constraint(constraint.expr.clone(), constraint.interval);
    }
    if under.is_known_empty() {
        input_map.set_known_empty();
    }
    let mut input = OperandIndexing::from(input_map);
    if has_group {
        input.note = Some("reads the batch of one group only; the map names every group".into());
    }
    let mut kernel = OperandIndexing::from(kernel_map);
    drop_unused_in_both(&mut input.map, &mut kernel.map, window.len() + 1);
    Ok(OpIndexing::of([input, kernel]))
}

fn check_ranks(labels: &ConvolutionDims, ranks: [usize; 3], window: usize) -> Checked<()> {
    let spatial = [&labels.input_spatial, &labels.kernel_spatial, &labels.output_spatial];
    let fits = spatial.iter().zip(ranks).all(|(dims, rank)| dims.len() == window && rank == window + 2);
    ensure(fits, "dim_labels and window do not fit the ranks")
}

/// Drops range variables unused in both maps; the first `shared` ones are common to both.
fn drop_unused_in_both(input: &mut IndexingMap, kernel: &mut IndexingMap, shared: usize) {
    input.simplify(SimplifyMode::Replace);
    kernel.simplify(SimplifyMode::Replace);
    if !input.is_mapped() || !kernel.is_mapped() {
        return;
    }
    let unused = |map: &IndexingMap| {
        let removed = map.clone().remove_unused_symbols();
        removed[map.num_dims()..].to_vec()
    };
    let (of_input, of_kernel) = (unused(input), unused(kernel));
    let dims = input.num_dims();
    let mut removed = vec![false; dims];
    removed.extend((0..shared).map(|i| of_input[i] && of_kernel[i]));
    kernel.remove_variables(&removed);
    removed.extend(of_input.get(shared..).unwrap_or(&[]));
    input.remove_variables(&removed);
}
