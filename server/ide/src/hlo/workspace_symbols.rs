//! Computations and instructions, by name.

use syntax::hlo::Opcode;

use crate::SymbolKind;
use crate::file_context::FileContext;
use crate::hlo::Hlo;
use crate::hlo::locate::InstructionRef;
use crate::workspace_symbols::{SymbolPlace, Symbols, WorkspaceSymbol};

impl Symbols for Hlo {
    /// The computations of HLO, each followed by its instructions if they are wanted.
    fn symbols(
        &self,
        context: &FileContext<'_>,
        with_instructions: bool,
        found: &mut dyn FnMut(&str, bool, SymbolPlace),
    ) {
        for (index, computation) in context.module().computations.iter().enumerate() {
            crate::analysis::check_cancelled(context.db);
            found(&computation.name, true, SymbolPlace::Computation(index));
            for segment in computation.segments.iter().filter(|_| with_instructions) {
                let block = context.block(segment.piece);
                for id in block.parse.computations[segment.computation as usize].instructions.clone() {
                    if !block.instruction(id).is_nested {
                        let at = InstructionRef { piece: segment.piece, id };
                        found(block.name(id), false, SymbolPlace::Instruction(at, index));
                    }
                }
            }
        }
    }

    fn workspace_symbol(&self, context: &FileContext<'_>, place: SymbolPlace) -> Option<WorkspaceSymbol> {
        let module = context.module();
        Some(match place {
            SymbolPlace::Symbol(..) => return None,
            SymbolPlace::Computation(index) => {
                let computation = &module.computations[index];
                let range = computation
                    .segments
                    .first()
                    .map_or(0..0, |first| context.range(first.piece, context.computation(*first).name));
                let kind = if module.is_entry(index) { SymbolKind::Entry } else { SymbolKind::Computation };
                WorkspaceSymbol {
                    name: computation.name.to_string(),
                    container: module.name.to_string(),
                    kind,
                    range,
                }
            }
            SymbolPlace::Instruction(at, index) => {
                let block = context.block(at.piece);
                WorkspaceSymbol {
                    name: block.name(at.id).to_owned(),
                    container: module.computations[index].name.to_string(),
                    kind: match block.instruction(at.id).opcode {
                        Some(Opcode::Parameter) => SymbolKind::Parameter,
                        Some(Opcode::Constant) => SymbolKind::Constant,
                        _ => SymbolKind::Instruction,
                    },
                    range: context.range(at.piece, block.instruction(at.id).name),
                }
            }
        })
    }
}
