//! Functions for kernel queries, whole or split.

use std::sync::Arc;

use db::{CUT_FUNCTION, Database, KernelId, MAX_OPS_OF_KERNEL, MlirFunction, NoKernel};
use ir::Opcode;
use mlir::{Definition, OpId, is_function_like};
use mlir_hlo::Slice;
use syntax::Span;

use crate::TextRange;
use crate::file_context::FileContext;
use crate::mlir::context::OpRef;

/// A function with a body, in the piece where it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::mlir) struct FunctionRef {
    pub(in crate::mlir) piece: usize,
    pub(in crate::mlir) op: OpId,
}

/// The functions with bodies that start in a piece, in text order.
pub(in crate::mlir) fn functions(context: &FileContext<'_>, piece: usize) -> Vec<FunctionRef> {
    let read = context.mlir_piece(piece);
    let all = Slice::whole(&read.parse, &read.text).functions();
    let all = all.map(|op| FunctionRef { piece, op });
    all.filter(|&function| body(context, function).next().is_some()).collect()
}

pub(in crate::mlir) fn all_functions(context: &FileContext<'_>) -> Vec<FunctionRef> {
    (0..context.pieces()).flat_map(|piece| functions(context, piece)).collect()
}

/// The ops of the first block of a function, from all of its pieces.
pub(in crate::mlir) fn body<'a>(
    context: &'a FileContext<'_>,
    function: FunctionRef,
) -> impl Iterator<Item = (usize, OpId)> + use<'a> {
    let mut parts = vec![(function.piece, function.op)];
    if context.mlir_piece(function.piece).parse.is_cut_function(function.op) {
        parts.extend(context.other_pieces(function.piece, function.op));
    }
    let mut has_ended = false;
    let parts = parts.into_iter().map_while(move |(piece, op)| {
        let parse = &context.mlir_piece(piece).parse;
        let region = parse.regions_of(op).next().filter(|_| !has_ended)?;
        let first = parse.blocks_of(region).next()?;
        // A label at the continuation in a later piece ends the first block.
        let is_other = piece != function.piece && !parse.blocks[first as usize].label.is_empty();
        has_ended = parse.blocks[first as usize].next.is_some();
        (!is_other).then_some((piece, first))
    });
    parts.flat_map(|(piece, block)| context.mlir_piece(piece).parse.ops_of(block).map(move |op| (piece, op)))
}

/// The reason why a function is not one kernel, in words. `None` if all of its ops are of a kind that XLA
/// fuses.
pub(in crate::mlir) fn why_no_kernel(context: &FileContext<'_>, function: FunctionRef) -> Option<String> {
    Some(match no_kernel(context, function)? {
        NoKernel::TooLong => {
            format!("@{} has more than {MAX_OPS_OF_KERNEL} ops", symbol(context, function)?)
        }
        NoKernel::NotOfHlo(name) => format!("{name}: HLO has no such op"),
        NoKernel::NotFused(name) => format!("{name} is not fused"),
        NoKernel::NothingComputed => "nothing is computed".to_owned(),
    })
}

fn no_kernel(context: &FileContext<'_>, function: FunctionRef) -> Option<NoKernel> {
    let name = |(piece, id)| {
        let read = context.mlir_piece(piece);
        read.parse.name(id, &read.text)
    };
    db::why_no_kernel(body(context, function).map(name))
}

pub(in crate::mlir) fn may_be_kernel(context: &FileContext<'_>, function: FunctionRef) -> bool {
    no_kernel(context, function).is_none()
}

/// The functions that may be one kernel each, in text order.
pub(in crate::mlir) fn kernels<'a>(
    context: &'a FileContext<'_>,
) -> impl Iterator<Item = FunctionRef> + use<'a> {
    let candidates = |piece| {
        let found = db::mlir_kernel_candidates(context.db, context.piece_input(piece)).iter();
        found.map(move |&op| FunctionRef { piece, op })
    };
    let is_cut = |f: &FunctionRef| context.mlir_piece(f.piece).parse.is_cut_function(f.op);
    let all = (0..context.pieces()).flat_map(candidates);
    all.filter(move |f| !is_cut(f) || may_be_kernel(context, *f))
}

/// Whether a function may have kernels: one of its first ops is an HLO op.
pub(in crate::mlir) fn is_of_hlo(context: &FileContext<'_>, function: FunctionRef) -> bool {
    let mut first = body(context, function).take(MAX_OPS_OF_KERNEL);
    first.any(|(piece, id)| {
        let read = context.mlir_piece(piece);
        mlir_hlo::opcode_of(read.parse.name(id, &read.text)).is_some_and(|opcode| opcode != Opcode::Constant)
    })
}

/// The symbol without `@`.
pub(in crate::mlir) fn symbol<'a>(context: &FileContext<'a>, function: FunctionRef) -> Option<&'a str> {
    let read = context.mlir_piece(function.piece);
    Slice::whole(&read.parse, &read.text).symbol(function.op)
}

/// The symbol of a function, where its lens is shown.
pub(in crate::mlir) fn name_of(context: &FileContext<'_>, function: FunctionRef) -> Option<TextRange> {
    let read = context.mlir_piece(function.piece);
    let found = read.parse.symbols.iter().find(|s| s.op == function.op && s.is_definition)?;
    Some(context.range(function.piece, found.span))
}

/// The spans of the names of a function's arguments, in its piece.
pub(in crate::mlir) fn arguments(context: &FileContext<'_>, function: FunctionRef) -> Vec<Span> {
    let parse = &context.mlir_piece(function.piece).parse;
    // The custom form binds them in the head, the generic form in the first block.
    let is_own =
        |value: &&mlir::Value| matches!(value.definition, Definition::Binder(op) if op == function.op);
    let mut arguments: Vec<Span> = parse.values.iter().filter(is_own).map(|value| value.name).collect();
    if arguments.is_empty() {
        let first = parse.regions_of(function.op).next().and_then(|region| parse.blocks_of(region).next());
        let range = first.map_or(0..0, |block| parse.blocks[block as usize].arguments.clone());
        let bound = &parse.values[range.start as usize..range.end as usize];
        arguments.extend(bound.iter().map(|value| value.name));
    }
    arguments
}

/// The names of a function's arguments, without `%`.
pub(in crate::mlir) fn argument_names(context: &FileContext<'_>, function: FunctionRef) -> Vec<String> {
    let text = &context.mlir_piece(function.piece).text;
    let name = |span: Span| span.of(text).trim_start_matches('%').to_owned();
    arguments(context, function).into_iter().map(name).collect()
}

/// The function around an offset.
pub(in crate::mlir) fn function_at(context: &FileContext<'_>, offset: usize) -> Option<FunctionRef> {
    let at = context.op_at(offset)?;
    let path = context.mlir_piece(at.piece).parse.path_to(at.id).into_iter();
    let starts = path.filter_map(|id| Some(context.start_of(OpRef { id, ..at })?.0));
    let mut functions_around = starts.filter(|start| {
        let read = context.mlir_piece(start.piece);
        is_function_like(read.parse.name(start.id, &read.text))
    });
    let OpRef { piece, id: op } = functions_around.next()?;
    functions(context, piece).into_iter().find(|f| f.op == op)
}

/// The number of a function in its piece, and the name of its computation.
pub(in crate::mlir) fn computation<'a>(
    context: &FileContext<'a>,
    function: FunctionRef,
) -> Option<(u32, &'a str)> {
    let read = context.mlir_piece(function.piece);
    if !read.parse.is_cut_function(function.op) {
        let functions = db::mlir_functions(context.db, context.piece_input(function.piece));
        let nth = functions.iter().position(|(_, f)| f.op == function.op)?;
        return Some((nth as u32, &functions[nth].1.computations.last()?.name));
    }
    let slice = Slice::whole(&read.parse, &read.text);
    let part = context.part_at(function.piece, read.parse.op(function.op).span.start);
    let environment = db::mlir_environments(context.db, context.view.file).get(part)?;
    Some((CUT_FUNCTION, environment.computation(slice.symbol(function.op)?)?))
}

/// The id of a function's kernel; cheap, unlike [`Converted`].
pub(in crate::mlir) fn kernel_id_of<'a>(
    context: &FileContext<'a>,
    function: FunctionRef,
) -> Option<KernelId<'a>> {
    let (nth, name) = computation(context, function)?;
    Some(db::kernel_id(context.db, context.piece_input(function.piece), nth, name))
}

/// A function converted to HLO for kernel queries.
pub(in crate::mlir) struct Converted<'a> {
    db: &'a Database,
    pub(in crate::mlir) piece: db::Piece,
    /// Its number in the piece.
    nth: u32,
    /// The name of its computation.
    pub(in crate::mlir) name: &'a str,
    /// The whole function, unless it is too long to be one kernel.
    pub(in crate::mlir) function: Option<&'a Arc<MlirFunction>>,
}

impl<'a> Converted<'a> {
    pub(in crate::mlir) fn of(context: &FileContext<'a>, function: FunctionRef) -> Option<Converted<'a>> {
        let (nth, name) = computation(context, function)?;
        let piece = context.piece_input(function.piece);
        let function = db::mlir_function(context.db, piece, nth).as_ref();
        Some(Converted { db: context.db, piece, nth, name, function })
    }

    /// The instruction of an op of the function, if XLA would wrap it alone.
    pub(in crate::mlir) fn instruction_of(
        &self,
        context: &FileContext<'_>,
        function: FunctionRef,
        op: OpRef,
    ) -> Option<String> {
        match self.function {
            Some(whole) => {
                let further = op.piece.checked_sub(function.piece)?;
                whole.instruction_of((further, op.id)).map(str::to_owned)
            }
            None => {
                let found = db::mlir_instruction(context.db, context.piece_input(op.piece), op.id);
                found.ok().map(|instruction| instruction.name.into())
            }
        }
    }

    /// The op from which an instruction of the computation was converted.
    pub(in crate::mlir) fn place_of(
        &self,
        context: &FileContext<'_>,
        function: FunctionRef,
        instruction: &str,
    ) -> Option<OpRef> {
        let (piece, id) = match self.function {
            Some(whole) => {
                let &(further, id) = whole.ops.get(instruction)?;
                (function.piece + further, id)
            }
            None => db::mlir_instruction_called(context.db, self.piece, instruction)?,
        };
        Some(OpRef { piece, id })
    }

    /// The id of the kernel of the function, or of one of its instructions.
    pub(in crate::mlir) fn kernel_id(&self, instruction: &str) -> KernelId<'a> {
        db::kernel_id(self.db, self.piece, self.nth, instruction)
    }
}
