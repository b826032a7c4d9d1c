//! Scatters with sorted indices: a warp processes several rows and adds up the updates of equal ones before
//! it changes the
//! result. Source: `ScatterWithDistributedIndices`, `backends/gpu/codegen/emitters/scatter.cc`.

use indexing_map::{Constraint, Expr, Interval, Variable, ceil_div};
use ir::AttributeKey;
use syntax::hlo::{ElementType, Opcode};

use crate::Reason;
use crate::constant::Constant;
use crate::emit::elemental::MapArguments;
use crate::emit::entry::{Entry, either, only_where};
use crate::emit::entry_scatter::Scattering;
use crate::kernel::{Comparison, Condition, Detail, Direction, OpKind, ValueId};

/// The maximum number of sums per thread.
const MAX_SUMS: i64 = 1024;
/// The maximum number of rows whose indices are read before the first is processed, if the emitter reads them
/// one by one.
const MAX_ROWS: i64 = 4;
/// The number of warps of a block.
const WARPS: i64 = 4;

/// The values that are carried from row to row.
#[derive(Clone)]
struct State {
    /// The offsets to which the sums belong.
    offsets: Vec<ValueId>,
    is_inside: ValueId,
    sums: Vec<ValueId>,
    tensor: ValueId,
}

impl State {
    fn values(&self) -> Vec<ValueId> {
        let mut all = self.offsets.clone();
        all.push(self.is_inside);
        all.extend(&self.sums);
        all.push(self.tensor);
        all
    }

    /// The same structure with other values.
    fn of(&self, values: &[ValueId]) -> State {
        let (offsets, rest) = values.split_at(self.offsets.len());
        State {
            offsets: offsets.to_vec(),
            is_inside: rest[0],
            sums: rest[1..=self.sums.len()].to_vec(),
            tensor: rest[self.sums.len() + 1],
        }
    }
}

struct Rows<'s, 'a> {
    scattering: &'s Scattering<'a>,
    /// The elements of an update that a thread handles: those of each turn are adjacent.
    turns: Vec<Turn>,
    element: ElementType,
}

/// One iteration of the loop over a slice, whose elements exist under the same conditions.
struct Turn {
    /// Indices into the slice, over the variables of the entry.
    at: Vec<Vec<Expr>>,
    conditions: Vec<Constraint>,
}

pub(super) fn rows(
    entry: &mut Entry<'_>,
    scattering: &Scattering<'_>,
    rows_per_warp: i64,
    index_vector: i64,
    tensors: Vec<ValueId>,
) -> Result<Vec<ValueId>, Reason> {
    let &[tensor] = tensors.as_slice() else { return Err("it has several results".into()) };
    let scatter = scattering.scatter;
    let rows = scatter.rows;
    let warps = Interval::from_size(ceil_div(rows, rows_per_warp).unwrap_or(1));
    let warp = entry.grid[3].clone() * WARPS + entry.grid[0].clone().floor_div(scatter.warp);
    let warp = entry.elements.body.simplify(&warp);
    let condition = vec![Constraint { expr: warp.clone(), interval: warps }];
    let condition = Condition::Within(entry.elements.body.open_constraints(condition));
    let first = warp * rows_per_warp;
    let turns = turns(entry, scattering)?;
    let element = entry.elements.body.function.element(tensor);
    let all = Rows { scattering, turns, element };
    let is_whole = rows % rows_per_warp == 0;
    // A few rows are also read at once, because nothing separates their loads.
    let is_few = scatter.row_length == 1 && rows_per_warp <= MAX_ROWS;
    let index_vector = if is_few { rows_per_warp } else { index_vector };
    let count = rows_per_warp / index_vector;
    only_where(entry, condition, tensors, |entry, tensors| {
        let mut state = all.group(entry, &first, index_vector, is_whole, None, tensors[0])?;
        if count > 1 {
            let body = &mut entry.elements.body;
            let var = body.index_var(Variable::from_size(count - 1));
            let inits = state.values();
            let carried = entry.like(&inits);
            let results = entry.like(&inits);
            let inside = state.of(&carried);
            entry.elements.enter(carried);
            let row = first.clone() + Expr::var(var as usize) * index_vector + index_vector;
            let tensor = inside.tensor;
            let next = all.group(entry, &row, index_vector, is_whole, Some(inside), tensor)?;
            let body = entry.elements.leave(next.values());
            entry.elements.body.push(OpKind::For { var, count: count - 1, inits, body }, results.clone());
            state = state.of(&results);
        }
        let last = Condition::Value(state.is_inside);
        only_where(entry, last, vec![state.tensor], |entry, _| all.flush(entry, &state))
    })
}

/// The elements of a slice that a thread handles.
fn turns(entry: &Entry<'_>, scattering: &Scattering<'_>) -> Result<Vec<Turn>, Reason> {
    let map = &scattering.updates;
    let scatter = scattering.scatter;
    let elements: i64 = scatter.slice.iter().product();
    let at_once = scatter.warp * scatter.vector;
    let count = ceil_div(elements, at_once).unwrap_or(1);
    if count.saturating_mul(scatter.vector) > MAX_SUMS {
        return Err("a thread would keep more sums than there are registers".into());
    }
    let body = &entry.elements.body;
    let lane = entry.grid[0].clone().modulo(scatter.warp) * scatter.vector;
    let of = |turn: i64| {
        let linear = body.simplify(&(lane.clone() + turn * at_once));
        let condition = Constraint { expr: linear, interval: Interval::from_size(elements) };
        // The range variables of the map: rows, iterations, and adjacent elements.
        let at = |element: i64| {
            let named = |name: &str| match name {
                "update_loop" => turn,
                "vector_id" => element,
                _ => 0,
            };
            let ranges: Vec<Expr> = map
                .ranges()
                .iter()
                .map(|v| Expr::Const(named(v.name.as_deref().unwrap_or_default())))
                .collect();
            let place = MapArguments { at: &entry.grid, ranges: &ranges, runtime: &[] };
            let inside = map.results().iter().skip(1);
            inside.map(|e| body.simplify(&place.of(map, e))).collect()
        };
        let at = (0..scatter.vector).map(at).collect();
        Turn { at, conditions: body.open_constraints(vec![condition]) }
    };
    Ok((0..count).map(of).collect())
}

impl Rows<'_, '_> {
    /// Processes rows whose indices are read at once.
    fn group(
        &self,
        entry: &mut Entry<'_>,
        row: &Expr,
        count: i64,
        is_whole: bool,
        mut state: Option<State>,
        tensor: ValueId,
    ) -> Result<State, Reason> {
        let row_of = |n: i64| row.clone() + n;
        if is_whole {
            let read: Vec<Vec<ValueId>> =
                (0..count).map(|n| self.scattering.row(entry, &row_of(n))).collect();
            for (n, offsets) in (0..count).zip(read) {
                state = Some(self.step(entry, &row_of(n), offsets, state, tensor)?);
            }
        } else {
            for n in 0..count {
                let Some(before) = state else {
                    // The first row of a warp that has rows.
                    let offsets = self.scattering.row(entry, &row_of(n));
                    state = Some(self.step(entry, &row_of(n), offsets, None, tensor)?);
                    continue;
                };
                let there = Constraint {
                    expr: row_of(n),
                    interval: Interval::from_size(self.scattering.scatter.rows),
                };
                let condition = Condition::Within(vec![there]);
                let same = before.values();
                let values = either(
                    entry,
                    condition,
                    |entry| {
                        let offsets = self.scattering.row(entry, &row_of(n));
                        Ok(self.step(entry, &row_of(n), offsets, Some(before.clone()), tensor)?.values())
                    },
                    |_| Ok(same),
                )?;
                state = Some(before.of(&values));
            }
        }
        state.ok_or_else(|| "it has no rows".into())
    }

    /// Processes one row: adds the sums to the result if their indices differ, then adds the row's update.
    fn step(
        &self,
        entry: &mut Entry<'_>,
        row: &Expr,
        offsets: Vec<ValueId>,
        state: Option<State>,
        tensor: ValueId,
    ) -> Result<State, Reason> {
        let Some(state) = state else {
            let is_inside = self.scattering.is_inside(entry, &offsets);
            let sums = either(
                entry,
                Condition::Value(is_inside),
                |entry| Ok(self.update(entry, row)),
                |entry| Ok(self.zeros(entry)),
            )?;
            return Ok(State { offsets, is_inside, sums, tensor });
        };
        let body = &mut entry.elements.body;
        let mut differs: Option<ValueId> = None;
        for (&new, &old) in offsets.iter().zip(&state.offsets) {
            let comparison = Comparison { direction: Direction::Ne, is_total: false };
            let detail = Detail::Compare(comparison);
            let test = body.compute(Opcode::Compare, vec![new, old], detail, ElementType::Pred);
            differs = Some(match differs {
                None => test,
                Some(before) => body.compute(Opcode::Or, vec![before, test], Detail::None, ElementType::Pred),
            });
        }
        let differs = differs.unwrap_or_else(|| body.constant(Constant::of_int(ElementType::Pred, 0)));
        let leaves =
            body.compute(Opcode::And, vec![differs, state.is_inside], Detail::None, ElementType::Pred);
        let written = only_where(entry, Condition::Value(leaves), vec![state.tensor], |entry, _| {
            self.flush(entry, &state)
        })?;
        let is_inside = self.scattering.is_inside(entry, &offsets);
        let before = state.sums.clone();
        let add = |entry: &mut Entry<'_>| {
            // Single elements are read once before the branch; vectors are read in both of its arms.
            let at_hand = (self.scattering.scatter.vector == 1 || self.is_replaced(entry))
                .then(|| self.update(entry, row));
            if self.is_replaced(entry) {
                return Ok(at_hand.unwrap_or_default());
            }
            let (first, second) = (at_hand.clone(), at_hand);
            either(
                entry,
                Condition::Value(differs),
                |entry| Ok(first.unwrap_or_else(|| self.update(entry, row))),
                |entry| {
                    let new = second.unwrap_or_else(|| self.update(entry, row));
                    let pairs = before.iter().zip(new);
                    pairs
                        .map(|(&sum, new)| {
                            let called = self.scattering.combine(entry, vec![sum, new])?;
                            called.first().copied().ok_or_else(|| "its computation has no result".into())
                        })
                        .collect()
                },
            )
        };
        let same = state.sums.clone();
        let sums = either(entry, Condition::Value(is_inside), add, |_| Ok(same))?;
        Ok(State { offsets, is_inside, sums, tensor: written[0] })
    }

    /// Whether the new element is the update itself.
    fn is_replaced(&self, entry: &Entry<'_>) -> bool {
        let op = entry.elements.op(self.scattering.hero);
        let called = op.attributes.computation(AttributeKey::ToApply).unwrap_or_default();
        (entry.emission.source.callees)(called)
            .is_some_and(|graph| graph.ops.get(graph.root as usize).is_some_and(|op| op.parameter == Some(1)))
    }

    /// The elements of a row's update that a thread handles.
    fn update(&self, entry: &mut Entry<'_>, row: &Expr) -> Vec<ValueId> {
        let scattering = self.scattering;
        let mut all = Vec::new();
        for turn in &self.turns {
            let read = |entry: &mut Entry<'_>| {
                let index = |at: &Vec<Expr>| std::iter::once(row).chain(at).cloned().collect::<Vec<_>>();
                let number = scattering.scatter.operands + 1;
                let of = |at| entry.operand(scattering.hero, number, &index(at));
                turn.at.iter().map(of).collect::<Vec<_>>()
            };
            if turn.conditions.is_empty() {
                all.extend(read(entry));
                continue;
            }
            let condition = Condition::Within(turn.conditions.clone());
            let zero = Constant::zero(self.element);
            let values = either(
                entry,
                condition,
                |entry| Ok(read(entry)),
                |entry| Ok(turn.at.iter().map(|_| entry.elements.body.constant(zero)).collect()),
            );
            all.extend(values.unwrap_or_default());
        }
        all
    }

    fn zeros(&self, entry: &mut Entry<'_>) -> Vec<ValueId> {
        let count = self.turns.iter().map(|turn| turn.at.len()).sum::<usize>();
        (0..count).map(|_| entry.elements.body.constant(Constant::zero(self.element))).collect()
    }

    /// Applies the sums to the result.
    fn flush(&self, entry: &mut Entry<'_>, state: &State) -> Result<Vec<ValueId>, Reason> {
        let scattering = self.scattering;
        let offsets = scattering.indices_of(entry, &state.offsets);
        let mut tensors = vec![state.tensor];
        let mut sums = state.sums.iter();
        for turn in &self.turns {
            let own: Vec<ValueId> = sums.by_ref().take(turn.at.len()).copied().collect();
            let condition = Condition::Within(turn.conditions.clone());
            tensors = only_where(entry, condition, tensors, |entry, mut tensors| {
                for (at, sum) in turn.at.iter().zip(own) {
                    let place: Vec<Expr> =
                        at.iter().zip(&offsets).map(|(at, offset)| at.clone() + offset.clone()).collect();
                    tensors = scattering.change(entry, vec![sum], &place, &tensors)?;
                }
                Ok(tensors)
            })?;
        }
        Ok(tensors)
    }
}
