//! The text of a tile program, as MLIR prints it.

mod names;
mod ops;
mod triton;

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::Arc;

use codegen::{KernelText, map_name};
use indexing_map::{IndexingMap, PrintStyle, print_map};
use ir::OpId;
use syntax::hlo::ElementType;

use self::names::Names;
use crate::program::{Block, Kind, Memory, Op, Program, Type, ValueId};

/// Stack for the text of nested loops and branches, whose depth is bounded.
const STACK: usize = 4 << 20;

/// Prints the module of a program: ops on tiles. Each line leads to the op of the fused
/// computation that it belongs to.
pub fn text(program: &Program) -> KernelText {
    recursion::with_stack(STACK, || {
        let mut writer = Writer {
            program,
            names: Names::default(),
            maps: Vec::new(),
            lines: Vec::new(),
            accesses: Vec::new(),
        };
        writer.entry();
        writer.finish()
    })
}

struct Writer<'a> {
    program: &'a Program,
    names: Names,
    /// Maps, and their texts without the names of variables, by which they are compared as MLIR compares them.
    /// Map `n` is `#indexing_mapN`.
    maps: Vec<(String, Arc<IndexingMap>)>,
    lines: Vec<(Option<OpId>, String)>,
    /// Lines that read or write an argument, counted from the first line of the module.
    accesses: Vec<(usize, usize)>,
}

impl Writer<'_> {
    fn entry(&mut self) {
        let mut arguments = Vec::new();
        for (number, memory) in self.program.arguments.iter().enumerate() {
            let name = self.names.argument(number as ValueId);
            arguments.push(format!("{name}: {}", memory_text(memory)));
        }
        let block = self.names.argument(self.program.arguments.len() as ValueId);
        let last = self.program.blocks - 1;
        arguments.push(format!("{block}: index {{xla.range = [0 : index, {last} : index]}}"));
        self.line(None, 0, "module {".to_owned());
        let head = format!(
            "xtile.entry_func @{}({}) attributes {{num_opaque_args = 0 : i32}} {{",
            self.program.name,
            arguments.join(", ")
        );
        self.line(None, 1, head);
        self.block(&self.program.body, 2);
        self.line(None, 2, "xtile.return".to_owned());
        self.line(None, 1, "}".to_owned());
        self.line(None, 0, "}".to_owned());
    }

    fn finish(self) -> KernelText {
        let mut text = String::new();
        let mut lines = Vec::new();
        for (number, (_, map)) in self.maps.iter().enumerate() {
            let map = print_map(map, PrintStyle::Symbolic);
            _ = writeln!(text, "{} = #xla.indexing_map<\"{map}\">", map_name(number));
            lines.push(None);
        }
        let above = lines.len();
        for (origin, line) in self.lines {
            text.push_str(&line);
            text.push('\n');
            lines.push(origin);
        }
        let accesses = self.accesses.into_iter().map(|(line, argument)| (above + line, argument)).collect();
        let doubts = self.program.doubts.iter().map(|doubt| (doubt.op, doubt.why.clone())).collect();
        KernelText { text, lines, accesses, doubts, ..KernelText::default() }
    }

    fn line(&mut self, origin: Option<OpId>, depth: usize, text: String) {
        self.lines.push((origin, format!("{:width$}{text}", "", width = 2 * depth)));
    }

    /// The ops of a block. Values are numbered before the blocks in them, as MLIR numbers them.
    fn block(&mut self, block: &Block, depth: usize) {
        for op in &block.ops {
            for (number, &result) in op.results.iter().enumerate() {
                self.names.result(result, number, &op.kind, &self.program.values[result as usize]);
            }
        }
        for op in &block.ops {
            cancel::tick();
            if let Kind::Extract { argument, .. } | Kind::Insert { argument, .. } = op.kind {
                self.accesses.push((self.lines.len(), argument));
            }
            self.op(op, depth);
        }
    }

    /// A block inside an op, whose names end with it.
    fn nested(&mut self, block: &Block, depth: usize, origin: Option<OpId>, end: &str) {
        self.block(block, depth);
        if !block.yields.is_empty() {
            let values = self.list(&block.yields);
            let types: Vec<String> = block.yields.iter().map(|&value| self.type_of(value)).collect();
            self.line(origin, depth, format!("{end} {values} : {}", types.join(", ")));
        }
    }

    fn map(&mut self, map: &Arc<IndexingMap>) -> String {
        let mut unnamed = (**map).clone();
        (0..unnamed.variables().len()).for_each(|id| unnamed.rename(id, None));
        let text = print_map(&unnamed, PrintStyle::Symbolic);
        let known = self.maps.iter().position(|(known, _)| *known == text);
        let number = known.unwrap_or_else(|| {
            self.maps.push((text, map.clone()));
            self.maps.len() - 1
        });
        map_name(number)
    }

    fn name(&self, value: ValueId) -> String {
        self.names.of(value)
    }

    fn list(&self, values: &[ValueId]) -> String {
        values.iter().map(|&value| self.name(value)).collect::<Vec<_>>().join(", ")
    }

    fn type_of(&self, value: ValueId) -> String {
        type_text(&self.program.values[value as usize])
    }

    /// `%3 = ` before an op with results.
    fn assigned(&self, op: &Op) -> String {
        match &op.results[..] {
            [] => String::new(),
            results => format!("{} = ", self.list(results)),
        }
    }
}

fn type_text(ty: &Type) -> String {
    match ty {
        Type::Index => "index".to_owned(),
        Type::Scalar(element) => element_text(*element).into_owned(),
        Type::Tile(element, sizes) => format!("tensor<{}{}>", extents(sizes), element_text(*element)),
    }
}

fn memory_text(memory: &Memory) -> String {
    let order = &memory.minor_to_major;
    let is_row_major = order.iter().rev().copied().eq(0..order.len());
    let layout = match is_row_major {
        true => String::new(),
        false => {
            let order: Vec<String> = order.iter().map(usize::to_string).collect();
            format!(", #xtile.layout<[{}]>", order.join(", "))
        }
    };
    format!("memref<{}{}{layout}>", extents(&memory.dims), element_text(memory.element))
}

fn extents(sizes: &[i64]) -> String {
    sizes.iter().map(|size| format!("{size}x")).collect()
}

/// Types without a name in MLIR are refused before a program is made.
fn element_text(element: ElementType) -> Cow<'static, str> {
    mlir_hlo::mlir_element(element).unwrap_or_else(|| element.name().into())
}
