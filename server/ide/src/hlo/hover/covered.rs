//! The framework ops and source lines that a fusion covers.

use syntax::hlo::AttributeKey;

use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;
use crate::hlo::source_location::source_location;
use crate::rich_text::{Line, RichText, code};
use crate::source_location::SourceLocation;
use crate::units::{counted, shorten};

/// The largest number of framework ops in a hover.
const MAX_SHOWN: usize = 8;
/// Fusions in fusions beyond this depth are not entered.
const MAX_DEPTH: usize = 8;
/// Further instructions of a fusion are not looked at.
const MAX_INSTRUCTIONS: usize = 4096;

/// The instructions of a fusion with one framework op and source line.
struct Covered {
    location: SourceLocation,
    instructions: u64,
    /// Arithmetic operations and transcendental functions.
    arithmetic: u64,
}

/// A list of what a fusion covers, most arithmetic first; empty if that is its own op alone, and for other instructions.
pub(super) fn covered(context: &FileContext<'_>, at: InstructionRef, own: &SourceLocation) -> RichText {
    let mut text = RichText::default();
    let mut members = Vec::new();
    collect(context, at, 0, &mut members);
    let mut covered: Vec<Covered> = Vec::new();
    for member in members {
        crate::analysis::check_cancelled(context.db);
        let location = source_location(context, member);
        if location == SourceLocation::default() {
            continue;
        }
        let cost = context.op(member).map(|op| ir::op_cost(&op)).unwrap_or_default();
        let arithmetic = cost.flops.saturating_add(cost.transcendentals);
        match covered.iter_mut().find(|known| known.location == location) {
            Some(known) => {
                known.instructions += 1;
                known.arithmetic = known.arithmetic.saturating_add(arithmetic);
            }
            None => covered.push(Covered { location, instructions: 1, arithmetic }),
        }
    }
    if covered.iter().all(|covered| covered.location == *own) {
        return text;
    }
    covered.sort_by_key(|covered| std::cmp::Reverse((covered.arithmetic, covered.instructions)));
    text.space();
    text.line("covers, most arithmetic first");
    for entry in covered.iter().take(MAX_SHOWN) {
        let name = entry.location.op_name.as_deref().map(|name| Line::from(code(shorten(name, 120))));
        let place = entry.location.place().map(Line::from);
        let count = Line::from(counted(entry.instructions, "instruction"));
        text.item(Line::facts(name.into_iter().chain(place).chain([count])));
    }
    if covered.len() > MAX_SHOWN {
        text.item(counted((covered.len() - MAX_SHOWN) as u64, "more framework op"));
    }
    text
}

/// The instructions in the computation that a fusion calls, and in those of fusions in it.
fn collect(context: &FileContext<'_>, at: InstructionRef, depth: usize, members: &mut Vec<InstructionRef>) {
    let is_fusion = context.block(at.piece).instruction(at.id).opcode == Some(ir::Opcode::Fusion);
    if depth == MAX_DEPTH || !is_fusion {
        return;
    }
    for segment in context.called_by(at, AttributeKey::Calls, 0).unwrap_or_default() {
        for id in context.computation(segment).instructions.clone() {
            if members.len() >= MAX_INSTRUCTIONS {
                return;
            }
            let member = InstructionRef { piece: segment.piece, id };
            let opcode = context.block(member.piece).instruction(id).opcode;
            match opcode {
                Some(ir::Opcode::Parameter | ir::Opcode::Constant) => {}
                Some(ir::Opcode::Fusion) => collect(context, member, depth + 1, members),
                _ => members.push(member),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::fixture::open;

    const TEXT: &str = r#"HloModule m

inner {
  q = f32[8,8] parameter(0)
  ROOT s = f32[8,8] sine(q), metadata={op_name="jit(f)/sin" source_file="/m/f.py" source_line=9}
}

f {
  p = f32[8,8] parameter(0)
  t = f32[8,8] transpose(p), dimensions={1,0}, metadata={op_name="jit(f)/transpose" source_file="/m/f.py" source_line=4}
  d = f32[8,8] dot(p, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/dot" source_file="/m/f.py" source_line=5}
  i = f32[8,8] fusion(d), kind=kLoop, calls=inner
  n = f32[8,8] negate(i)
  e = f32[8,8] exponential(n), metadata={op_name="jit(f)/exp" source_file="/m/f.py" source_line=6}
  ROOT a = f32[8,8] add(e, i), metadata={op_name="jit(f)/exp" source_file="/m/f.py" source_line=6}
}

ENTRY main {
  x = f32[8,8] parameter(0)
  ROOT $0fusion.1 = f32[8,8] fusion(x), kind=kLoop, calls=f, metadata={op_name="jit(f)/exp" source_file="/m/f.py" source_line=6}
}
"#;

    /// The list in the hover; empty if there is none.
    fn list(text: &str) -> String {
        let (analysis, file, offset) = open(text);
        let hover = analysis.hover(file, offset).expect("nobody cancels").expect("an instruction").markdown();
        hover.split_once("covers, ").map(|(_, list)| list.to_owned()).unwrap_or_default()
    }

    #[test]
    fn the_most_arithmetic_is_first() {
        expect![[r#"
            most arithmetic first
            - `jit(f)/dot` · [f.py:5](file:///m/f.py#L5) · 1 instruction
            - `jit(f)/exp` · [f.py:6](file:///m/f.py#L6) · 2 instructions
            - `jit(f)/sin` · [f.py:9](file:///m/f.py#L9) · 1 instruction
            - `jit(f)/transpose` · [f.py:4](file:///m/f.py#L4) · 1 instruction
        "#]]
        .assert_eq(&list(TEXT));
    }

    #[test]
    fn what_the_first_line_says_is_not_repeated() {
        let (before, after) = TEXT.split_once("  t = ").expect("it is there");
        let (_, rest) = after.split_once("  n = ").expect("it is there");
        let alone = format!("{before}  n = {rest}")
            .replace("negate(i)", "negate(p)")
            .replace("add(e, i)", "add(e, p)");
        assert_eq!(list(&alone), "");
    }

    #[test]
    fn fusions_in_a_circle_end() {
        assert_eq!(
            list(&TEXT.replace("calls=inner", "calls=f")).lines().count(),
            list(TEXT).lines().count() - 1
        );
    }
}
