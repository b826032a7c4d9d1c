//! From a module to its text.

use std::fmt::Write as _;
use std::sync::Arc;

use ir::{AttributeValue, PrintOptions, TextTooLarge, Verbatim};
use syntax::hlo::{AttributeKey, PieceState};

use super::{ComputationId, InstructionId, Module};

impl Module {
    /// The text of the module in XLA's canonical form.
    pub fn to_text(&self, options: &PrintOptions) -> Result<String, TextTooLarge> {
        let text: Arc<str> = Arc::from(self.draft());
        let parse = Arc::new(syntax::hlo::parse(&text, PieceState::HEADER));
        let block = ir::lower(text, parse);
        let module = ir::Module::of_block(&block);
        ir::print_module(&[&block], &module, options)
    }

    /// The text of the module, which the printer of `ir` brings into canonical form.
    pub(crate) fn draft(&self) -> String {
        let mut out = String::new();
        self.write_header(&mut out);
        let fused = self.fused_computations();
        for computation in self.computation_post_order() {
            self.write_computation(&mut out, computation, fused[computation.0 as usize]);
        }
        out
    }

    fn write_header(&self, out: &mut String) {
        let header = &self.header;
        let name = if header.name.is_empty() { &*self[self.entry].name } else { &header.name };
        _ = write!(out, "HloModule {name}");
        if header.is_scheduled {
            out.push_str(", is_scheduled=true");
        }
        if !header.aliases.is_empty() {
            let entries = header.aliases.iter().map(|alias| {
                let kind = if alias.is_must { "must-alias" } else { "may-alias" };
                format!("{}: ({}, {}, {kind})", list(&alias.output), alias.parameter, list(&alias.index))
            });
            _ = write!(out, ", input_output_alias={{ {} }}", entries.collect::<Vec<_>>().join(", "));
        }
        if !header.donors.is_empty() {
            let entries =
                header.donors.iter().map(|(parameter, index)| format!("({parameter}, {})", list(index)));
            _ = write!(out, ", buffer_donor={{ {} }}", entries.collect::<Vec<_>>().join(", "));
        }
        if let Some((parameters, result)) = &header.entry_layout {
            let parameters: Vec<String> = parameters.iter().map(ToString::to_string).collect();
            _ = write!(out, ", entry_computation_layout={{({})->{result}}}", parameters.join(", "));
        }
        for (key, value) in &header.others {
            _ = write!(out, ", {key}={value}");
        }
        _ = write!(out, "\n{}\n\n", header.tables);
    }

    fn write_computation(&self, out: &mut String, computation: ComputationId, is_fused: bool) {
        if computation == self.entry {
            out.push_str("ENTRY ");
        }
        _ = writeln!(out, "%{} {{", self[computation].name);
        let is_listed = self.header.is_scheduled && !is_fused;
        let order = if is_listed { self.instructions(computation) } else { self.post_order(computation) };
        for id in order {
            self.write_instruction(out, id);
        }
        out.push('}');
        if !matches!(&*self[computation].thread, "" | "main") {
            _ = write!(out, ", execution_thread=\"{}\"", self[computation].thread);
        }
        out.push_str("\n\n");
    }

    fn write_instruction(&self, out: &mut String, id: InstructionId) {
        cancel::tick();
        let instruction = &self[id];
        out.push_str(if self.is_root(id) { "  ROOT %" } else { "  %" });
        _ = write!(out, "{} = ", instruction.name);
        let plain = Verbatim::default();
        let verbatim = instruction.verbatim().unwrap_or(&plain);
        let operands = instruction.operands.iter().map(|&operand| &*self[operand].name);
        let before = instruction.control_predecessors.iter().map(|&before| self[before].name.to_string());
        if instruction.calls.is_empty() && instruction.control_predecessors.is_empty() {
            instruction.op.write_verbatim(out, operands, verbatim);
        } else {
            let mut op = self.op(id);
            if !instruction.control_predecessors.is_empty() {
                op.attributes
                    .push(AttributeKey::ControlPredecessors, AttributeValue::Names(before.collect()));
            }
            op.write_verbatim(out, operands, verbatim);
        }
        out.push('\n');
    }
}

/// `{0,1}`
fn list(index: &[i64]) -> String {
    let numbers: Vec<String> = index.iter().map(i64::to_string).collect();
    format!("{{{}}}", numbers.join(","))
}
