//! Maps a position in the HLO to the kernel's lines that originate from it.

use std::ops::Range;

use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;
use crate::kernel::document::KernelDocument;
use crate::kernel::fusion::FusionQuery;

/// Line ranges of the document's body that originate from the instruction at `offset`: an instruction of the
/// fused computation, an operand of the fusion, or the fusion itself, which maps to the kernel's first line.
/// For a region applied by an instruction, the lines of that instruction.
pub(crate) fn kernel_lines(
    context: &FileContext<'_>,
    query: &FusionQuery,
    document: &KernelDocument,
    offset: usize,
) -> Vec<Range<usize>> {
    const MAX_DEPTH: usize = 16;
    let kernel = context.find_instruction(query.computation.as_deref(), &query.instruction);
    let mut at = context.instruction_at(offset);
    for _ in 0..MAX_DEPTH {
        let Some(here) = at else { break };
        let own = places(document, here);
        if !own.is_empty() {
            return document.lines_of(&own);
        }
        if Some(here) == kernel {
            return signature(document).map(|line| line..line + 1).into_iter().collect();
        }
        at = context.caller(here);
    }
    Vec::new()
}

fn places(document: &KernelDocument, at: InstructionRef) -> Vec<u32> {
    let of = document.instructions.iter().enumerate().filter(|(_, i)| i.refs.contains(&at));
    of.map(|(n, _)| n as u32).collect()
}

/// The line on which the kernel begins.
fn signature(document: &KernelDocument) -> Option<usize> {
    let is_first =
        |line: &str| line.starts_with(".visible .entry") || line.trim_start().starts_with("func.func");
    document.body.lines().position(is_first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::open;
    use crate::kernel::language::KernelLanguage;

    const MODULE: &str = "HloModule m

%twice {
  p.1 = f32[64,66] parameter(0)
  t = f32[64,66] add(p.1, p.1)
  ROOT w = f32[64,66] sqrt(t)
}

%fused {
  p = f32[64,66] parameter(0)
  e = f32[64,66] exponential(p)
  ROOT i = f32[64,66] fusion(e), kind=kLoop, calls=%twice
}

ENTRY %e {
  x = f32[64,66] parameter(0)
  y = f32[64,66] parameter(1)
  ROOT f = f32[64,66] fusion(x), kind=kLoop, calls=%fused
}
";

    /// Checks the lines of PTX shown for the cursor before `mark`.
    #[track_caller]
    fn check(mark: &str, expect: Option<&str>) {
        let (analysis, file, offset) = open(&MODULE.replacen(mark, &format!("$0{mark}"), 1));
        let query = FusionQuery { instruction: "f".to_owned(), computation: None };
        let document = analysis.kernel_document(file, &query, KernelLanguage::Ptx).expect("nobody cancels");
        let document = document.expect("it is in the module");
        let runs = analysis.kernel_lines(file, &query, &document, offset).expect("nobody cancels");
        let lines: Vec<&str> = document.body.lines().collect();
        let code = runs.iter().flat_map(|run| &lines[run.clone()]);
        let found = match expect {
            Some(expect) => code.clone().any(|line| line.contains(expect)),
            None => runs.is_empty(),
        };
        assert!(found, "{mark}: {:?}", code.collect::<Vec<_>>());
    }

    #[test]
    fn the_cursor_leads_to_lines() {
        check("e = f32", Some("ex2.approx"));
        check("w = f32", Some("sqrt"));
        check("t = f32", Some("add.rn.f32"));
        check("p = f32", Some("ld.global"));
        check("x = f32", Some("ld.global"));
        check("y = f32", None);
        check("f = f32", Some(".visible .entry f("));
    }
}
