//! The entry of the reduction emitters. Each thread reduces its elements, then the threads of a warp reduce
//! among themselves, and several warps through shared memory. Source:
//! `backends/gpu/codegen/emitters/reduction.cc`.

use gpu::{Exchange, ReductionEmitter};
use indexing_map::{Constraint, Expr, Interval, Variable};
use ir::OpId;

use crate::Reason;
use crate::emit::Emission;
use crate::emit::elemental::{element_types, first_array};
use crate::emit::entry::{Entry, on_threads, results_of, through};
use crate::kernel::{Kernel, OpKind, SharedArray, Type, ValueId};

/// The last of the ids of thread and block, which are the first variables of a thread map. It selects the
/// group of results.
const BL_Z: usize = 5;

pub(super) fn emit(
    emission: &Emission<'_>,
    reduction: &ReductionEmitter,
    kernel: &mut Kernel,
) -> Result<(), Reason> {
    let mut entry = Entry::new(emission, kernel);
    entry.elements.body.origin = Some(reduction.reductions[0]);
    if reduction.groups.len() == 1 {
        entry.results = Group::new(emission, reduction, 0)?.write(&mut entry)?;
        entry.finish(kernel);
        return Ok(());
    }
    let before = entry.results.clone();
    let mut cases = Vec::new();
    for number in 0..reduction.groups.len() {
        entry.results = before.clone();
        entry.elements.enter(Vec::new());
        let written = Group::new(emission, reduction, number)?.write(&mut entry)?;
        cases.push(entry.elements.leave(written));
    }
    let on = entry.grid[BL_Z].clone();
    let results = entry.like(&before);
    entry.elements.body.push(OpKind::Switch { on, cases }, results.clone());
    entry.results = results;
    entry.finish(kernel);
    Ok(())
}

/// A reduction of a group, with its values so far.
struct Hero {
    op: OpId,
    combiner: usize,
    inits: Vec<ValueId>,
    /// One value per result: an element, or a vector if a thread has several columns.
    partial: Vec<ValueId>,
}

/// Results that the same blocks compute.
struct Group<'a, 'r> {
    emission: &'a Emission<'a>,
    reduction: &'r ReductionEmitter,
    /// The numbers of the roots.
    reduced: Vec<usize>,
    beside: Vec<usize>,
    heroes: Vec<OpId>,
    /// Per root, its results.
    own: Vec<std::ops::Range<usize>>,
}

impl<'a, 'r> Group<'a, 'r> {
    fn new(
        emission: &'a Emission<'a>,
        reduction: &'r ReductionEmitter,
        number: usize,
    ) -> Result<Group<'a, 'r>, Reason> {
        let analysis = emission.source.analysis;
        let roots = reduction.groups.get(number).ok_or("a group is missing")?;
        let is_reduced = |&root: &usize| reduction.reductions.contains(&analysis.heroes[root]);
        let (reduced, beside): (Vec<usize>, Vec<usize>) = roots.iter().partition(|&root| is_reduced(root));
        let mut heroes: Vec<OpId> = Vec::new();
        for &root in &reduced {
            let hero = analysis.heroes[root];
            if !heroes.contains(&hero) {
                heroes.push(hero);
            }
        }
        Ok(Group { emission, reduction, reduced, beside, heroes, own: results_of(emission) })
    }

    /// The tensors of the results after this group.
    fn write(&self, entry: &mut Entry<'a>) -> Result<Vec<ValueId>, Reason> {
        let mut heroes = Vec::new();
        for &op in &self.heroes {
            let combiner = entry.reducer(op)?;
            let inits = entry.inits(op);
            let columns = self.reduction.columns();
            let partial = match columns {
                1 => inits.clone(),
                _ => inits.iter().map(|&init| entry.splat(init, columns)).collect(),
            };
            heroes.push(Hero { op, combiner, inits, partial });
        }
        self.reduce_in_threads(entry, &mut heroes);
        let distance = self.reduction.first_distance();
        if distance > 0 {
            for hero in &mut heroes {
                hero.partial = entry.shuffled(hero.combiner, &hero.partial, distance, hero.op);
            }
        }
        match self.reduction.exchange() {
            None => self.write_results(entry, &heroes, None),
            Some(exchange) => {
                let shared = self.to_shared(entry, &heroes, &exchange);
                self.each_column(entry, |group, entry, column| {
                    let own = group.exchanged(entry, &heroes, &exchange, &shared, column);
                    group.write_results(entry, &own, column)
                })?;
                return Ok(entry.results.clone());
            }
        }?;
        Ok(entry.results.clone())
    }

    /// The loop of each thread over its tile, including the results that are not reductions, at the indices
    /// that are read.
    fn reduce_in_threads(&self, entry: &mut Entry<'a>, heroes: &mut [Hero]) {
        let analysis = self.emission.source.analysis;
        let fused = &analysis.fused;
        let (map, sizes) = self.reduction.thread_loop();
        let input = fused.op(self.reduction.reductions[0]).operand_shapes[0].clone();
        let results = entry.results.len();
        let mut carried = entry.results.clone();
        carried.extend(heroes.iter().flat_map(|hero| hero.partial.iter().copied()));
        let is_vector = self.reduction.columns() > 1;
        let ends = entry.each(&map, &sizes, carried, |entry, at, ranges, mut values| {
            for &root in &self.beside {
                let op = fused.roots[root];
                let index = through(&entry.elements.body, &self.reduction.of_canonical(&sizes, &input), at);
                let shape = first_array(&fused.op(op).shape).clone();
                let index = through(&entry.elements.body, &gpu::bitcast(&input, &shape), &index);
                let written = entry.call(op, index.clone());
                entry.write(op, written, &index, &mut values[self.own[root].clone()]);
            }
            let mut next = results;
            for hero in heroes.iter() {
                let op = fused.op(hero.op);
                let count = hero.partial.len();
                let shape = first_array(&op.operand_shapes[0]).clone();
                let index = through(&entry.elements.body, &self.reduction.of_canonical(&sizes, &shape), at);
                let column = ranges.last().cloned().unwrap_or(Expr::ZERO);
                entry.on_behalf(hero.op, |entry| {
                    let partials = &mut values[next..next + count];
                    let mut args: Vec<ValueId> = Vec::new();
                    for &partial in partials.iter() {
                        args.push(if is_vector { entry.extract(partial, &column) } else { partial });
                    }
                    args.extend((0..count).map(|operand| entry.operand(hero.op, operand, &index)));
                    let combined = entry.combine(hero.combiner, args);
                    for (slot, value) in partials.iter_mut().zip(combined) {
                        *slot = if is_vector { entry.insert(value, *slot, &column) } else { value };
                    }
                });
                next += count;
            }
            values
        });
        entry.results = ends[..results].to_vec();
        let mut rest = &ends[results..];
        for hero in heroes {
            let (own, others) = rest.split_at(hero.partial.len());
            hero.partial = own.to_vec();
            rest = others;
        }
    }

    /// Writes each thread's values to shared memory. Returns the arrays of all results of all heroes after
    /// the barrier.
    fn to_shared(&self, entry: &mut Entry<'a>, heroes: &[Hero], exchange: &Exchange) -> Vec<ValueId> {
        let mut arrays: Vec<ValueId> = Vec::new();
        for hero in heroes {
            for element in element_types(&self.emission.graph().ops[hero.op as usize].shape) {
                let ty = Type::Shared(SharedArray { element, dims: exchange.dims.clone() });
                let array = entry.elements.body.value(ty);
                entry.elements.body.push(OpKind::AllocateShared, vec![array]);
                arrays.push(array);
            }
        }
        let partial: Vec<ValueId> = heroes.iter().flat_map(|hero| hero.partial.iter().copied()).collect();
        let is_vector = self.reduction.columns() > 1;
        let written = entry.each_column(self.reduction.columns(), arrays, |entry, column, mut arrays| {
            let ranges: Vec<Expr> = column.into_iter().cloned().collect();
            let place = on_threads(entry, &exchange.write, &ranges);
            let is_zero = on_threads(entry, std::slice::from_ref(&exchange.writes_if_zero), &ranges);
            let constraints =
                entry.elements.body.open_constraints(vec![constraint(&is_zero[0], Interval::point(0))]);
            for (array, &value) in arrays.iter_mut().zip(&partial) {
                let value = match column {
                    Some(column) if is_vector => entry.extract(value, column),
                    _ => value,
                };
                *array = entry.write_if(value, *array, place.clone(), constraints.clone());
            }
            arrays
        });
        let synced = entry.like(&written);
        entry.elements.body.push(OpKind::Sync { tensors: written }, synced.clone());
        synced
    }

    /// The values that a thread reads after the exchange, reduced among the threads of its warp.
    fn exchanged(
        &self,
        entry: &mut Entry<'a>,
        heroes: &[Hero],
        exchange: &Exchange,
        arrays: &[ValueId],
        column: Option<&Expr>,
    ) -> Vec<Hero> {
        let ranges: Vec<Expr> = column.into_iter().cloned().collect();
        let place = on_threads(entry, &exchange.read, &ranges);
        let (below, bound) = &exchange.reads_if_below;
        let below = on_threads(entry, std::slice::from_ref(below), &ranges);
        let constraints =
            entry.elements.body.open_constraints(vec![constraint(&below[0], Interval::from_size(*bound))]);
        let mut rest = arrays;
        let mut answer = Vec::new();
        for hero in heroes {
            let (own, others) = rest.split_at(hero.inits.len());
            rest = others;
            let read = own.iter().zip(&hero.inits);
            let partial: Vec<ValueId> = read
                .map(|(&array, &init)| entry.read_if(array, place.clone(), constraints.clone(), init))
                .collect();
            answer.push(Hero { partial, inits: hero.inits.clone(), ..*hero });
        }
        if exchange.distance > 0 {
            for hero in &mut answer {
                hero.partial = entry.shuffled(hero.combiner, &hero.partial, exchange.distance, hero.op);
            }
        }
        answer
    }

    /// Writes the results of the epilogues, one thread per element.
    fn write_results(
        &self,
        entry: &mut Entry<'a>,
        heroes: &[Hero],
        column: Option<&Expr>,
    ) -> Result<(), Reason> {
        let analysis = self.emission.source.analysis;
        if self.reduced.is_empty() {
            return Ok(());
        }
        let roots: Vec<OpId> = self.reduced.iter().map(|&root| analysis.fused.roots[root]).collect();
        let maps: Vec<_> = self.reduced.iter().map(|&root| analysis.thread_to_root(root)).collect();
        let maps: Option<Vec<_>> = maps.into_iter().collect();
        let maps = maps.ok_or("no thread is known to write a result")?;
        let mut place = entry.grid.clone();
        let first = maps.first().ok_or("there is no result")?;
        let mut variables: Vec<Variable> = first.dims().to_vec();
        if let (Some(column), Some(variable)) = (column, first.ranges().first()) {
            place.push(column.clone());
            variables.push(variable.clone());
        }
        let given: Vec<(OpId, Vec<ValueId>)> =
            heroes.iter().map(|hero| (hero.op, hero.partial.clone())).collect();
        let indices: Vec<Vec<Expr>> = maps.iter().map(|map| map.results().to_vec()).collect();
        let values = entry.epilogue(&roots, &indices, (&variables, &place), &given);
        for (((&root, map), values), &number) in roots.iter().zip(&maps).zip(values).zip(&self.reduced) {
            let of = |expr: &Expr| expr.substitute(&mut |v| place.get(v as usize).cloned());
            // This code runs only in the blocks of this group.
            let mut constraints: Vec<Constraint> = map
                .constraints()
                .iter()
                .filter(|c| !c.expr.uses_var(BL_Z as u32))
                .map(|c| Constraint { expr: of(&c.expr), interval: c.interval })
                .collect();
            let bounds = map.dims().iter().zip(&place).take(BL_Z);
            constraints.extend(bounds.map(|(variable, at)| constraint(at, variable.bounds)));
            let constraints = entry.elements.body.open_constraints(constraints);
            let index: Vec<Expr> =
                map.results().iter().map(|expr| entry.elements.body.simplify(&of(expr))).collect();
            let mut tensors = entry.results[self.own[number].clone()].to_vec();
            entry.write_where(root, values, &index, &constraints, &mut tensors);
            entry.results[self.own[number].clone()].copy_from_slice(&tensors);
        }
        Ok(())
    }

    /// Calls `write` for each column of a thread. It leaves the results in the entry.
    fn each_column(
        &self,
        entry: &mut Entry<'a>,
        mut write: impl FnMut(&Self, &mut Entry<'a>, Option<&Expr>) -> Result<(), Reason>,
    ) -> Result<(), Reason> {
        let mut outcome = Ok(());
        let results = entry.results.clone();
        let columns = self.reduction.written_columns();
        entry.results = entry.each_column(columns, results, |entry, column, results| {
            entry.results = results;
            if let Err(reason) = write(self, entry, column) {
                outcome = Err(reason);
            }
            entry.results.clone()
        });
        outcome
    }
}

fn constraint(expr: &Expr, interval: Interval) -> Constraint {
    Constraint { expr: expr.clone(), interval }
}
