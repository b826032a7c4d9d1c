//! Warnings about uncoalesced kernels of StableHLO functions, at the arguments or at the functions' names.

use gpu::Buffer;

use crate::file_context::FileContext;
use crate::kernel::coalescing_warnings::{CoalescingConfig, KernelWarnings, Wasteful, uncoalesced, wasteful};
use crate::kernel::launched::LaunchedKernel;
use crate::mlir::Mlir;
use crate::mlir::kernels::functions::{
    Converted, FunctionRef, argument_names, arguments, kernel_id_of, kernels, name_of, symbol,
};
use crate::mlir::kernels::unfused::{unfused, written};
use crate::semantics::Names;
use crate::symbol::Symbol;
use crate::{Diagnostic, Diagnostics, Related, Severity};

pub(crate) fn has_more_kernels_than(context: &FileContext<'_>, count: usize) -> bool {
    kernels(context).nth(count).is_some()
}

impl KernelWarnings for Mlir {
    /// The warnings of all functions that XLA would compile to one kernel, in text order.
    fn coalescing_warnings(
        &self,
        context: &FileContext<'_>,
        config: &CoalescingConfig,
        limit: usize,
    ) -> Diagnostics {
        let mut out = Diagnostics::default();
        for function in kernels(context) {
            crate::analysis::check_cancelled(context.db);
            let Some(id) = kernel_id_of(context, function) else { continue };
            // Most kernels waste little: those are not converted.
            if context.kernel_waste(id, config.threshold).is_empty() {
                continue;
            }
            let Some(converted) = Converted::of(context, function) else { continue };
            if !unfused(context, function, &converted).is_empty() {
                continue;
            }
            let operands = argument_names(context, function);
            let kernel = LaunchedKernel { id, name: converted.name.to_owned(), operands };
            let called =
                |op: &str| written(context, function, &converted, op).unwrap_or_else(|| format!("%{op}"));
            for wasteful in wasteful(context, &kernel, config, &called) {
                let Some(warning) = warning(context, function, &converted, &wasteful) else { continue };
                if out.shown.len() >= limit {
                    out.omitted += 1;
                    continue;
                }
                let mark = cause_mark(&warning).filter(|_| config.marks_causes);
                out.shown.push(warning);
                out.shown.extend(mark.filter(|_| out.shown.len() < limit));
            }
        }
        out
    }
}

/// A warning at the argument that is read, or at the name of the function whose result is written.
fn warning(
    context: &FileContext<'_>,
    function: FunctionRef,
    converted: &Converted<'_>,
    wasteful: &Wasteful,
) -> Option<Diagnostic> {
    let own = name_of(context, function)?;
    let range = match wasteful.buffer {
        Buffer::Operand(number) => {
            let bound = arguments(context, function).get(number as usize).copied();
            bound.map_or(own, |name| context.range(function.piece, name))
        }
        Buffer::Result(_) => own,
    };
    let mut message = wasteful.message.clone();
    if let Some(symbol) = symbol(context, function)
        && is_called(context, function, symbol)
    {
        message +=
            &format!("\nas the kernel of @{symbol} alone: where it is called XLA may fuse it otherwise");
    }
    let culprit = converted.place_of(context, function, &wasteful.culprit);
    let related = culprit.map(|op| Related {
        range: context.range(op.piece, context.mlir_piece(op.piece).parse.op(op.id).name),
        message: "the lanes diverge here".to_owned(),
    });
    Some(uncoalesced(range, message, related.into_iter().collect()))
}

/// A diagnostic of severity information at the op that causes the warning.
fn cause_mark(warning: &Diagnostic) -> Option<Diagnostic> {
    let range = warning.related.first()?.range.clone();
    let head = warning.message.lines().next().unwrap_or_default().to_owned();
    let related = vec![Related { range: warning.range.clone(), message: "the warning is here".to_owned() }];
    let mark = Diagnostic { severity: Severity::Information, ..uncoalesced(range.clone(), head, related) };
    (range != warning.range).then_some(mark)
}

fn is_called(context: &FileContext<'_>, function: FunctionRef, symbol: &str) -> bool {
    let start = context.mlir_piece(function.piece).parse.op(function.op).span.start;
    let part = context.part_at(function.piece, start);
    let symbol = Symbol::Global { part, name: symbol.to_owned() };
    Mlir.occurrences(context, &symbol).iter().any(|mention| !mention.is_definition())
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::fixture::open_mlir;
    use crate::{AnalysisHost, CoalescingConfig, Diagnostic, Language};

    fn found(text: &str, min_bytes: usize) -> Vec<Diagnostic> {
        let mut host = AnalysisHost::in_pieces_of(min_bytes);
        let file = host.open("a.mlir", Language::Mlir, text);
        let config = CoalescingConfig::default();
        host.analysis().coalescing_warnings(file, &config, 10).expect("nobody cancels").shown
    }

    fn check(text: &str, expect: Expect) {
        let (analysis, file, _) = open_mlir(text);
        let wrong = analysis.diagnostics(file, 9).expect("nobody cancels").shown;
        assert!(wrong.is_empty(), "the fixture is wrong: {wrong:?}");
        let mut shown = String::new();
        for d in &found(text, usize::MAX) {
            shown += &format!("«{}» {}\n", &text[d.range.clone()], d.message);
            for r in &d.related {
                shown += &format!("  at «{}» {}\n", &text[r.range.clone()], r.message);
            }
        }
        expect.assert_eq(&shown);
        assert_eq!(found(text, 1), found(text, usize::MAX));
        let none = CoalescingConfig { threshold: 100.0, ..CoalescingConfig::default() };
        assert!(analysis.coalescing_warnings(file, &none, 10).expect("nobody cancels").shown.is_empty());
    }

    /// Every 64th element is read, by consecutive lanes.
    const STRIDED: &str =
        "func.func @main(%x: tensor<1024x65536xf32>, %y: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %0 = stablehlo.slice %x [0:1024, 0:65536:64] : (tensor<1024x65536xf32>) -> tensor<1024x1024xf32>
  %1 = stablehlo.add %0, %y : tensor<1024x1024xf32>
  return %1 : tensor<1024x1024xf32>
}
";

    #[test]
    fn an_argument_is_read_with_a_stride() {
        check(
            STRIDED,
            expect![[r#"
                «%x» %x is read with a stride of 256 elements between lanes: 32 sectors per request, 4 would do; 33.6 MB moved, 4.19 MB used
                cause: slice %0
                XLA's heuristic agrees
                  at «stablehlo.slice» the lanes diverge here
                «stablehlo.slice» %x is read with a stride of 256 elements between lanes: 32 sectors per request, 4 would do; 33.6 MB moved, 4.19 MB used
                  at «%x» the warning is here
            "#]],
        );
    }

    #[test]
    fn of_a_function_that_is_called_it_is_said() {
        let text = STRIDED.replace("@main", "private @strided")
            + "func.func @main(%x: tensor<1024x65536xf32>, %y: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %0 = call @strided(%x, %y) : (tensor<1024x65536xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %0 : tensor<1024x1024xf32>
}
";
        check(
            &text,
            expect![[r#"
                «%x» %x is read with a stride of 256 elements between lanes: 32 sectors per request, 4 would do; 33.6 MB moved, 4.19 MB used
                cause: slice %0
                XLA's heuristic agrees
                as the kernel of @strided alone: where it is called XLA may fuse it otherwise
                  at «stablehlo.slice» the lanes diverge here
                «stablehlo.slice» %x is read with a stride of 256 elements between lanes: 32 sectors per request, 4 would do; 33.6 MB moved, 4.19 MB used
                  at «%x» the warning is here
            "#]],
        );
    }

    #[test]
    fn small_kernels_are_left_alone() {
        check(&STRIDED.replace("1024", "8").replace("65536", "512"), expect![[""]]);
    }
}
