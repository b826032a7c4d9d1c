//! `stablehlo.scatter` of arrays with dynamic extents.
//!
//! Source: openxla.org/stablehlo/spec, scatter; `xla/backends/gpu/codegen/emitters/scatter.cc`.

use indexing_map::{Expr, Interval};
use mlir::{field, integer, integers};
use mlir_ops::{NoMap, OpText};

use crate::access::{OpMaps, Role};
use crate::map_builder::MapBuilder;
use crate::stablehlo_ops::NOT_NEGATIVE;

/// The window dimensions of the updates, and the dimensions of the input where a window starts.
struct Numbers {
    window: Vec<usize>,
    inserted: Vec<usize>,
    batching: Vec<usize>,
    index_batching: Vec<usize>,
    indexed: Vec<usize>,
    vector: usize,
}

fn numbers(text: &OpText<'_>) -> Result<Numbers, NoMap> {
    let written = text
        .attribute("scatter_dimension_numbers")
        .ok_or(NoMap::from("its scatter_dimension_numbers are not read"))?;
    let written = text.source.resolved(written, text.source.parse.op(text.id).span.start).into_owned();
    let list = |name: &str| -> Result<Vec<usize>, NoMap> {
        let Some(written) = field(&written, name) else { return Ok(Vec::new()) };
        let found = integers(written).unwrap_or_default().into_iter().map(|d| usize::try_from(d).ok());
        found.collect::<Option<_>>().ok_or_else(|| NoMap::from(format!("its {} are not read", name)))
    };
    let vector = field(&written, "index_vector_dim").and_then(integer).unwrap_or(0);
    Ok(Numbers {
        window: list("update_window_dims")?,
        inserted: list("inserted_window_dims")?,
        batching: list("input_batching_dims")?,
        index_batching: list("scatter_indices_batching_dims")?,
        indexed: list("scatter_dims_to_operand_dims")?,
        vector: usize::try_from(vector).map_err(|_| NoMap::from("its index_vector_dim is not read"))?,
    })
}

/// Reads the inputs at the element itself, all indices, and the updates that may land on the element: those
/// whose window, which starts at an element of the indices, contains it.
pub(crate) fn scatter(text: &OpText<'_>, result: usize) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let operands = text.operands();
    let inputs = operands.len() / 2;
    if operands.len().is_multiple_of(2) || result >= inputs {
        return Err("it takes inputs, indices, and an update for each input".into());
    }
    let (indices, update) = (&operands[inputs], &operands[inputs + 1]);
    let (ty, index_type, part) =
        (text.array_of(&operands[result])?, text.array_of(indices)?, text.array_of(update)?);
    let numbers = numbers(text)?;
    let extents = builder.extents(&operands[result], &ty);
    let dims = builder.dimensions(&extents);
    let index_extents = builder.extents(indices, &index_type);
    let update_extents = builder.extents(update, &part);

    // The non-window dimensions of the updates run over the indices.
    let walked: Vec<usize> = (0..index_type.rank()).filter(|&k| k != numbers.vector).collect();
    let walking: Vec<usize> = (0..part.rank()).filter(|k| !numbers.window.contains(k)).collect();
    let misfit = "its dimension numbers do not fit its operands";
    if walked.len() != walking.len()
        || numbers.vector > index_type.rank()
        || numbers.batching.len() != numbers.index_batching.len()
        || numbers.batching.iter().chain(&numbers.indexed).any(|&k| k >= ty.rank())
    {
        return Err(misfit.into());
    }
    let walk: Vec<Expr> = walked
        .iter()
        .map(|k| match numbers.index_batching.iter().position(|b| b == k) {
            Some(nth) => dims[numbers.batching[nth]].clone(),
            None => builder.range(None, &index_extents[*k]),
        })
        .collect();
    let index_at = |component: i64| {
        let mut at = walk.clone();
        if numbers.vector < index_type.rank() {
            at.insert(numbers.vector, Expr::Const(component));
        }
        at
    };
    let mut place = vec![Expr::ZERO; part.rank()];
    walking.iter().zip(&walk).for_each(|(&k, at)| place[k] = at.clone());
    let mut windows = numbers.window.iter();
    let mut when = Vec::new();
    for (k, d) in dims.iter().enumerate().filter(|(k, _)| !numbers.batching.contains(k)) {
        let window = match numbers.inserted.contains(&k) {
            true => None,
            false => Some(*windows.next().filter(|&&w| w < part.rank()).ok_or(misfit)?),
        };
        let size = window.map_or(Expr::Const(1), |w| update_extents[w].clone());
        let mut inside = d.clone();
        if let Some(nth) = numbers.indexed.iter().position(|&i| i == k) {
            let bounds = match (extents[k].as_const(), size.as_const()) {
                (Some(whole), Some(size)) => Interval::new(0, whole.saturating_sub(size).max(0)),
                _ => NOT_NEGATIVE,
            };
            let start = builder.element(indices, nth, index_at(nth as i64), bounds);
            if bounds == NOT_NEGATIVE {
                when.push((start.clone() + size.clone() - extents[k].clone(), Interval::new(i64::MIN, 0)));
            }
            inside = inside - start;
        }
        when.extend(MapBuilder::within(&inside, &size));
        if let Some(window) = window {
            place[window] = inside;
        }
    }
    let note = |mut access: crate::access::Access, note: &str| {
        access.note = Some(note.to_owned());
        access
    };
    let mut accesses = Vec::new();
    for input in &operands[..inputs] {
        let access = builder.access(input, Role::Read, dims.clone(), Vec::new());
        accesses.push(note(access, "where an update lands, the combiner decides whether it is read"));
    }
    let mut of_updates = Vec::new();
    for update in &operands[inputs + 1..] {
        let access = builder.access(update, Role::Read, place.clone(), when.clone());
        of_updates.push(note(access, "an update whose window leaves the operand is skipped"));
    }
    let all: Vec<Expr> = index_extents.iter().map(|extent| builder.range(None, extent)).collect();
    let access = builder.access(indices, Role::Read, all, Vec::new());
    accesses.push(note(access, "which updates land on an element depends on every index"));
    accesses.extend(of_updates);
    Ok(OpMaps::of_result(result, accesses))
}
