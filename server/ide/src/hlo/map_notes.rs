//! The kernels and maps of instructions, one per line, for terminals.

use indexing::{MapBeside, OperandIndexing, Rules};
use indexing_map::{PrintStyle, print_map};
use ir::Opcode;

use crate::annotate::Notes;
use crate::file_context::FileContext;
use crate::hlo::Hlo;
use crate::hlo::hover::{loop_text, operand_names};
use crate::hlo::locate::InstructionRef;
use crate::hlo::maps::{LocalGraph, outputs};
use crate::hover::differs;
use crate::kernel::hover::{caused_in_kernel, kernel_hover};
use crate::rich_text::RichText;

impl Notes for Hlo {
    /// The kernels and maps of a piece of HLO, after the last lines of its instructions.
    fn notes_in(&self, context: &FileContext<'_>, piece: usize) -> Vec<(usize, String)> {
        let mut notes = Vec::new();
        for (id, instruction) in context.block(piece).parse.instructions.iter().enumerate() {
            if instruction.is_nested {
                continue;
            }
            let at = InstructionRef { piece, id: id as u32 };
            let line = context.view.text.byte_to_line(context.range(piece, instruction.span).end);
            let of_instruction = kernel_notes(context, at).into_iter().chain(map_notes(context, at));
            notes.extend(of_instruction.map(|note| (line, note)));
        }
        notes
    }
}

/// The hover's information about the kernel: launch, bytes, time and the traffic of each array.
fn kernel_notes(context: &FileContext<'_>, at: InstructionRef) -> Vec<String> {
    if context.is_of_cpu() {
        return Vec::new();
    }
    let summary = kernel_hover(context, at).summary;
    let shown = if summary.is_empty() { caused_in_kernel(context, at) } else { summary };
    comments(&shown)
}

fn comments(text: &RichText) -> Vec<String> {
    text.plain_text("")
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| format!("  //   {line}\n"))
        .collect()
}

fn map_notes(context: &FileContext<'_>, at: InstructionRef) -> Vec<String> {
    let names = operand_names(context, at);
    // A tuple reads nothing by index.
    if context.block(at.piece).instruction(at.id).opcode == Some(Opcode::Tuple) {
        return Vec::new();
    }
    let Some(local) = LocalGraph::of(context, at) else { return Vec::new() };
    if let Some(text) = loop_text(context, &local, &names) {
        return comments(&text);
    }
    let mut notes = Vec::new();
    let mut push = |note: String| {
        if !notes.contains(&note) {
            notes.push(note);
        }
    };
    let outputs = outputs(context, at);
    for output in 0..outputs {
        let from = if outputs > 1 { format!("output {output}") } else { "output".to_owned() };
        let [exact, xla] = [Rules::Exact, Rules::Xla].map(|rules| local.maps(context, output, rules));
        for (number, (name, accesses)) in names.iter().zip(&exact.operands).enumerate() {
            let theirs = xla.operands.get(number).filter(|theirs| theirs.len() == accesses.len());
            for (nth, access) in accesses.iter().enumerate() {
                push(format!("  //   {from} -> {name}: {}\n", access_line(access)));
                let xla = theirs.and_then(|theirs| theirs.get(nth)).filter(|xla| differs(xla, access));
                match xla {
                    Some(xla) if !access.map.is_undefined() && xla.map.is_undefined() => {
                        push(format!("  //   {from} -> {name}: XLA has no map here\n"));
                    }
                    Some(xla) => push(format!("  //   {from} -> {name}, by XLA: {}\n", access_line(xla))),
                    None => {}
                }
            }
        }
    }
    for MapBeside { from, to, access } in local.maps_beside(context, &names) {
        push(format!("  //   {from} -> {to}: {}\n", print_map(&access.map, PrintStyle::Floordiv)));
    }
    notes
}

fn access_line(access: &OperandIndexing) -> String {
    match () {
        () if access.map.is_undefined() => {
            format!("no map: {}", access.note.as_deref().unwrap_or("not known"))
        }
        () if access.map.results().is_empty() => "the scalar".to_owned(),
        () if access.is_identity() => "identity".to_owned(),
        () => print_map(&access.map, PrintStyle::Floordiv),
    }
}
