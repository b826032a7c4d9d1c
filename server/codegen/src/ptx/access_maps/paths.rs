//! The conditions under which an instruction is executed, from the branches before it.

use indexing_map::{Constraint, Expr, Interval};

use super::super::machine::Label;
use super::values::Values;

/// A condition that holds from a branch to its target.
#[derive(Debug, Clone)]
struct Condition {
    until: Label,
    /// The constraints, which all hold; `None` if data decides.
    holds: Option<Vec<Constraint>>,
}

/// The conditions at the current position of the code.
#[derive(Debug, Clone, Default)]
pub(super) struct Paths {
    open: Vec<Condition>,
    /// The target of the last branch if that was unconditional: the code after it is reached from elsewhere.
    left: Option<Label>,
}

/// The conditions of a position in the code.
pub(super) type Path = Vec<Option<Vec<Constraint>>>;

impl Paths {
    /// Records a forward branch. `guard`: the constraints of its predicate, and whether the branch is taken
    /// if they hold.
    pub(super) fn branch(
        &mut self,
        target: Label,
        guard: Option<(Option<Vec<Constraint>>, bool)>,
        values: &Values<'_>,
    ) {
        let Some((test, when)) = guard else {
            self.left = Some(target);
            return;
        };
        let holds = if when { test.and_then(|test| negated(&test, values)) } else { test };
        self.open.push(Condition { until: target, holds });
    }

    pub(super) fn label(&mut self, label: Label, values: &Values<'_>) {
        let (ended, open): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.open).into_iter().partition(|condition| condition.until == label);
        self.open = open;
        // After an unconditional branch, the label is reached only if the condition did not hold.
        if let Some(left) = self.left.take().filter(|&left| left != label) {
            let all: Option<Vec<Constraint>> =
                ended.into_iter().try_fold(Vec::new(), |mut all, condition| {
                    all.extend(condition.holds?);
                    Some(all)
                });
            let holds = all.and_then(|all| negated(&all, values));
            self.open.push(Condition { until: left, holds });
        }
    }

    /// The constraints that hold here, and whether nothing else decides that this position is reached.
    pub(super) fn conditions(&self) -> (Vec<Constraint>, bool) {
        let known = self.open.iter().filter_map(|condition| condition.holds.as_ref());
        let is_certain = self.open.iter().all(|condition| condition.holds.is_some());
        (known.flatten().cloned().collect(), is_certain)
    }

    /// The number of branches that decide about the current position.
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    pub(super) fn path(&self) -> Path {
        self.open.iter().map(|condition| condition.holds.clone()).collect()
    }
}

/// Constraints that hold exactly if these do not all hold.
pub(super) fn negated(constraints: &[Constraint], values: &Values<'_>) -> Option<Vec<Constraint>> {
    if let [Constraint { expr, interval }] = constraints {
        let range = values.range(expr);
        let one_sided = match (interval.lower <= range.lower, interval.upper >= range.upper) {
            (true, true) => Some(Interval::EMPTY),
            (true, false) => Some(Interval::new(interval.upper + 1, range.upper)),
            (false, true) => Some(Interval::new(range.lower, interval.lower - 1)),
            (false, false) => None,
        };
        if let Some(interval) = one_sided {
            return Some(vec![Constraint { expr: expr.clone(), interval }]);
        }
    }
    let expr = indicator(constraints, values)?;
    Some(vec![Constraint { expr, interval: Interval::point(0) }])
}

/// 1 if all constraints hold, else 0. `None` if the expression would be too large.
pub(super) fn indicator(constraints: &[Constraint], values: &Values<'_>) -> Option<Expr> {
    let mut least = Expr::Const(1);
    for Constraint { expr, interval } in constraints {
        let range = values.range(expr);
        if interval.lower > range.lower {
            least = least.min(expr.clone() + (1i64.checked_sub(interval.lower)?));
        }
        if interval.upper < range.upper {
            least = least.min(expr.clone() * -1 + interval.upper.checked_add(1)?);
        }
    }
    let indicator = least.max(Expr::ZERO);
    (!indicator.is_too_large()).then_some(indicator)
}
