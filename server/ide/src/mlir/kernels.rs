//! Kernels of functions of StableHLO: a function that could be one fusion is shown as its kernel, and so is a single op.

use std::ops::Range;
use std::sync::Arc;

use db::MlirFunction;
use ir::Opcode;
use mlir::{OpId, is_function_like};
use mlir_hlo::Slice;

use crate::TextRange;
use crate::code_lens::CodeLens;
use crate::fusion_kernel::{FusionError, FusionQuery};
use crate::kernel_document::{KernelDocument, KernelInstruction, ShownKernel, code_of, no_kernel};
use crate::kernel_lens::kernel_words;
use crate::kernel_preview::KernelLanguage;
use crate::kernels::KernelKey;
use crate::locate::{FileContext, InstructionRef};

/// Ops of a function that may be one kernel, at most.
const MAX_OPS: usize = 200;

/// A function with a body.
#[derive(Debug, Clone, Copy)]
struct FunctionRef {
    piece: usize,
    op: OpId,
}

/// The functions of a piece that have bodies, in the order of the text.
fn functions(context: &FileContext<'_>, piece: usize) -> Vec<FunctionRef> {
    let read = context.mlir_piece(piece);
    let has_ops = |&id: &OpId| {
        let mut blocks = read.parse.regions_of(id).flat_map(|region| read.parse.blocks_of(region));
        blocks.any(|block| read.parse.ops_of(block).next().is_some())
    };
    let all = Slice::whole(&read.parse, &read.text).functions().filter(has_ops);
    all.map(|op| FunctionRef { piece, op }).collect()
}

/// Whether all ops of a function are of a kind that XLA fuses: told by their names, without converting anything.
fn may_be_kernel(context: &FileContext<'_>, function: FunctionRef) -> bool {
    let read = context.mlir_piece(function.piece);
    let (parse, text) = (&read.parse, &*read.text);
    let Some(region) = parse.regions_of(function.op).next() else { return false };
    let Some(block) = parse.blocks_of(region).next() else { return false };
    let mut works = false;
    let mut count = 0;
    let is_fusible = |id: OpId| {
        count += 1;
        let name = parse.name(id, text);
        if name.ends_with("return") {
            return true;
        }
        let Some(opcode) = mlir_hlo::opcode_of(name) else { return false };
        works |= opcode != Opcode::Constant;
        count <= MAX_OPS && (gpu::is_wrapped(opcode) || opcode == Opcode::Constant)
    };
    parse.ops_of(block).all(is_fusible) && works
}

/// The symbol of a function, where its lens stands.
fn name_of(context: &FileContext<'_>, function: FunctionRef) -> Option<TextRange> {
    let read = context.mlir_piece(function.piece);
    let found = read.parse.symbols.iter().find(|s| s.op == function.op && s.is_definition)?;
    Some(context.range(function.piece, found.span))
}

/// Names of functions that may be kernels, in the order of the text.
pub(crate) fn code_lens_places(context: &FileContext<'_>, kernels: bool, limit: usize) -> Vec<TextRange> {
    let pieces = (0..context.pieces()).filter(|_| kernels);
    let all = pieces.flat_map(|piece| functions(context, piece));
    all.filter(|f| may_be_kernel(context, *f)).filter_map(|f| name_of(context, f)).take(limit).collect()
}

pub(crate) fn code_lens(context: &FileContext<'_>, offset: usize) -> Option<CodeLens> {
    let function = function_at(context, offset)?;
    let range = name_of(context, function).filter(|range| range.start == offset)?;
    let (key, _) = key_of(context, function, None)?;
    let title = kernel_words(context, &key)?;
    Some(CodeLens { range, title, callers: Vec::new(), is_kernel: true })
}

/// The function around a place.
fn function_at(context: &FileContext<'_>, offset: usize) -> Option<FunctionRef> {
    let at = context.op_at(offset)?;
    let read = context.mlir_piece(at.piece);
    let path = read.parse.path_to(at.id);
    let op = path.into_iter().find(|&id| is_function_like(read.parse.name(id, &read.text)))?;
    functions(context, at.piece).into_iter().find(|f| f.op == op)
}

/// The kernel of a function, or of one of its instructions.
fn key_of<'a>(
    context: &FileContext<'a>,
    function: FunctionRef,
    instruction: Option<&str>,
) -> Option<(KernelKey, &'a Arc<MlirFunction>)> {
    let piece = *context.view.file.pieces(context.db).get(function.piece)?;
    let nth = db::mlir_functions(context.db, piece).iter().position(|(_, f)| f.op == function.op)? as u32;
    let converted = db::mlir_function(context.db, piece, nth).as_ref()?;
    let name = instruction.unwrap_or(&converted.name);
    Some((KernelKey::of(piece, nth, name.into()), converted))
}

/// The kernel at a place: that of the op, where XLA would wrap it alone; else that of the function.
pub(crate) fn shown_kernel(context: &FileContext<'_>, offset: usize) -> Option<ShownKernel> {
    let function = function_at(context, offset)?;
    let (_, converted) = key_of(context, function, None)?;
    let at = context.op_at(offset)?;
    let read = context.mlir_piece(at.piece);
    let own = read.parse.path_to(at.id).into_iter().find(|&id| read.parse.parent(id) == Some(function.op));
    let wrapped = own
        .filter(|_| !name_of(context, function).is_some_and(|range| range.contains(&offset)))
        .and_then(|id| {
            let opcode = mlir_hlo::opcode_of(read.parse.name(id, &read.text))?;
            gpu::is_wrapped(opcode).then(|| converted.instruction_of(id)).flatten().map(|name| (id, name))
        });
    let (range, instruction) = match wrapped {
        Some((id, name)) => (context.range(at.piece, read.parse.op(id).name), name.to_owned()),
        None if may_be_kernel(context, function) => (name_of(context, function)?, converted.name.to_string()),
        None => return None,
    };
    Some(ShownKernel { instruction, computation: converted.name.to_string(), range, has_code: true })
}

/// The function whose computation is called so.
fn find(context: &FileContext<'_>, query: &FusionQuery) -> Option<FunctionRef> {
    let wanted = query.computation.as_deref().unwrap_or(&query.instruction);
    let mut all: Vec<FunctionRef> =
        (0..context.pieces()).flat_map(|piece| functions(context, piece)).collect();
    // Names of computations are symbols, but for letters that HLO does not have: those of the same name are looked at first.
    all.sort_by_key(|f| {
        let read = context.mlir_piece(f.piece);
        let symbols = &read.parse.symbols;
        let found = symbols.iter().find(|s| s.op == f.op && s.is_definition);
        found.is_none_or(|s| db::symbol_name(s.span.of(&read.text)) != wanted)
    });
    let is_it = |f: &FunctionRef| {
        let piece = context.view.file.pieces(context.db)[f.piece];
        let found = db::mlir_functions(context.db, piece).iter().find(|(_, function)| function.op == f.op);
        found.and_then(|(_, f)| f.computations.last()).is_some_and(|computation| *computation.name == *wanted)
    };
    all.into_iter().find(is_it)
}

/// The document of one kernel, as for HLO.
pub(crate) fn kernel_document(
    context: &FileContext<'_>,
    query: &FusionQuery,
    language: KernelLanguage,
) -> Result<KernelDocument, FusionError> {
    let not_found = || FusionError::NotFound(format!("{} is not in the module", query.instruction));
    let function = find(context, query).ok_or_else(not_found)?;
    let (key, converted) = key_of(context, function, Some(&query.instruction)).ok_or_else(not_found)?;
    let mut document = KernelDocument { head: vec![format!("%{}", query.instruction)], ..Default::default() };
    let analysis = match context.kernel(&key) {
        None => return Err(not_found()),
        Some(Err(reason)) => return Ok(no_kernel(document, reason)),
        Some(Ok(analysis)) => analysis,
    };
    document.head[0] =
        format!("%{} · {} · {}", query.instruction, analysis.emitter.name(), context.db.device().name);
    let text = match context.kernel_text(&key, language) {
        None => return Ok(no_kernel(document, "the op has no known shape")),
        Some(Err(reason)) => return Ok(no_kernel(document, reason)),
        Some(Ok(text)) => text,
    };
    code_of(&mut document, analysis, text, |op| {
        let name = analysis.fused.name(op);
        let own = converted.ops.get(name).copied();
        let parse = &context.mlir_piece(function.piece).parse;
        let at = own.map(|id| {
            let op = parse.op(id);
            (context.range(function.piece, op.head), context.range(function.piece, op.name))
        });
        let refs = own.map(|id| InstructionRef { piece: function.piece, id }).into_iter().collect();
        KernelInstruction { name: name.to_owned(), at, refs }
    });
    Ok(document)
}

/// Runs of lines of the document's body that come from the op at `offset`, or from the op around it.
pub(crate) fn kernel_lines(
    context: &FileContext<'_>,
    document: &KernelDocument,
    offset: usize,
) -> Vec<Range<usize>> {
    let Some(at) = context.op_at(offset) else { return Vec::new() };
    let mut path = context.mlir_piece(at.piece).parse.path_to(at.id);
    path.reverse();
    for id in path {
        let here = InstructionRef { piece: at.piece, id };
        let own = document.instructions.iter().enumerate().filter(|(_, i)| i.refs.contains(&here));
        let own: Vec<u32> = own.map(|(n, _)| n as u32).collect();
        if !own.is_empty() {
            return document.lines_of(&own);
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use crate::fixture::open_mlir;
    use crate::kernel_preview::KernelLanguage;
    use crate::{AnalysisHost, FusionQuery, Language, TextEdit};

    const SOFTMAX: &str = "module {
  func.func public @main(%arg0: tensor<64x66xf32>, %arg1: tensor<66xf32>) -> tensor<64x66xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<66xf32>) -> tensor<64x66xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<64x66xf32>
    %2 = call @twice(%1) : (tensor<64x66xf32>) -> tensor<64x66xf32>
    return %2 : tensor<64x66xf32>
  }
  func.func private @$0twice(%x: tensor<64x66xf32>) -> tensor<64x66xf32> {
    %0 = stablehlo.add %x, %x : tensor<64x66xf32>
    %1 = stablehlo.tanh %0 : tensor<64x66xf32>
    return %1 : tensor<64x66xf32>
  }
}
";

    #[test]
    fn a_function_has_a_lens_and_a_kernel() {
        let (analysis, file, offset) = open_mlir(SOFTMAX);
        let places = analysis.code_lens_places(file, true, 100).expect("nobody cancels");
        let text = analysis.rope(file).to_string();
        assert_eq!(places.iter().map(|p| &text[p.clone()]).collect::<Vec<_>>(), ["@twice"]);
        let lens = analysis.code_lens(file, places[0].start).expect("nobody cancels").expect("a lens");
        assert!(lens.title.starts_with("loop · grid "), "{}", lens.title);
        let shown = analysis.shown_kernel(file, offset).expect("nobody cancels").expect("a kernel");
        assert_eq!((shown.instruction.as_str(), shown.computation.as_str()), ("twice", "twice"));
        let query = FusionQuery { instruction: shown.instruction, computation: Some(shown.computation) };
        let document = analysis
            .kernel_document(file, &query, KernelLanguage::Mlir)
            .expect("nobody cancels")
            .expect("a kernel");
        assert!(document.body.contains("math.tanh"), "{}", document.body);
        // Each line leads to its op, and each op to its lines.
        let line = document.body.lines().position(|l| l.contains("math.tanh")).expect("it is there");
        let (range, _) =
            document.instruction_of(line).and_then(|i| i.at.clone()).expect("it comes from an op");
        assert!(text[range.clone()].starts_with("%1 = stablehlo.tanh"));
        let lines = analysis.kernel_lines(file, &query, &document, range.start).expect("nobody cancels");
        assert!(lines.iter().any(|run| run.contains(&line)), "{lines:?}");
    }

    #[test]
    fn an_op_alone_has_a_kernel_and_follows_edits() {
        let text = SOFTMAX.replace("$0", "");
        let mut host = AnalysisHost::new();
        let file = host.open("a.mlir", Language::Mlir, &text);
        let at = text.find("stablehlo.add %arg0").expect("it is there");
        let shown = host.analysis().shown_kernel(file, at).expect("nobody cancels").expect("a kernel");
        assert_eq!((shown.instruction.as_str(), shown.computation.as_str()), ("add.1", "main"));
        let query = FusionQuery { instruction: shown.instruction, computation: Some(shown.computation) };
        let code = |host: &AnalysisHost| {
            let document = host.analysis().kernel_document(file, &query, KernelLanguage::Mlir);
            document.expect("nobody cancels").expect("a kernel").body
        };
        assert!(code(&host).contains("arith.addf"), "{}", code(&host));
        host.apply(
            file,
            &[TextEdit { range: at..at + "stablehlo.add".len(), insert: "stablehlo.multiply".into() }],
        );
        // The name follows the opcode.
        let shown = host.analysis().shown_kernel(file, at).expect("nobody cancels").expect("a kernel");
        assert_eq!(shown.instruction, "multiply.1");
    }
}
