//! What runs beside the rest: started, updated, done.

use mlir::{Definition, OpId, RegionId};

use super::Writer;
use super::body::{list, tuple_shape};
use crate::op_row::OpRow;
use crate::op_table::mnemonic;
use crate::op_text::missing;

/// The opcode of an exchange that HLO starts by an instruction of its own, and the one that ends it.
fn own_instruction(mnemonic: &str) -> Option<(&'static str, &'static str)> {
    Some(match mnemonic {
        "all_gather" => ("all-gather", "all-gather-done"),
        "all_reduce" => ("all-reduce", "all-reduce-done"),
        "collective_permute" => ("collective-permute", "collective-permute-done"),
        _ => return None,
    })
}

impl Writer<'_> {
    pub(super) fn async_start(&mut self, id: OpId, row: &'static OpRow) -> Result<(), String> {
        if let Some(region) = self.parse().regions_of(id).next() {
            return self.started_region(id, region);
        }
        let op = self.op_text(id);
        let symbol =
            op.attribute(&["called_computation"]).ok_or_else(|| missing("called_computation"))?.to_owned();
        let thread = op.string(&["execution_thread"]).filter(|thread| *thread != "main").map(str::to_owned);
        let operands = self.operands(id)?;
        let computation = self.callee(&symbol)?;
        let thread =
            thread.map(|thread| format!(", async_execution_thread=\"{thread}\"")).unwrap_or_default();
        let behind = format!("{thread}, calls={computation}");
        self.emit(id, row.opcode.name(), &operands, &behind, &["called_computation", "execution_thread"])
    }

    pub(super) fn async_done(&mut self, id: OpId, row: &'static OpRow) -> Result<(), String> {
        let operands = self.operands(id)?;
        let shapes = self.results(id)?;
        if operands.first().is_some_and(|start| &*start.shape == "opaque[]") {
            return Err("what starts it is not said in HLO".to_owned());
        }
        let opcode = self.end_of_region(id).unwrap_or(row.opcode.name());
        let (annotations, location) = self.annotations(id, &["called_computation", "execution_thread"]);
        let rest = format!("{opcode}({}){annotations}{location}", list(&operands));
        self.define(id, opcode, shapes, &rest);
        Ok(())
    }

    /// The exchange that a region holds: XLA starts some by instructions of their own, others as computations.
    fn started_region(&mut self, id: OpId, region: RegionId) -> Result<(), String> {
        let inner = self.exchange_in(id).ok_or("its region holds more than one exchange")?;
        let operands = self.operands(id)?;
        let block = self.entry_of(region)?;
        let arguments: Vec<_> = self.parse().blocks[block as usize].arguments.clone().collect();
        if arguments.len() != operands.len() {
            return Err("its region takes something else than it is given".to_owned());
        }
        let mut answers = self.results(inner)?;
        if answers.len() != 1 {
            return Err("its region answers several values".to_owned());
        }
        let answer = answers.remove(0);
        let given = tuple_shape(operands.iter().map(|o| &*o.shape));
        let opcode = own_instruction(mnemonic(self.parse().name(inner, self.text())).unwrap_or_default());
        let usual = match opcode {
            Some(("all-reduce", _)) => answer.to_string(),
            Some(_) => tuple_shape([operands.first().map_or("()", |o| &*o.shape), &*answer]),
            None => tuple_shape([&*given, &*answer]),
        };
        let stated = self.op_text(id).string(&["xla_shape"]).filter(|s| s.starts_with(['(', '[']));
        let shape = stated.map_or(usual, str::to_owned);
        let rest = match opcode {
            None => {
                let (annotations, location) = self.annotations(id, &[]);
                let computation = self.region(id, region)?;
                format!("async-start({}), calls={computation}{annotations}{location}", list(&operands))
            }
            Some((opcode, _)) => {
                for (&argument, operand) in arguments.iter().zip(&operands) {
                    self.body().values.insert((argument, 0), operand.clone());
                }
                let held = self.without_annotations(inner)?;
                let (annotations, location) = self.merged(id, held);
                let line = self.body().lines.pop().ok_or("it has no instruction")?;
                let (_, behind) = line.text.split_once(&format!(" {opcode}(")).ok_or("it is no exchange")?;
                format!("{opcode}-start({behind}{annotations}{location}")
            }
        };
        let first = self.parse().op(id).results.start;
        let wanted = self.wanted_name(first, "start");
        let started = self.body().push(&wanted, shape, &rest, id);
        self.body().values.insert((first, 0), started);
        Ok(())
    }

    /// The only op of the region of an op that starts it.
    fn exchange_in(&self, start: OpId) -> Option<OpId> {
        let parse = self.parse();
        let block = self.entry_of(parse.regions_of(start).next()?).ok()?;
        let mut ops = parse.ops_of(block);
        match (ops.next(), ops.next(), ops.next()) {
            (Some(inner), Some(_), None) => Some(inner),
            _ => None,
        }
    }

    /// The opcode that ends what the region of another op started.
    fn end_of_region(&self, id: OpId) -> Option<&'static str> {
        let parse = self.parse();
        let value = parse.operands_of(id).next()?.value?;
        let Definition::Result(start) = parse.values[value as usize].definition else { return None };
        own_instruction(mnemonic(parse.name(self.exchange_in(start)?, self.text()))?).map(|(_, done)| done)
    }
}
