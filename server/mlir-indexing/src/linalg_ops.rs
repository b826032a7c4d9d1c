//! Structured ops of the linalg dialect.
//!
//! Source: mlir.llvm.org/docs/Dialects/Linalg.

use indexing_map::Expr;
use mlir_ops::{AffineMap, Linalg, NoMap, OpText, Operand};

use crate::access::OpMaps;
use crate::map_builder::MapBuilder;
use crate::structured::Structured;

pub(crate) fn maps(text: &OpText<'_>, op: Linalg, result: usize) -> Option<Result<OpMaps, NoMap>> {
    let mut builder = MapBuilder::new(text.source);
    let read = structured(&mut builder, text, op)?;
    Some(read.and_then(|op| op.maps(builder, result, text.source.result_count(text.id) > 0)))
}

/// The op as loops, with extents in terms of a builder; `None` if its maps are not known.
pub(crate) fn structured(
    builder: &mut MapBuilder<'_>,
    text: &OpText<'_>,
    op: Linalg,
) -> Option<Result<Structured<'static>, NoMap>> {
    if op == Linalg::Other {
        return None;
    }
    let mut read = || {
        let (ins, outs) = text.ins_and_outs()?;
        let maps = match text.indexing_maps() {
            Some(maps) => maps?,
            None => match op {
                Linalg::Named(named) => text.named_maps(named, ins.len(), outs.len())?,
                _ => usual_maps(text, op, &ins, &outs)?,
            },
        };
        if maps.len() != ins.len() + outs.len() {
            return Err(NoMap::MapCount { has: maps.len(), operands: ins.len() + outs.len() });
        }
        let loops = maps.first().map_or_else(Vec::new, |m| m.dims.clone());
        let is_default =
            |name: &String| name.strip_prefix('d').is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
        let loops = loops.into_iter().map(|n| if is_default(&n) { String::new() } else { n }).collect();
        let mut maps = maps.into_iter();
        let used = used_arguments(text, op, ins.len(), outs.len());
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        let inputs_count = ins.len();
        for (nth, operand) in ins.into_iter().chain(outs).enumerate() {
            let map = maps.next().ok_or(NoMap::Without("map for an operand"))?;
            let is_read = used.get(nth).copied().unwrap_or(true);
            let list = if nth < inputs_count { &mut inputs } else { &mut outputs };
            list.push(Structured::operand(builder, text, operand, map, is_read)?);
        }
        Ok::<_, NoMap>(Structured { loops, inputs, outputs, mask: None })
    };
    Some(read())
}

/// The maps of ops whose maps follow from their operands' ranks and a list of dimensions.
fn usual_maps(
    text: &OpText<'_>,
    op: Linalg,
    ins: &[Operand],
    outs: &[Operand],
) -> Result<Vec<AffineMap>, NoMap> {
    let rank_of = |o: &Operand| if text.is_scalar(o) { Ok(0) } else { text.array_of(o).map(|ty| ty.rank()) };
    let out = rank_of(outs.first().ok_or(NoMap::Without("output"))?)?;
    let wide = AffineMap::identity(out);
    let pick = |of: &AffineMap, dims: &mut dyn Iterator<Item = usize>| AffineMap {
        results: dims.map(Expr::var).collect(),
        ..of.clone()
    };
    let repeated = |map: AffineMap, n: usize| std::iter::repeat_n(map, n);
    Ok(match op {
        Linalg::Transpose => {
            let order = text.listed_dimensions(op)?;
            if order.len() != out || (0..out).any(|k| !order.contains(&k)) {
                return Err(NoMap::NoPermutation("permutation"));
            }
            // Dimension `k` of the result is dimension `order[k]` of the operand.
            let place = |k: usize| order.iter().position(|&o| o == k).unwrap_or(k);
            vec![pick(&wide, &mut (0..out).map(place)), wide.clone()]
        }
        Linalg::Broadcast => {
            let added = text.listed_dimensions(op)?;
            vec![pick(&wide, &mut (0..out).filter(|d| !added.contains(d))), wide.clone()]
        }
        Linalg::Reduce => {
            let reduced = text.listed_dimensions(op)?;
            let all = AffineMap::identity(rank_of(ins.first().ok_or(NoMap::Without("input"))?)?);
            let kept = pick(&all, &mut (0..all.dims.len()).filter(|d| !reduced.contains(d)));
            repeated(all.clone(), ins.len()).chain(repeated(kept, outs.len())).collect()
        }
        Linalg::Softmax => {
            // The element of the result, and all along one dimension of the operand.
            let along = text.softmax_dimension().filter(|&d| d < out);
            let along = along.ok_or(NoMap::NotRead("its dimension"))?;
            let mut all = AffineMap::identity(out + 1);
            all.dims[out] = "along".to_owned();
            let read = pick(&all, &mut (0..out).map(|d| if d == along { out } else { d }));
            vec![read, pick(&all, &mut (0..out))]
        }
        _ => {
            // Elementwise; scalars are broadcast.
            let mut maps = Vec::new();
            for operand in ins {
                let rank = rank_of(operand)?;
                if rank != out && rank != 0 {
                    return Err(NoMap::OtherRanks("operands"));
                }
                maps.push(pick(&wide, &mut (0..rank)));
            }
            maps.extend(repeated(wide, outs.len()));
            maps
        }
    })
}

/// Whether the computation uses each operand. For an op with a body: whether the body uses its argument.
fn used_arguments(text: &OpText<'_>, op: Linalg, ins: usize, outs: usize) -> Vec<bool> {
    let all = vec![true; ins + outs];
    let without_outputs = || (0..ins + outs).map(|nth| nth < ins).collect();
    match op {
        Linalg::Generic => {
            let parse = text.source.parse;
            let Some(region) = parse.regions_of(text.id).next() else { return all };
            let Some(block) = parse.blocks_of(region).next() else { return all };
            let arguments = parse.blocks[block as usize].arguments.clone();
            if arguments.len() != ins + outs {
                return all;
            }
            let mut used = vec![false; ins + outs];
            let body = text.id + 1..parse.op(text.id).behind;
            for found in body.flat_map(|op| parse.uses_of(op)).filter_map(|u| u.value) {
                if arguments.contains(&found) {
                    used[(found - arguments.start) as usize] = true;
                }
            }
            used
        }
        Linalg::Map
        | Linalg::Transpose
        | Linalg::Broadcast
        | Linalg::Softmax
        | Linalg::Elementwise
        | Linalg::Fill
        | Linalg::Pointwise => without_outputs(),
        _ => all,
    }
}
