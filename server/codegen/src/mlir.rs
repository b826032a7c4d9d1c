//! The MLIR text of a kernel, in the dialects that XLA's emitters write. Source: `codegen/emitters/ir/xla_ops.td`,
//! `backends/gpu/codegen/emitters/ir/xla_gpu_ops.td`.

mod functions;
mod indices;
mod names;
mod ops;
mod reductions;
mod scalars;

use std::fmt::Write;

use indexing_map::{IndexingMap, PrintStyle, print_map};
use ir::OpId;
use rustc_hash::FxHashMap;

use crate::KernelText;
use crate::kernel::{Kernel, Region, ValueId};
use names::Names;
pub use scalars::number_text;

/// The MLIR text of a kernel before lowering. Each kernel that runs after it is a module of its own.
pub fn mlir(kernel: &Kernel) -> KernelText {
    recursion::with_stack(crate::STACK, || written(kernel))
}

fn written(kernel: &Kernel) -> KernelText {
    let mut text = String::new();
    let mut lines = Vec::new();
    let mut accesses = Vec::new();
    for (n, stage) in kernel.stages().enumerate() {
        if n > 0 {
            // The separator that MLIR's tools use between inputs.
            text += "// -----\n";
            lines.push(None);
        }
        let own = module(stage, &mut |origin, line| {
            let _ = writeln!(text, "{line}");
            lines.push(origin);
        });
        // The body is at the end of the text, followed by one brace.
        let first = lines.len().saturating_sub(own.lines + 1);
        accesses.extend(own.accesses.into_iter().map(|(at, argument)| (first + at, argument)));
    }
    let missing = kernel.missing.clone();
    let shared_bytes = kernel.launch.shared_bytes;
    KernelText { text, lines, missing, accesses, shared_bytes, ..KernelText::default() }
}

/// The number of lines of a module's functions, and the lines that read an argument of the kernel.
struct Body {
    lines: usize,
    accesses: Vec<(usize, usize)>,
}

fn module(kernel: &Kernel, line: &mut dyn FnMut(Option<OpId>, &str)) -> Body {
    let mut printer =
        Printer { kernel, maps: Vec::new(), lines: Vec::new(), accesses: Vec::new(), indent: 1 };
    for (number, function) in kernel.functions.iter().enumerate() {
        // A tuple of results is not a function.
        if number == 0 || !function.name.is_empty() {
            printer.function(number, function);
        }
    }
    for missing in &kernel.missing {
        line(None, &format!("// incomplete: {}: {}", missing.instruction, missing.reason));
    }
    for (number, map) in printer.maps.iter().enumerate() {
        line(None, &format!("{} = #xla.indexing_map<\"{map}\">", map_name(number)));
    }
    line(
        None,
        &format!(
            "module @{}_kernel_module attributes {{dlti.dl_spec = #dlti.dl_spec<index = 32 : i32>}} {{",
            kernel.name
        ),
    );
    for (origin, body) in &printer.lines {
        line(*origin, body);
    }
    line(None, "}");
    Body { lines: printer.lines.len(), accesses: printer.accesses }
}

/// The name of the map with this number in the text of a module.
pub fn map_name(number: usize) -> String {
    if number == 0 { "#indexing_map".to_owned() } else { format!("#indexing_map{number}") }
}

struct Printer<'k> {
    kernel: &'k Kernel,
    maps: Vec<String>,
    lines: Vec<(Option<OpId>, String)>,
    /// Positions in `lines`, with the argument of the kernel that is read there.
    accesses: Vec<(usize, usize)>,
    indent: usize,
}

impl<'k> Printer<'k> {
    fn line(&mut self, origin: Option<OpId>, text: String) {
        let text = format!("{}{text}", "  ".repeat(self.indent));
        self.lines.push((origin, text));
    }

    /// Records that the next line reads a tensor.
    fn note_read(&mut self, names: &Names<'k>, tensor: ValueId) {
        // Tensors that are arguments of a function are those of the kernel, by position.
        let argument = names.function.args.iter().position(|&arg| arg == tensor);
        self.accesses.extend(argument.map(|argument| (self.lines.len(), argument)));
    }

    fn map(&mut self, map: &IndexingMap) -> String {
        let text = print_map(map, PrintStyle::Symbolic);
        let number = self.maps.iter().position(|known| *known == text).unwrap_or_else(|| {
            self.maps.push(text);
            self.maps.len() - 1
        });
        map_name(number)
    }

    fn ops(&mut self, names: &mut Names<'k>, region: &'k Region) {
        for op in &region.ops {
            self.op(names, op);
        }
    }

    fn region(&mut self, names: &mut Names<'k>, region: &'k Region, end: &str) {
        self.indent += 1;
        names.indices.push(FxHashMap::default());
        self.ops(names, region);
        if !region.yields.is_empty() {
            let text = format!("{end} {} : {}", names.list(&region.yields), names.types(&region.yields));
            self.line(None, text);
        }
        names.indices.pop();
        self.indent -= 1;
    }
}
