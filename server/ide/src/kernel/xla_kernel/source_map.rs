//! The ops that the lines of XLA's PTX come from. XLA writes no line numbers, so they are found by what lines compute:
//! reads and writes by the argument, arithmetic by the equal value in our kernel, else by the only op of ours with that opcode on
//! the same arguments.

use codegen::KernelText;
use db::compiles::{KernelArgument, memory_of_argument};
use gpu::{Buffer, FusionAnalysis};
use ir::OpId;
use ptx::Function;
use rustc_hash::{FxHashMap, FxHashSet};

use super::values::{Access, ptx_lines};

/// Per line of a text, from 0, its op; and lines that read or write an argument, with its number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SourceMap {
    pub(crate) lines: Vec<Option<OpId>>,
    pub(crate) accesses: Vec<(usize, usize)>,
}

/// Maps the lines of XLA's kernel; `arguments` says what its parameters are. `count` is the number of lines of its text.
pub(crate) fn source_map(
    analysis: &FusionAnalysis,
    theirs: &Function<&str>,
    count: usize,
    arguments: &[KernelArgument],
    ours: Option<&KernelText>,
) -> SourceMap {
    let known = ours.map(Known::of).unwrap_or_default();
    let mut map = SourceMap { lines: vec![None; count], accesses: Vec::new() };
    let lines = ptx_lines(theirs);
    let written: FxHashSet<usize> =
        lines.iter().filter_map(|line| line.access.filter(|a| a.is_store).map(|a| a.argument)).collect();
    let is_written = |number: usize| written.contains(&number);
    let results = (0..arguments.len()).filter(|&number| arguments[number].is_result());
    let written_through: FxHashMap<usize, usize> = results
        .map(|number| (memory_of_argument(arguments, number, is_written), number))
        .filter(|(through, number)| through != number)
        .collect();
    // Lines like some that are found by their values are something else.
    let found: FxHashSet<u64> = lines
        .iter()
        .filter(|line| line.access.is_none() && known.values.contains_key(&line.value))
        .map(|line| line.likeness)
        .collect();
    for line in lines {
        let of_argument = line.access.and_then(|access| {
            let through = written_through.get(&access.argument).filter(|_| access.is_store);
            let number = through.copied().unwrap_or(access.argument);
            map.accesses.push((line.line, number));
            op_of_access(analysis, arguments.get(number)?.buffer, access)
        });
        let alike =
            || known.alike.get(&line.likeness).copied().flatten().filter(|_| !found.contains(&line.likeness));
        let op = of_argument.or_else(|| known.values.get(&line.value).copied()).or_else(alike);
        if let Some(place) = map.lines.get_mut(line.line) {
            *place = (*place).or(op);
        }
    }
    map
}

/// An operand is read where the fused computation has its parameter; a result is written where it is computed.
fn op_of_access(analysis: &FusionAnalysis, buffer: Buffer, access: Access) -> Option<OpId> {
    let fused = &analysis.fused;
    match buffer {
        Buffer::Operand(_) if access.is_store => None,
        Buffer::Operand(number) => {
            let mut ops = (0..).zip(&fused.graph.ops);
            ops.find(|(_, op)| op.parameter == Some(number)).map(|(id, _)| id)
        }
        Buffer::Result(number) => fused.roots.get(*fused.outputs.get(number)?).copied(),
    }
}

/// What the lines of our kernel compute.
#[derive(Default)]
struct Known {
    /// Where several ops compute the same value, the first.
    values: FxHashMap<u64, OpId>,
    /// `None` for a likeness of several ops.
    alike: FxHashMap<u64, Option<OpId>>,
}

impl Known {
    fn of(text: &KernelText) -> Known {
        let mut known = Known::default();
        let Ok(module) = ptx::parse(&text.text) else { return known };
        let Some(kernel) = module.functions.iter().find(|function| function.is_entry) else { return known };
        for line in ptx_lines(kernel).iter().filter(|line| line.access.is_none()) {
            let Some(op) = text.lines.get(line.line).copied().flatten() else { continue };
            known.values.entry(line.value).or_insert(op);
            let alike = known.alike.entry(line.likeness).or_insert(Some(op));
            *alike = alike.filter(|&other| other == op);
        }
        known
    }
}
