//! The outline: computations with their instructions.

use ir::SegmentRef;
use syntax::hlo::Opcode;

use crate::document_symbols::{Outline, note_omitted};
use crate::file_context::FileContext;
use crate::hlo::Hlo;
use crate::{DocumentSymbol, SymbolKind};

impl Outline for Hlo {
    /// Computations come first, so that a limit omits instructions of the last ones rather than computations.
    fn document_symbols(&self, context: &FileContext<'_>, limit: usize) -> (Vec<DocumentSymbol>, usize) {
        let module = context.module();
        let mut room = limit.saturating_sub(module.computations.len());
        let mut omitted = module.computations.len().saturating_sub(limit);
        let mut symbols = Vec::new();
        for (index, computation) in module.computations.iter().enumerate().take(limit) {
            let (Some(&first), Some(&last)) = (computation.segments.first(), computation.segments.last())
            else {
                continue;
            };
            let start = context.range(first.piece, context.computation(first).span).start;
            let end = context.range(last.piece, context.computation(last).span).end;
            let name = context.range(first.piece, context.computation(first).name);
            let mut symbol = DocumentSymbol {
                name: match computation.name.is_empty() {
                    true => "(computation)".to_owned(),
                    false => computation.name.to_string(),
                },
                detail: root_shape(context, &computation.segments),
                kind: if module.is_entry(index) { SymbolKind::Entry } else { SymbolKind::Computation },
                range: start..end,
                selection_range: if name.is_empty() { start..start } else { name },
                children: Vec::new(),
            };
            let mut omitted_here = 0;
            for &segment in &computation.segments {
                let count = context.computation(segment).instructions.len();
                let taken = count.min(room);
                omitted_here += count - taken;
                room -= taken;
                symbol.children.extend(instructions(context, segment, taken));
            }
            omitted += omitted_here;
            note_omitted(&mut symbol, omitted_here);
            symbols.push(symbol);
        }
        (symbols, omitted)
    }
}

fn root_shape(context: &FileContext<'_>, segments: &[SegmentRef]) -> String {
    let marked = segments.iter().rev().find(|s| {
        let range = context.computation(**s).instructions.clone();
        range.into_iter().any(|id| context.block(s.piece).instruction(id).is_root)
    });
    let Some(segment) = marked.or(segments.last()) else { return String::new() };
    let block = context.block(segment.piece);
    block
        .root(segment.computation)
        .and_then(|id| block.shape(id))
        .map(ToString::to_string)
        .unwrap_or_default()
}

/// The first `limit` instructions of a part of a computation.
fn instructions(context: &FileContext<'_>, segment: SegmentRef, limit: usize) -> Vec<DocumentSymbol> {
    let block = context.block(segment.piece);
    let range = block.parse.computations[segment.computation as usize].instructions.clone();
    let symbol = |id| {
        let instruction = block.instruction(id);
        if instruction.is_nested || instruction.name.is_empty() {
            return None;
        }
        let shape = block.shape(id).map(ToString::to_string).unwrap_or_default();
        let opcode = instruction.opcode.map(Opcode::name).unwrap_or_default();
        Some(DocumentSymbol {
            name: block.name(id).to_owned(),
            detail: format!("{shape} {opcode}"),
            kind: match instruction.opcode {
                Some(Opcode::Parameter) => SymbolKind::Parameter,
                Some(Opcode::Constant) => SymbolKind::Constant,
                _ => SymbolKind::Instruction,
            },
            range: context.range(segment.piece, instruction.span),
            selection_range: context.range(segment.piece, instruction.name),
            children: Vec::new(),
        })
    };
    range.take(limit).filter_map(symbol).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::fixture::{in_entry, open};

    fn check(lines: &str, limit: usize, expect: Expect) {
        let (analysis, file, _) = open(&in_entry(lines));
        let (symbols, omitted) = analysis.document_symbols(file, limit).expect("nobody cancels");
        let mut shown = String::new();
        for symbol in symbols {
            shown += &format!("{:?} {} -> {}\n", symbol.kind, symbol.name, symbol.detail);
            for child in symbol.children {
                assert!(symbol.range.start <= child.range.start && child.range.end <= symbol.range.end);
                shown += &format!("  {:?} {}: {}\n", child.kind, child.name, child.detail);
            }
        }
        expect.assert_eq(&format!("{shown}{omitted} omitted\n"));
    }

    const LINES: &str = "  p = f32[8] parameter(0)\n  z = f32[] constant(0)\n  ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply=%sum";

    #[test]
    fn computations_hold_their_instructions() {
        check(
            LINES,
            100,
            expect![[r#"
                Computation sum -> f32[]
                  Parameter a: f32[] parameter
                  Parameter b: f32[] parameter
                  Instruction s: f32[] add
                Entry e -> f32[]
                  Parameter p: f32[8] parameter
                  Constant z: f32[] constant
                  Instruction r: f32[] reduce
                0 omitted
            "#]],
        );
    }

    #[test]
    fn a_limit_leaves_out_instructions_first() {
        check(
            LINES,
            4,
            expect![[r#"
                Computation sum -> f32[]
                  Parameter a: f32[] parameter
                  Parameter b: f32[] parameter
                  Note … 1 more: not listed
                Entry e -> f32[]
                  Note … 3 more: not listed
                4 omitted
            "#]],
        );
    }
}
