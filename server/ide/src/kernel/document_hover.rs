//! The hover in a kernel's code: the map of the access on a line, the map that a name refers to, and the
//! instruction from which the line originates.

use gpu::Buffer;
use indexing_map::{PrintStyle, print_map};

use crate::file_context::FileContext;
use crate::hover::HoverConfig;
use crate::kernel::coalescing_queries::buffer_name;
use crate::kernel::document::{KernelDocument, KernelParam};
use crate::kernel::fusion::FusionQuery;
use crate::kernel::hover::memory;
use crate::kernel::launched::LaunchedKernel;
use crate::rich_text::{RichText, code, parts, strong};

/// The hover on a line of the document's body; `column` in bytes.
pub(crate) fn kernel_document_hover(
    context: &FileContext<'_>,
    query: &FusionQuery,
    document: &KernelDocument,
    line: usize,
    column: usize,
    config: &HoverConfig,
) -> Option<RichText> {
    let mut text = RichText::default();
    named_map(document, document.body.lines().nth(line)?, column, &mut text);
    access(context, query, document, line, &mut text);
    if let Some((_, name)) = document.instruction_of(line).and_then(|instruction| instruction.at.clone())
        && let Some(found) = context.semantics().hover(context, name.start, config)
    {
        if !text.is_empty() {
            text.divider();
            text.space();
        }
        text.append(found.text);
    }
    (!text.is_empty()).then_some(text)
}

/// The map of `#indexing_map3` on an MLIR line, from its definition above.
fn named_map(document: &KernelDocument, line: &str, column: usize, text: &mut RichText) -> Option<()> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut names = line.match_indices("#indexing_map").map(|(at, _)| {
        let end = line[at + 1..].find(|c| !is_word(c)).map_or(line.len(), |end| at + 1 + end);
        (at, &line[at..end])
    });
    // Elsewhere on a line, the first map is used.
    let first = names.clone().next()?;
    let (_, name) = names.find(|(at, name)| (*at..=at + name.len()).contains(&column)).unwrap_or(first);
    let definition = document.body.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "))?;
    let map = definition.split('"').nth(1)?;
    text.titled_map(code(name), map);
    Some(())
}

/// The map from the kernel's threads to the argument's elements that the line accesses, and the traffic.
fn access(
    context: &FileContext<'_>,
    query: &FusionQuery,
    document: &KernelDocument,
    line: usize,
    text: &mut RichText,
) -> Option<()> {
    let (_, argument) = *document.accesses.iter().find(|(at, _)| *at == line)?;
    let LaunchedKernel { id, operands, .. } = context.semantics().launched(context, query).ok()?;
    let Some(Ok(analysis)) = context.kernel(id) else { return None };
    let wanted = match document.code()?.params.get(argument)? {
        KernelParam { is_result: false, number, .. } => Buffer::Operand(*number as u32),
        KernelParam { number, .. } => Buffer::Result(*number),
    };
    let buffer = context.kernel_coalescing(id).iter().find(|buffer| buffer.buffer == wanted)?;
    text.paragraph(memory(&operands, analysis, buffer));
    let name = code(format!("%{}", buffer_name(&operands, analysis, wanted)));
    for access in &buffer.accesses {
        let map = &access.access.elements.map;
        if map.is_mapped() && !map.results().is_empty() {
            let title = strong(parts!["thread → ", name.clone()]);
            text.titled_map(title, &print_map(map, PrintStyle::Floordiv));
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::open;
    use crate::kernel::language::KernelLanguage;

    const MODULE: &str = "HloModule m

%fused {
  p = f32[512,512] parameter(0)
  q = f32[512,512]{0,1} parameter(1)
  ROOT a = f32[512,512] add(p, q)
}

ENTRY %e {
  x = f32[512,512] parameter(0)
  y = f32[512,512]{0,1} parameter(1)
  ROOT f = f32[512,512] fusion(x, y), kind=kLoop, calls=%fused
}
";

    /// All hovers on lines with `code`.
    #[track_caller]
    fn check(language: KernelLanguage, code: &str, expect: &[&str]) {
        let (analysis, file, _) = open(MODULE);
        let query = FusionQuery { instruction: "f".to_owned(), computation: None };
        let document = analysis.kernel_document(file, &query, language).expect("nobody cancels");
        let document = document.expect("it is in the module");
        let lines = document.body.lines().enumerate().filter(|(_, line)| line.contains(code));
        let popups: Vec<String> = lines
            .map(|(n, line)| {
                let column = line.find(code).expect("it is there");
                let config = HoverConfig::default();
                analysis
                    .kernel_document_hover(file, &query, &document, n, column, &config)
                    .expect("nobody cancels")
                    .unwrap_or_default()
                    .markdown()
            })
            .collect();
        for expect in expect {
            assert!(popups.iter().any(|popup| popup.contains(expect)), "{expect}: {popups:#?}");
        }
    }

    #[test]
    fn accesses_have_their_maps() {
        for (language, code) in [(KernelLanguage::Ptx, "ld.global"), (KernelLanguage::Mlir, "tensor.extract")]
        {
            let wasteful = "reads `%y`: strided by 512, 32 sectors per request (ideal 4)";
            check(language, code, &[wasteful, "**thread → `%x`**", "th_x", "parameter(1)"]);
        }
        check(KernelLanguage::Ptx, "st.global", &["writes `%a`: contiguous"]);
        check(KernelLanguage::Mlir, "arith.addf", &["add(p, q)"]);
    }

    #[test]
    fn names_of_maps_are_told() {
        check(KernelLanguage::Mlir, "xla.loop", &["`#indexing_map`", "(th_x, th_y, th_z"]);
    }
}
