//! Ops in two halves: a start and its done, send and recv, async computations.
//! Source: `hlo_verifier.cc` VerifyAsynchronousInstructionPairs, CheckAsyncOpComputation*, HandleAsync*.

use syntax::hlo::{AttributeKey, InstructionId, Opcode};

use rustc_hash::FxHashMap;

use super::{Subject, Verifier};
use crate::attributes::number_lists;
use crate::finding::{Part, Severity};
use crate::op_table::{Phase, op_info};
use crate::shape::Shape;

impl Verifier<'_> {
    pub(super) fn check_pairs(&mut self, subject: &Subject<'_>) {
        match op_info(subject.opcode).phase {
            Phase::Whole => {}
            Phase::Update => {
                self.check_async_chain(subject);
                self.expect_one_step(subject);
            }
            Phase::Start { done: Opcode::AsyncDone, .. } => {
                self.check_async_start(subject);
                self.expect_one_step(subject);
            }
            Phase::Done { start: Opcode::AsyncStart } => self.check_async_chain(subject),
            // Loops carry transfers in tuples.
            Phase::Start { done, .. } if is_transfer(subject.opcode) => {
                self.expect_user(subject, &[done, Opcode::Tuple]);
                self.check_transfer_cycle(subject);
            }
            Phase::Done { start } if is_transfer(start) => {
                self.expect_start(subject, &[start, Opcode::GetTupleElement]);
            }
            Phase::Start { done, .. } => self.expect_user(subject, &[done]),
            Phase::Done { start } => self.expect_start(subject, &[start]),
        }
    }

    /// A start is used once, by its done.
    fn expect_user(&mut self, subject: &Subject<'_>, done: &[Opcode]) {
        let users = self.block.users(subject.id);
        let opcode_of = |&user: &InstructionId| self.block.instruction(user).opcode;
        let stranger = users
            .iter()
            .find(|user| opcode_of(user).is_some_and(|user| !done.contains(&user) && !is_async(user)));
        let message = match stranger {
            Some(&user) => format!(
                "expected {} to be used by {} alone, but {} uses it",
                subject.opcode,
                done[0],
                self.block.name(user)
            ),
            None if users.len() > 1 => format!(
                "expected one user of {}, a {}, but there are {}",
                subject.opcode,
                done[0],
                users.len()
            ),
            // An async op may hold it alone: its done is outside.
            None if users.is_empty() && self.is_whole(subject.id) && !self.leaves(subject.id) => {
                format!("expected {} to be used by a {}, but nothing uses it", subject.opcode, done[0])
            }
            None => return,
        };
        self.error(subject, "start-without-done", Part::Opcode, message);
    }

    /// An async op goes on in one step, or leaves the computation through its root: a loop carries it around.
    fn expect_one_step(&mut self, subject: &Subject<'_>) {
        let users = self.block.users(subject.id);
        let is_step = |&&user: &&InstructionId| {
            matches!(self.block.instruction(user).opcode, Some(Opcode::AsyncUpdate | Opcode::AsyncDone))
        };
        let mut steps = users.iter().filter(is_step);
        let message = match (steps.next(), steps.next()) {
            (Some(&first), Some(&second)) => format!(
                "expected one step after {}, but there are {} and {}",
                subject.opcode,
                self.block.name(first),
                self.block.name(second)
            ),
            (None, _) if users.is_empty() && self.is_whole(subject.id) && !self.leaves(subject.id) => {
                format!("expected {} to be used by an async-done, but nothing uses it", subject.opcode)
            }
            _ => return,
        };
        self.error(subject, "start-without-done", Part::Opcode, message);
    }

    /// Whether this is the root of a computation that another one calls.
    fn leaves(&self, id: InstructionId) -> bool {
        let Some(computation) = self.block.parse.computation_of(id) else { return true };
        let is_entry = self.block.parse.computations[computation as usize].is_entry;
        !is_entry && self.block.root(computation) == Some(id)
    }

    fn expect_start(&mut self, subject: &Subject<'_>, start: &[Opcode]) {
        let Some(opcode) = self.operand_opcode(subject, 0) else { return };
        if !start.contains(&opcode) && !is_async(opcode) {
            let message = format!(
                "expected the operand of {} to be a {}, but it is a {opcode}",
                subject.opcode, start[0]
            );
            return self.error(subject, "done-without-start", Part::Operand(0), message);
        }
        let of = |id: InstructionId| {
            let instruction = self.block.instruction(id);
            let attributes = self.block.parse.attributes_of(instruction);
            let text = |key| {
                attributes.iter().find(|a| a.key == Some(key)).map(|a| a.value_span.of(&self.block.text))
            };
            (text(AttributeKey::ChannelId), text(AttributeKey::IsHostTransfer).unwrap_or("false"))
        };
        let Some(id) = self.operand_id(subject, 0).filter(|_| is_transfer(start[0])) else {
            return;
        };
        let ((channel, is_host), (own, own_host)) = (of(id), of(subject.id));
        if self.block.instruction(id).opcode != Some(start[0]) {
            return;
        }
        if channel != own {
            let message = match channel {
                Some(channel) => format!("expected the channel_id of its {}, {channel}", start[0]),
                None => format!("expected no channel_id, as its {} has none", start[0]),
            };
            let part = own.map_or(Part::Opcode, |_| Part::Value(AttributeKey::ChannelId));
            self.error(subject, "channel-id", part, message);
        } else if is_host != own_host {
            let message = format!("expected is_host_transfer as its {} has it, {is_host}", start[0]);
            self.error(subject, "channel-id", Part::Value(AttributeKey::IsHostTransfer), message);
        }
    }

    /// Devices that send to each other in a ring all wait for one another. Only a warning: XLA looks at the schedule, and only
    /// where it is told to; loops that pipeline their transfers are left out there, too.
    /// Source: `hlo_verifier.cc` ShouldSkipDeadlockCheck, VerifyNoConflictingSourceTargetPairs.
    fn check_transfer_cycle(&mut self, subject: &Subject<'_>) {
        let key = AttributeKey::FrontendAttributes;
        let is_host = subject.attributes.bool(AttributeKey::IsHostTransfer) == Some(true);
        let Some(text) = subject.attributes.text(key).filter(|_| !is_host) else { return };
        if text.contains("_xla_send_recv_pipeline=") {
            return;
        }
        let Some((_, rest)) = text.split_once("_xla_send_recv_source_target_pairs=") else { return };
        let rest = rest.trim_start_matches(['"', '\'']);
        let Some(end) = rest.find("}}") else { return };
        let Some(lists) = number_lists(&rest[..end + 2]) else { return };
        let targets: FxHashMap<i64, i64> =
            lists.iter().filter_map(|pair| Some((*pair.first()?, *pair.get(1)?))).collect();
        let is_ring = |&start: &i64| {
            let mut at = start;
            for _ in 0..targets.len() {
                match targets.get(&at) {
                    None => return false,
                    Some(&next) if next == start => return true,
                    Some(&next) => at = next,
                }
            }
            false
        };
        // In a list that is not a ring, most ends are found at once. In a long list, only the first devices are followed.
        if lists.len() > 1 && lists.iter().take(64).filter_map(|pair| pair.first()).any(is_ring) {
            let message = "the source-target pairs form a ring: every device waits for another one";
            self.error(subject, "deadlock", Part::Value(key), message);
            if let Some(finding) = self.findings.last_mut() {
                finding.severity = Severity::Warning;
            }
        }
    }

    /// The result is `((operands…), result, context…)`, and the computation takes and returns as much.
    fn check_async_start(&mut self, subject: &Subject<'_>) {
        let Some(declared) = subject.declared else { return };
        let parts = declared.tuple_elements().and_then(|e| Some((e.first()?.tuple_elements()?, e.get(1)?)));
        let Some((passed, result)) = parts else {
            let message =
                format!("expected a tuple of operands, result and context, but the shape is {declared}");
            return self.error(subject, "shape-mismatch", Part::Shape, message);
        };
        let fits = passed.len() == subject.operands.len()
            && passed.iter().zip(subject.operands).all(|(a, b)| a.is_compatible(b));
        if !fits {
            let wrong = passed.iter().zip(subject.operands).position(|(a, b)| !a.is_compatible(b));
            let message = match wrong {
                Some(i) => format!(
                    "expected element {i} of the operands to be {}, but it is {}",
                    subject.operands[i], passed[i]
                ),
                None => format!(
                    "expected {} operands in the shape, but there are {}",
                    subject.operands.len(),
                    passed.len()
                ),
            };
            return self.error(subject, "shape-mismatch", Part::Shape, message);
        }
        let Some(called) = subject.attributes.computation(AttributeKey::Calls).and_then(|c| self.called(c))
        else {
            return;
        };
        let wrong = called.parameters.iter().zip(subject.operands).position(|(a, b)| !a.is_compatible(b));
        if let Some(i) = wrong {
            let message = format!(
                "expected operand {i} to be {}, parameter {i} of calls, but it is {}",
                called.parameters[i], subject.operands[i]
            );
            return self.error(subject, "operand-mismatch", Part::Operand(i as u32), message);
        }
        if subject.operands.len() > called.parameters.len() {
            let message =
                format!("expected at most {} operands, the parameters of calls", called.parameters.len());
            return self.error(subject, "operand-count", Part::Operands, message);
        }
        if !is_prefix(result, &called.result) {
            let message = format!(
                "expected element 1 of the shape to be {}, the result of calls, but it is {result}",
                called.result
            );
            self.error(subject, "shape-mismatch", Part::Shape, message);
        }
    }

    fn check_async_chain(&mut self, subject: &Subject<'_>) {
        if let Some(opcode) = self.operand_opcode(subject, 0)
            && !matches!(opcode, Opcode::AsyncStart | Opcode::AsyncUpdate)
            && !passes_async(opcode)
        {
            let message = format!("expected an async-start or async-update, but the operand is a {opcode}");
            return self.error(subject, "done-without-start", Part::Operand(0), message);
        }
        let (Some(declared), Some(operand)) = (subject.declared, subject.operands.first()) else { return };
        let Some(result) = operand.element_at(&[1]) else {
            let message = format!("expected the result of an async-start, but the operand is {operand}");
            return self.error(subject, "operand-mismatch", Part::Operand(0), message);
        };
        if subject.opcode == Opcode::AsyncUpdate {
            // Bound operands and results stay, and more may follow.
            let parts = |shape: &Shape, i| shape.element_at(&[i]).cloned();
            let grows = |i| parts(operand, i).zip(parts(declared, i)).is_some_and(|(a, b)| is_prefix(&a, &b));
            if !grows(0) || !grows(1) {
                self.compare(subject, operand);
            }
        } else if !is_prefix(result, declared) {
            self.compare(subject, result);
        }
    }
}

fn is_transfer(start: Opcode) -> bool {
    matches!(start, Opcode::Send | Opcode::Recv)
}

fn is_async(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::AsyncStart | Opcode::AsyncUpdate | Opcode::AsyncDone)
}

/// Ops that a pending value may go through on its way to its done.
fn passes_async(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(
        opcode,
        Tuple
            | GetTupleElement
            | OptBarrier
            | While
            | Call
            | Conditional
            | Domain
            | Parameter
            | CustomCall
            | Copy
            | AsyncStart
            | AsyncUpdate
            | AsyncDone
    )
}

/// Tuples may grow with each update of an async op, from nothing on.
fn is_prefix(part: &Shape, whole: &Shape) -> bool {
    match (part, whole) {
        (Shape::Tuple(part), _) if part.is_empty() => true,
        (Shape::Tuple(part), Shape::Tuple(whole)) => {
            part.len() <= whole.len() && part.iter().zip(whole.iter()).all(|(a, b)| a.is_compatible(b))
        }
        _ => part.is_compatible(whole),
    }
}
