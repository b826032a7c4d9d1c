//! The entry of the scatter emitter: threads iterate over the updates. Each element of an update changes an
//! element of the operand, whose buffer is the result's. Source: `backends/gpu/codegen/emitters/scatter.cc`.

use gpu::{ScatterEmitter, ScatterMode};
use indexing_map::{Constraint, Expr, IndexingMap, Interval, RangeContext, Variable};
use ir::{AttributeKey, ElementTypeExt, OpId};
use syntax::hlo::{ElementType, Opcode};

use crate::Reason;
use crate::constant::Constant;
use crate::emit::Emission;
use crate::emit::elemental::MapArguments;
use crate::emit::entry::{Entry, buffer, only_where, share_buffer};
use crate::emit::entry_scatter_sorted;
use crate::emit::reducer::inline;
use crate::kernel::{Comparison, Condition, Detail, Direction, Kernel, OpKind, ValueId};

pub(super) fn emit(
    emission: &Emission<'_>,
    scatter: &ScatterEmitter,
    kernel: &mut Kernel,
) -> Result<(), Reason> {
    let analysis = emission.source.analysis;
    let hero = analysis.fused.roots[0];
    let op = analysis.fused.op(hero);
    for number in 0..scatter.operands {
        share_buffer(kernel, number, buffer(emission, hero, number));
    }
    let flag = |key| op.attributes.bool(key).unwrap_or(false);
    let is_unique = flag(AttributeKey::UniqueIndices);
    if scatter.operands > 1 && !is_unique {
        return Err("several operands are scattered into at once, at indices that may be equal".into());
    }
    let maps = analysis.thread_to_input();
    let maps = maps.first().map(|(_, maps)| maps.clone()).unwrap_or_default();
    let [indices, updates] = [scatter.operands, scatter.operands + 1].map(|n| maps.get(n).cloned());
    let (Some(indices), Some(updates)) = (indices, updates) else {
        return Err("nothing is known of its thread map".into());
    };
    if indices.is_undefined() || updates.is_undefined() {
        return Err("its thread map is not known".into());
    }
    let called = op.attributes.computation(AttributeKey::ToApply).ok_or("it calls no computation")?;
    let mut entry = Entry::new(emission, kernel);
    entry.elements.body.origin = Some(hero);
    let scattering = Scattering { scatter, hero, called, is_unique, indices, updates };
    let results = entry.results.clone();
    entry.results = match scatter.mode {
        ScatterMode::Indices { rows_per_warp, index_vector } if rows_per_warp > 1 => {
            entry_scatter_sorted::rows(&mut entry, &scattering, rows_per_warp, index_vector, results)?
        }
        _ => scattering.updates(&mut entry, results)?,
    };
    entry.finish(kernel);
    Ok(())
}

/// A scatter, with the maps from threads to the elements that they read.
pub(super) struct Scattering<'a> {
    pub scatter: &'a ScatterEmitter,
    pub hero: OpId,
    /// The computation that combines two elements.
    pub called: &'a str,
    pub is_unique: bool,
    pub indices: IndexingMap,
    pub updates: IndexingMap,
}

impl Scattering<'_> {
    /// Applies each update element of a thread to an element of the result.
    fn updates(&self, entry: &mut Entry<'_>, tensors: Vec<ValueId>) -> Result<Vec<ValueId>, Reason> {
        let place = MapArguments { at: &entry.grid.clone(), ranges: &[], runtime: &[] };
        let row = place.of(&self.indices, &self.indices.results()[0]);
        if row.is_too_large() || row.var_bound() > entry.elements.body.function.index_vars.len() as u32 {
            return Err("a thread has updates of several rows".into());
        }
        let row = entry.elements.body.simplify(&row);
        let conditions = self.inside(entry, &row);
        only_where(entry, Condition::Within(conditions), tensors, |entry, tensors| {
            let offsets = self.row(entry, &row);
            let is_inside = self.is_inside(entry, &offsets);
            only_where(entry, Condition::Value(is_inside), tensors, |entry, tensors| {
                let offsets = self.indices_of(entry, &offsets);
                let sizes = self.scatter.updates.dims().to_vec();
                let mut failed = None;
                let tensors = entry.each(&self.updates, &sizes, tensors, |entry, at, _, tensors| {
                    let operands = self.scatter.operands;
                    let number = |n: usize| operands + 1 + n;
                    let values = (0..operands).map(|n| entry.operand(self.hero, number(n), at)).collect();
                    let place: Vec<Expr> = at[1..]
                        .iter()
                        .zip(&offsets)
                        .map(|(at, offset)| at.clone() + offset.clone())
                        .collect();
                    let written = self.change(entry, values, &place, &tensors);
                    written.unwrap_or_else(|reason| {
                        failed = Some(reason);
                        tensors
                    })
                });
                failed.map_or(Ok(tensors), Err)
            })
        })
    }

    /// The constraints under which the thread has a row of indices.
    fn inside(&self, entry: &Entry<'_>, row: &Expr) -> Vec<Constraint> {
        let map = &self.updates;
        let is_outer =
            |c: &&Constraint| (0..map.num_ranges()).all(|n| !c.expr.uses_var((map.num_dims() + n) as u32));
        let place = MapArguments { at: &entry.grid, ranges: &[], runtime: &[] };
        let body = &entry.elements.body;
        let outer = map.constraints().iter().filter(is_outer);
        let mut conditions: Vec<Constraint> = outer
            .map(|c| Constraint { expr: body.simplify(&place.of(map, &c.expr)), interval: c.interval })
            .collect();
        // Narrower bounds of the map's dimensions are constraints too.
        let bounds = map.dims().iter().zip(&entry.grid);
        conditions.extend(bounds.map(|(dim, at)| Constraint { expr: at.clone(), interval: dim.bounds }));
        let mut conditions = body.open_constraints(conditions);
        let rows = Interval::from_size(self.scatter.rows);
        let ranges = RangeContext::new(&body.function.index_vars, &conditions);
        if !rows.contains_interval(ranges.range(row)) {
            conditions.push(Constraint { expr: row.clone(), interval: rows });
        }
        conditions
    }

    /// The numbers of a row of indices.
    pub fn row(&self, entry: &mut Entry<'_>, row: &Expr) -> Vec<ValueId> {
        let number = self.scatter.operands;
        let at = |n: i64| [row.clone(), Expr::Const(n)];
        let count = self.scatter.row_length.min(self.scatter.slice.len() as i64);
        (0..count).map(|n| entry.operand(self.hero, number, &at(n))).collect()
    }

    /// For each number of a row, its dimension in the operand, and its largest valid value.
    fn places(&self, entry: &Entry<'_>) -> Vec<(usize, i64)> {
        let op = entry.elements.op(self.hero);
        let dims = op.attributes.ints(AttributeKey::ScatterDimsToOperandDims);
        let sizes = op.operand_shapes.first().map(|shape| shape.dims()).unwrap_or_default();
        let of = |&dim: &i64| {
            let dim = usize::try_from(dim).unwrap_or(0);
            let (size, slice) = (sizes.get(dim).copied(), self.scatter.slice.get(dim).copied());
            (dim, (size.unwrap_or(1) - slice.unwrap_or(1)).max(0))
        };
        dims.iter().map(of).collect()
    }

    /// Whether the update at these offsets is within the operand; other updates have no effect.
    pub fn is_inside(&self, entry: &mut Entry<'_>, offsets: &[ValueId]) -> ValueId {
        let places = self.places(entry);
        let body = &mut entry.elements.body;
        let mut all: Option<ValueId> = None;
        for (&offset, (_, largest)) in offsets.iter().zip(places) {
            let element = body.function.element(offset);
            // Negative numbers are large when compared as unsigned.
            let unsigned = without_sign(element);
            let largest = match element.bits() {
                Some(bits) if bits < 63 => largest.min((1 << bits) - 1),
                _ => largest,
            };
            let number = match element == unsigned {
                true => offset,
                false => body.compute(Opcode::BitcastConvert, vec![offset], Detail::None, unsigned),
            };
            let largest = body.constant(Constant::of_int(unsigned, largest));
            let comparison = Comparison { direction: Direction::Le, is_total: false };
            let test = body.compute(
                Opcode::Compare,
                vec![number, largest],
                Detail::Compare(comparison),
                ElementType::Pred,
            );
            all = Some(match all {
                None => test,
                Some(before) => {
                    body.compute(Opcode::And, vec![before, test], Detail::None, ElementType::Pred)
                }
            });
        }
        all.unwrap_or_else(|| body.constant(Constant::of_int(ElementType::Pred, 1)))
    }

    /// Offsets within the operand, by its dimensions.
    pub fn indices_of(&self, entry: &mut Entry<'_>, offsets: &[ValueId]) -> Vec<Expr> {
        let places = self.places(entry);
        let body = &mut entry.elements.body;
        let mut index = vec![Expr::ZERO; self.scatter.slice.len()];
        for (&value, (dim, largest)) in offsets.iter().zip(places) {
            let var = body.index_var(Variable::new(0, largest));
            body.push(OpKind::AsIndex { value, var }, Vec::new());
            if let Some(slot) = index.get_mut(dim) {
                *slot = Expr::var(var as usize);
            }
        }
        index
    }

    /// Combines the element of each result at `place` with a value.
    pub fn change(
        &self,
        entry: &mut Entry<'_>,
        values: Vec<ValueId>,
        place: &[Expr],
        tensors: &[ValueId],
    ) -> Result<Vec<ValueId>, Reason> {
        let place: Vec<Expr> = place.iter().map(|e| entry.elements.body.simplify(e)).collect();
        if self.is_unique {
            let mut args: Vec<ValueId> =
                (0..tensors.len()).map(|n| entry.operand(self.hero, n, &place)).collect();
            args.extend(values);
            let new = self.combine(entry, args)?;
            let body = &mut entry.elements.body;
            let both = tensors.iter().zip(new);
            return Ok(both.map(|(&tensor, value)| body.write(value, tensor, place.clone())).collect());
        }
        let &[tensor] = tensors else { return Err("it has several results".into()) };
        let element = entry.elements.body.function.element(tensor);
        let old = entry.elements.body.scalar(element);
        entry.elements.enter(vec![old]);
        let new = self.combine(entry, std::iter::once(old).chain(values).collect())?;
        let body = entry.elements.leave(new);
        let results = entry.like(tensors);
        entry.elements.body.push(OpKind::Update { tensor, at: place, body }, results.clone());
        Ok(results)
    }

    /// Inlines the scatter's computation on old and new elements.
    pub fn combine(&self, entry: &mut Entry<'_>, args: Vec<ValueId>) -> Result<Vec<ValueId>, Reason> {
        let callees = entry.emission.source.callees;
        let body = &mut entry.elements.body;
        let types: Vec<ElementType> =
            args[..args.len() / 2].iter().map(|&old| body.function.element(old)).collect();
        let new = inline(body, self.called, &args, &|name: &str| callees(name), 0)?;
        let is_same = new.iter().map(|&value| body.function.element(value)).eq(types);
        is_same.then_some(new).ok_or_else(|| format!("{} answers other elements", self.called).into())
    }
}

/// The unsigned type of the same width.
fn without_sign(element: ElementType) -> ElementType {
    match element {
        ElementType::S2 => ElementType::U2,
        ElementType::S4 => ElementType::U4,
        ElementType::S8 => ElementType::U8,
        ElementType::S16 => ElementType::U16,
        ElementType::S32 => ElementType::U32,
        ElementType::S64 => ElementType::U64,
        other => other,
    }
}
