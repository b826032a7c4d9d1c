//! Maps to the values of runtime variables, kept consistent with the access to which the variables belong.

use indexing_map::{Expr, IndexingMap, SimplifyMode, Variable};

use crate::operand_indexing::RuntimeVariable;

/// How a map's range (or runtime) variables relate to those of another map: there are none, or all of them
/// follow `leading`.
#[derive(Clone, Copy)]
struct Part<'a> {
    /// Variables to insert before those of the map.
    leading: &'a [Variable],
    /// Replace the map's own variables if it has none.
    own: &'a [Variable],
}

/// The maps of the runtime variables of a composed access, by [`crate::Rules::Exact`]. The range variables of
/// each are none or those of the access; the same holds for its runtime variables. `consumer` maps to the op
/// whose own access is `operand`.
pub(crate) fn composed(
    consumer: (&IndexingMap, &[RuntimeVariable]),
    operand: (&IndexingMap, &[RuntimeVariable]),
) -> Vec<RuntimeVariable> {
    let (first, second) = (consumer.0, operand.0);
    let of_operand = operand.1.iter().map(|variable| {
        let own = in_step(
            &variable.map,
            Part { leading: &[], own: second.ranges() },
            Part { leading: &[], own: second.runtime() },
        );
        let map = first.compose(&own);
        let map = in_step(&map, Part { leading: &[], own: &[] }, Part { leading: &[], own: &[] });
        RuntimeVariable { map, ..variable.clone() }
    });
    let of_consumer = consumer.1.iter().map(|variable| {
        let ranges = Part { leading: second.ranges(), own: first.ranges() };
        let runtime = Part { leading: second.runtime(), own: first.runtime() };
        RuntimeVariable { map: without_unused(&in_step(&variable.map, ranges, runtime)), ..variable.clone() }
    });
    of_operand.map(|v| RuntimeVariable { map: without_unused(&v.map), ..v }).chain(of_consumer).collect()
}

/// Adds range and runtime variables, and drops constraints, because the access has the domain.
fn in_step(map: &IndexingMap, ranges: Part<'_>, runtime: Part<'_>) -> IndexingMap {
    if !map.is_mapped() {
        return map.clone();
    }
    let all = |part: Part<'_>, own: &[Variable]| -> Vec<Variable> {
        let own = if own.is_empty() { part.own } else { own };
        part.leading.iter().chain(own).cloned().collect()
    };
    let (new_ranges, new_runtime) = (all(ranges, map.ranges()), all(runtime, map.runtime()));
    let (dims, symbols) = (map.num_dims(), map.num_dims() + map.num_ranges());
    let moved = |e: &Expr| {
        e.substitute(&mut |v| match v as usize {
            id if id < dims => None,
            id if id < symbols => Some(Expr::var(id + ranges.leading.len())),
            id => Some(Expr::var(id - symbols + dims + new_ranges.len() + runtime.leading.len())),
        })
    };
    let results = map.results().iter().map(moved).collect();
    IndexingMap::new(map.dims().to_vec(), new_ranges, new_runtime, results)
}

/// Removes the range variables, or the runtime variables, if none of them is used.
pub(crate) fn without_unused(map: &IndexingMap) -> IndexingMap {
    if !map.is_mapped() {
        return map.clone();
    }
    let (dims, symbols) = (map.num_dims(), map.num_dims() + map.num_ranges());
    let mut uses = [false; 2];
    for result in map.results() {
        result.for_each_var(&mut |v| match v as usize {
            id if id < dims => {}
            id => uses[usize::from(id >= symbols)] = true,
        });
    }
    let removed = (0..map.variables().len()).map(|id| id >= dims && !uses[usize::from(id >= symbols)]);
    let mut kept = map.clone();
    kept.remove_variables(&removed.collect::<Vec<_>>());
    kept
}

/// Whether the symbols of every map are none or those of the access.
fn are_in_step(map: &IndexingMap, variables: &[RuntimeVariable]) -> bool {
    variables.iter().all(|variable| {
        let own = &variable.map;
        own.is_mapped()
            && own.num_dims() == map.num_dims()
            && [0, map.num_ranges()].contains(&own.num_ranges())
            && [0, map.num_runtime()].contains(&own.num_runtime())
    })
}

/// Simplifies the maps; returns the variables of `map` that they use, as expressions.
pub(crate) fn used_symbols(map: &IndexingMap, variables: &mut [RuntimeVariable]) -> Vec<Expr> {
    if !map.is_mapped() || !are_in_step(map, variables) {
        return Vec::new();
    }
    let mut used = Vec::new();
    for variable in variables {
        variable.map.simplify(SimplifyMode::Replace);
        variable.map = without_unused(&variable.map);
        let (dims, ranges) = (variable.map.num_dims(), variable.map.num_ranges());
        for result in variable.map.results() {
            result.for_each_var(&mut |v| {
                let expr = match v as usize {
                    id if id < dims => return,
                    id if id < dims + ranges => Expr::var(id),
                    id => map.runtime_var(id - dims - ranges),
                };
                if !used.contains(&expr) {
                    used.push(expr);
                }
            });
        }
    }
    used
}

/// Removes variables that were removed from the access (by their old ids) here too.
pub(crate) fn remove(before: &IndexingMap, removed: &[bool], variables: &mut [RuntimeVariable]) {
    if !before.is_mapped() || !are_in_step(before, variables) {
        return;
    }
    let gone = |id: usize| removed.get(id).copied().unwrap_or(false);
    let (dims, symbols) = (before.num_dims(), before.num_dims() + before.num_ranges());
    for variable in variables {
        let own = dims + variable.map.num_ranges();
        let of = |id: usize| if id < own { gone(id) } else { gone(id - own + symbols) };
        let removed: Vec<bool> = (0..variable.map.variables().len()).map(of).collect();
        variable.map.remove_variables(&removed);
    }
}
