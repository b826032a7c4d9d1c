//! The module that passes start from, and where its instructions are in the text: of HLO, or of StableHLO by its conversion.

use std::sync::Arc;

use db::Language;
use mlir_hlo::HloModule;
use passes::{InstructionId, Module};
use syntax::hlo::PieceState;

use super::NotOptimized;
use crate::convert::hlo_of;
use crate::diagnostics::{Depth, diagnostics};
use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;
use crate::{Severity, TextRange};

/// An instruction, or an op of StableHLO, of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceInstruction {
    /// With its sign: `%add.1`.
    pub name: String,
    pub range: TextRange,
    /// The name in the text, or the op's.
    pub name_range: TextRange,
    /// Behind the operands, where hints are.
    pub(crate) hint: usize,
    pub(crate) opcode: ir::Opcode,
}

/// A module without errors.
pub(crate) struct SourceModule {
    pub(crate) module: Module,
    /// Per instruction of the text by [`Module::index`]; `None` for those that are not written on their own.
    pub(crate) instructions: Vec<Option<SourceInstruction>>,
}

impl SourceModule {
    pub(crate) fn of(context: &FileContext<'_>) -> Result<SourceModule, NotOptimized> {
        let found = diagnostics(context, Depth::Verifier, usize::MAX).shown;
        if let Some(error) = found.into_iter().find(|found| found.severity == Severity::Error) {
            return Err(NotOptimized::Invalid { message: error.message, offset: error.range.start });
        }
        match context.view.file.language(context.db) {
            Language::Hlo => of_hlo(context),
            Language::Mlir => of_mlir(context),
        }
    }

    /// The innermost instruction around an offset; of an op of StableHLO that is several, the first.
    pub(crate) fn instruction_at(&self, offset: usize) -> Option<InstructionId> {
        let index = innermost(&self.instructions, offset).first().copied()?;
        self.module.read_instructions().nth(index as usize)
    }
}

/// The instructions, as indices, of the innermost range around an offset. An op of StableHLO may be several.
pub(crate) fn innermost(instructions: &[Option<SourceInstruction>], offset: usize) -> Vec<u32> {
    let holds = |source: &SourceInstruction| source.range.start <= offset && offset <= source.range.end;
    let all = (0..).zip(instructions).filter_map(|(at, source)| Some((at, source.as_ref()?)));
    let around: Vec<(u32, &SourceInstruction)> = all.filter(|(_, source)| holds(source)).collect();
    let Some(least) = around.iter().map(|(_, source)| source.range.len()).min() else { return Vec::new() };
    around.iter().filter(|(_, source)| source.range.len() == least).map(|(at, _)| *at).collect()
}

fn of_hlo(context: &FileContext<'_>) -> Result<SourceModule, NotOptimized> {
    let module = db::editable_module(context.db, context.view.file).ok_or(NotOptimized::NoEntry)?;
    let of = |(piece, id)| {
        let at = InstructionRef { piece, id };
        let block = context.block(piece);
        let instruction = block.instruction(id);
        let range = context.range(piece, instruction.span);
        let argument = context.range(piece, instruction.argument).end;
        Some(SourceInstruction {
            name: format!("%{}", block.name(id)),
            name_range: context.range(at.piece, instruction.name),
            hint: if argument < range.start { range.end } else { (argument + 1).min(range.end) },
            range,
            opcode: instruction.opcode?,
        })
    };
    let instructions = places(&module, of);
    Ok(SourceModule { module, instructions })
}

fn places(
    module: &Module,
    of: impl Fn(passes::Place) -> Option<SourceInstruction>,
) -> Vec<Option<SourceInstruction>> {
    let all = module.read_instructions();
    all.map(|id| {
        cancel::tick();
        module.place(id).and_then(&of)
    })
    .collect()
}

fn of_mlir(context: &FileContext<'_>) -> Result<SourceModule, NotOptimized> {
    let HloModule { text, incomplete, origins } = hlo_of(context);
    if let Some((piece, missing)) = incomplete.into_iter().next() {
        let offset = Some(context.range(piece, missing.span).start);
        return Err(NotOptimized::NotConverted { what: missing.what, offset });
    }
    let text: Arc<str> = text.into();
    let parse = Arc::new(syntax::hlo::parse(&text, PieceState::HEADER));
    let block = ir::lower(text.clone(), parse);
    let whole = is_cut(context).then(|| {
        let text = context.view.text.to_string();
        let parse = mlir::parse(&text, mlir::PieceState::default());
        (text, parse)
    });
    // The op that the text at an offset comes from: the parse and the text it is in, and the piece whose text that is.
    let op_at = |at: u32| -> Option<(&mlir::Parse, &str, Option<usize>, mlir::OpId)> {
        let line = text[..at as usize].rfind('\n').map_or(0, |newline| newline + 1) as u32;
        let nth = origins.partition_point(|origin| origin.offset <= at).checked_sub(1)?;
        let origin = origins.get(nth).filter(|origin| origin.offset >= line)?;
        Some(match &whole {
            Some((text, parse)) => (parse, &**text, None, origin.op),
            None => {
                let piece = context.mlir_piece(origin.piece);
                (&piece.parse, &*piece.text, Some(origin.piece), origin.op)
            }
        })
    };
    let in_file = |piece: Option<usize>, span: syntax::Span| match piece {
        Some(piece) => context.range(piece, span),
        None => span.start as usize..span.end as usize,
    };
    // An op that is not complete is converted with the operands that it has.
    let of_rules = ir::verify(&block, &ir::Surroundings::alone(&block)).into_iter();
    let of_rules = of_rules.map(|f| (block.instruction(f.instruction).span.start, f.severity, f.message));
    let of_parser = block.findings.iter().map(|f| (f.span.start, f.severity, f.message.clone()));
    let mut found = of_parser.chain(of_rules).filter(|(_, severity, _)| *severity == ir::Severity::Error);
    if let Some((at, _, what)) = found.next() {
        let op = op_at(at);
        let offset = op.map(|(parse, _, piece, op)| in_file(piece, parse.op(op).span).start);
        return Err(NotOptimized::NotConverted { what, offset });
    }
    let header = ir::Module::of_block(&block);
    let module = Module::from_blocks(&[&block], &header).ok_or(NotOptimized::NoEntry)?;
    let of = |(_, id): passes::Place| {
        let (parse, source, piece, op) = op_at(block.instruction(id).span.start)?;
        let op = parse.op(op);
        let result = op.results.clone().next().map(|value| parse.values[value as usize].name);
        let name = result.unwrap_or(op.name);
        let head = in_file(piece, op.head);
        let shown = op.head.of(source);
        Some(SourceInstruction {
            name: name.of(source).to_owned(),
            range: in_file(piece, op.span),
            name_range: in_file(piece, name),
            hint: head.start + shown.find('\n').unwrap_or_else(|| shown.trim_end().len()),
            opcode: block.instruction(id).opcode?,
        })
    };
    let instructions = places(&module, of);
    Ok(SourceModule { module, instructions })
}

/// Whether functions are spread over pieces; they are converted as parts of the whole text.
fn is_cut(context: &FileContext<'_>) -> bool {
    (0..context.pieces()).any(|piece| !context.mlir_piece(piece).parts.is_empty())
}
