//! Convolution: windows over the spatial dimensions, feature and batch groups.

use indexing_map::{Expr, IndexingMap, SimplifyMode};
use ir::{AttributeKey, ConvolutionDims, Op, WindowDim};

use crate::Rules;
use crate::checks::{Checked, Reason, ensure};
use crate::extents::{self, Domain};
use crate::operand_indexing::OpIndexing;
use crate::window::{self, under_window};

/// Range variables: one per spatial dimension, the input feature, and by XLA's rule the batch group. A
/// variable that neither operand needs is dropped in both; one that a single operand needs stays in both
/// (except the batch group, which the kernel's map never has). The spatial part of the input is a window with
/// padding and dilations. That of the kernel is the range variable, counted from the end if the window is
/// reversed.
///
/// With batch groups, XLA's map of the input reads the batch of every group. Output feature `f` belongs to
/// one group, and [`Rules::Exact`] reads only that one. XLA's map of the kernel reads it everywhere;
/// [`Rules::Exact`] only where the window is not on padding. Source: `ComputeOutputToInputConvolutionOpIndexing`.
///
/// A third operand, which HLO has not, holds the padding: `[spatial, 2]` numbers.
pub(crate) fn convolution(op: &Op, rules: Rules) -> Checked<OpIndexing> {
    let given = op.operand_shapes.len();
    let has_padding = rules == Rules::Exact && given == 3;
    ensure(given == 2 || has_padding, format!("convolution takes 2 operands, not {given}"))?;
    let (mut output, input, kernel) =
        (extents::output(op, 0)?, extents::operand(op, 0)?, extents::operand(op, 1)?);
    let labels = op.attributes.convolution_dims().ok_or("dim_labels is missing or broken")?;
    let window = op.attributes.window();
    check_ranks(&labels, [input.len(), kernel.len(), output.len()], window.len())?;
    let groups = |key| match op.attributes.int(key).unwrap_or(1) {
        n if n > 0 => Ok(n),
        _ => Err(Reason::from("a group count is not positive")),
    };
    let feature_groups = groups(AttributeKey::FeatureGroupCount)?;
    let batch_groups = groups(AttributeKey::BatchGroupCount)?;
    let features = kernel[labels.kernel_input_feature].clone();
    let batches = &input[labels.input_batch];
    let misfit = || Reason::from("the sizes of input, kernel, window and output do not fit together");
    let divided = |size: &Expr, groups: i64| match size.as_const() {
        Some(size) if size % groups == 0 => Ok(Expr::Const(size / groups)),
        Some(_) => Err(misfit()),
        None => Ok(size.clone().floor_div(groups)),
    };
    let mut share = |dim: usize, other: &Expr| -> Checked<Expr> {
        output[dim] = extents::shared(other, &output[dim]).ok_or_else(misfit)?;
        Ok(output[dim].clone())
    };
    let output_batches = share(labels.output_batch, &divided(batches, batch_groups)?)?;
    let output_features = share(labels.output_feature, &kernel[labels.kernel_output_feature])?;
    let in_feature_group = divided(&output_features, feature_groups)?;
    let in_batch_group = divided(&output_features, batch_groups)?;
    let is_window =
        |(dim, &k): (&WindowDim, &usize)| kernel[k].as_const().is_none_or(|size| dim.size == size);
    let group = divided(&input[labels.input_feature], feature_groups)?;
    let fits = extents::shared(&group, &features).is_some()
        && window.iter().zip(&labels.kernel_spatial).all(is_window);
    ensure(fits, misfit())?;

    let mut domain = Domain::new(op, 0, &output);
    let sizes: Vec<Expr> = labels.kernel_spatial.iter().map(|&k| kernel[k].clone()).collect();
    let inside: Vec<Expr> = sizes.iter().map(|size| domain.range(size)).collect();
    let feature = domain.range(&features);
    let has_group = rules == Rules::Xla && batch_groups > 1;
    let mut of_kernel = domain.clone();
    let group = has_group.then(|| domain.range(&Expr::Const(batch_groups)));

    let mut results = vec![Expr::ZERO; output.len()];
    let batch = Expr::var(labels.output_batch);
    let output_feature = Expr::var(labels.output_feature);
    results[labels.input_batch] = match group {
        _ if batch_groups == 1 => batch,
        Some(group) => group * output_batches + batch,
        None => output_feature.clone().floor_div(in_batch_group) * output_batches + batch,
    };
    results[labels.input_feature] = if feature_groups == 1 {
        feature.clone()
    } else {
        // Without output features there is no element that reads.
        let in_group = in_feature_group.as_const().map_or(in_feature_group, |size| Expr::Const(size.max(1)));
        output_feature.clone().floor_div(in_group) * features + feature.clone()
    };
    let at: Vec<Expr> = labels.output_spatial.iter().map(|&dim| Expr::var(dim)).collect();
    let spatial: Vec<Expr> = labels.input_spatial.iter().map(|&dim| input[dim].clone()).collect();
    let slide = |domain: &mut Domain<'_>| {
        let low = match has_padding {
            false => window::low(window),
            true => (0..window.len() as i64)
                .map(|k| domain.runtime_element(2, vec![Expr::Const(k), Expr::ZERO]))
                .collect(),
        };
        under_window(domain, &at, &inside, &spatial, window, &low)
    };
    for (&dim, place) in labels.input_spatial.iter().zip(slide(&mut domain)?) {
        results[dim] = place;
    }
    if rules == Rules::Exact {
        slide(&mut of_kernel)?;
    }
    let mut kernel_results = vec![Expr::ZERO; output.len()];
    kernel_results[labels.kernel_output_feature] = output_feature;
    kernel_results[labels.kernel_input_feature] = feature;
    for (i, (&dim, window)) in labels.kernel_spatial.iter().zip(window).enumerate() {
        let inside = inside[i].clone();
        kernel_results[dim] = if window.is_reversed { -inside + (sizes[i].clone() - 1) } else { inside };
    }
    let (mut input, mut kernel) = (domain.access(results), of_kernel.access(kernel_results));
    if has_group {
        input.note = Some("reads the batch of one group only; the map names every group".into());
    }
    if input.runtime_variables.is_empty() && kernel.runtime_variables.is_empty() {
        drop_unused_in_both(&mut input.map, &mut kernel.map, window.len() + 1);
    }
    if rules == Rules::Xla && is_on_padding(&input.map, &kernel.map) {
        kernel =
            kernel.at_most("the kernel everywhere", "the map does not say where the window is on padding");
    }
    let padding = has_padding.then(|| {
        let mut domain = Domain::new(op, 0, &output);
        let all = [window.len() as i64, 2].map(|size| domain.range(&Expr::Const(size)));
        domain.access(all.to_vec())
    });
    Ok(OpIndexing::of([input, kernel].into_iter().chain(padding)))
}

fn check_ranks(labels: &ConvolutionDims, ranks: [usize; 3], window: usize) -> Checked<()> {
    let spatial = [&labels.input_spatial, &labels.kernel_spatial, &labels.output_spatial];
    let fits = spatial.iter().zip(ranks).all(|(dims, rank)| dims.len() == window && rank == window + 2);
    ensure(fits, "dim_labels and window do not fit the ranks")
}

/// Whether the window leaves the elements of the input somewhere: its map has a smaller domain than the kernel's,
/// which XLA builds without the window's constraints.
fn is_on_padding(input: &IndexingMap, kernel: &IndexingMap) -> bool {
    let is_wide = input.ranges().iter().zip(kernel.ranges()).all(|(a, b)| a.bounds == b.bounds);
    let same = is_wide && input.dims() == kernel.dims() && input.constraints().is_empty();
    kernel.is_mapped() && (input.is_known_empty() || input.is_mapped() && !same)
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
