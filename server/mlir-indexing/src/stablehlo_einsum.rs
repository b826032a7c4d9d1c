//! `stablehlo.einsum` and `stablehlo.unary_einsum`, whose dimensions are named by a string.
//!
//! Source: `stablehlo/dialect/StablehloOps.td`, `xla/hlo/builder/lib/matrix.cc` Einsum.

use indexing_map::Expr;
use mlir::einsum_letters;
use mlir_ops::{NoMap, OpText};

use crate::access::{OpMaps, Role};
use crate::map_builder::MapBuilder;

/// Letters of the result are its dimensions; the others are summed over.
pub(crate) fn einsum(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let config = text.attribute("einsum_config").or_else(|| text.attribute("config"));
    let config = config.ok_or(NoMap::from("its einsum_config is not read"))?.trim().trim_matches('"');
    let (inputs, output) = config.split_once("->").ok_or("its einsum_config has no result")?;
    let inputs: Vec<&str> = inputs.split(',').collect();
    let (operands, to) = (text.operands(), text.result_array(0)?);
    if inputs.len() != operands.len() {
        return Err("its einsum_config is not of as many operands".into());
    }
    // Letters in text order, with a static extent if there is one.
    let mut known: Vec<(char, Expr)> = Vec::new();
    let mut sides = Vec::new();
    for (written, operand) in inputs.into_iter().zip(&operands) {
        let ty = text.array_of(operand)?;
        let side = einsum_letters(written, ty.rank())?;
        for (k, &letter) in side.iter().enumerate() {
            match known.iter_mut().find(|(own, _)| *own == letter) {
                None => known.push((letter, builder.extent(operand, &ty, k))),
                Some((_, extent)) if extent.as_const().is_none() && ty.extents[k].is_some() => {
                    *extent = builder.extent(operand, &ty, k);
                }
                Some(_) => {}
            }
        }
        sides.push((operand, side));
    }
    let output = einsum_letters(output, to.rank())?;
    let is_repeated = |(at, letter): (usize, &char)| output[..at].contains(letter);
    if output.iter().any(|letter| known.iter().all(|(own, _)| own != letter))
        || output.iter().enumerate().any(is_repeated)
    {
        return Err("a dimension of its result is not one of the operands'".into());
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
    let accesses = sides.into_iter().map(|(operand, side)| {
        let place = |letter: &char| variables.iter().find(|(own, _)| own == letter).map(|(_, v)| v.clone());
        builder.access(operand, Role::Read, side.iter().filter_map(place).collect(), Vec::new())
    });
    Ok(OpMaps::of_result(0, accesses.collect()))
}
