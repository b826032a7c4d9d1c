//! Dots of all kinds, and convolution. Semantics: XLA "Operation Semantics", `service/hlo_evaluator*`.

use eval::{Checked, Reason, ensure, under};
use ir::AttributeKey::{self, *};

use crate::case::{Case, MAX_ELEMENTS};
use crate::traced::{Traced, for_each_index};
use crate::windows::check_window;

/// Dimensions of one side of a dot.
struct Side {
    batch: Vec<usize>,
    contracting: Vec<usize>,
    free: Vec<usize>,
}

impl Side {
    /// `without` is the group dimension of a ragged dot, which has none of the three roles.
    fn of(case: &Case<'_>, operand: usize, keys: [AttributeKey; 2], without: Option<usize>) -> Checked<Side> {
        let rank = case.operand(operand)?.len();
        let (batch, contracting) = (case.dimensions(keys[0], rank)?, case.dimensions(keys[1], rank)?);
        let is_free =
            |dim: &usize| !batch.contains(dim) && !contracting.contains(dim) && Some(*dim) != without;
        let free = (0..rank).filter(is_free).collect();
        Ok(Side { batch, contracting, free })
    }

    /// The index into this side for batch, free and contracting indices.
    fn index(&self, batch: &[i64], free: &[i64], contracted: &[i64], rank: usize) -> Vec<i64> {
        let mut index = vec![0; rank];
        let parts = [(&self.batch, batch), (&self.free, free), (&self.contracting, contracted)];
        for (dims, values) in parts {
            dims.iter().zip(values).for_each(|(&dim, &i)| index[dim] = i);
        }
        index
    }
}

fn sides(case: &Case<'_>, group: Option<usize>) -> Checked<[Side; 2]> {
    let lhs = Side::of(case, 0, [LhsBatchDims, LhsContractingDims], None)?;
    let rhs = Side::of(case, 1, [RhsBatchDims, RhsContractingDims], group)?;
    let paired = lhs.batch.len() == rhs.batch.len() && lhs.contracting.len() == rhs.contracting.len();
    ensure(paired, "batch and contracting dimensions do not come in pairs")?;
    Ok([lhs, rhs])
}

/// The output dimensions are batch, free ones of lhs, free ones of rhs. A scale of a scaled dot has one
/// element per block of its operand.
pub(crate) fn dot(case: &Case<'_>) -> Checked<Traced> {
    let sides = sides(case, None)?;
    let dims = [case.operand(0)?, case.operand(1)?];
    let (batches, frees) = (sides[0].batch.len(), sides[0].free.len());
    ensure(case.output()?.len() == batches + frees + sides[1].free.len(), "the output's rank is wrong")?;
    let contracted: Vec<i64> = sides[0].contracting.iter().map(|&dim| dims[0][dim]).collect();
    let mut scales = Vec::new();
    for (i, operand) in (2..case.operand_count()).zip(dims) {
        let scale = case.operand(i)?;
        let divides = |(&whole, &scale): (&i64, &i64)| scale > 0 && whole % scale == 0 || whole == scale;
        let fits = scale.is_empty() || scale.len() == operand.len();
        ensure(fits && operand.iter().zip(scale).all(divides), "a scale does not fit its operand")?;
        scales.push(scale);
    }
    case.afford(contracted.iter().copied())?;
    case.trace(|index, reads| {
        let (batch, rest) = index.split_at(batches);
        let (left, right) = rest.split_at(frees);
        for_each_index(&contracted, |k| {
            for (i, free) in [left, right].into_iter().enumerate() {
                let from = sides[i].index(batch, free, k, dims[i].len());
                reads.at(i, &from);
                if let Some(scale) = scales.get(i) {
                    let block = |(d, &size): (usize, &i64)| {
                        from[d] / dims[i][d].checked_div(size).unwrap_or(1).max(1)
                    };
                    reads.at(i + 2, &scale.iter().enumerate().map(block).collect::<Vec<_>>());
                }
            }
        });
    })
}

/// The rows of the ragged dimension form groups of the sizes in operand 2, in order; rows after the last
/// group belong to none. If the ragged dimension is free, row m uses the rhs of its group. If it is
/// contracted, output group g contracts the rows of group g. If it is a batch dimension, this is an ordinary
/// dot. Group sizes are one vector here.
pub(crate) fn ragged_dot(case: &Case<'_>) -> Checked<Traced> {
    let lhs = case.operand(0)?;
    let ragged = case.dimension(LhsRaggedDims, lhs.len())?;
    let group = case.dimensions(RhsGroupDims, case.operand(1)?.len())?.first().copied();
    let sides = sides(case, group)?;
    let rhs_rank = case.operand(1)?.len();
    ensure(case.operand(2)?.len() == 1, "group sizes with batch dimensions are not evaluated")?;
    let groups = case.values(2)?;
    let mut end = 0i64;
    let ends: Vec<i64> = groups
        .iter()
        .map(|size| {
            end = end.saturating_add((*size).max(0));
            end
        })
        .collect();
    let group_of = |row: i64| ends.iter().position(|&end| row < end);
    let is_contracted = sides[0].contracting.iter().position(|&dim| dim == ragged);
    let is_free = sides[0].free.iter().position(|&dim| dim == ragged);
    let contracted: Vec<i64> = sides[0].contracting.iter().map(|&dim| lhs[dim]).collect();
    let leading = usize::from(is_contracted.is_some());
    let rank = leading + sides[0].batch.len() + sides[0].free.len() + sides[1].free.len();
    ensure(case.output()?.len() == rank, "the output's rank is wrong")?;
    ensure(is_free.is_some() == group.is_some(), "rhs_group_dims does not fit the ragged dimension")?;
    case.afford(contracted.iter().copied().chain([groups.len() as i64]))?;
    case.trace(|index, reads| {
        let (own_group, rest) = index.split_at(leading);
        let (batch, rest) = rest.split_at(sides[0].batch.len());
        let (left, right) = rest.split_at(sides[0].free.len());
        reads.all(2);
        let row_group = is_free.map(|at| group_of(left[at]));
        if row_group == Some(None) {
            return;
        }
        for_each_index(&contracted, |k| {
            if is_contracted.is_some_and(|at| group_of(k[at]).map(|g| g as i64) != own_group.first().copied())
            {
                return;
            }
            reads.at(0, &sides[0].index(batch, left, k, lhs.len()));
            let mut from = sides[1].index(batch, right, k, rhs_rank);
            if let (Some(dim), Some(Some(g))) = (group, row_group) {
                from[dim] = g as i64;
            }
            reads.at(1, &from);
        });
    })
}

/// `out[b, f, y] = Σ in[b', i, under the window] * kernel[i', f, k]`. With feature groups, output feature f
/// reads the input features of its group only; with batch groups, the batch of its group only. A reversed
/// window dimension reads the kernel from the end.
pub(crate) fn convolution(case: &Case<'_>) -> Checked<Traced> {
    let (input, kernel, output) = (case.operand(0)?, case.operand(1)?, case.output()?);
    let labels = case.op.attributes.convolution_dims().ok_or("dim_labels is missing")?;
    let window = case.op.attributes.window();
    let groups = |key| case.op.attributes.int(key).unwrap_or(1).clamp(1, MAX_ELEMENTS);
    let (feature_groups, batch_groups) = (groups(FeatureGroupCount), groups(BatchGroupCount));
    let ranks = [input.len(), kernel.len(), output.len(), labels.input_spatial.len() + 2];
    let spatial = [&labels.input_spatial, &labels.kernel_spatial, &labels.output_spatial];
    let named = [labels.input_batch, labels.input_feature, labels.output_batch, labels.output_feature];
    let kernel_named = [labels.kernel_input_feature, labels.kernel_output_feature];
    let mut all = spatial.into_iter().flatten().chain(&named).chain(&kernel_named);
    let fits = ranks.iter().all(|&rank| rank == window.len() + 2)
        && spatial.iter().all(|dims| dims.len() == window.len())
        && all.all(|&dim| dim < output.len());
    ensure(fits, "the ranks do not fit the window")?;
    check_window(window, window.len())?;
    let features = kernel[labels.kernel_input_feature];
    let (out_features, out_batch) = (output[labels.output_feature], output[labels.output_batch]);
    let fits = features * feature_groups == input[labels.input_feature]
        && out_batch * batch_groups == input[labels.input_batch]
        && out_features % feature_groups == 0
        && out_features % batch_groups == 0;
    ensure(fits, Reason::from("the groups do not fit the sizes"))?;
    let sizes: Vec<i64> = labels.kernel_spatial.iter().map(|&dim| kernel[dim]).collect();
    case.afford(sizes.iter().copied().chain([features]))?;
    case.trace(|index, reads| {
        let feature = index[labels.output_feature];
        let feature_group = feature / (out_features / feature_groups).max(1);
        let batch_group = feature / (out_features / batch_groups).max(1);
        for_each_index(&sizes, |k| {
            let mut from = vec![0; input.len()];
            let mut weight = vec![0; kernel.len()];
            let mut is_inside = true;
            for (d, window) in window.iter().enumerate() {
                let (of, at) = (labels.input_spatial[d], index[labels.output_spatial[d]]);
                match under(window, input[of], at, k[d]) {
                    Some(place) => from[of] = place,
                    None => is_inside = false,
                }
                let weight = &mut weight[labels.kernel_spatial[d]];
                *weight = if window.is_reversed { sizes[d] - 1 - k[d] } else { k[d] };
            }
            from[labels.input_batch] = batch_group * out_batch + index[labels.output_batch];
            weight[labels.kernel_output_feature] = feature;
            for i in 0..features {
                from[labels.input_feature] = feature_group * features + i;
                weight[labels.kernel_input_feature] = i;
                // XLA's evaluator skips padding and holes: nothing is multiplied there.
                if is_inside {
                    reads.at(0, &from);
                    reads.at(1, &weight);
                }
            }
        });
    })
}
