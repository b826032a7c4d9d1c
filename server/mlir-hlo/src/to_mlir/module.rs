//! A module of StableHLO from one of HLO.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use ir::{AttributeKey, Block, Graph, Module, ModuleSettings, Opcode, Shape};
use rustc_hash::{FxHashMap, FxHashSet};
use syntax::hlo::ComputationKind;

use super::function::FunctionWriter;
use super::header::{donations, module_attributes, stated, unsaid};
use super::locations::Frames;
use crate::names::UniqueNames;
use crate::not_in_stablehlo::NotInStablehlo;
use crate::strings::mlir_string;
use crate::types::mlir_type;

/// Bytes of text that a conversion yields, at most.
pub(super) const MAX_BYTES: usize = 256 << 20;

/// Instructions of bodies that are written where they are called, in one function: so many, and so many times those of the
/// module. Where each body calls the next one twice, every level doubles them.
const MIN_INLINED: usize = 1 << 14;
const INLINED_PER_INSTRUCTION: usize = 16;

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
    /// How many there are in all computations.
    instructions: usize,
    /// What `reverse-start` starts, by the names of the computation and of the instruction.
    pub wrapped: FxHashMap<(String, String), Opcode>,
    /// Of all functions.
    pub symbols: RefCell<UniqueNames>,
    /// Types of wide tuples. The number of each is in the name of its alias.
    wide_tuples: RefCell<Vec<(Shape, String)>>,
}

/// Elements of a tuple beyond which ops name its type by an alias: an op per element would write each time all of them.
const WIDE: usize = 64;

/// Converts the modules of a file, whose pieces are `blocks`; several are separated by `// -----` lines.
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
            let module = Module::of_block(&block);
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
        let stated = header.map(stated).unwrap_or_default();
        all.incomplete.extend(unsaid(&stated, module.settings(section)).map(|what| MissingInstruction {
            computation: String::new(),
            instruction: String::new(),
            what,
        }));
        let frontend = stated.iter().find(|(name, _)| *name == "frontend_attributes").map(|(_, text)| *text);
        let name = name.unwrap_or(&module.name);
        program.write(name, module.settings(section), frontend, &mut all);
    }
    all
}

impl Program {
    /// How many instructions of other computations a function may hold.
    pub(super) fn max_inlined(&self) -> usize {
        MIN_INLINED + INLINED_PER_INSTRUCTION * self.instructions
    }

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
            instructions: 0,
            wrapped: FxHashMap::default(),
            symbols: RefCell::default(),
            wide_tuples: RefCell::default(),
        };
        for computation in module.computations.iter().filter(|c| c.section == section) {
            let parts: Vec<_> = computation
                .segments
                .iter()
                .filter_map(|s| Some((*blocks.get(s.piece)?, s.computation)))
                .collect();
            for &(block, part) in &parts {
                let found = wrapped(block, block.parse.computations[part as usize].instructions.clone());
                let keyed = found.map(|(name, opcode)| ((computation.name.to_string(), name), opcode));
                program.wrapped.extend(keyed);
            }
            let graph = Graph::build(&parts);
            program.instructions += graph.as_ref().map_or(0, |graph| graph.ops.len());
            let is_complete = graph.as_ref().is_some_and(|g| g.is_complete);
            if !is_complete {
                incomplete.push(MissingInstruction {
                    computation: computation.name.to_string(),
                    instruction: String::new(),
                    what: "instructions that could not be read are left out".to_owned(),
                });
            }
            if let Some(graph) = &graph {
                let of_ops = graph.ops.iter().zip(&graph.names);
                let of_ops = of_ops.flat_map(|(op, name)| {
                    op.attributes.unknown().iter().map(move |unknown| (name.as_str(), unknown))
                });
                let not_read = graph.unknown.iter().map(|unknown| ("", unknown));
                incomplete.extend(of_ops.chain(not_read).map(|(name, unknown)| MissingInstruction {
                    computation: computation.name.to_string(),
                    instruction: name.to_owned(),
                    what: format!("{unknown}; it is not understood"),
                }));
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
        let mut symbols = self.symbols.borrow_mut();
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

    /// The type of a shape as an op writes it: an alias, if it is a wide tuple.
    pub fn short_type(&self, shape: &Shape) -> Result<String, NotInStablehlo> {
        let Some(elements) = shape.tuple_elements().filter(|elements| elements.len() > WIDE) else {
            return mlir_type(shape);
        };
        // Ops that take elements of one instruction share its shape.
        let is_same =
            |(known, _): &(Shape, String)| known.tuple_elements().is_some_and(|e| std::ptr::eq(e, elements));
        let mut tuples = self.wide_tuples.borrow_mut();
        let number = match tuples.iter().rposition(is_same) {
            Some(known) => known,
            None => {
                tuples.push((shape.clone(), mlir_type(shape)?));
                tuples.len() - 1
            }
        };
        Ok(format!("!wide{number}"))
    }

    fn write(
        &self,
        name: &str,
        settings: Option<&ModuleSettings>,
        frontend: Option<&str>,
        all: &mut StablehloModule,
    ) {
        let entry = self.entry.as_ref().and_then(|name| self.graphs.get(name));
        let attributes = module_attributes(settings, frontend, entry.map(|g| &**g));
        let start = all.text.len();
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
            all.text.push_str(&writer.more_functions);
        }
        all.text.push_str("}\n");
        let tuples = self.wide_tuples.take();
        let aliases = tuples.iter().enumerate().map(|(n, (_, ty))| format!("!wide{n} = {ty}\n"));
        all.text.insert_str(start, &aliases.collect::<String>());
    }
}

/// Instructions of these that start another one without naming a computation.
fn wrapped(block: &Block, instructions: Range<u32>) -> impl Iterator<Item = (String, Opcode)> {
    instructions.filter_map(|id| {
        let instruction = block.instruction(id);
        let word = instruction.opcode_span.of(&block.text);
        let is_start = instruction.opcode == Some(Opcode::AsyncStart);
        let opcode = Opcode::from_name(word.strip_suffix("-start").filter(|_| is_start)?)?;
        Some((block.name(id).to_owned(), opcode))
    })
}

/// `@name`, in quotes where it needs them.
pub(super) fn symbol(name: &str) -> String {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
    let is_bare =
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(is_letter);
    if is_bare { format!("@{name}") } else { format!("@\"{}\"", mlir_string(name)) }
}
