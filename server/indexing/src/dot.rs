//! Contractions: dot and scaled-dot.

use indexing_map::Expr;
use ir::{AttributeKey, Op};

use crate::checks::{self, Checked, Reason, ensure};
use crate::extents::{self, Domain, Extents};
use crate::operand_indexing::{OpIndexing, OperandIndexing};

/// The role of a dimension of one side.
#[derive(Clone, Copy)]
enum Role {
    /// Corresponds to the output dimension of this number.
    Output(usize),
    /// Corresponds to the range variable of this number: contracting pairs first, then the groups of rhs.
    Contracting(usize),
}

pub(crate) struct Dot<'a> {
    op: &'a Op,
    pub(crate) output: Extents,
    sides: [(Extents, Vec<Role>); 2],
    contracted: Vec<Expr>,
}

/// Output dimensions: batch, free ones of lhs, free ones of rhs. For a ragged dot, `leading` precedes these,
/// and the `groups` of rhs are summed over. Source: `ComputeOutputToInputDotOpIndexing`.
pub(crate) fn parts<'a>(op: &'a Op, leading: Option<Expr>, groups: &[usize]) -> Checked<Dot<'a>> {
    let (output, mut lhs, mut rhs) =
        (extents::output(op, 0)?, extents::operand(op, 0)?, extents::operand(op, 1)?);
    let dims =
        |key, rank| checks::dimensions(op.attributes.ints(key), rank, "a batch or contracting dimension");
    let batch = [dims(AttributeKey::LhsBatchDims, lhs.len())?, dims(AttributeKey::RhsBatchDims, rhs.len())?];
    let contracting = [
        dims(AttributeKey::LhsContractingDims, lhs.len())?,
        dims(AttributeKey::RhsContractingDims, rhs.len())?,
    ];
    let paired = batch[0].len() == batch[1].len() && contracting[0].len() == contracting[1].len();
    ensure(paired, "batch and contracting dimensions do not come in pairs")?;
    for [left, right] in [&batch, &contracting] {
        for (&l, &r) in left.iter().zip(right) {
            let size = extents::shared(&lhs[l], &rhs[r]).ok_or("paired dimensions differ in size")?;
            (lhs[l], rhs[r]) = (size.clone(), size);
        }
    }
    let mut contracted: Vec<Expr> = contracting[0].iter().map(|&dim| lhs[dim].clone()).collect();

    let first = usize::from(leading.is_some());
    let mut expected: Extents =
        leading.into_iter().chain(batch[0].iter().map(|&dim| lhs[dim].clone())).collect();
    let mut roles = [Vec::new(), Vec::new()];
    for (side, sizes) in [&lhs, &rhs].into_iter().enumerate() {
        for (dim, size) in sizes.iter().enumerate() {
            let role = match (
                batch[side].iter().position(|&d| d == dim),
                contracting[side].iter().position(|&d| d == dim),
            ) {
                (Some(_), Some(_)) => return Err("a dimension is both batch and contracting".into()),
                (Some(i), None) => Role::Output(first + i),
                (None, Some(k)) => Role::Contracting(k),
                (None, None) if side == 1 && groups.contains(&dim) => {
                    contracted.push(size.clone());
                    Role::Contracting(contracted.len() - 1)
                }
                (None, None) => {
                    expected.push(size.clone());
                    Role::Output(expected.len() - 1)
                }
            };
            roles[side].push(role);
        }
    }
    let output = extents::all_shared(&expected, &output);
    let output = output.ok_or("the output's sizes are not those of batch and free dimensions")?;
    let [left, right] = roles;
    Ok(Dot { op, output, sides: [(lhs, left), (rhs, right)], contracted })
}

impl Dot<'_> {
    pub(crate) fn results(&self, side: usize) -> Vec<Expr> {
        let of = |role: &Role| match *role {
            Role::Output(dim) => Expr::var(dim),
            Role::Contracting(k) => Expr::var(self.output.len() + k),
        };
        self.sides[side].1.iter().map(of).collect()
    }

    pub(crate) fn map(&self, results: Vec<Expr>) -> OperandIndexing {
        let mut domain = Domain::new(self.op, 0, &self.output);
        for size in &self.contracted {
            domain.range(size);
        }
        domain.access(results)
    }
}

/// Contracting pair k is range variable k in both operands.
pub(crate) fn dot(op: &Op) -> Checked<OpIndexing> {
    let dot = parts(op, None, &[])?;
    ensure(op.operand_shapes.len() == 2, "dot takes two operands")?;
    Ok(OpIndexing::of([dot.map(dot.results(0)), dot.map(dot.results(1))]))
}

/// Operands: lhs, rhs, scale of lhs, scale of rhs. A scale has one element per block of its operand's
/// elements: its index is the operand's, divided by the block size if the sizes differ. Source:
/// `ComputeOutputToInputScaledDotOpIndexing`.
pub(crate) fn scaled_dot(op: &Op) -> Checked<OpIndexing> {
    let dot = parts(op, None, &[])?;
    ensure(op.operand_shapes.len() == 4, "scaled-dot takes four operands")?;
    let scale = |side: usize| -> Checked<OperandIndexing> {
        let (scale, whole) = (extents::operand(op, side + 2)?, &dot.sides[side].0);
        ensure(scale.is_empty() || scale.len() == whole.len(), "a scale and its operand differ in rank")?;
        let results = dot.results(side).into_iter().zip(whole).zip(&scale).map(|((result, whole), scale)| {
            if whole == scale {
                return Ok(result);
            }
            let (whole, scale) =
                whole.as_const().zip(scale.as_const()).ok_or("the size of a block is not known")?;
            ensure(scale > 0 && whole % scale == 0, "a scale's size does not divide its operand's")?;
            Ok::<_, Reason>(result.floor_div((whole / scale).max(1)))
        });
        Ok(dot.map(results.collect::<Checked<_>>()?))
    };
    Ok(OpIndexing::of([dot.map(dot.results(0)), dot.map(dot.results(1)), scale(0)?, scale(1)?]))
}

/// An element of one side feeds every combination with the other side's free dimensions, which are range
/// variables. XLA has no such map; the founding document does.
pub(crate) fn dot_input_to_output(op: &Op, input_id: usize) -> Checked<OpIndexing> {
    let dot = parts(op, None, &[])?;
    let (operand, roles) = dot.sides.get(input_id).ok_or("only lhs and rhs have a map to the output")?;
    let mut domain = Domain::new(op, 0, operand);
    let results = (0..dot.output.len()).map(|dim| {
        let is_own = |role: &Role| matches!(*role, Role::Output(d) if d == dim);
        roles.iter().position(is_own).map_or_else(|| domain.range(&dot.output[dim]), Expr::var)
    });
    let results = results.collect();
    Ok(OpIndexing::of([domain.access(results)]))
}
