//! Notes on an assembled kernel, and its SASS as a document.

use ide::KernelDocument;

use super::{Assembled, Sass};

/// `registers 30 · no spills`, or the error. `first` is the document line, from 0, at which the PTX starts.
pub fn note(assembled: &Assembled, first: usize) -> String {
    if let Some(problem) = &assembled.problem {
        return format!("ptxas: {problem}");
    }
    if let Some(error) = assembled.errors.first() {
        let (count, line) = (assembled.errors.len(), first + error.line + 1);
        let unit = if count == 1 { "error" } else { "errors, the first" };
        return format!("ptxas: {count} {unit} on line {line} of the PTX: {}", error.message);
    }
    let registers = assembled.registers.map_or_else(|| "unknown".to_owned(), |count| count.to_string());
    match (assembled.spill_stores, assembled.spill_loads) {
        (0, 0) => format!("registers {registers} · no spills"),
        (stores, loads) => format!("registers {registers} · spills: {stores} B stored, {loads} B loaded"),
    }
}

/// The note on XLA's kernel, with the registers of ours: `registers 24, ours 22 · no spills`.
pub fn note_beside(xla: &Assembled, ours: &Assembled, first: usize) -> String {
    let note = note(xla, first);
    let registers = xla.registers.map(|count| format!("registers {count}"));
    match registers.zip(ours.registers).filter(|(front, _)| note.starts_with(front)) {
        Some((front, ours)) => format!("{front}, ours {ours}{}", &note[front.len()..]),
        None => note,
    }
}

/// The PTX document with its body replaced by SASS. Source lines are mapped through the PTX lines.
pub fn with_sass(document: KernelDocument, sass: &Sass) -> KernelDocument {
    let origin = |line: &Option<usize>| document.lines.get((*line)?).copied().flatten();
    let lines = sass.lines.iter().map(origin).collect();
    let accesses = sass.lines.iter().enumerate().filter_map(|(n, line)| {
        let at = document.accesses.binary_search_by_key(line.as_ref()?, |(at, _)| *at).ok()?;
        Some((n, document.accesses[at].1))
    });
    let accesses = accesses.collect();
    KernelDocument { lines, accesses, body: sass.text.clone(), ..document }
}

#[cfg(test)]
mod tests {
    use ide::FusionError;

    use super::*;
    use crate::assembler::AssemblerError;

    #[test]
    fn notes_are_one_line() {
        let good = Assembled { registers: Some(30), ..Default::default() };
        assert_eq!(note(&good, 3), "registers 30 · no spills");
        let spilling = Assembled { spill_stores: 16, spill_loads: 24, ..good };
        assert_eq!(note(&spilling, 3), "registers 30 · spills: 16 B stored, 24 B loaded");
        let error = AssemblerError { line: 4, message: "bad".to_owned() };
        let bad = Assembled { errors: vec![error.clone(), error], ..Default::default() };
        assert_eq!(note(&bad, 3), "ptxas: 2 errors, the first on line 8 of the PTX: bad");
    }

    #[test]
    fn registers_of_two_kernels_stand_side_by_side() {
        let with = |registers| Assembled { registers, ..Default::default() };
        assert_eq!(note_beside(&with(Some(24)), &with(Some(22)), 3), "registers 24, ours 22 · no spills");
        assert_eq!(note_beside(&with(Some(24)), &with(None), 3), "registers 24 · no spills");
        assert_eq!(note_beside(&with(None), &with(Some(22)), 3), "registers unknown · no spills");
        let failed = Assembled { problem: Some("gone".to_owned()), ..with(Some(24)) };
        assert_eq!(note_beside(&failed, &with(Some(22)), 3), "ptxas: gone");
    }

    #[test]
    fn sass_leads_where_the_ptx_did() {
        let none = KernelDocument::without_code(Vec::new(), FusionError::NotFound(String::new()));
        let (lines, accesses) = (vec![None, Some(0), Some(1)], vec![(1, 7)]);
        let document = KernelDocument { lines, accesses, ..none };
        let sass = Sass { text: "a\nb\nc\n".to_owned(), lines: vec![Some(2), Some(1), Some(9)] };
        let with = with_sass(document, &sass);
        assert_eq!((with.lines, with.accesses), (vec![Some(1), Some(0), None], vec![(1, 7)]));
    }
}
