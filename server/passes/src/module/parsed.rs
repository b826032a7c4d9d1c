//! From a parsed text to a module.

use std::sync::Arc;

use ir::{Block, ParsedInstruction, ParsedModule, Uniquer};
use smallvec::{SmallVec, smallvec};
use syntax::hlo::PieceState;

use super::{Computation, ComputationId, Header, Instruction, InstructionId, Module};

impl Module {
    /// The module of a text without errors; `None` where it has no computation.
    pub fn from_text(text: &str) -> Option<Module> {
        let text: Arc<str> = Arc::from(text);
        let parse = Arc::new(syntax::hlo::parse(&text, PieceState::HEADER));
        let block = ir::lower(text, parse);
        Module::from_blocks(&[&block], &ir::Module::of_block(&block))
    }

    /// The first module of a file; `None` where it has no computation, or one without instructions.
    pub fn from_blocks(blocks: &[&Block], module: &ir::Module) -> Option<Module> {
        Module::from_parsed(ParsedModule::new(blocks, module, 0))
    }

    fn from_parsed(parsed: ParsedModule) -> Option<Module> {
        let settings = parsed.settings;
        let plain = |shape: ir::Shape| shape.without_default_layouts();
        let entry_layout = settings
            .entry_layout
            .map(|(parameters, result)| (parameters.into_iter().map(plain).collect(), plain(result)));
        let entry = parsed.computations.iter().position(|computation| computation.is_entry)?;
        let mut module = Module {
            header: Header {
                name: parsed.name,
                is_scheduled: settings.is_scheduled,
                entry_layout,
                aliases: settings.aliases,
                donors: settings.donors,
                others: parsed.other_settings,
                tables: parsed.tables,
            },
            computations: Vec::with_capacity(parsed.computations.len()),
            instructions: Vec::new(),
            read: 0,
            origins: Vec::new(),
            places: Vec::new(),
            guessed_users: Default::default(),
            entry: ComputationId(entry as u32),
            instruction_names: Uniquer::default(),
            computation_names: Uniquer::default(),
            known: Default::default(),
        };
        for computation in parsed.computations {
            let first = module.instructions.len() as u32;
            let parent = ComputationId(module.computations.len() as u32);
            let count = computation.instructions.len() as u32;
            if count == 0 {
                return None;
            }
            for instruction in computation.instructions {
                module.push_parsed(instruction, parent, first);
            }
            let name = module.computation_names.unique_owned(computation.name);
            module.computations.push(Computation {
                name: name.into(),
                thread: computation.thread.into(),
                root: InstructionId(first + computation.root as u32),
                listed: (first..first + count).map(InstructionId).collect(),
                gaps: 0,
                is_removed: false,
                order: Default::default(),
            });
        }
        module.find_users();
        module.read = module.instructions.len();
        Some(module)
    }

    fn push_parsed(&mut self, parsed: ParsedInstruction, parent: ComputationId, first: u32) {
        cancel::tick();
        let id = |index: usize| InstructionId(first + index as u32);
        let computations = |called: Vec<usize>| called.into_iter().map(|c| ComputationId(c as u32)).collect();
        let name = self.instruction_names.unique_owned(parsed.name);
        self.origins.push(smallvec![InstructionId(self.instructions.len() as u32)]);
        self.places.push(parsed.place);
        self.instructions.push(Instruction {
            name: name.into(),
            parent,
            op: Arc::new(parsed.op),
            operands: parsed.operands.into_iter().map(id).collect(),
            users: SmallVec::new(),
            control_predecessors: parsed.control_predecessors.into_iter().map(id).collect(),
            control_successors: SmallVec::new(),
            calls: parsed.calls.into_iter().map(|(key, called)| (key, computations(called))).collect(),
            verbatim: parsed.verbatim.map(Arc::from),
            is_removed: false,
        });
    }

    fn find_users(&mut self) {
        for index in 0..self.instructions.len() {
            let id = InstructionId(index as u32);
            let operands = self[id].operands.clone();
            for (at, &operand) in operands.iter().enumerate() {
                if !operands[..at].contains(&operand) {
                    self.instructions[operand.0 as usize].users.push(id);
                }
            }
            for before in self[id].control_predecessors.clone() {
                self.instructions[before.0 as usize].control_successors.push(id);
            }
        }
    }
}
