//! The table of opcodes: one row each, with all that does not depend on an op's operands.
//!
//! Sources: XLA `hlo/parser/hlo_parser.cc` (CreateInstruction) for operands and attributes, `hlo/ir/hlo_opcode.h`.

mod arithmetic;
mod collectives;
mod control;
mod elementwise;
mod functions;
mod in_kernel;
mod linear_algebra;
mod movement;
mod rows;
mod transfers;
mod values;

use syntax::hlo::{AttributeKey, Opcode};

pub use in_kernel::{KernelFlops, KernelTraffic, OneElementPerThread};

use crate::checks::ParserRule;
use crate::cost::{Callees, Flops, Traffic};
use crate::infer::{ElementTypes, ResultType, ShapeRule};

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct OpInfo {
    pub opcode: Opcode,
    pub arity: Arity,
    /// Names of the operands in order. `inputs…` may be repeated.
    pub operands: &'static [&'static str],
    pub required: &'static [AttributeKey],
    /// Beside the required ones and those that every opcode takes.
    pub optional: &'static [AttributeKey],
    /// Optional attributes that are nearly always written; completion inserts them.
    pub usual: &'static [AttributeKey],
    /// Optional attributes that XLA prints whatever their value is.
    pub always_printed: &'static [AttributeKey],
    /// Attributes that XLA prints right after `dimensions` and not at the place they have for other ops.
    pub(crate) after_dimensions: &'static [AttributeKey],
    /// Whether [`elementwise`](crate::elementwise) has the opcode.
    pub is_elementwise: bool,
    /// Whether the op does more than compute its result, apart from what it calls. Halves of an asynchronous op and
    /// collectives count, because devices wait for each other there. A custom call says it in an attribute.
    /// Source: `HloInstruction::HasSideEffectNoRecurse`.
    pub has_side_effect: bool,
    /// Whether devices exchange data: a collective op, or the half that starts one.
    pub is_collective: bool,
    pub phase: Phase,
    /// The operands that become the parameters of a called computation.
    pub parameters: Parameters,
    /// The attributes whose computations run as steps of the caller, in the order of the steps. Other callees are part
    /// of one instruction. Source: `HloLiveRange::FlattenSchedule`, `hlo/utils/hlo_live_range.cc`.
    pub steps: &'static [AttributeKey],
    /// Why XLA has no map from the output to the operands, if it has none.
    pub without_map: &'static str,
    pub(crate) takes: ElementTypes,
    pub(crate) gives: ResultType,
    pub(crate) shape: ShapeRule,
    /// Whether floating operands may be of several types.
    /// Source: `ShapeVerifier::CheckShape`, and the ops that never come there.
    pub(crate) mixes_precision: bool,
    pub(crate) flops: Flops,
    pub(crate) traffic: Traffic,
    pub(crate) callees: Callees,
    pub kernel_flops: KernelFlops,
    pub kernel_traffic: KernelTraffic,
    pub one_element_per_thread: OneElementPerThread,
    /// What XLA's parser checks of operands and shape beyond the grammar.
    pub(crate) parser_rule: ParserRule,
    pub counterpart: Counterpart,
    /// One short line that describes the result.
    pub summary: &'static str,
    /// A common pitfall, or empty.
    pub detail: &'static str,
    pub page: Page,
}

/// How many operands an opcode takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arity {
    Exactly(usize),
    AtLeast(usize),
    /// Inputs and as many init values.
    Even,
    /// Operands, indices, as many updates as operands.
    Odd,
    Any,
}

/// The operands that become the parameters of a called computation, whole or element by element.
/// Source: `hlo_verifier.cc`, which compares their shapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parameters {
    /// The op calls nothing, or the parameters are not operands.
    None,
    /// Parameter i is operand i.
    Operands,
    /// A branch has one parameter: its own operand, after the predicate or branch index.
    Branch,
    /// Accumulators, which start as the init values, then the inputs.
    Reduction,
    /// The old values, then the updates. Operands have the indices between them.
    Update,
    /// Two elements of each operand.
    Comparison,
    /// Two elements of operand 0.
    Combination,
}

/// Which part of an operation an opcode is. Between a start and its done, other ops run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// All of it.
    Whole,
    /// The start of the op `of`, if it starts a certain one. `done` waits for it.
    Start { of: Option<Opcode>, done: Opcode },
    /// A step between start and done.
    Update,
    /// Waits for the result of `start`.
    Done { start: Opcode },
}

/// The page of the documentation that describes an opcode, and the anchor on it.
#[derive(Debug, Clone, Copy)]
pub enum Page {
    /// XLA's operation semantics.
    Xla(&'static str),
    /// The StableHLO specification, for ops missing from XLA's page.
    StableHlo(&'static str),
}

/// The op of StableHLO or MHLO that does the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counterpart {
    None,
    /// The StableHLO op of this name takes the same operands, and no attribute but the accuracy of the result.
    Stablehlo(&'static str),
    /// The MHLO op of this name takes the same operands, and no attribute.
    Mhlo(&'static str),
    /// `mlir_hlo::op_table` has the ops, because attributes or operands are written in another form. The default of a row.
    Table,
}

impl Counterpart {
    /// The name of the op without its dialect, where the row has it.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Counterpart::Stablehlo(name) | Counterpart::Mhlo(name) => Some(name),
            Counterpart::None | Counterpart::Table => None,
        }
    }
}

/// Attributes that every opcode takes.
const COMMON_ATTRIBUTES: &[AttributeKey] = &[
    AttributeKey::Sharding,
    AttributeKey::FrontendAttributes,
    AttributeKey::Statistics,
    AttributeKey::ParameterReplication,
    AttributeKey::ControlPredecessors,
    AttributeKey::Origin,
    AttributeKey::Metadata,
    AttributeKey::BackendConfig,
];

/// The row of `opcode`.
pub fn op_info(opcode: Opcode) -> &'static OpInfo {
    &TABLE[opcode as usize]
}

/// Whether element i of the result depends on element i of each operand, by opcode alone.
pub fn is_elementwise(opcode: Opcode) -> bool {
    op_info(opcode).is_elementwise
}

/// Returns the opcodes that start `opcode` and wait for it; `None` for ops without halves of their own.
pub fn halves(opcode: Opcode) -> Option<(Opcode, Opcode)> {
    Opcode::ALL.iter().find_map(|&start| match op_info(start).phase {
        Phase::Start { of, done } if of == Some(opcode) => Some((start, done)),
        _ => None,
    })
}

const FAMILIES: [&[OpInfo]; 8] = [
    arithmetic::ROWS,
    functions::ROWS,
    movement::ROWS,
    linear_algebra::ROWS,
    values::ROWS,
    collectives::ROWS,
    transfers::ROWS,
    control::ROWS,
];

/// The rows by opcode. An opcode without a row, or with two, does not compile.
static TABLE: [OpInfo; Opcode::ALL.len()] = {
    let mut table = [FAMILIES[0][0]; Opcode::ALL.len()];
    let mut has_row = [false; Opcode::ALL.len()];
    let mut family = 0;
    while family < FAMILIES.len() {
        let mut i = 0;
        while i < FAMILIES[family].len() {
            let row = FAMILIES[family][i];
            let at = row.opcode as usize;
            assert!(!has_row[at], "an opcode has two rows");
            table[at] = row;
            has_row[at] = true;
            i += 1;
        }
        family += 1;
    }
    let mut at = 0;
    while at < has_row.len() {
        assert!(has_row[at], "an opcode has no row");
        at += 1;
    }
    table
};

impl OpInfo {
    pub fn allows(&self, key: AttributeKey) -> bool {
        self.required.contains(&key) || self.optional.contains(&key) || COMMON_ATTRIBUTES.contains(&key)
    }

    /// The name of operand `index` of `count`: repeated operands share evenly the indices that the others leave.
    pub fn role(&self, index: usize, count: usize) -> Option<&'static str> {
        let is_repeated = |role: &str| role.ends_with('…');
        let repeated = self.operands.iter().filter(|r| is_repeated(r)).count();
        let fixed = self.operands.len() - repeated;
        let each = count.saturating_sub(fixed).checked_div(repeated).unwrap_or(0).max(1);
        let mut before = 0;
        for role in self.operands {
            before += if is_repeated(role) { each } else { 1 };
            if index < before {
                return Some(role.trim_end_matches('…'));
            }
        }
        self.operands.iter().rev().find(|r| is_repeated(r)).map(|r| r.trim_end_matches('…'))
    }
}

impl Arity {
    pub fn accepts(self, count: usize) -> bool {
        match self {
            Arity::Exactly(n) => count == n,
            Arity::AtLeast(n) => count >= n,
            Arity::Even => count >= 2 && count.is_multiple_of(2),
            Arity::Odd => count >= 3 && !count.is_multiple_of(2),
            Arity::Any => true,
        }
    }
}

impl std::fmt::Display for Arity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Arity::Exactly(1) => f.write_str("1 operand"),
            Arity::Exactly(n) => write!(f, "{n} operands"),
            Arity::AtLeast(n) => write!(f, "at least {n} operands"),
            Arity::Even => f.write_str("an even number of operands: inputs, then init values"),
            Arity::Odd => f.write_str("an odd number of operands: n inputs, indices, n updates"),
            Arity::Any => f.write_str("any number of operands"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_named() {
        for &opcode in Opcode::ALL {
            let row = op_info(opcode);
            assert_eq!(row.opcode, opcode);
            let repeated = row.operands.iter().filter(|r| r.ends_with('…')).count();
            match row.arity {
                Arity::Exactly(n) => assert_eq!((row.operands.len(), repeated), (n, 0), "{opcode}"),
                Arity::Even | Arity::Odd => assert_eq!(repeated, 2, "{opcode}"),
                Arity::AtLeast(n) => assert!(row.operands.len() >= n, "{opcode}"),
                Arity::Any => {}
            }
        }
    }

    #[test]
    fn halves_name_each_other() {
        for &opcode in Opcode::ALL {
            match op_info(opcode).phase {
                Phase::Start { of, done } => {
                    assert_eq!(op_info(done).phase, Phase::Done { start: opcode });
                    assert!(of.is_none_or(|of| halves(of) == Some((opcode, done))), "{opcode}");
                }
                Phase::Done { start } => {
                    let phase = op_info(start).phase;
                    assert!(matches!(phase, Phase::Start { done, .. } if done == opcode), "{opcode}");
                }
                Phase::Whole | Phase::Update => {}
            }
        }
    }

    #[test]
    fn repeated_operands_share_evenly() {
        let role = |opcode, index, count| op_info(opcode).role(index, count);
        assert_eq!(role(Opcode::Reduce, 1, 4), Some("inputs"));
        assert_eq!(role(Opcode::Reduce, 2, 4), Some("init values"));
        assert_eq!(role(Opcode::Scatter, 2, 5), Some("indices"));
        assert_eq!(role(Opcode::Scatter, 3, 5), Some("updates"));
        assert_eq!(role(Opcode::DynamicSlice, 2, 3), Some("start indices"));
        assert_eq!(role(Opcode::Dot, 2, 3), None);
    }
}
