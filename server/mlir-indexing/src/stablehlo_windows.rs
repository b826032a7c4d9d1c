//! Sliding windows, and `stablehlo.reduce_window`.
//!
//! Source: openxla.org/stablehlo/spec.
use mlir_ops::{NoMap, OpText};

use crate::access::{OpMaps, Role};
use crate::map_builder::MapBuilder;
use indexing_map::{Expr, Interval};

/// A window, with one entry per dimension.
pub(crate) struct Window {
    pub(crate) sizes: Vec<Expr>,
    pub(crate) strides: Vec<i64>,
    pub(crate) low: Vec<Expr>,
    pub(crate) base_dilations: Vec<i64>,
    pub(crate) window_dilations: Vec<i64>,
    pub(crate) reversed: Vec<bool>,
}

impl Window {
    /// The index into the operand of element `inside` of the window at `d`, and the constraints under which
    /// it exists: dilation leaves holes between elements, padding surrounds them.
    pub(crate) fn place(
        &self,
        k: usize,
        d: &Expr,
        inside: &Expr,
        extent: &Expr,
    ) -> (Expr, Vec<(Expr, Interval)>) {
        let inside = match self.reversed[k] {
            true => self.sizes[k].clone() - 1 - inside.clone(),
            false => inside.clone(),
        };
        let at = d.clone() * self.strides[k] + inside * self.window_dilations[k] - self.low[k].clone();
        let dilation = self.base_dilations[k];
        let place = at.clone().floor_div(dilation);
        let mut when = MapBuilder::within(&place, extent);
        if dilation != 1 {
            when.push((at.modulo(dilation), Interval::point(0)));
        }
        (place, when)
    }
}

/// One entry per dimension, or `otherwise` for each if the attribute is absent or empty.
pub(crate) fn entries(
    written: Option<Vec<i64>>,
    rank: usize,
    otherwise: i64,
    what: &str,
) -> Result<Vec<i64>, NoMap> {
    match written {
        None => Ok(vec![otherwise; rank]),
        Some(list) if list.is_empty() => Ok(vec![otherwise; rank]),
        Some(list) if list.len() == rank => Ok(list),
        Some(list) => Err(format!("its {what} are {} for {rank} dimensions", list.len()).into()),
    }
}

/// The first of each pair of `padding`.
pub(crate) fn low_padding(written: Option<Vec<i64>>, rank: usize) -> Result<Vec<Expr>, NoMap> {
    let pairs = entries(written, 2 * rank, 0, "padding")?;
    Ok(pairs.into_iter().step_by(2).map(Expr::Const).collect())
}

pub(crate) fn positive(list: Vec<i64>, what: &str) -> Result<Vec<i64>, NoMap> {
    match list.iter().all(|&n| n > 0) {
        true => Ok(list),
        false => Err(format!("its {what} are not all positive").into()),
    }
}

/// Each result element depends on a window of the operand; elements outside are the initial value.
pub(crate) fn reduce_window(text: &OpText<'_>, result: usize) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let operands = text.operands();
    let arrays = operands.len() / 2;
    let first = operands.first().ok_or("it has no operand")?;
    let (ty, to) = (text.array_of(first)?, text.result_array(result)?);
    let rank = ty.rank();
    if to.rank() != rank {
        return Err("its result has not the dimensions of the operand".into());
    }
    let sizes = text.list(&["window_dimensions"]).ok_or(NoMap::from("its window_dimensions are not read"))?;
    let list = |name: &str, otherwise: i64| entries(text.list(&[name]), rank, otherwise, name);
    let window = Window {
        sizes: entries(Some(sizes), rank, 1, "window_dimensions")?.into_iter().map(Expr::Const).collect(),
        strides: positive(list("window_strides", 1)?, "window_strides")?,
        low: low_padding(text.list(&["padding"]), rank)?,
        base_dilations: positive(list("base_dilations", 1)?, "base_dilations")?,
        window_dilations: positive(list("window_dilations", 1)?, "window_dilations")?,
        reversed: vec![false; rank],
    };
    let inner = builder.extents(first, &ty);
    // A dimension without a window keeps its extent.
    let is_still = |k: usize| {
        window.sizes[k] == Expr::Const(1)
            && (window.strides[k], window.base_dilations[k]) == (1, 1)
            && window.low[k] == Expr::ZERO
    };
    let known: Vec<Option<Expr>> = (0..rank).map(|k| is_still(k).then(|| inner[k].clone())).collect();
    let extents = builder.result_extents(text, result, &to, &known);
    let dims = builder.dimensions(&extents);
    let (mut index, mut when) = (Vec::new(), Vec::new());
    for (k, d) in dims.iter().enumerate() {
        let inside = builder.range(None, &window.sizes[k]);
        let (place, more) = window.place(k, d, &inside, &inner[k]);
        index.push(place);
        when.extend(more);
    }
    let accesses = operands
        .iter()
        .enumerate()
        .map(|(nth, operand)| match nth < arrays {
            true => builder.access(operand, Role::Read, index.clone(), when.clone()),
            false => builder.access(operand, Role::Read, Vec::new(), Vec::new()),
        })
        .collect();
    Ok(OpMaps::of_result(result, accesses))
}
