//! `chlo.ragged_dot`: a product in which each row of one side is multiplied with the matrix of its group.
//! Groups are given by their sizes.
//!
//! Source: `stablehlo/dialect/ChloOps.td`, RaggedDotOp.

use indexing_map::Expr;
use mlir::{field, integers};
use mlir_ops::{NoMap, OpText, Operand};

use crate::access::{Access, OpMaps, Role};
use crate::map_builder::MapBuilder;

/// Dimensions of the left and of the right side.
type Pair = [Vec<usize>; 2];

/// The result's dimensions are the batches, the free ones of the left side, the free ones of the right. One
/// dimension of the left side is split into groups. If it is free, each row is multiplied with its group's
/// part of the right side. If it is contracted, each group is a sum of its own, and groups are the result's
/// first dimension. If it is a batch dimension, the groups have no effect.
pub(crate) fn ragged_dot(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let operands: [Operand; 3] =
        text.operands().try_into().map_err(|_| NoMap::from("it takes two sides and the sizes of groups"))?;
    let types = [text.array_of(&operands[0])?, text.array_of(&operands[1])?];
    let sizes = text.array_of(&operands[2])?;
    let written =
        text.attribute("ragged_dot_dimension_numbers").or_else(|| text.attribute("dimension_numbers"));
    let written = written.ok_or(NoMap::from("its ragged_dot_dimension_numbers are not read"))?;
    let numbers = text.source.resolved(written, text.source.parse.op(text.id).span.start).into_owned();
    // MHLO has the lists of a dot in an attribute of their own.
    let of_dot = field(&numbers, "dot_dimension_numbers").unwrap_or(&numbers);
    let list = |name: &str| -> Result<Vec<usize>, NoMap> {
        let Some(list) = field(&numbers, name).or_else(|| field(of_dot, name)) else { return Ok(Vec::new()) };
        let found = integers(list).unwrap_or_default().into_iter().map(|d| usize::try_from(d).ok());
        found.collect::<Option<_>>().ok_or_else(|| NoMap::from(format!("its {} are not read", name)))
    };
    let pair = |kind: &str| -> Result<Pair, NoMap> {
        Ok([list(&format!("lhs_{kind}_dimensions"))?, list(&format!("rhs_{kind}_dimensions"))?])
    };
    let (batch, contracted) = (pair("batching")?, pair("contracting")?);
    let (ragged, group) = (list("lhs_ragged_dimensions")?, list("rhs_group_dimensions")?);
    let misfit = "its dimension numbers do not fit its operands";
    let is_inside = |side: usize, list: &[usize]| list.iter().all(|&k| k < types[side].rank());
    let [ragged] = ragged[..] else { return Err("it has not one ragged dimension".into()) };
    let is_contracted = contracted[0].contains(&ragged);
    let is_free = !is_contracted && !batch[0].contains(&ragged);
    if [&batch, &contracted]
        .iter()
        .any(|pair| pair[0].len() != pair[1].len() || !is_inside(0, &pair[0]) || !is_inside(1, &pair[1]))
        || !is_inside(0, &[ragged])
        || !is_inside(1, &group)
        || group.len() != usize::from(is_free)
        || sizes.rank() == 0
    {
        return Err(misfit.into());
    }
    let groups = match group.first() {
        Some(&k) if types[1].extents[k].is_some() => builder.extent(&operands[1], &types[1], k),
        _ => builder.extent(&operands[2], &sizes, sizes.rank() - 1),
    };
    if is_contracted {
        builder.dimension(&groups);
    }
    let mut index = [vec![Expr::ZERO; types[0].rank()], vec![Expr::ZERO; types[1].rank()]];
    let shared = |builder: &mut MapBuilder<'_>, l: usize, r: usize| match types[0].extents[l] {
        Some(_) => builder.extent(&operands[0], &types[0], l),
        None if types[1].extents[r].is_some() => builder.extent(&operands[1], &types[1], r),
        None => builder.extent(&operands[0], &types[0], l),
    };
    for (&l, &r) in batch[0].iter().zip(&batch[1]) {
        let extent = shared(&mut builder, l, r);
        let d = builder.dimension(&extent);
        (index[0][l], index[1][r]) = (d.clone(), d);
    }
    for side in 0..2 {
        let is_taken = |k: &usize| {
            batch[side].contains(k) || contracted[side].contains(k) || side == 1 && group.contains(k)
        };
        for k in (0..types[side].rank()).filter(|k| !is_taken(k)) {
            let extent = builder.extent(&operands[side], &types[side], k);
            index[side][k] = builder.dimension(&extent);
        }
    }
    // A separate builder, so that the variables of the sizes do not appear in the other accesses.
    let mut of_sizes = builder.clone();
    let all: Vec<Expr> =
        of_sizes.extents(&operands[2], &sizes).iter().map(|extent| of_sizes.range(None, extent)).collect();
    let sizes = of_sizes.access(&operands[2], Role::Read, all, Vec::new());
    for (&l, &r) in contracted[0].iter().zip(&contracted[1]) {
        let extent = shared(&mut builder, l, r);
        let s = builder.range(None, &extent);
        (index[0][l], index[1][r]) = (s.clone(), s);
    }
    let [left, mut right] = index;
    let left = builder.access(&operands[0], Role::Read, left, Vec::new());
    if let Some(&k) = group.first() {
        right[k] = builder.range(None, &groups);
    }
    let right = builder.access(&operands[1], Role::Read, right, Vec::new());
    let notes = match (is_contracted, is_free) {
        (true, _) => [Some("only what is in the group of the element is summed up"); 2],
        (_, true) => [
            Some("a row after the last group is not read"),
            Some("a row meets one group, which the sizes tell"),
        ],
        _ => [None; 2],
    };
    let noted = |access: Access, note: Option<&str>| Access { note: note.map(str::to_owned), ..access };
    let behind = "the sizes of the groups in front say where one starts";
    let accesses = vec![noted(left, notes[0]), noted(right, notes[1]), noted(sizes, Some(behind))];
    Ok(OpMaps::of_result(0, accesses))
}
