//! Ranges of values that no op in the text computes: `xla.range`, thread and block ids.

use indexing_map::Interval;
use mlir::{Definition, TokenKind, ValueId};
use mlir_ops::{HardwareId, OpText, Source};
use text::Span;

const NOT_NEGATIVE: Interval = Interval::new(0, i64::MAX);

/// The range of a function argument from `xla.range = [0 : index, 31 : index]` after it.
pub(crate) fn argument_range(source: &Source<'_>, value: ValueId) -> Interval {
    let range = || {
        let found = source.parse.values.get(value as usize)?;
        if matches!(found.definition, Definition::Result(_)) {
            return None;
        }
        let from = found.name.end as usize;
        // The attributes of an argument are short.
        let to = (from..=(from + 512).min(source.text.len()))
            .rev()
            .find(|&at| source.text.is_char_boundary(at))?;
        let (tokens, _) = mlir::tokens(source.text, from, to, false);
        let word = |at: usize| tokens.get(at).map_or("", |t| t.span.of(source.text));
        let mut depth = 0usize;
        for (at, token) in tokens.iter().enumerate() {
            match token.kind {
                TokenKind::OpenParen
                | TokenKind::OpenSquare
                | TokenKind::OpenAngle
                | TokenKind::OpenBrace => {
                    depth += 1;
                }
                TokenKind::CloseParen
                | TokenKind::CloseSquare
                | TokenKind::CloseAngle
                | TokenKind::CloseBrace => {
                    depth = depth.checked_sub(1)?;
                }
                TokenKind::Comma if depth == 0 => return None,
                TokenKind::Word if depth == 1 && word(at) == "xla.range" => {
                    let open = at + 2;
                    let close = (open..tokens.len()).find(|&t| tokens[t].kind == TokenKind::CloseSquare)?;
                    let span = Span { start: tokens[open].span.end, end: tokens[close].span.start };
                    return interval(span.of(source.text));
                }
                _ => {}
            }
        }
        None
    };
    range().unwrap_or(Interval::ALL)
}

/// `0 : index, 31 : index`, both ends included.
fn interval(list: &str) -> Option<Interval> {
    let mut numbers = list.split(',').map(|n| n.split(':').next().unwrap_or_default().trim().parse::<i64>());
    match (numbers.next()?, numbers.next()?) {
        (Ok(lower), Ok(upper)) if lower <= upper => Some(Interval::new(lower, upper)),
        _ => None,
    }
}

/// The range of an id by the op or the hardware. Limits of a block: CUDA C++ Programming Guide, technical
/// specifications.
pub(crate) fn hardware_range(text: &OpText<'_>, id: HardwareId) -> Interval {
    if let Some(range) = text.attribute("xla.range")
        && let Some(range) = range.strip_prefix('[').and_then(|r| r.strip_suffix(']')).and_then(interval)
    {
        return range;
    }
    let bound = (0..text.tokens.len()).find(|&t| text.word(t) == "upper_bound");
    let bound = match bound {
        Some(at) => text.word(at + 1).parse::<i64>().ok(),
        None => text.attribute("upper_bound").and_then(mlir::integer),
    };
    let is_z = text.word(0) == "z" || text.attribute("dimension").is_some_and(|d| d.contains(" z"));
    let threads = if is_z { 64 } else { 1024 };
    let blocks = i64::from(i32::MAX);
    match id {
        HardwareId::Thread => Interval::from_size(bound.unwrap_or(threads)),
        HardwareId::Block | HardwareId::Cluster => Interval::from_size(bound.unwrap_or(blocks)),
        HardwareId::BlockSize => Interval::new(1, bound.unwrap_or(threads)),
        HardwareId::GridSize | HardwareId::ClusterSize => Interval::new(1, bound.unwrap_or(blocks)),
        HardwareId::Lane => Interval::from_size(bound.unwrap_or(128)),
        HardwareId::Subgroup => Interval::from_size(bound.unwrap_or(1024)),
        HardwareId::SubgroupCount | HardwareId::SubgroupSize => Interval::new(1, bound.unwrap_or(1024)),
        HardwareId::Global => bound.map_or(NOT_NEGATIVE, Interval::from_size),
        HardwareId::Workgroup => NOT_NEGATIVE,
    }
}
