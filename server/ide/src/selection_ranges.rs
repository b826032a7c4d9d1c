//! Expanding selections around the cursor, from the token to the file.

use crate::TextRange;
use crate::file_context::FileContext;

/// The innermost first, each strictly inside the next.
pub(crate) fn selection_ranges(context: &FileContext<'_>, offset: usize) -> Vec<TextRange> {
    let mut ranges = context.semantics().enclosing_ranges(context, offset);
    ranges.push(0..context.view.rope.len_bytes());
    chain(ranges, offset)
}

/// The nested ranges around the offset, the smallest first.
fn chain(mut ranges: Vec<TextRange>, offset: usize) -> Vec<TextRange> {
    ranges.retain(|r| r.start <= offset && offset <= r.end && r.start < r.end);
    // At the border of two tokens, prefer the one after the cursor.
    ranges.sort_by_key(|r| (r.len(), std::cmp::Reverse(r.start)));
    let mut chain: Vec<TextRange> = Vec::new();
    for range in ranges {
        let fits = chain.last().is_none_or(|last| {
            range.start <= last.start && last.end <= range.end && range.len() > last.len()
        });
        if fits {
            chain.push(range);
        }
    }
    chain
}
