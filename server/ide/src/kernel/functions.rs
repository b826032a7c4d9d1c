//! The functions into which a fused computation is partitioned: their instructions, and why each is split
//! off.

use gpu::{Partition, SplitReason};
use indexing_map::IndexingMap;
use ir::{Block, Graph, OpId, SegmentRef};
use syntax::hlo::{ComputationId, InstructionId};

use crate::TextRange;
use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;
use crate::rich_text::{Line, code, parts};

/// The lines of one function of a kernel, for editors that highlight functions in different colours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelFunction {
    /// Counted from 1; 1 is the function of the root.
    pub number: usize,
    pub name: String,
    /// The reason for the split: `also read through (d1, d0)`; `None` for the first.
    pub reason: Option<String>,
    /// Its instructions, in text order.
    pub lines: Vec<TextRange>,
}

/// A fused computation with its functions. `None` if XLA's own emitters do not generate the kernel, or no
/// fusion calls the computation.
pub(crate) fn partition_of<'a>(
    context: &FileContext<'a>,
    segment: SegmentRef,
) -> Option<(&'a Partition, &'a Graph)> {
    let fusion = context.fusion_of(context.module().computation_of(segment)?)?;
    let id = context.kernel_id(fusion)?;
    let Ok(analysis) = context.kernel(id)? else { return None };
    let is_elsewhere = matches!(analysis.emitter, gpu::Emitter::Elsewhere(_));
    Some((&**context.kernel_partition(id).filter(|_| !is_elsewhere)?, &analysis.fused.graph))
}

/// The functions of the fused computation at `offset`; empty for a single function.
pub(crate) fn kernel_functions(context: &FileContext<'_>, offset: usize) -> Vec<KernelFunction> {
    let Some(at) = context.instruction_at(offset) else { return Vec::new() };
    let Some(computation) = context.computation_id(at) else { return Vec::new() };
    let segment = SegmentRef { piece: at.piece, computation };
    let Some((partition, graph)) = partition_of(context, segment) else { return Vec::new() };
    if partition.functions.len() < 2 {
        return Vec::new();
    }
    let block = context.block(at.piece);
    let functions = partition.functions.iter().enumerate().map(|(i, function)| {
        let mut lines: Vec<TextRange> = function
            .ops
            .iter()
            .filter_map(|&op| written(block, computation, graph, op))
            .map(|id| context.range(at.piece, block.instruction(id).span))
            .collect();
        lines.sort_by_key(|line| line.start);
        KernelFunction { number: i + 1, name: function.name.clone(), reason: why(&function.reason), lines }
    });
    functions.collect()
}

/// The instruction of an op of the kernel. `None` for an op of a nested fusion, which is in another
/// computation.
fn written(block: &Block, computation: ComputationId, graph: &Graph, op: OpId) -> Option<InstructionId> {
    let found = block.find(computation, &graph.names[op as usize])?;
    (block.instruction(found).opcode == Some(graph.ops[op as usize].opcode)).then_some(found)
}

/// Hints at the roots of all functions but the first: `// fn 2 of 3: also read through (d1, d0)`, each with
/// the map that was found first.
pub(crate) fn split_hints(
    context: &FileContext<'_>,
    segment: SegmentRef,
) -> Vec<(InstructionRef, String, Line)> {
    let Some((partition, graph)) = partition_of(context, segment) else { return Vec::new() };
    let block = context.block(segment.piece);
    let count = partition.functions.len();
    let hints = partition.functions.iter().enumerate().skip(1).filter_map(|(i, function)| {
        let id = written(block, segment.computation, graph, function.root)?;
        let reason = why(&function.reason)?;
        let label = format!("// fn {} of {count}: {reason}", i + 1);
        let at = InstructionRef { piece: segment.piece, id };
        Some((at, label, explained(&function.reason)))
    });
    hints.collect()
}

/// The reason for a split, as text after `fn 2 of 3: `.
pub(crate) fn why(reason: &SplitReason) -> Option<String> {
    let function = |n: &u32| format!("fn {}", n + 1);
    Some(match reason {
        SplitReason::NoUser | SplitReason::Forced => return None,
        SplitReason::Hero => "the hero, before its epilogue".to_owned(),
        SplitReason::ReadByHero => "read by the hero".to_owned(),
        SplitReason::Result => "a result of the kernel".to_owned(),
        SplitReason::SeveralFunctions(users) => {
            format!("used by {}", users.iter().map(function).collect::<Vec<_>>().join(" and "))
        }
        SplitReason::SeveralMaps { second, .. } => format!("also read through {}", results(second)),
        SplitReason::TooLarge { user } => format!("{} would be too large", function(user)),
    })
}

/// The reason for a split, with both maps.
pub(crate) fn explained(reason: &SplitReason) -> Line {
    match reason {
        SplitReason::SeveralMaps { user, first, second } => {
            let [first, second] = [first, second].map(|map| code(results(map)));
            parts![format!("from the index of fn {}: at ", user + 1), first, " and at ", second]
        }
        other => why(other).unwrap_or_default().into(),
    }
}

fn results(map: &IndexingMap) -> String {
    let text = map.to_string();
    let results = text.split_once(" -> ").map_or(text.as_str(), |(_, results)| results);
    results.split(", domain:").next().unwrap_or(results).to_owned()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::fixture::open;
    use crate::rich_text::Line;
    use crate::{DomainHints, InlayHintsConfig};

    const TEXT: &str = "HloModule m

fused {
  p = f32[4,4] parameter(0)
  e = f32[4,4] exponential(p)
  t = f32[4,4] transpose(e), dimensions={1,0}
  ROOT $0r = f32[4,4] add(e, t)
}

ENTRY e {
  p = f32[4,4] parameter(0)
  ROOT f = f32[4,4] fusion(p), kind=kLoop, calls=fused
}
";

    #[test]
    fn functions_have_lines_and_reasons() {
        let (analysis, file, offset) = open(TEXT);
        let text = analysis.text(file).to_string();
        let functions = analysis.kernel_functions(file, offset).expect("nobody cancels");
        let shown: Vec<String> = functions
            .iter()
            .map(|f| {
                let lines: Vec<&str> =
                    f.lines.iter().map(|l| text[l.clone()].split(" =").next().unwrap()).collect();
                format!("{} {} {lines:?} {:?}\n", f.number, f.name, f.reason)
            })
            .collect();
        let expect: Expect = expect![[r#"
            1 fused_r ["t", "ROOT r"] None
            2 fused_e ["p", "e"] Some("also read through (d1, d0)")
        "#]];
        expect.assert_eq(&shown.concat());
    }

    #[test]
    fn splits_have_hints() {
        let (analysis, file, _) = open(TEXT);
        let text = analysis.text(file).to_string();
        let config = InlayHintsConfig { domains: DomainHints::Off, splits: true, memory: false };
        let hints = analysis.inlay_hints(file, 0..text.len(), &config).expect("nobody cancels");
        let shown: Vec<_> =
            hints.iter().map(|h| (h.label.as_str(), h.tooltip.as_ref().map(Line::markdown))).collect();
        assert_eq!(
            shown,
            [(
                "// fn 2 of 2: also read through (d1, d0)",
                Some("from the index of fn 1: at `(d0, d1)` and at `(d1, d0)`".to_owned())
            )]
        );
    }
}
