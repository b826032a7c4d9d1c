//! A module of StableHLO from one of HLO.

use std::fmt::Write as _;
use std::sync::Arc;

use ir::{AttributeKey, Block, Graph, Module, ModuleSettings, Opcode, Shape};
use rustc_hash::{FxHashMap, FxHashSet};
use syntax::hlo::ComputationKind;

use super::function::FunctionWriter;
use super::locations::Frames;
use crate::lists::{array_attribute, joined};
use crate::names::UniqueNames;
use crate::strings::mlir_string;

/// Bytes of text that a conversion yields, at most: bodies that are written where they are called grow without bound.
pub(super) const MAX_BYTES: usize = 256 << 20;

/// What the text of MLIR does not say of an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingInstruction {
    pub computation: String,
    pub instruction: String,
    pub what: String,
}

/// A module as text of MLIR.
///
/// Owner: who asked for it. Size: about the text it was made from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StablehloModule {
    pub text: String,
    pub incomplete: Vec<MissingInstruction>,
}

/// All computations of a module, as graphs.
pub(super) struct Program {
    pub graphs: FxHashMap<String, Arc<Graph>>,
    /// In the order of the text.
    pub order: Vec<String>,
    pub entry: Option<String>,
    /// Computations that become functions, with their symbols.
    pub functions: FxHashMap<String, String>,
    /// Functions that instructions start and wait for.
    pub asynchronous: FxHashSet<String>,
    pub frames: Frames,
}

/// Converts the modules of a file, whose pieces are `blocks`; several are apart by `// -----` lines.
pub fn to_stablehlo(blocks: &[&Block], module: &Module) -> StablehloModule {
    // Bodies that are written in place have no names: in XLA's own form each has.
    let is_inline = |block: &&Block| {
        block.parse.computations.iter().any(|c| matches!(c.kind, ComputationKind::Inline(_)))
    };
    if blocks.iter().any(is_inline)
        && let Ok(text) = ir::print_module(blocks, module, &ir::PrintOptions::lossless())
    {
        let text: Arc<str> = text.into();
        let parse = syntax::hlo::parse(&text, syntax::hlo::PieceState::HEADER);
        let block = ir::lower(text, Arc::new(parse));
        if !is_inline(&&block) {
            let module = Module::build(std::iter::once(&block.signature()));
            return to_stablehlo(&[&block], &module);
        }
    }
    let mut all = StablehloModule::default();
    let mut headers = blocks.iter().filter(|b| b.parse.starts_module);
    for section in 0..module.sections().max(1) {
        let header = headers.next().copied();
        let program = Program::of(blocks, module, section, header, &mut all.incomplete);
        if section > 0 {
            all.text.push_str("\n// -----\n\n");
        }
        let name = header.and_then(|b| b.parse.header.as_ref().map(|h| h.name.of(&b.text)));
        program.write(name.unwrap_or(&module.name), module.settings(section), &mut all);
    }
    all
}

impl Program {
    fn of(
        blocks: &[&Block],
        module: &Module,
        section: u32,
        header: Option<&Block>,
        incomplete: &mut Vec<MissingInstruction>,
    ) -> Program {
        let mut program = Program {
            graphs: FxHashMap::default(),
            order: Vec::new(),
            entry: module.entry_of(section).map(|at| module.computations[at].name.to_string()),
            functions: FxHashMap::default(),
            asynchronous: FxHashSet::default(),
            frames: header.map(Frames::of).unwrap_or_default(),
        };
        for computation in module.computations.iter().filter(|c| c.section == section) {
            let parts: Vec<_> = computation
                .segments
                .iter()
                .filter_map(|s| Some((*blocks.get(s.piece)?, s.computation)))
                .collect();
            let graph = Graph::build(&parts);
            let is_complete = graph.as_ref().is_some_and(|g| g.is_complete);
            if !is_complete {
                incomplete.push(MissingInstruction {
                    computation: computation.name.to_string(),
                    instruction: String::new(),
                    what: "instructions that could not be read are left out".to_owned(),
                });
            }
            if let Some(graph) = graph {
                program.order.push(computation.name.to_string());
                program.graphs.insert(computation.name.to_string(), Arc::new(graph));
            }
        }
        program.find_functions();
        program
    }

    /// The entry, what instructions call by name, and what nothing refers to. The others are regions.
    fn find_functions(&mut self) {
        let mut called = FxHashSet::default();
        let mut inlined = FxHashSet::default();
        for graph in self.graphs.values() {
            for op in &graph.ops {
                let attributes = &op.attributes;
                for key in [
                    AttributeKey::ToApply,
                    AttributeKey::Calls,
                    AttributeKey::CalledComputations,
                    AttributeKey::BranchComputations,
                    AttributeKey::TrueComputation,
                    AttributeKey::FalseComputation,
                    AttributeKey::Condition,
                    AttributeKey::Body,
                    AttributeKey::Select,
                    AttributeKey::Scatter,
                ] {
                    for name in attributes.computations(key) {
                        let is_call = match op.opcode {
                            Opcode::Call | Opcode::CustomCall => true,
                            Opcode::AsyncStart | Opcode::AsyncUpdate | Opcode::AsyncDone => {
                                self.asynchronous.insert(name.clone());
                                true
                            }
                            _ => false,
                        };
                        if is_call {
                            called.insert(name.clone())
                        } else {
                            inlined.insert(name.clone())
                        };
                    }
                }
            }
        }
        let mut symbols = UniqueNames::default();
        if let Some(entry) = self.entry.clone() {
            let symbol = symbols.take("main");
            self.functions.insert(entry, symbol);
        }
        for name in &self.order {
            if !self.functions.contains_key(name) && (called.contains(name) || !inlined.contains(name)) {
                let symbol = symbols.take(name);
                self.functions.insert(name.clone(), symbol);
            }
        }
    }

    fn write(&self, name: &str, settings: Option<&ModuleSettings>, all: &mut StablehloModule) {
        let entry = self.entry.as_ref().and_then(|name| self.graphs.get(name));
        let attributes = module_attributes(settings, entry.map(|g| &**g));
        _ = writeln!(all.text, "module {}{attributes} {{", symbol(name));
        // The entry first, as StableHLO is printed.
        let others = self.order.iter().filter(|name| Some(*name) != self.entry.as_ref());
        for name in self.entry.iter().chain(others).filter(|name| self.functions.contains_key(*name)) {
            let Some(graph) = self.graphs.get(name) else { continue };
            let is_entry = Some(name) == self.entry.as_ref();
            let donations = settings.filter(|_| is_entry).map(|s| donations(s, graph)).unwrap_or_default();
            let mut writer = FunctionWriter::new(self, name);
            writer.function(graph, &self.functions[name], is_entry, &donations);
            all.incomplete.append(&mut writer.incomplete);
            all.text.push_str(&writer.out);
        }
        all.text.push_str("}\n");
    }
}

/// `@name`, in quotes where it needs them.
pub(super) fn symbol(name: &str) -> String {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
    let is_bare =
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(is_letter);
    if is_bare { format!("@{name}") } else { format!("@\"{}\"", mlir_string(name)) }
}

/// Per parameter of the entry, what the header says of its memory, where an attribute of the argument can say it.
fn donations(settings: &ModuleSettings, graph: &Graph) -> FxHashMap<u32, String> {
    let mut found = FxHashMap::default();
    let root = &graph.ops[graph.root as usize].shape;
    let results = root.tuple_elements().map_or(1, |e| e.len());
    for alias in settings.aliases.iter().filter(|a| is_simple(a, results)) {
        let output = alias.output.first().copied().unwrap_or(0);
        found.insert(alias.parameter as u32, format!("tf.aliasing_output = {output} : i32"));
    }
    for (parameter, index) in &settings.donors {
        if index.is_empty() {
            found.entry(*parameter as u32).or_insert_with(|| "jax.buffer_donor = true".to_owned());
        }
    }
    found
}

/// Whether a whole argument gives its memory to a whole result.
fn is_simple(alias: &ir::Alias, results: usize) -> bool {
    let is_whole = alias.output.len() == usize::from(results != 1) && !alias.is_must;
    alias.index.is_empty() && is_whole && u32::try_from(alias.parameter).is_ok()
}

/// ` attributes {…}`, or nothing.
fn module_attributes(settings: Option<&ModuleSettings>, entry: Option<&Graph>) -> String {
    let Some(settings) = settings else { return String::new() };
    let mut attributes = Vec::new();
    let results = entry.map_or(1, |g| g.ops[g.root as usize].shape.tuple_elements().map_or(1, |e| e.len()));
    let others: Vec<_> =
        settings.aliases.iter().filter(|a| !is_simple(a, results)).map(stated_alias).collect();
    if !others.is_empty() {
        attributes.push(format!("mhlo.input_output_alias = [{}]", others.join(", ")));
    }
    attributes.push(format!("mhlo.num_partitions = {} : i32", settings.num_partitions));
    attributes.push(format!("mhlo.num_replicas = {} : i32", settings.replica_count));
    if let Some((parameters, result)) = &settings.entry_layout {
        let is_usual = |shape: &Shape| shape.as_array().is_none_or(is_row_major);
        if !parameters.iter().all(is_usual) {
            let layouts: Vec<_> = parameters.iter().map(layout).collect();
            attributes
                .push(format!("mhlo.xla_entry_computation_parameter_layouts = [{}]", layouts.join(", ")));
        }
        if !is_usual(result) {
            attributes.push(format!("mhlo.xla_entry_computation_result_layout = {}", layout(result)));
        }
    }
    format!(" attributes {{{}}}", attributes.join(", "))
}

fn stated_alias(alias: &ir::Alias) -> String {
    let kind = if alias.is_must { "must_alias" } else { "may_alias" };
    format!(
        "{{alias = {{kind = \"{kind}\", parameter_index = {}, parameter_number = {} : i64}}, output_index = {}}}",
        array_attribute(&alias.index),
        alias.parameter,
        array_attribute(&alias.output)
    )
}

/// Whether nothing needs to be said of the layout.
pub(super) fn is_row_major(array: &ir::ArrayShape) -> bool {
    array.layout.as_ref().is_none_or(|layout| *layout == ir::Layout::row_major(array.rank()))
}

/// `dense<[1, 0]> : tensor<2xindex>`
pub(super) fn layout(shape: &Shape) -> String {
    let order: Vec<i64> = shape
        .as_array()
        .map(|a| a.minor_to_major().into_iter().map(|d| d as i64).collect())
        .unwrap_or_default();
    match order.is_empty() {
        true => "dense<> : tensor<0xindex>".to_owned(),
        false => format!("dense<[{}]> : tensor<{}xindex>", joined(&order, ", "), order.len()),
    }
}
