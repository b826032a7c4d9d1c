//! The kernel part of the hover of a StableHLO function that could be one fusion.

use crate::file_context::FileContext;
use crate::kernel::fusion::{FusionError, FusionQuery};
use crate::kernel::hover::kernel_sections;
use crate::kernel::launched::LaunchedKernel;
use crate::mlir::kernels::functions::{Converted, FunctionRef, argument_names, functions, may_be_kernel};
use crate::mlir::kernels::named::{named, not_found};
use crate::mlir::kernels::shown_kernel;
use crate::mlir::kernels::unfused::{Unfused, unfused};
use crate::rich_text::{RichText, code, parts, quoted, strong};
use crate::symbol::Occurrence;

/// The kernel of the function defined here; empty if it has none.
pub(crate) fn kernel_hover(context: &FileContext<'_>, definition: &Occurrence) -> RichText {
    let defines = |f: &FunctionRef| {
        let parse = &context.mlir_piece(f.piece).parse;
        let mut symbols = parse.symbols.iter();
        symbols.any(|s| s.op == f.op && s.is_definition && s.span == definition.span)
    };
    let mut here = functions(context, definition.piece).into_iter();
    let function = here.find(defines).filter(|f| may_be_kernel(context, *f));
    let converted = function.and_then(|function| Some((function, Converted::of(context, function)?)));
    let mut text = RichText::default();
    let Some((function, converted)) = converted else { return text };
    let apart = unfused(context, function, &converted);
    if !apart.is_empty() {
        text.paragraph(parts![
            strong("several kernels"),
            " on ",
            context.db.device_of(context.view.file).name
        ]);
        for Unfused { op, reason, .. } in &apart {
            text.item(parts![code(op), " is not fused: ", quoted(reason)]);
        }
        return text;
    }
    let (name, operands) = (converted.name.to_owned(), argument_names(context, function));
    let kernel = LaunchedKernel { id: converted.kernel_id(&name), name, operands };
    let sections = kernel_sections(context, &kernel);
    text.append(sections.summary);
    text.append(sections.details);
    text
}

/// The kernel selected by a query, with the operands' names in the text.
pub(crate) fn launched<'a>(
    context: &FileContext<'a>,
    query: &FusionQuery,
) -> Result<LaunchedKernel<'a>, FusionError> {
    let (function, converted, name) = named(context, query).ok_or_else(|| not_found(query))?;
    let operands = match converted.place_of(context, function, &name) {
        Some(op) if name != converted.name => {
            let read = context.mlir_piece(op.piece);
            let names = read.parse.operands_of(op.id).map(|used| used.span.of(&read.text));
            names.map(|name| name.trim_start_matches('%').to_owned()).collect()
        }
        _ => argument_names(context, function),
    };
    Ok(LaunchedKernel { id: converted.kernel_id(&name), name, operands })
}

/// The kernel at an offset: of the op there, or of the function.
pub(crate) fn launched_at<'a>(context: &FileContext<'a>, offset: usize) -> Option<LaunchedKernel<'a>> {
    let shown = shown_kernel(context, offset)?;
    let computation = Some(shown.computation);
    launched(context, &FusionQuery { instruction: shown.instruction, computation }).ok()
}

#[cfg(test)]
mod tests {
    use crate::fixture::open_mlir;
    use crate::{AccessPatternQuery, FusionQuery, HoverConfig, KernelLanguage, Wanted};

    #[test]
    fn lanes_of_a_function_are_shown() {
        let (analysis, file, offset) = open_mlir(
            "func.func @f(%x: tensor<64x512xf32>) -> tensor<512x64xf32> {
  %0 = stablehlo.$0transpose %x, dims = [1, 0] : (tensor<64x512xf32>) -> tensor<512x64xf32>
  return %0 : tensor<512x64xf32>
}
",
        );
        let query = AccessPatternQuery::default();
        let pattern =
            analysis.access_pattern(file, offset, &query).expect("nobody cancels").expect("a kernel");
        assert_eq!(pattern.arrays, ["%x", "result %transpose.0"]);
        assert!(pattern.title.ends_with(" by %transpose.0"), "{}", pattern.title);
        let found = analysis.code_actions(file, offset..offset, Wanted::Titles).expect("nobody cancels");
        assert!(found.iter().any(|action| action.title == "Show access pattern"), "{found:?}");
    }

    /// Hovers on lines of the PTX use the function's names for arrays.
    #[test]
    fn accesses_have_the_names_of_arguments() {
        let (analysis, file, _) = open_mlir(
            "func.func @f(%x: tensor<512x8xf32>, %y: tensor<512x8xf32>) -> tensor<512x8xf32> {
  %0 = stablehlo.add %x, %y : tensor<512x8xf32>
  return %0 : tensor<512x8xf32>
}
",
        );
        for (instruction, computation) in [("f", None), ("%0", Some("f".to_owned()))] {
            let query = FusionQuery { instruction: instruction.to_owned(), computation };
            let document =
                analysis.kernel_document(file, &query, KernelLanguage::Ptx).expect("nobody cancels");
            let document = document.expect("a kernel");
            let loads = document.body.lines().enumerate().filter(|(_, line)| line.contains("ld.global"));
            let popups: Vec<String> = loads
                .filter_map(|(line, _)| {
                    let config = HoverConfig::default();
                    analysis
                        .kernel_document_hover(file, &query, &document, line, 0, &config)
                        .expect("nobody cancels")
                })
                .map(|popup| popup.markdown())
                .collect();
            for name in ["reads `%x`", "reads `%y`"] {
                assert!(
                    popups.iter().any(|popup| popup.starts_with(name)),
                    "{instruction}: {name}: {popups:?}"
                );
            }
        }
    }
}
