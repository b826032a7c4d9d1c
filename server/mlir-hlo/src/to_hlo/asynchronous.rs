//! Asynchronous ops: start, update, done.

use ir::{AttributeKey as K, AttributeValue, Attributes, Opcode, Shape, halves, op_info};
use mlir::{Definition, OpId, RegionId};

use super::Writer;
use super::body::Draft;
use crate::not_in_hlo::NotInHlo;
use crate::op_row::OpRow;
use crate::op_table::{mnemonic, row_of};
use crate::op_text::missing;

/// The opcodes of a collective with start and done instructions of its own: the collective, its start, its done.
fn own_instruction(mnemonic: &str) -> Option<[Opcode; 3]> {
    let whole = row_of(mnemonic)?.opcode;
    let (start, done) = halves(whole).filter(|_| op_info(whole).is_collective)?;
    Some([whole, start, done])
}

impl Writer<'_> {
    pub(super) fn async_start(&mut self, id: OpId, row: &'static OpRow) -> Result<(), NotInHlo> {
        if let Some(region) = self.parse().regions_of(id).next() {
            return self.started_region(id, region);
        }
        let op = &self.op_text(id);
        let symbol =
            op.first_of(&["called_computation"]).ok_or_else(|| missing("called_computation"))?.to_owned();
        let thread = op.string(&["execution_thread"]).filter(|thread| *thread != "main").map(str::to_owned);
        let operands = self.operands(id)?;
        let computation = self.callee(&symbol)?;
        let mut attributes = Attributes::default();
        if let Some(thread) = thread {
            attributes.push(K::AsyncExecutionThread, AttributeValue::Quoted(thread));
        }
        attributes.push(K::Calls, AttributeValue::Computation(computation));
        self.emit(id, row.opcode, &operands, attributes, &["called_computation", "execution_thread"])
    }

    pub(super) fn async_done(&mut self, id: OpId, row: &'static OpRow) -> Result<(), NotInHlo> {
        let operands = self.operands(id)?;
        self.results(id)?;
        if operands.first().is_some_and(|start| start.shape == Shape::Opaque) {
            return Err("what starts it is not said in HLO".into());
        }
        let opcode = self.end_of_region(id).unwrap_or(row.opcode);
        let known = ["called_computation", "execution_thread"];
        self.emit(id, opcode, &operands, Attributes::default(), &known)
    }

    /// The exchange that a region holds: XLA starts some by instructions of their own, others as computations.
    fn started_region(&mut self, id: OpId, region: RegionId) -> Result<(), NotInHlo> {
        let inner = self.exchange_in(id).ok_or("its region holds more than one exchange")?;
        let operands = self.operands(id)?;
        let block = self.entry_of(region)?;
        let arguments: Vec<_> = self.parse().blocks[block as usize].arguments.clone().collect();
        if arguments.len() != operands.len() {
            return Err("its region takes something else than it is given".into());
        }
        let mut answers = self.results(inner)?;
        if answers.len() != 1 {
            return Err("its region answers several values".into());
        }
        let answer = answers.remove(0);
        let given = Shape::tuple(operands.iter().map(|o| o.shape.clone()));
        let opcode = own_instruction(mnemonic(self.parse().name(inner, self.text())).unwrap_or_default());
        let usual = match opcode {
            Some([Opcode::AllReduce, ..]) => answer,
            Some(_) => {
                let first = operands.first().map_or_else(|| Shape::tuple([]), |o| o.shape.clone());
                Shape::tuple([first, answer])
            }
            None => Shape::tuple([given, answer]),
        };
        let stated = self.op_text(id).string(&["xla_shape"]).filter(|s| s.starts_with('('));
        let shape = stated.and_then(Shape::from_text).unwrap_or(usual);
        let draft = match opcode {
            None => {
                let annotations = self.annotations(id, &[]);
                let computation = self.region(id, region)?;
                let mut attributes =
                    Attributes::default().with(K::Calls, AttributeValue::Computation(computation));
                annotations.add_to(&mut attributes);
                Draft::new(Opcode::AsyncStart, shape, &operands, attributes)
            }
            Some([opcode, start, _]) => {
                for (&argument, operand) in arguments.iter().zip(&operands) {
                    self.body().values.insert((argument, 0), operand.clone());
                }
                let held = self.without_annotations(inner)?;
                let annotations = self.merged(id, held);
                let last = self.body().take_last().filter(|(op, _)| op.opcode == opcode);
                let (mut op, operands) = last.ok_or("it is no exchange")?;
                annotations.add_to(&mut op.attributes);
                Draft::new(start, shape, &operands, op.attributes)
            }
        };
        let first = self.parse().op(id).results.start;
        let wanted = self.wanted_name(first, "start");
        let started = self.body().push(&wanted, draft, id);
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
    fn end_of_region(&self, id: OpId) -> Option<Opcode> {
        let parse = self.parse();
        let value = parse.operands_of(id).next()?.value?;
        let Definition::Result(start) = parse.values[value as usize].definition else { return None };
        own_instruction(mnemonic(parse.name(self.exchange_in(start)?, self.text()))?).map(|[_, _, done]| done)
    }
}
