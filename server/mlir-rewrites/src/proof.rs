//! Proves that new code reads the same source element as the old code for every element of the result.
//!
//! Both are maps from a position in the result to a position in the source. A position in the result is an
//! iteration of the loops and an index into the box that the iteration writes. A check of the boxes' bounds
//! shows that they cover the result exactly once.

use indexing_map::{Expr, IndexingMap, Interval, Variable, Verdict, same_function};

use crate::along::{Along, digits, product};
use crate::code::{Code, SliceOfCollapse};
use crate::numbers::{LARGEST, Symbols, divided};

/// The largest number of points and boxes that a proof examines.
const BUDGET: usize = 8192;

pub(crate) fn is_proven(slice: &SliceOfCollapse, code: &Code) -> bool {
    let places = Places { slice, code };
    covers_once(slice, code) && code.parts.iter().all(|part| places.reads_the_same(part))
}

/// Whether the parts follow each other along each dimension without gaps from 0 to the size of the slice.
fn covers_once(slice: &SliceOfCollapse, code: &Code) -> bool {
    (0..slice.rank()).all(|dim| {
        let size = &slice.sizes[dim].expr;
        if let Some(turn) = code.loops.iter().find(|l| l.dim == dim) {
            let iv = slice.loop_variable(dim);
            let is_block =
                |a: &Along| a.size == Expr::Const(turn.elements) && a.start == iv.clone() * turn.elements;
            // The trip count times the elements is the size, because the elements divide it.
            let is_whole = match (turn.count.as_const(), size.as_const()) {
                (Some(count), Some(size)) => count.checked_mul(turn.elements) == Some(size),
                _ => {
                    slice.symbols.is_multiple(size, turn.elements)
                        && turn.count == divided(size, turn.elements)
                }
            };
            return is_whole && code.parts.iter().all(|part| is_block(&part[dim]));
        }
        let mut windows: Vec<&Along> = code.parts.iter().map(|part| &part[dim]).collect();
        windows.dedup_by(|a, b| a.start == b.start && a.size == b.size);
        if let [only] = windows[..] {
            return only.start == Expr::ZERO && only.size == *size;
        }
        let others =
            slice.rank() == 1 || code.parts.iter().all(|part| same_elsewhere(part, &code.parts[0], dim));
        let end = windows.iter().try_fold(0i64, |at, window| {
            let (start, size) = (window.start.as_const()?, window.size.as_const()?);
            (start == at && size > 0).then(|| at.checked_add(size)).flatten()
        });
        others && end.is_some() && end == size.as_const()
    })
}

/// Whether both write the same indices along all dimensions but one.
fn same_elsewhere(a: &[Along], b: &[Along], but: usize) -> bool {
    a.iter().zip(b).enumerate().all(|(dim, (a, b))| dim == but || a.start == b.start && a.size == b.size)
}

struct Places<'a> {
    slice: &'a SliceOfCollapse,
    code: &'a Code,
}

impl Places<'_> {
    /// The iteration along `dim`. The dimensions of the maps are, for each dimension of the collapsed tensor,
    /// the iteration, then the index into the box. Iterations are counted from the start of the slice, in
    /// blocks: remainders of sums simplify best without a constant.
    fn iteration(&self, dim: usize) -> Expr {
        Expr::var(2 * dim) - self.first_iteration(dim)
    }

    fn first_iteration(&self, dim: usize) -> i64 {
        let elements = self.code.loops.iter().find(|l| l.dim == dim).map_or(1, |l| l.elements);
        let offset = self.slice.offsets[dim].expr.as_const().unwrap_or(0);
        if self.code.loops.iter().any(|l| l.dim == dim) && offset % elements == 0 {
            offset / elements
        } else {
            0
        }
    }

    fn place(&self, dim: usize) -> Expr {
        Expr::var(2 * dim + 1)
    }

    /// Translates an expression of the code to the variables of the maps: a symbol becomes its divisor times
    /// a runtime variable.
    fn translated(&self, expr: &Expr) -> Expr {
        let symbols = self.slice.symbols.len();
        expr.substitute(&mut |v| {
            let v = v as usize;
            Some(match v.checked_sub(symbols) {
                Some(dim) => self.iteration(dim),
                None => Expr::var(2 * self.slice.rank() + v) * self.slice.symbols.0[v].divisor.max(1),
            })
        })
    }

    fn reads_the_same(&self, part: &[Along]) -> bool {
        let slice = self.slice;
        let mut constraints: Vec<(Expr, Interval)> = Vec::new();
        let below = |constraints: &mut Vec<(Expr, Interval)>, what: Expr, end: &Expr| {
            constraints.push((what - end.clone(), Interval::new(i64::MIN, -1)));
        };
        let mut dims = Vec::new();
        let (mut old, mut new) =
            (vec![Expr::ZERO; slice.extents.len()], vec![Expr::ZERO; slice.extents.len()]);
        for (dim, along) in part.iter().enumerate() {
            let count =
                self.code.loops.iter().find(|l| l.dim == dim).map_or(Expr::Const(1), |l| l.count.clone());
            let first = self.first_iteration(dim);
            let bounds = [(count, self.iteration(dim), first), (along.size.clone(), self.place(dim), 0)];
            for (expr, variable, first) in bounds {
                let end = self.translated(&expr);
                let size = end.as_const().unwrap_or(LARGEST);
                let Some(behind) = first.checked_add(size) else { return false };
                dims.push(Variable::from(Interval::new(first, behind - 1)));
                if end.as_const().is_none() {
                    below(&mut constraints, variable, &end);
                }
            }
            let at = self.translated(&along.start) + self.place(dim);
            let read =
                self.translated(&slice.offsets[dim].expr) + at * self.translated(&slice.strides[dim].expr);
            let extents: Vec<Expr> = slice.group_extents(dim).iter().map(|e| self.translated(e)).collect();
            let all = product(&extents);
            // The reads of the old code are in bounds.
            match all.as_const() {
                Some(all) => constraints.push((read.clone(), Interval::from_size(all))),
                None => {
                    constraints.push((read.clone(), Interval::new(0, i64::MAX)));
                    below(&mut constraints, read.clone(), &all);
                }
            }
            let sizes: Vec<Expr> = along.sizes.iter().map(|s| self.translated(s)).collect();
            let inside = digits(&self.place(dim), &sizes);
            for (nth, expr) in digits(&read, &extents).into_iter().enumerate() {
                let axis = slice.groups[dim][nth];
                old[axis] = expr;
                let offset = self.translated(&along.offsets[nth].value());
                new[axis] = offset + inside[nth].clone() * self.translated(&along.strides[nth]);
            }
        }
        same_places(&slice.symbols, &dims, &constraints, old, new)
    }
}

/// Whether two lists of positions are equal at every point that satisfies the constraints. The variables are
/// the dimensions, then the symbols, each in units of its divisor.
pub(crate) fn same_places(
    symbols: &Symbols,
    dims: &[Variable],
    constraints: &[(Expr, Interval)],
    old: Vec<Expr>,
    new: Vec<Expr>,
) -> bool {
    let runtime = symbols.0.iter().map(|symbol| {
        let unit = symbol.divisor.max(1);
        let Interval { lower, upper } = symbol.bounds;
        let lower = lower.div_euclid(unit) + i64::from(lower.rem_euclid(unit) != 0);
        Variable::from(Interval::new(lower, upper / unit))
    });
    let runtime: Vec<Variable> = runtime.collect();
    let map = |results: Vec<Expr>| {
        let mut map = IndexingMap::new(dims.to_vec(), Vec::new(), runtime.clone(), results);
        for (expr, interval) in constraints {
            map.add_constraint(expr.clone(), *interval);
        }
        map
    };
    same_function(&map(old), &map(new), BUDGET) == Verdict::Yes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::along::Coordinate;
    use crate::extract_from_collapse::tests::read_one;
    use crate::plan::plans;

    fn check_refused(slice: &SliceOfCollapse, code: &Code, change: impl FnOnce(&mut Code)) {
        let mut changed = code.clone();
        change(&mut changed);
        assert!(is_proven(slice, code), "what is right is proven");
        assert!(!is_proven(slice, &changed), "{changed:?}");
    }

    /// Code with any error is not proven, whatever its form.
    #[test]
    fn wrong_code_is_refused() {
        for (lists, symbols) in [
            ("[13] [9] [1]", 0),
            ("[13] [25] [1]", 0),
            ("[13] [10] [2]", 0),
            ("[%n] [10] [1]", 1),
            ("[%m] [14] [1]", 1),
            ("[15] [5] [1]", 0),
        ] {
            let slice = read_one(lists);
            assert_eq!(slice.symbols.len(), symbols);
            let codes = plans(&slice);
            assert!(!codes.is_empty(), "{lists}");
            for code in &codes {
                let last = code.parts.len() - 1;
                for axis in 0..3 {
                    check_refused(&slice, code, |c| {
                        let offset = &mut c.parts[last][0].offsets[axis];
                        *offset = Coordinate::Plain(offset.value() + 1);
                    });
                }
                check_refused(&slice, code, |c| c.parts[last][0].size = Expr::Const(2));
                check_refused(&slice, code, |c| c.parts[last][0].start = c.parts[last][0].start.clone() + 1);
                for turn in 0..code.loops.len() {
                    check_refused(&slice, code, |c| {
                        c.loops[turn].count = c.loops[turn].count.clone() + -1;
                    });
                    check_refused(&slice, code, |c| c.loops[turn].elements += 1);
                }
                if code.parts.len() > 1 {
                    check_refused(&slice, code, |c| c.parts.swap(0, 1));
                    check_refused(&slice, code, |c| drop(c.parts.pop()));
                }
            }
        }
    }
}
