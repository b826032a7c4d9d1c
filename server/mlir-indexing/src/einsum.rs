//! `stablehlo.einsum` and `stablehlo.unary_einsum`, whose dimensions are named by a string.
//!
//! Source: `stablehlo/dialect/StablehloOps.td`, `xla/hlo/builder/lib/matrix.cc` Einsum.

use indexing_map::Expr;
use mlir::{ArrayType, Einsum};
use mlir_ops::{NoMap, OpText};

use crate::access::{OpMaps, Role};
use crate::map_builder::MapBuilder;

/// Letters of the result are its dimensions; the others are range variables. A letter that an operand has twice
/// reads its diagonal.
pub(crate) fn einsum(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let config = text.einsum_config()?;
    let (operands, to) = (text.operands(), text.result_array(0)?);
    let types = operands.iter().map(|operand| text.array_of(operand)).collect::<Result<Vec<_>, _>>()?;
    let ranks: Vec<usize> = types.iter().map(ArrayType::rank).collect();
    let Einsum { operands: sides, output } = Einsum::of(config, &ranks, to.rank())?;
    // Letters in text order, with a static extent if there is one.
    let mut known: Vec<(char, Expr)> = Vec::new();
    for ((side, operand), ty) in sides.iter().zip(&operands).zip(&types) {
        for (k, &letter) in side.iter().enumerate() {
            match known.iter_mut().find(|(own, _)| *own == letter) {
                None => known.push((letter, builder.extent(operand, ty, k))),
                Some((_, extent)) if extent.as_const().is_none() && ty.extents[k].is_some() => {
                    *extent = builder.extent(operand, ty, k);
                }
                Some(_) => {}
            }
        }
    }
    let extent = |letter: &char| known.iter().find(|(own, _)| own == letter).map(|(_, e)| e.clone());
    let of_result: Vec<Option<Expr>> = output.iter().map(extent).collect();
    let extents = builder.result_extents(text, 0, &to, &of_result);
    let mut variables: Vec<(char, Expr)> = Vec::new();
    for (letter, extent) in output.iter().zip(&extents) {
        variables.push((*letter, builder.dimension(extent)));
    }
    for (letter, extent) in &known {
        if !output.contains(letter) {
            variables.push((*letter, builder.range(None, extent)));
        }
    }
    let accesses = sides.iter().zip(&operands).map(|(side, operand)| {
        let place = |letter: &char| variables.iter().find(|(own, _)| own == letter).map(|(_, v)| v.clone());
        builder.access(operand, Role::Read, side.iter().filter_map(place).collect(), Vec::new())
    });
    Ok(OpMaps::of_result(0, accesses.collect()))
}
