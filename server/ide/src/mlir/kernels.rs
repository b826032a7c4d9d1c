//! Kernels of StableHLO functions: of a function that could be one fusion, or of a single op.

pub(super) mod functions;
pub(crate) mod hover;
pub(crate) mod named;
pub(super) mod unfused;

use std::ops::Range;

use mlir::OpId;

use crate::TextRange;
use crate::code_lens::{CodeLens, CodeLenses};
use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;
use crate::kernel::access_pattern::Accessing;
use crate::kernel::document::{KernelDocument, KernelInstruction, code_of, not_emitted};
use crate::kernel::elsewhere::by_whom;
use crate::kernel::fusion::{FusionError, FusionQuery};
use crate::kernel::language::KernelLanguage;
use crate::kernel::launched::LaunchedKernel;
use crate::kernel::lens::{KernelLens, lens_of_kernel};
use crate::kernel::shown_kernel::ShownKernel;
use crate::mlir::Mlir;
use crate::mlir::context::OpRef;
use crate::mlir::kernels::functions::{
    Converted, FunctionRef, all_functions, computation, function_at, is_of_hlo, may_be_kernel, name_of,
    symbol, why_no_kernel,
};
use crate::mlir::kernels::named::{named, not_found};
use crate::mlir::kernels::unfused::{Unfused, unfused};
use crate::semantics::Kernels;

/// Why no kernels of MLIR text are listed.
pub(crate) const NOT_COMPILED: &str =
    "what XLA makes of MLIR is known when it is compiled: kernels are listed of optimized HLO";

impl CodeLenses for Mlir {
    /// Names of functions that may be kernels, in text order.
    fn code_lens_places(&self, context: &FileContext<'_>, kernels: bool, limit: usize) -> Vec<TextRange> {
        let limit = if kernels { limit } else { 0 };
        functions::kernels(context).filter_map(|f| name_of(context, f)).take(limit).collect()
    }

    fn code_lens(&self, context: &FileContext<'_>, offset: usize, _: bool) -> Option<CodeLens> {
        let function = function_at(context, offset)?;
        let range = name_of(context, function).filter(|range| range.start == offset)?;
        let converted = Converted::of(context, function)?;
        let KernelLens { time, details: title } = match unfused(context, function, &converted).as_slice() {
            [] => lens_of_kernel(context, converted.kernel_id(converted.name))?,
            apart => KernelLens { time: None, details: several_kernels(apart) },
        };
        Some(CodeLens { range, title, time, callers: Vec::new(), is_kernel: true })
    }
}

impl Kernels for Mlir {
    fn why_no_kernels(&self) -> &'static str {
        NOT_COMPILED
    }

    fn has_more_kernels_than(&self, context: &FileContext<'_>, count: usize) -> bool {
        crate::mlir::coalescing_warnings::has_more_kernels_than(context, count)
    }

    fn default_kernel(&self, context: &FileContext<'_>) -> Result<String, &'static str> {
        named::default_kernel(context)
    }

    fn shown_kernel(&self, context: &FileContext<'_>, offset: usize) -> Option<ShownKernel> {
        shown_kernel(context, offset)
    }

    fn kernel_document(
        &self,
        context: &FileContext<'_>,
        query: &FusionQuery,
        language: KernelLanguage,
    ) -> Result<KernelDocument, FusionError> {
        let not_found = || not_found(query);
        let (function, converted, instruction) = named(context, query).ok_or_else(not_found)?;
        let id = converted.kernel_id(&instruction);
        let head = vec![format!("%{instruction}")];
        if instruction == converted.name
            && let Some(reason) = why_no_kernel(context, function)
        {
            return Ok(not_emitted(head, &reason));
        }
        let analysis = match context.kernel(id) {
            None => return Err(not_found()),
            Some(Err(reason)) => return Ok(not_emitted(head, reason)),
            Some(Ok(analysis)) => analysis,
        };
        let elsewhere = by_whom(analysis);
        let mut head = vec![format!(
            "%{instruction} · {} · {}",
            analysis.emitter.name(),
            context.db.device_of(context.view.file).name
        )];
        let apart = match instruction == converted.name {
            true => unfused(context, function, &converted),
            false => Vec::new(),
        };
        if !apart.is_empty() {
            let apart = apart.iter().map(|Unfused { op, reason, .. }| format!("{op} is not fused: {reason}"));
            let one = match elsewhere {
                Some(_) => "several kernels",
                None => "as one kernel, which XLA does not make of it",
            };
            head.push(format!("{one}: {}", apart.collect::<Vec<_>>().join("; ")));
        } else if let Some(reason) = &elsewhere {
            head.push(format!("no kernel of XLA's emitters: {reason}"));
        }
        if let Some(reason) = elsewhere {
            return Ok(KernelDocument::without_code(head, FusionError::NotEmitted(reason.into())));
        }
        Ok(code_of(context, id, head, analysis, language, |op| {
            let name = analysis.fused.name(op);
            let is_shown = converted.function.is_some() || *name == *instruction;
            let own = if is_shown { converted.place_of(context, function, name) } else { None };
            let at = own.map(|own| {
                let op = context.mlir_piece(own.piece).parse.op(own.id);
                (context.range(own.piece, op.head), context.range(own.piece, op.name))
            });
            let refs = own.map(|own| InstructionRef { piece: own.piece, id: own.id }).into_iter().collect();
            KernelInstruction { name: name.to_owned(), fused_name: name.to_owned(), at, refs }
        }))
    }

    fn kernel_lines(
        &self,
        context: &FileContext<'_>,
        _: &FusionQuery,
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

    fn launched<'a>(
        &self,
        context: &FileContext<'a>,
        query: &FusionQuery,
    ) -> Result<LaunchedKernel<'a>, FusionError> {
        hover::launched(context, query)
    }

    fn launched_in<'a>(&self, context: &FileContext<'a>, range: &TextRange) -> Option<LaunchedKernel<'a>> {
        hover::launched_at(context, range.start)
    }

    fn accessing_at<'a>(&self, context: &FileContext<'a>, offset: usize) -> Option<Accessing<'a>> {
        hover::launched_at(context, offset).map(Accessing::from)
    }
}

/// `several kernels: %0 and %7 are not fused into what reads them`
fn several_kernels(unfused: &[Unfused]) -> String {
    let names_of = |is_left: bool| {
        let all = unfused.iter().filter(|unfused| unfused.is_left_to_others == is_left);
        all.map(|unfused| unfused.op.as_str()).collect::<Vec<&str>>()
    };
    let mut parts = Vec::new();
    match names_of(false).as_slice() {
        [] => {}
        [one] => parts.push(format!("{one} is not fused into what reads it")),
        names => parts.push(format!("{} are not fused into what reads them", names.join(", "))),
    }
    match names_of(true).as_slice() {
        [] => {}
        [one] => parts.push(format!("{one} is a library's or Triton's")),
        names => parts.push(format!("{} are a library's or Triton's", names.join(", "))),
    }
    format!("several kernels: {}", parts.join("; "))
}

/// The kernel at an offset: of the op if XLA would wrap it alone, else of the function, or the reason why it
/// has none.
pub(crate) fn shown_kernel(context: &FileContext<'_>, offset: usize) -> Option<ShownKernel> {
    let function = function_at(context, offset)?;
    let converted = Converted::of(context, function)?;
    let at = context.op_at(offset)?;
    let read = context.mlir_piece(at.piece);
    let is_function = |id: OpId| {
        let start = context.start_of(OpRef { id, ..at });
        start.is_some_and(|(start, _)| (start.piece, start.id) == (function.piece, function.op))
    };
    let own =
        read.parse.path_to(at.id).into_iter().find(|&id| read.parse.parent(id).is_some_and(is_function));
    let instruction_of = |id: OpId| converted.instruction_of(context, function, OpRef { id, ..at });
    let wrapped = own
        .filter(|_| !name_of(context, function).is_some_and(|range| range.contains(&offset)))
        .and_then(|id| {
            let opcode = mlir_hlo::opcode_of(read.parse.name(id, &read.text))?;
            gpu::is_wrapped(opcode).then(|| instruction_of(id)).flatten().map(|name| (id, name))
        });
    let (range, instruction, has_code) = match wrapped {
        Some((id, name)) => {
            let kernel = context.kernel(converted.kernel_id(&name));
            let is_elsewhere = matches!(kernel, Some(Ok(analysis)) if by_whom(analysis).is_some());
            (context.range(at.piece, read.parse.op(id).name), name, !is_elsewhere)
        }
        None => {
            let kernel = context.kernel(converted.kernel_id(converted.name));
            let is_elsewhere = matches!(kernel, Some(Ok(analysis)) if by_whom(analysis).is_some());
            let has_code = may_be_kernel(context, function) && !is_elsewhere;
            // Its document states the reason.
            let is_shown = has_code || is_of_hlo(context, function);
            let range = name_of(context, function).filter(|_| is_shown)?;
            let name = converted.name.to_owned();
            return Some(ShownKernel {
                instruction: name.clone(),
                computation: name,
                range,
                has_code,
                has_tiles: false,
            });
        }
    };
    Some(ShownKernel {
        instruction,
        computation: converted.name.to_owned(),
        range,
        has_code,
        has_tiles: false,
    })
}

/// The function whose computation has this name.
pub(super) fn find<'a>(
    context: &FileContext<'a>,
    query: &FusionQuery,
) -> Option<(FunctionRef, Converted<'a>)> {
    let wanted = query.computation.as_deref().unwrap_or(&query.instruction);
    let mut all = all_functions(context);
    // A computation has the name of its symbol, except for characters that HLO does not allow. Functions with
    // the same name are tried first.
    all.sort_by_key(|f| symbol(context, *f) != Some(wanted));
    let is_it = |f: &FunctionRef| computation(context, *f).is_some_and(|(_, name)| name == wanted);
    all.into_iter().filter(is_it).find_map(|function| Some((function, Converted::of(context, function)?)))
}

#[cfg(test)]
mod tests {
    use crate::fixture::open_mlir;
    use crate::kernel::language::KernelLanguage;
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
        let text = analysis.text(file).to_string();
        assert_eq!(places.iter().map(|p| &text[p.clone()]).collect::<Vec<_>>(), ["@twice"]);
        let lens = analysis.code_lens(file, places[0].start, true).expect("nobody cancels").expect("a lens");
        assert_eq!((lens.time.is_some(), lens.title.as_str()), (true, "loop · 33 × 128 threads · 33.8 kB"));
        let shown = analysis.shown_kernel(file, offset).expect("nobody cancels").expect("a kernel");
        assert_eq!((shown.instruction.as_str(), shown.computation.as_str()), ("twice", "twice"));
        let query = FusionQuery { instruction: shown.instruction, computation: Some(shown.computation) };
        let document = analysis
            .kernel_document(file, &query, KernelLanguage::Mlir)
            .expect("nobody cancels")
            .expect("a kernel");
        assert!(document.body.contains("math.tanh"), "{}", document.body);
        // Each line maps to its op, and each op to its lines.
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
        // The name is derived from the opcode.
        let shown = host.analysis().shown_kernel(file, at).expect("nobody cancels").expect("a kernel");
        assert_eq!(shown.instruction, "multiply.1");
    }

    /// A long cut function, whose ops are converted individually.
    #[test]
    fn ops_of_long_functions_have_kernels() {
        let add = |n: usize| format!("    %{n} = stablehlo.add %{}, %a : tensor<64x66xf32>\n", n - 1);
        let body: String = (1..400).map(add).collect();
        let text = format!(
            "\
func.func @main(%a: tensor<64x66xf32>) -> tensor<f32> {{
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.tanh %a : tensor<64x66xf32>
{body}    %sum = stablehlo.reduce(%399 init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<64x66xf32>, tensor<f32>) -> tensor<f32>
    %erf = chlo.erf %399 : tensor<64x66xf32> -> tensor<64x66xf32>
    return %sum : tensor<f32>
}}
"
        );
        let shown = |min_bytes: usize, at: usize| {
            let mut host = AnalysisHost::in_pieces_of(min_bytes);
            let file = host.open("a.mlir", Language::Mlir, &text);
            let analysis = host.analysis();
            let shown = analysis.shown_kernel(file, at).expect("nobody cancels")?;
            let query = FusionQuery {
                instruction: shown.instruction.clone(),
                computation: Some(shown.computation.clone()),
            };
            let document =
                analysis.kernel_document(file, &query, KernelLanguage::Ptx).expect("nobody cancels");
            let document = document.expect("a kernel");
            assert!(document.code().is_some(), "{:?}", document.head);
            let lines = analysis.kernel_lines(file, &query, &document, at).expect("nobody cancels");
            assert!(!lines.is_empty());
            Some((shown, document.text(&[]).0, lines))
        };
        for op in ["tanh %a", "add %0, %a", "add %300, %a", "reduce(%399"] {
            let at = text.find(op).expect("it is there");
            let whole = shown(usize::MAX, at);
            assert!(whole.is_some(), "{op}");
            for min_bytes in [1, 1000] {
                assert_eq!(shown(min_bytes, at), whole, "{op}");
            }
        }
    }

    #[test]
    fn functions_that_are_no_kernel_say_why() {
        let why = |text: &str, at: &str| {
            let (analysis, file, offset) = open_mlir(&text.replacen(at, &format!("$0{at}"), 1));
            let shown = analysis.shown_kernel(file, offset).expect("nobody cancels")?;
            assert!(!shown.has_code);
            let query = FusionQuery { instruction: shown.instruction, computation: Some(shown.computation) };
            let document =
                analysis.kernel_document(file, &query, KernelLanguage::Mlir).expect("nobody cancels");
            document.expect("there is a function").head.pop()
        };
        let text = SOFTMAX.replace("$0", "");
        assert_eq!(why(&text, "@main").as_deref(), Some("no kernel: call is not fused"));
        let text = text.replace(
            "stablehlo.tanh %0 : tensor<64x66xf32>",
            "chlo.erf %0 : tensor<64x66xf32> -> tensor<64x66xf32>",
        );
        assert_eq!(why(&text, "chlo.erf").as_deref(), Some("no kernel: chlo.erf: HLO has no such op"));
        let long = "    %a = stablehlo.add %x, %x : tensor<64x66xf32>\n".repeat(200);
        let text = text.replacen("    %0 = stablehlo.add %x", &format!("{long}    %0 = stablehlo.add %x"), 1);
        assert_eq!(why(&text, "@twice(%x").as_deref(), Some("no kernel: @twice has more than 200 ops"));
        assert_eq!(why("func.func @f(%a: f32) {\n  x.y %a : f32\n}\n", "@f"), None);
    }

    /// Only the second result of a reduction: the first has no memory.
    #[test]
    fn a_function_of_one_of_several_results_says_why_it_has_no_code() {
        let (analysis, file, _) = open_mlir(
            "\
func.func @$0argmax(%a: tensor<15xf32>, %i: tensor<15xi32>, %x: tensor<f32>, %n: tensor<i32>) -> tensor<i32> {
  %0:2 = stablehlo.reduce(%a init: %x), (%i init: %n) across dimensions = [0] : (tensor<15xf32>, tensor<15xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
   reducer(%p: tensor<f32>, %q: tensor<f32>) (%r: tensor<i32>, %s: tensor<i32>) {
    %m = stablehlo.maximum %p, %q : tensor<f32>
    %k = stablehlo.maximum %r, %s : tensor<i32>
    stablehlo.return %m, %k : tensor<f32>, tensor<i32>
  }
  return %0#1 : tensor<i32>
}
",
        );
        let query = FusionQuery { instruction: "argmax".to_owned(), computation: Some("argmax".to_owned()) };
        let document = analysis.kernel_document(file, &query, KernelLanguage::Ptx).expect("nobody cancels");
        let head = document.expect("a kernel").head;
        assert!(head.iter().any(|line| line.contains("one of several")), "{head:?}");
    }
}
