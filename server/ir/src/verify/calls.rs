//! What a call says of itself beyond shapes: the thread it runs on, composites, custom calls that XLA knows by name.
//! Source: `hlo_verifier.cc` CheckCallableInstructionThreadName, HandleCall, HandleCustomCall, `hlo_instruction.cc`
//! CreateFromProto.

use syntax::hlo::{AttributeKey, ComputationKind, ElementType, InstructionId, Opcode};

use super::buffers::{holds_buffer, makes_or_ends_buffers, wrong_in_custom_call};
use super::{Subject, Verifier};
use crate::finding::Part;
use crate::print::split_top_level;

impl Verifier<'_> {
    pub(super) fn check_calls(&mut self, subject: &Subject<'_>) {
        match subject.opcode {
            Opcode::Fusion | Opcode::While | Opcode::Conditional => self.check_thread(subject),
            Opcode::Call if subject.attributes.bool(AttributeKey::IsComposite) == Some(true) => {
                self.check_composite(subject);
            }
            Opcode::CustomCall => self.check_known_target(subject),
            _ => {}
        }
    }

    /// A computation runs on the thread of its caller, unless it is called asynchronously.
    fn check_thread(&mut self, subject: &Subject<'_>) {
        let Some(own) = self.thread_of(subject.id) else { return };
        use AttributeKey::{Body, BranchComputations, Calls, Condition, FalseComputation, TrueComputation};
        for key in [Calls, Condition, Body, TrueComputation, FalseComputation] {
            let Some(called) = subject.attributes.computation(key).and_then(|c| self.called(c)) else {
                continue;
            };
            if *called.thread != *own {
                let message = other_thread(own, &called.thread);
                return self.error(subject, "execution-thread", Part::Value(key), message);
            }
        }
        if subject.opcode != Opcode::Conditional {
            return;
        }
        for (n, name) in subject.attributes.computations(BranchComputations).into_iter().enumerate() {
            let Some(called) = self.around.callees.get(name) else { continue };
            if *called.thread != *own {
                let message = other_thread(own, &called.thread);
                return self.error(
                    subject,
                    "execution-thread",
                    Part::Element(BranchComputations, n as u32),
                    message,
                );
            }
        }
    }

    /// The thread of the computation that holds an instruction; nothing where an async op may decide it.
    fn thread_of(&self, id: InstructionId) -> Option<&str> {
        let computations = &self.block.parse.computations;
        let own = computations.iter().find(|computation| computation.instructions.contains(&id))?;
        let thread = own.execution_thread.of(&self.block.text);
        let is_known = own.kind == ComputationKind::Whole && own.is_closed;
        (is_known && (own.is_entry || !thread.is_empty())).then_some(thread)
    }

    /// A composite has a name, and may have attributes and a version.
    fn check_composite(&mut self, subject: &Subject<'_>) {
        let text = subject.attributes.text(AttributeKey::FrontendAttributes);
        let value = |key| text.and_then(|text| frontend_attribute(text, key));
        let message = match (value("composite.name"), value("composite.version")) {
            (None, _) => "a composite needs the frontend attribute composite.name",
            (Some(""), _) => "composite.name is empty",
            (_, Some(version)) if version.trim().parse::<i32>().map_or(true, |version| version < 0) => {
                "expected composite.version to be a number of at least 0"
            }
            _ if value("composite.attributes") == Some("") => {
                "composite.attributes is empty: expected {} or no attribute"
            }
            _ => return,
        };
        let part = match text {
            Some(_) => Part::Value(AttributeKey::FrontendAttributes),
            None => Part::Attribute(AttributeKey::IsComposite),
        };
        self.error(subject, "composite", part, message);
    }

    fn check_known_target(&mut self, subject: &Subject<'_>) {
        let target = subject.attributes.text(AttributeKey::CustomCallTarget).unwrap_or_default();
        // Beside buffers the rules of buffers say the same.
        let has_buffers = || subject.operands.iter().copied().chain(subject.declared).any(holds_buffer);
        if makes_or_ends_buffers(target)
            && !has_buffers()
            && let Some(declared) = subject.declared
            && let Some((part, message)) =
                wrong_in_custom_call(subject.attributes, subject.operands, declared)
        {
            return self.error(subject, "buffer", part, message);
        }
        if target != "GetRngSeed" {
            return;
        }
        if !subject.operands.is_empty() {
            return self.error(subject, "operand-count", Part::Operands, "GetRngSeed takes no operands");
        }
        let is_seed = |s: &&crate::shape::Shape| s.element() == Some(ElementType::U64) && s.dims().is_empty();
        if let Some(declared) = subject.declared.filter(|s| !is_seed(s)) {
            let message = format!("GetRngSeed makes u64[], but the shape is {declared}");
            self.error(subject, "shape-mismatch", Part::Shape, message);
        }
    }
}

fn other_thread(own: &str, other: &str) -> String {
    let name = |thread: &str| if thread.is_empty() { "main".to_owned() } else { thread.to_owned() };
    format!("expected a computation of the execution thread {}, but it has {}", name(own), name(other))
}

/// The value of one entry of `{a="x",b={…}}`, without its quotes.
pub fn frontend_attribute<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let inner = text.trim().strip_prefix('{')?.strip_suffix('}')?;
    let value = split_top_level(inner)
        .into_iter()
        .find_map(|entry| entry.strip_prefix(key)?.trim().strip_prefix('='));
    let value = value?.trim();
    let inside = value.strip_prefix(['"', '\'']).and_then(|v| v.strip_suffix(['"', '\'']));
    Some(inside.unwrap_or(value))
}
