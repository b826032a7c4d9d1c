//! The elements that an access of `indexing` reads at one point: its map enumerated over the range variables,
//! with runtime variables bound to the integers of the index operands.

use dependences::position;
use indexing::{IndexingMap, OperandIndexing, RuntimeSource};
use indexing_map::Variable;

use crate::{Element, Elements};

/// The sizes and integers of the array that holds a runtime variable's value.
pub type Integers<'a> = dyn Fn(&RuntimeSource) -> Option<(Vec<i64>, Vec<i64>)> + 'a;

/// The source and target arrays of an access, and the values that determine its places.
pub struct World<'a> {
    /// For each operand (or op of the graph), its sizes and integers.
    pub integers: &'a Integers<'a>,
    /// The replica numbers of the group, in group order.
    pub group: &'a [u32],
    /// The executing replica's index in the group.
    pub own: i64,
    /// The default leaf of an access to a tuple.
    pub leaf: usize,
    /// The values of a range variable without bounds that are tried: constraints exclude the others.
    pub largest: i64,
}

/// Every element that `access` reads for `from`, an index of its source array. `dims` returns the sizes of
/// each leaf. `Err` says what is wrong with the access itself.
pub fn elements(
    access: &OperandIndexing,
    from: &[i64],
    dims: &dyn Fn(usize) -> Vec<i64>,
    world: &World<'_>,
    into: &mut Elements,
) -> Result<(), String> {
    let map = &access.map;
    if map.is_known_empty() {
        return Ok(());
    }
    if map.num_dims() != from.len() {
        return Err(format!("{map} does not have the dimensions of {from:?}"));
    }
    let leaf = access.element.unwrap_or(world.leaf);
    let dims = dims(leaf);
    let integers: Option<Vec<_>> =
        access.runtime_variables.iter().map(|variable| (world.integers)(&variable.source)).collect();
    let integers = integers.ok_or("a runtime variable whose values are not known")?;
    let size = |v: &Variable| match v.bounds.upper {
        i64::MAX => world.largest,
        _ => v.bounds.size().min(1 << 20) as i64,
    };
    let sizes: Vec<i64> = map.ranges().iter().map(size).collect();
    let mut result = Ok(());
    dependences::for_each_index(&sizes, |offsets| {
        if result.is_err() {
            return;
        }
        let ranges = offsets.iter().zip(map.ranges()).map(|(i, v)| i + v.bounds.lower);
        let mut point: Vec<i64> = from.iter().copied().chain(ranges).collect();
        let mut runtime = vec![0; map.num_runtime()];
        let mut unplaced = None;
        // The place of a value may depend on later variables, which come from consumers further down.
        for (i, (variable, (sizes, values))) in
            access.runtime_variables.iter().zip(&integers).enumerate().rev()
        {
            if is_unbound(i, &variable.map, map) {
                result = Err(UNBOUND.to_owned());
                return;
            }
            let at = source_index(&variable.map, from, &point[from.len()..], &runtime, map);
            let feasible = variable.feasible;
            let Some(at) = at.and_then(|at| position(sizes, &at)) else {
                unplaced = Some(&variable.map);
                runtime[i] = feasible.lower;
                continue;
            };
            runtime[i] = match feasible.is_empty() {
                true => values[at],
                false => values[at].max(feasible.lower).min(feasible.upper),
            };
        }
        point.extend(runtime);
        let Some(index) = map.evaluate(&point) else { return };
        // Outside the domain a variable may have no place.
        if let Some(variable) = unplaced {
            result = Err(format!("a runtime variable is read outside its array at {point:?}: {variable}"));
            return;
        }
        let Some(at) = position(&dims, &index) else {
            result = Err(format!("{map} at {point:?} leaves {dims:?}"));
            return;
        };
        match replicas(access, from, world) {
            Ok(replicas) => {
                into.extend(replicas.into_iter().map(|replica| (leaf as u32, replica, at as u32)))
            }
            Err(reason) => result = Err(reason),
        }
    });
    result
}

/// The error of `elements` if a runtime variable's own range or runtime variables are not in the access.
pub const UNBOUND: &str = "a runtime variable whose place depends on variables that the access does not have";

/// Whether the place of runtime variable `number` cannot be computed: its map has range variables with more
/// than one value that are not those of the access, or depends on a runtime variable that is not after it.
fn is_unbound(number: usize, variable: &IndexingMap, access: &IndexingMap) -> bool {
    let open = |map: &IndexingMap| {
        map.ranges().iter().map(|v| v.bounds.size()).filter(|&size| size > 1).collect::<Vec<_>>()
    };
    // Constraints may leave fewer values than there are where the variable is read.
    let is_inside = |(own, of): (&Variable, &Variable)| of.bounds.contains_interval(own.bounds);
    let has_its_ranges = variable.num_ranges() == access.num_ranges()
        && access.ranges().iter().zip(variable.ranges()).all(is_inside);
    let first = variable.num_dims() + variable.num_ranges();
    let uses_earlier =
        (first..=first + number).any(|id| variable.results().iter().any(|e| e.uses_var(id as u32)));
    ![0, access.num_runtime()].contains(&variable.num_runtime())
        || variable.num_runtime() > 0 && uses_earlier
        || !has_its_ranges
            && open(variable) != open(access)
            && variable.ranges().iter().any(|v| v.bounds.size() > 1)
}

/// The index of a runtime variable's value in its array. The map has the range variables of the access before
/// simplification, which may have removed those with one value.
fn source_index(
    variable: &IndexingMap,
    from: &[i64],
    ranges: &[i64],
    runtime: &[i64],
    access: &IndexingMap,
) -> Option<Vec<i64>> {
    let mut point = from.to_vec();
    if variable.num_ranges() == access.num_ranges() {
        point.extend(ranges);
    } else {
        let mut left =
            access.ranges().iter().zip(ranges).filter(|(v, _)| v.bounds.size() > 1).map(|(_, i)| i);
        for range in variable.ranges() {
            point.push(if range.bounds.size() == 1 { range.bounds.lower } else { *left.next()? });
        }
    }
    if variable.num_runtime() > 0 {
        point.extend(runtime);
    }
    variable.results().iter().map(|e| e.evaluate(&point)).collect()
}

/// The replicas that hold the element, if the access names them. The replica map has its own range variables;
/// its runtime variable is the executing device.
fn replicas(access: &OperandIndexing, from: &[i64], world: &World<'_>) -> Result<Vec<Option<u32>>, String> {
    let Some(map) = &access.replica_id_map else { return Ok(vec![None]) };
    let mut all = Vec::new();
    let mut result = Ok(());
    let sizes: Vec<i64> = map.ranges().iter().map(|v| v.bounds.size().min(64) as i64).collect();
    dependences::for_each_index(&sizes, |ranges| {
        let own = map.runtime().iter().map(|_| world.own);
        let point: Vec<i64> = from.iter().chain(ranges).copied().chain(own).collect();
        let member = map.evaluate(&point).and_then(|member| usize::try_from(*member.first()?).ok());
        match member.and_then(|member| world.group.get(member)) {
            Some(&replica) => all.push(Some(replica)),
            None => {
                result = Err(format!("the replica map {map} at {point:?} names none of {:?}", world.group))
            }
        }
    });
    result.map(|()| all)
}

/// The elements without replicas, for comparison with accesses that do not name them.
pub fn without_replicas(elements: &Elements) -> Elements {
    elements.iter().map(|&(leaf, _, at): &Element| (leaf, None, at)).collect()
}
