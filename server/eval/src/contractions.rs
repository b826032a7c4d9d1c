//! `dot` and `convolution`. Semantics: XLA "Operation Semantics"; numbers of less than 32 bits are
//! accumulated in 32.

use ir::AttributeKey::{self, *};

use super::column::Column;
use super::dispatch::Asked;
use super::evaluator::{Evaluator, kind_of};
use super::folding::Sum;
use super::positions::{affine, array, each_index, strides};
use super::types::{Kind, Short};
use super::windows::under;
use crate::checks::{Checked, Reason, dimensions, ensure};
use syntax::hlo::float_format::FloatFormat;

const CHUNK: usize = 1 << 18;

/// Sums of rows of `length` products.
pub(crate) fn products(
    kind: Kind,
    left: &Column,
    right: &Column,
    length: usize,
    rows: usize,
) -> Checked<Column> {
    let row = |i: usize| {
        cancel::check();
        i * length..(i + 1) * length
    };
    if kind.is_integral() {
        let (a, b) = (left.ints(), right.ints());
        ensure(a.len() == b.len() && a.len() == length * rows, "whole numbers times others")?;
        let sum = |i: usize| {
            let products = row(i).map(|k| a[k].wrapping_mul(b[k]));
            match kind {
                Kind::Pred => products.fold(0, |any, p| any | p),
                _ => kind.wrap(products.fold(0i64, i64::wrapping_add)),
            }
        };
        let result = Column::int(kind, (0..rows).map(sum).collect());
        return Ok(result);
    }
    if let Kind::Complex { .. } = kind {
        let (a, b) = (left.complexes(), right.complexes());
        ensure(a.len() == b.len() && a.len() == length * rows, "complex numbers times others")?;
        let (mut values, mut errors) = (Vec::new(), Vec::new());
        for i in 0..rows {
            let mut parts = [Sum::default(); 2];
            for k in row(i) {
                let ([p, q], [r, s]) = (a[k], b[k]);
                for (part, term) in parts.iter_mut().zip([[p * r, -q * s], [p * s, q * r]]) {
                    term.iter().for_each(|&term| part.add(term, left.error_at(k) + right.error_at(k)));
                }
            }
            let ends = parts.map(|part| part.finish(kind, kind));
            values.push(ends.map(|(value, _)| value));
            errors.push(ends[0].1.max(ends[1].1) * 2.0);
        }
        return Ok(Column { error: Some(errors), ..Column::complex(kind, values) });
    }
    let (a, b) = (left.reals(), right.reals());
    ensure(a.len() == b.len() && a.len() == length * rows, "floating-point numbers times others")?;
    // Emitters multiply in the operands' type, and add in it or in 32 bits.
    let short = if left.kind == right.kind { left.kind } else { kind };
    let working = match short {
        Kind::F64 => kind,
        Kind::Float(Short(FloatFormat::F16)) => short,
        _ if kind == Kind::F64 => kind,
        _ => Kind::Float(Short(FloatFormat::F32)),
    };
    let (mut values, mut errors) = (Vec::new(), Vec::new());
    for i in 0..rows {
        let mut sum = Sum::default();
        for k in row(i) {
            let (x, y, ex, ey) = (a[k], b[k], left.error_at(k), right.error_at(k));
            let part = |size: f64, e: f64| if e == 0.0 { 0.0 } else { size.abs() * e };
            // The products are rounded too.
            let error =
                part(x, ey) + part(y, ex) + part(ex, ey) + (x * y).abs() * short.unit() + short.tiny();
            let is_open = !ex.is_finite() || !ey.is_finite();
            sum.add(x * y, if is_open || (x * y).is_finite() { error } else { 0.0 });
        }
        if length == 1 && sum.value == 0.0 {
            sum.error = 0.0;
        }
        let (value, error) = sum.finish(kind, working);
        values.push(value);
        errors.push(error);
    }
    Ok(Column { error: Some(errors), ..Column::real(kind, values) })
}

/// Converts a side to the type of the result.
pub(crate) fn in_result_type(kind: Kind, column: &Column) -> Checked<Column> {
    let is_same_sort = column.kind.is_integral() == kind.is_integral();
    match column.kind == kind || is_same_sort && !matches!(kind, Kind::Complex { .. }) {
        // A product of short types is exact in 64 bits.
        true => Ok(column.clone()),
        false => super::elementwise::convert(kind, column),
    }
}

/// Adds the error of a truncation to TF32, which drops 13 bits of the mantissa.
fn in_tf32(column: Column) -> Column {
    let lost = |value: f64| match value == 0.0 || !value.is_finite() {
        true => 0.0,
        // The second is that of denormals.
        false => (value.abs() / 1024.0).max(2f64.powi(13 - 149)),
    };
    let errors = column.reals().iter().enumerate().map(|(i, &value)| column.error_at(i) + lost(value));
    Column { error: Some(errors.collect()), ..column }
}

/// The output dimensions are batch, free ones of lhs, free ones of rhs.
pub(crate) fn dot(
    evaluator: &mut Evaluator<'_>,
    asked: &Asked<'_>,
    positions: &[i64],
) -> Checked<Vec<Column>> {
    let output = array(&asked.op.shape)?;
    ensure(asked.operands().len() == 2, "a sparse dot")?;
    let mut steps: [Vec<i64>; 2] = [vec![0; output.dims.len()], vec![0; output.dims.len()]];
    let mut offsets: [Vec<i64>; 2] = [Vec::new(), Vec::new()];
    let mut next = 0;
    let mut contracted = Vec::new();
    for (side, keys) in
        [[LhsBatchDims, LhsContractingDims], [RhsBatchDims, RhsContractingDims]].iter().enumerate()
    {
        let operand = array(asked.operand_shape(side)?)?;
        let rank = operand.dims.len();
        let of = |key: AttributeKey| dimensions(asked.op.attributes.ints(key), rank);
        let (batch, contracting) = (of(keys[0])?, of(keys[1])?);
        let own = strides(&operand.dims);
        let step = |to: usize, dim: usize, steps: &mut Vec<i64>| -> Checked<()> {
            ensure(output.dims.get(to) == operand.dims.get(dim), "the output's sizes are wrong")?;
            steps[to] = own[dim];
            Ok(())
        };
        for (i, &dim) in batch.iter().enumerate() {
            step(i, dim, &mut steps[side])?;
        }
        next = if side == 0 { batch.len() } else { next };
        for dim in (0..rank).filter(|d| !batch.contains(d) && !contracting.contains(d)) {
            step(next, dim, &mut steps[side])?;
            next += 1;
        }
        let sizes: Vec<i64> = contracting.iter().map(|&d| operand.dims[d]).collect();
        ensure(side == 0 || sizes == contracted, "the contracted sizes differ")?;
        let weights: Vec<i64> = contracting.iter().map(|&d| own[d]).collect();
        let turns = sizes.iter().try_fold(1i64, |n, s| n.checked_mul(*s)).filter(|&n| n <= 1 << 22);
        let turns: Vec<i64> = (0..turns.ok_or("too much is contracted")?).collect();
        each_index(&turns, &sizes, |_, index| {
            offsets[side].push(index.iter().zip(&weights).map(|(i, w)| i * w).sum());
        });
        contracted = sizes;
    }
    ensure(next == output.dims.len(), "the output's rank is wrong")?;
    let kind = kind_of(&asked.op.shape)?;
    let length = offsets[0].len();
    let mut result = Column::none(kind);
    for positions in positions.chunks((CHUNK / length.max(1)).max(1)) {
        let mut sides = Vec::new();
        for side in 0..2 {
            let bases = affine(positions, &output.dims, 0, &steps[side]);
            let all: Vec<i64> = bases.iter().flat_map(|b| offsets[side].iter().map(move |o| b + o)).collect();
            let column = super::moves::shared(evaluator, asked, side, &all)?;
            let is_truncated = evaluator.is_in_tf32() && column.kind == Kind::Float(Short(FloatFormat::F32));
            let column = in_result_type(kind, &column)?;
            sides.push(if is_truncated { in_tf32(column) } else { column });
        }
        evaluator.spend(positions.len() * length)?;
        result.append(&products(kind, &sides[0], &sides[1], length, positions.len())?);
    }
    Ok(vec![result])
}

/// For the index arithmetic see the convolution of the traced evaluation.
pub(crate) fn convolution(
    evaluator: &mut Evaluator<'_>,
    asked: &Asked<'_>,
    positions: &[i64],
) -> Checked<Vec<Column>> {
    ensure(asked.operands().len() == 2, "a sparse convolution")?;
    let (input, kernel) = (array(asked.operand_shape(0)?)?, array(asked.operand_shape(1)?)?);
    let output = array(&asked.op.shape)?;
    let labels = asked.op.attributes.convolution_dims().ok_or("dim_labels is missing")?;
    let window = asked.op.attributes.window();
    let turns = super::windows::check(window, window.len())?;
    let groups = |key| asked.op.attributes.int(key).unwrap_or(1).clamp(1, 1 << 30);
    let (feature_groups, batch_groups) = (groups(FeatureGroupCount), groups(BatchGroupCount));
    let rank = window.len() + 2;
    let spatial = [&labels.input_spatial, &labels.kernel_spatial, &labels.output_spatial];
    let named = [
        labels.input_batch,
        labels.input_feature,
        labels.output_batch,
        labels.output_feature,
        labels.kernel_input_feature,
        labels.kernel_output_feature,
    ];
    let fits = [input, kernel, output].iter().all(|a| a.dims.len() == rank)
        && spatial.iter().all(|dims| dims.len() == window.len())
        && spatial.into_iter().flatten().chain(&named).all(|&dim| dim < rank);
    ensure(fits, "the ranks do not fit the window")?;
    let features = kernel.dims[labels.kernel_input_feature];
    let (out_features, out_batch) = (output.dims[labels.output_feature], output.dims[labels.output_batch]);
    let fits = features.checked_mul(feature_groups) == Some(input.dims[labels.input_feature])
        && out_batch.checked_mul(batch_groups) == Some(input.dims[labels.input_batch])
        && out_features % feature_groups == 0
        && out_features % batch_groups == 0
        && labels.kernel_spatial.iter().zip(window).all(|(&d, w)| kernel.dims[d] == w.size);
    ensure(fits, Reason::from("the groups do not fit the sizes"))?;
    let sizes: Vec<i64> = labels.kernel_spatial.iter().map(|&dim| kernel.dims[dim]).collect();
    let (own, weights) = (strides(&input.dims), strides(&kernel.dims));
    let kind = kind_of(&asked.op.shape)?;
    let turns: Vec<i64> = (0..turns).collect();
    let length = turns.len() * features as usize;
    ensure(length <= 1 << 22, "too much is contracted")?;
    let mut result = Column::none(kind);
    for positions in positions.chunks((CHUNK / length.max(1)).max(1)) {
        // Padding is zero: its products are skipped, by reading element 0 of both sides and counting it as
        // zero.
        let (mut left, mut right, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        each_index(positions, &output.dims, |_, index| {
            let feature = index[labels.output_feature];
            let feature_group = feature / (out_features / feature_groups).max(1);
            let batch_group = feature / (out_features / batch_groups).max(1);
            let batch = batch_group * out_batch + index[labels.output_batch];
            each_index(&turns, &sizes, |_, k| {
                let mut from = batch * own[labels.input_batch];
                let mut weight = feature * weights[labels.kernel_output_feature];
                let mut is_inside = true;
                for (d, window) in window.iter().enumerate() {
                    let (of, at) = (labels.input_spatial[d], index[labels.output_spatial[d]]);
                    match under(window, input.dims[of], at, k[d]) {
                        Some(place) => from += place * own[of],
                        None => is_inside = false,
                    }
                    let place = if window.is_reversed { sizes[d] - 1 - k[d] } else { k[d] };
                    weight += place * weights[labels.kernel_spatial[d]];
                }
                for i in 0..features {
                    let from = from + (feature_group * features + i) * own[labels.input_feature];
                    left.push(if is_inside { from } else { 0 });
                    right.push(weight + i * weights[labels.kernel_input_feature]);
                    counts.push(is_inside);
                }
            });
        });
        let mut left = in_result_type(kind, &super::moves::shared(evaluator, asked, 0, &left)?)?;
        let mut right = in_result_type(kind, &super::moves::shared(evaluator, asked, 1, &right)?)?;
        left.zero_where(|i| !counts[i]);
        right.zero_where(|i| !counts[i]);
        evaluator.spend(positions.len() * length)?;
        result.append(&products(kind, &left, &right, length, positions.len())?);
    }
    Ok(vec![result])
}
