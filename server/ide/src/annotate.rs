//! The text annotated with maps, kernels and diagnostics between its lines, for terminals.

use crate::diagnostics::{Depth, diagnostics};
use crate::file_context::FileContext;

/// What is noted beside the lines of an annotated text.
pub(crate) trait Notes {
    /// Lines about the kernels and maps of a piece, each with the line that it follows.
    fn notes_in(&self, _: &FileContext<'_>, _: usize) -> Vec<(usize, String)> {
        Vec::new()
    }
}

/// Writes every line of the text; after the last line of an instruction, indented comments with its kernel
/// and maps.
pub(crate) fn annotate(context: &FileContext<'_>, write: &mut dyn FnMut(&str)) {
    let findings = diagnostics(context, Depth::Verifier, usize::MAX).shown;
    context.kernels_ahead();
    let rope = &context.view.text;
    // Annotations after a line, in text order.
    let mut notes: Vec<(usize, String)> = Vec::new();
    for finding in &findings {
        let line = rope.byte_to_line(finding.range.end.min(rope.len_bytes()));
        notes.push((line, format!("  // {:?}[{}]: {}\n", finding.severity, finding.code, finding.message)));
    }
    for piece in 0..context.pieces() {
        crate::analysis::check_cancelled(context.db);
        notes.extend(context.semantics().notes_in(context, piece));
    }
    notes.sort_by_key(|(line, _)| *line);
    let mut notes = notes.into_iter().peekable();
    for (number, line) in rope.lines().enumerate() {
        for chunk in line.chunks() {
            write(chunk);
        }
        if notes.peek().is_some_and(|(at, _)| *at == number) && line.chars().last().is_some_and(|c| c != '\n')
        {
            write("\n");
        }
        while let Some((_, note)) = notes.next_if(|(at, _)| *at == number) {
            write(&note);
        }
    }
}
