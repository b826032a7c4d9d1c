//! Where the value of a runtime variable is, in step with the access that the variable belongs to.

use indexing_map::{Expr, IndexingMap, SimplifyMode, Variable};

use crate::operand_indexing::RuntimeVariable;

/// How a map's range (or runtime) variables are those of another: none, or all of them behind `leading` others.
#[derive(Clone, Copy)]
struct Part<'a> {
    /// In front of the ones the map has.
    leading: &'a [Variable],
    /// Stand in for its own where it has none.
    own: &'a [Variable],
}

/// The maps of the runtime variables of a composed access, by [`crate::Rules::Exact`]: each has no range variables or
/// those of the access, and so with runtime variables. `consumer` maps to the op whose own access is `operand`.
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

/// With more range and runtime variables; without constraints, as the domain is that of the access.
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

/// A kind of variable of which none is used is left out.
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

/// Are the symbols of every map none, or the access's?
fn are_in_step(map: &IndexingMap, variables: &[RuntimeVariable]) -> bool {
    variables.iter().all(|variable| {
        let own = &variable.map;
        own.is_mapped()
            && own.num_dims() == map.num_dims()
            && [0, map.num_ranges()].contains(&own.num_ranges())
            && [0, map.num_runtime()].contains(&own.num_runtime())
    })
}

/// Simplifies the maps; answers the variables of `map` that they use, as expressions.
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

/// After variables of the access were removed (by its old flat ids), removes them here.
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
