//! Folding of runtime variables whose value is known from the graph.

use indexing_map::{Expr, Interval, RangeContext, Simplifier, SimplifyMode, Variable};
use ir::{AttributeKey, ElementType, ElementTypeExt, Graph, Op, OpId, Opcode, literal_elements};

use crate::Rules;
use crate::operand_indexing::{OperandIndexing, RuntimeSource, RuntimeVariable};
use crate::output_to_input::output_to_input_by;

/// The maximum number of elements of a constant that is read.
const MAX_LITERAL: usize = 1 << 16;

/// The maximum number of ops examined for one runtime variable.
const MAX_OPS: usize = 256;

/// Replaces runtime variables whose value is known, and drops those that become unused. `operand` returns the
/// op that defines an operand.
///
/// By XLA's rules only direct operands are folded: a constant at a constant index, inside the feasible range,
/// and an iota. [`Rules::Exact`] also folds values computed from them, by integer arithmetic that cannot
/// leave the element type and by data movement; a value outside the feasible range is clamped, as the ops
/// clamp. Source: `OptimizeRTVar` in `indexing_analysis.cc`.
pub(crate) fn fold(
    access: &mut OperandIndexing,
    operand: impl Fn(usize) -> Option<OpId>,
    graph: &Graph,
    rules: Rules,
) {
    let mut is_folded = false;
    for i in 0..access.runtime_variables.len() {
        let variable = &access.runtime_variables[i];
        let RuntimeSource::Operand(source) = variable.source else { continue };
        let Some(id) = operand(source) else { continue };
        let value = match rules {
            Rules::Xla => graph.ops.get(id as usize).and_then(|op| direct(op, variable)),
            Rules::Exact => computed(access, variable, graph, id),
        };
        let Some(value) = value else { continue };
        let bounds = access.map.runtime().get(i).map_or(Interval::ALL, |variable| variable.bounds);
        let has_other_bounds = bounds != variable.feasible;
        access.map.replace_runtime(i, &value);
        // Other values read nothing.
        if rules == Rules::Exact && has_other_bounds {
            access.map.add_constraint(value, bounds);
        }
        is_folded = true;
    }
    if is_folded {
        access.drop_unused_symbols(rules);
    }
}

/// XLA's rule: it keeps a runtime variable for a constant outside the feasible range, and does not check an
/// iota.
fn direct(op: &Op, variable: &RuntimeVariable) -> Option<Expr> {
    let index = variable.map.results();
    match op.opcode {
        Opcode::Constant => {
            constant(op, index).filter(|&value| variable.feasible.contains(value)).map(Expr::Const)
        }
        Opcode::Iota => index.get(iota_dimension(op)?).cloned(),
        _ => None,
    }
}

fn iota_dimension(op: &Op) -> Option<usize> {
    usize::try_from(op.attributes.int(AttributeKey::IotaDimension)?).ok()
}

/// The clamped value, over the dimensions and range variables of the access.
fn computed(access: &OperandIndexing, variable: &RuntimeVariable, graph: &Graph, id: OpId) -> Option<Expr> {
    let own = variable.map.num_ranges();
    if variable.map.num_runtime() > 0 || (own > 0 && own != access.map.num_ranges()) {
        return None;
    }
    let mut values = Values { graph, variables: access.map.variables(), left: MAX_OPS };
    let value = values.of(id, variable.map.results())?;
    let range = values.range(&value);
    let Interval { lower, upper } = variable.feasible;
    let value = if range.lower < lower { value.max(lower) } else { value };
    Some(if range.upper > upper { value.min(upper) } else { value })
}

/// Whether folding by [`Rules::Exact`] examines the operands of an op. A graph of a part of a computation
/// should include these operands.
pub fn is_folded_through(op: &Op) -> bool {
    fold_of(op.opcode).is_some() && op.shape.element().is_some_and(|element| integers(element).is_some())
}

/// A called computation with the known parameters replaced by their values: `given` returns a parameter's op
/// in the caller. `None` if no parameter is known, so that the computation is unchanged. The replaced ops
/// keep their parameter numbers, so that accesses to them are still found.
pub(crate) fn with_known_parameters<'g>(
    callee: &Graph,
    given: impl Fn(u32) -> Option<&'g Op>,
) -> Option<Graph> {
    let is_known = |op: &&Op| {
        matches!(op.opcode, Opcode::Constant | Opcode::Iota)
            && op.shape.element().is_some_and(|element| integers(element).is_some())
    };
    let mut known: Option<Graph> = None;
    for (id, op) in callee.ops.iter().enumerate() {
        let Some(value) = op.parameter.and_then(&given).filter(is_known) else { continue };
        if value.shape.dims() == op.shape.dims() && value.shape.element() == op.shape.element() {
            let parameter = &mut known.get_or_insert_with(|| callee.clone()).ops[id];
            *parameter = Op { parameter: op.parameter, shape: op.shape.clone(), ..value.clone() };
        }
    }
    known
}

/// Returns element `index` of an op's result, from elements of the operands.
type Fold = fn(&mut Values<'_>, OpId, &[Expr]) -> Option<Expr>;

/// The ops that are folded. A missing one keeps its runtime variable.
const FOLDED: [(&[Opcode], Fold); 11] = [
    (&[Opcode::Convert, Opcode::Copy], |values, id, index| values.operand(id, 0, index)),
    (&[Opcode::Negate], |values, id, index| Some(-values.operand(id, 0, index)?)),
    (&[Opcode::Add], |values, id, index| values.both(id, index).map(|(a, b)| a + b)),
    (&[Opcode::Subtract], |values, id, index| values.both(id, index).map(|(a, b)| a - b)),
    (&[Opcode::Maximum], |values, id, index| values.both(id, index).map(|(a, b)| a.max(b))),
    (&[Opcode::Minimum], |values, id, index| values.both(id, index).map(|(a, b)| a.min(b))),
    (&[Opcode::Clamp], |values, id, index| {
        let (low, value) = values.both(id, index)?;
        Some(value.max(low).min(values.operand(id, 2, index)?))
    }),
    (&[Opcode::Multiply], |values, id, index| {
        let (a, b) = values.both(id, index)?;
        // Products of variables are not simplified.
        a.as_const().or(b.as_const())?;
        Some(a * b)
    }),
    (&[Opcode::Divide], |values, id, index| values.divided(id, index, Expr::floor_div)),
    (&[Opcode::Remainder], |values, id, index| values.divided(id, index, Expr::modulo)),
    (
        &[
            Opcode::Broadcast,
            Opcode::Bitcast,
            Opcode::Concatenate,
            Opcode::Reshape,
            Opcode::Reverse,
            Opcode::Slice,
            Opcode::Transpose,
        ],
        |values, id, index| values.moved(id, index),
    ),
];

fn fold_of(opcode: Opcode) -> Option<Fold> {
    FOLDED.iter().find(|(opcodes, _)| opcodes.contains(&opcode)).map(|&(_, fold)| fold)
}

/// Elements of integer arrays as expressions of their index.
struct Values<'a> {
    graph: &'a Graph,
    variables: &'a [Variable],
    left: usize,
}

impl Values<'_> {
    fn range(&self, e: &Expr) -> Interval {
        RangeContext::new(self.variables, &[]).range(e)
    }

    /// Element `index` of the result of `id`.
    fn of(&mut self, id: OpId, index: &[Expr]) -> Option<Expr> {
        self.left = self.left.checked_sub(1)?;
        let op = self.graph.ops.get(id as usize)?;
        let value = match op.opcode {
            Opcode::Constant => Expr::Const(constant(op, index)?),
            Opcode::Iota => index.get(iota_dimension(op)?)?.clone(),
            opcode => fold_of(opcode)?(self, id, index)?,
        };
        let context = RangeContext::new(self.variables, &[]);
        let value = Simplifier::new(context, SimplifyMode::Replace).simplify(&value);
        // Values outside of the element type wrap.
        integers(op.shape.element()?)?.contains_interval(self.range(&value)).then_some(value)
    }

    fn operand(&mut self, id: OpId, i: usize, index: &[Expr]) -> Option<Expr> {
        let operand = *self.graph.operands.get(id as usize)?.get(i)?;
        let is_scalar = self.graph.ops.get(operand as usize)?.shape.dims().is_empty();
        // Operands precede their users; without this check an invalid graph might not terminate.
        (operand < id).then(|| self.of(operand, if is_scalar { &[] } else { index }))?
    }

    /// The same element of the first two operands.
    fn both(&mut self, id: OpId, index: &[Expr]) -> Option<(Expr, Expr)> {
        Some((self.operand(id, 0, index)?, self.operand(id, 1, index)?))
    }

    /// The element of a division: `of` for a non-negative value and a positive constant, where rounding
    /// towards zero equals the floor.
    fn divided(&mut self, id: OpId, index: &[Expr], of: fn(Expr, i64) -> Expr) -> Option<Expr> {
        let (a, b) = self.both(id, index)?;
        let b = b.as_const().filter(|&b| b > 0)?;
        (self.range(&a).lower >= 0).then(|| of(a, b))
    }

    /// The operand element that a data movement puts there.
    fn moved(&mut self, id: OpId, index: &[Expr]) -> Option<Expr> {
        let answer = output_to_input_by(&self.graph.ops[id as usize], 0, Rules::Exact);
        let (i, access) = answer.operands.iter().enumerate().find_map(|(i, list)| {
            let [access] = list.as_slice() else { return None };
            let map = &access.map;
            let is_function = map.is_mapped() && map.num_ranges() == 0 && map.num_runtime() == 0;
            let is_inside = map.constraints().is_empty()
                && map.num_dims() == index.len()
                && map.dims().iter().zip(index).all(|(dim, at)| dim.bounds.contains_interval(self.range(at)));
            (is_function && is_inside).then_some((i, access))
        })?;
        let at = |e: &Expr| e.substitute(&mut |v| index.get(v as usize).cloned());
        let at: Vec<Expr> = access.map.results().iter().map(at).collect();
        self.operand(id, i, &at)
    }
}

/// The range of an integer type, limited to signed 64 bits; `None` for other types.
fn integers(element: ElementType) -> Option<Interval> {
    let bits = element.bits()?;
    match bits {
        _ if element.is_signed_integer() => {
            Some(Interval::new(i64::MIN >> (64 - bits.min(64)), i64::MAX >> (64 - bits.min(64))))
        }
        // The full range of 64 unsigned bits would need one more bit.
        64 if element.is_unsigned_integer() => Some(Interval::new(0, i64::MAX)),
        _ if element.is_unsigned_integer() => Some(Interval::new(0, (1 << bits) - 1)),
        _ => None,
    }
}

/// The element of a constant at a constant index; any index if there is only one element.
fn constant(op: &Op, index: &[Expr]) -> Option<i64> {
    let literal = op.literal.as_deref()?;
    let sizes = op.shape.dims();
    if index.len() != sizes.len() {
        return None;
    }
    let mut position = 0usize;
    for (expr, &size) in index.iter().zip(sizes) {
        let at = usize::try_from(expr.as_const()?).ok()?;
        position = position.checked_mul(usize::try_from(size).ok()?)?.checked_add(at)?;
    }
    if position >= MAX_LITERAL {
        return None;
    }
    literal_elements(literal).nth(position)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use indexing_map::{IndexingMap, parse_map};
    use syntax::hlo::{PieceState, parse};

    use super::*;

    /// The example "Folding of RTVars" of the slides, with the feasible interval `[0, last]`.
    fn folded(last: i64) -> IndexingMap {
        let text: Arc<str> = "HloModule m
ENTRY e {
  c = s64[] constant(42)
  broadcast = s64[12,13,24] broadcast(c), dimensions={}
  iota = s64[12,13,24] iota(), iota_dimension=2
  ROOT add = s64[12,13,24] add(broadcast, iota)
}"
        .into();
        let block = ir::lower(text.clone(), Arc::new(parse(&text, PieceState::HEADER)));
        let graph = Graph::build(&[(&block, 0)]).unwrap();
        let map = format!("(d0){{rt0}} -> (d0, rt0), domain: d0 in [0, 11], rt0 in [0, {last}]");
        let variable = RuntimeVariable {
            source: RuntimeSource::Operand(0),
            map: parse_map("(d0) -> (d0, 7, d0 * 2), domain: d0 in [0, 11]").unwrap(),
            feasible: Interval::new(0, last),
        };
        let mut access = OperandIndexing::from(parse_map(&map).unwrap());
        access.runtime_variables.push(variable);
        fold(&mut access, |_| Some(graph.root), &graph, Rules::Exact);
        access.map
    }

    #[test]
    fn comments_of_a_constant_are_no_elements() {
        let literal = "{ /*i0=0*/ {7, 8}, /*i0=1*/ {9, 10} }".to_owned();
        let op = Op::constant(literal, ir::Shape::array(ElementType::S32, &[2, 2]));
        assert_eq!(constant(&op, &[Expr::Const(1), Expr::Const(0)]), Some(9));
    }

    /// The slides bound the variable by 47, but the folded value goes up to 64: the op would clamp it, and then so do we.
    #[test]
    fn add_of_broadcast_and_iota() {
        assert_eq!(folded(64).to_string(), "(d0) -> (d0, d0 * 2 + 42), domain: d0 in [0, 11]");
        assert_eq!(folded(47).evaluate(&[2]), Some(vec![2, 46]));
        assert_eq!(folded(47).evaluate(&[11]), Some(vec![11, 47]));
    }
}
