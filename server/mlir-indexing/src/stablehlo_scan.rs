//! `chlo.scan`: a loop along one dimension that returns the outputs of all iterations and the final carries.
//!
//! Source: `stablehlo/dialect/ChloOps.td`, ScanOp.

use indexing_map::{Expr, Interval};
use mlir_ops::{NoMap, OpText, Operand};

use crate::access::{Access, OpMaps, Role};
use crate::map_builder::MapBuilder;
use crate::stablehlo_ops::is_elementwise;

/// The number of operands that are inputs; the others are carries.
fn inputs(text: &OpText<'_>, operands: usize) -> Option<usize> {
    let segments = text.list(&["operandSegmentSizes"]).and_then(|list| usize::try_from(*list.first()?).ok());
    let custom = || {
        let carried = text.behind_word("inits")?;
        operands.checked_sub(text.operands_in(carried).len())
    };
    segments.or_else(custom).filter(|&inputs| inputs <= operands)
}

/// The scanned dimension: `dimension=1`, or the attribute.
fn dimension(text: &OpText<'_>) -> Option<usize> {
    let written = text.attribute("dimension").and_then(mlir::integer);
    let custom = || {
        let at = text.top().find(|&at| text.word(at) == "dimension")?;
        text.word(at + 2).parse().ok()
    };
    usize::try_from(written.or_else(custom)?).ok()
}

/// Whether an iteration computes each element of its slices separately: all ops of its body are elementwise.
fn is_pointwise(text: &OpText<'_>) -> bool {
    let (parse, all) = (text.source.parse, text.source.text);
    let mut ops = parse.regions_of(text.id).flat_map(|r| parse.blocks_of(r)).flat_map(|b| parse.ops_of(b));
    ops.all(|op| {
        let Some((dialect, name)) = parse.name(op, all).split_once('.') else { return false };
        let is_plain = matches!(name, "constant" | "return");
        is_plain && dialect != "func" || matches!(dialect, "stablehlo" | "mhlo") && is_elementwise(name)
    })
}

/// The results after the outputs are the final carries. An output depends on the inputs up to its iteration
/// and on the initial carries; if the body mixes the elements of a slice, on whole slices.
pub(crate) fn scan(text: &OpText<'_>, result: usize) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let operands = text.operands();
    let inputs = inputs(text, operands.len()).ok_or(NoMap::from("what it carries is not read"))?;
    let along = dimension(text).ok_or(NoMap::from("its dimension is not read"))?;
    let first = operands.first().filter(|_| inputs > 0).ok_or("it has no input")?;
    let (ty, to) = (text.array_of(first)?, text.result_array(result)?);
    let is_final = to.rank() + 1 == ty.rank();
    if along >= ty.rank() || !is_final && to.rank() != ty.rank() {
        return Err("its result is neither of its inputs' dimensions nor of those of a slice".into());
    }
    let inner = builder.extents(first, &ty);
    let others: Vec<usize> = (0..ty.rank()).filter(|&k| k != along).collect();
    let known: Vec<Option<Expr>> = match is_final {
        true => others.iter().map(|&k| Some(inner[k].clone())).collect(),
        false => inner.iter().cloned().map(Some).collect(),
    };
    let extents = builder.result_extents(text, result, &to, &known);
    let dims = builder.dimensions(&extents);
    let is_pointwise = is_pointwise(text);
    let slice: Vec<Expr> = match (is_pointwise, is_final) {
        (true, true) => dims.clone(),
        (true, false) => others.iter().map(|&k| dims[k].clone()).collect(),
        (false, _) => others.iter().map(|&k| builder.range(None, &inner[k])).collect(),
    };
    let read =
        |builder: &MapBuilder<'_>, operand: &Operand, index: Vec<Expr>, when| -> Result<Access, NoMap> {
            if text.array_of(operand)?.rank() != index.len() {
                return Err("its operands have not the dimensions of its inputs and of their slices".into());
            }
            let mut access = builder.access(operand, Role::Read, index, when);
            if !is_pointwise {
                access.note = Some("its body may mix all elements of a slice".to_owned());
            }
            Ok(access)
        };
    let (arrays, carried) = operands.split_at(inputs);
    let carried: Vec<Access> = carried
        .iter()
        .map(|operand| read(&builder, operand, slice.clone(), Vec::new()))
        .collect::<Result<_, _>>()?;
    let turn = builder.range(None, &inner[along]);
    let is_reverse = text.attribute("is_reverse").and_then(mlir::integer).unwrap_or(0) != 0;
    let up_to = match (is_final, is_reverse) {
        (true, _) => Vec::new(),
        (false, true) => vec![(turn.clone() - dims[along].clone(), Interval::new(0, i64::MAX))],
        (false, false) => vec![(dims[along].clone() - turn.clone(), Interval::new(0, i64::MAX))],
    };
    let mut index = slice;
    index.insert(along, turn);
    let mut accesses: Vec<Access> = arrays
        .iter()
        .map(|operand| read(&builder, operand, index.clone(), up_to.clone()))
        .collect::<Result<_, _>>()?;
    accesses.extend(carried);
    Ok(OpMaps::of_result(result, accesses))
}
