//! Computations and instructions of all open files, by a part of their names.

use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;
use crate::{FileId, SymbolKind, TextRange};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceSymbol {
    pub name: String,
    /// The computation of an instruction, or the module of a computation.
    pub container: String,
    pub kind: SymbolKind,
    /// The range of the name.
    pub range: TextRange,
}

/// The quality of a match; the greatest is best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Subsequence,
    Inside,
    Start,
    Whole,
}

/// A match before its name is copied: files have hundreds of thousands.
struct Candidate {
    rank: (Fit, bool, std::cmp::Reverse<usize>),
    file: usize,
    place: SymbolPlace,
}

/// Where a candidate is.
#[derive(Clone, Copy)]
pub(crate) enum SymbolPlace {
    Computation(usize),
    Instruction(InstructionRef, usize),
    /// For MLIR text: a piece, and the index of its symbol.
    Symbol(usize, usize),
}

/// The names that are searched in all open files.
pub(crate) trait Symbols {
    /// Calls `found` with each computation or function, and with each instruction if wanted: its name, whether
    /// it is a computation or function, and its place.
    fn symbols(&self, _: &FileContext<'_>, _: bool, _: &mut dyn FnMut(&str, bool, SymbolPlace)) {}

    /// The symbol at a place that [`Self::symbols`] gave; `None` for a place of another language.
    fn workspace_symbol(&self, _: &FileContext<'_>, _: SymbolPlace) -> Option<WorkspaceSymbol> {
        None
    }
}

/// The best matches first: whole names before prefixes before substrings before subsequences, computations
/// before instructions, short names before long ones. Case is ignored. An empty query returns the
/// computations.
pub(crate) fn workspace_symbols(
    files: &[(FileId, FileContext<'_>)],
    query: &str,
    limit: usize,
) -> (Vec<(FileId, WorkspaceSymbol)>, usize) {
    let query: Vec<u8> =
        query.bytes().filter(|b| *b != b'%' && *b != b' ').map(|b| b.to_ascii_lowercase()).collect();
    let mut candidates = Vec::new();
    for (file, (_, context)) in files.iter().enumerate() {
        candidates_of(context, file, &query, &mut candidates);
    }
    candidates.sort_by_key(|c| std::cmp::Reverse(c.rank));
    let omitted = candidates.len().saturating_sub(limit);
    let shown = candidates.into_iter().take(limit).filter_map(|candidate| {
        let (id, context) = &files[candidate.file];
        Some((*id, context.semantics().workspace_symbol(context, candidate.place)?))
    });
    (shown.collect(), omitted)
}

fn candidates_of(context: &FileContext<'_>, file: usize, query: &[u8], found: &mut Vec<Candidate>) {
    context.semantics().symbols(context, !query.is_empty(), &mut |name, is_function, place| {
        if let Some(fit) = fit(name, query) {
            found.push(Candidate { rank: (fit, is_function, std::cmp::Reverse(name.len())), file, place });
        }
    });
}

fn fit(name: &str, query: &[u8]) -> Option<Fit> {
    if name.is_empty() || query.len() > name.len() {
        return None;
    }
    let name = name.as_bytes();
    let same = |at: usize| name[at..at + query.len()].eq_ignore_ascii_case(query);
    let mut rest = query.iter();
    let mut wanted = rest.next();
    for byte in name {
        if wanted == Some(&byte.to_ascii_lowercase()) {
            wanted = rest.next();
        }
    }
    Some(match wanted {
        Some(_) => return None,
        None if same(0) && name.len() == query.len() => Fit::Whole,
        None if same(0) => Fit::Start,
        None if (1..=name.len() - query.len()).any(same) => Fit::Inside,
        None => Fit::Subsequence,
    })
}

#[cfg(test)]
mod tests {
    use crate::{AnalysisHost, Language};

    fn check(query: &str, limit: usize, expect: &[&str], omitted: usize) {
        let mut host = AnalysisHost::new();
        let a = "\
HloModule a

add_all {
  ROOT p = f32[] parameter(0)
}

ENTRY main {
  add = f32[] parameter(0)
  ROOT fused.Add.1 = f32[] call(add), to_apply=add_all
}
";
        let b = "\
HloModule b

ENTRY %other {
  ROOT %a.long.doubled = f32[] constant(1)
}
";
        host.open("a.hlo", Language::Hlo, a);
        host.open("b.hlo", Language::Hlo, b);
        let analysis = host.analysis();
        let (found, left_out) = analysis.workspace_symbols(query, limit).expect("nobody cancels");
        for (file, symbol) in &found {
            assert_eq!(analysis.text(*file).byte_slice(symbol.range.clone()), symbol.name);
        }
        let shown: Vec<_> = found.iter().map(|(_, s)| format!("{}/{}", s.container, s.name)).collect();
        assert_eq!(
            (shown.iter().map(String::as_str).collect::<Vec<_>>().as_slice(), left_out),
            (expect, omitted)
        );
    }

    #[test]
    fn the_best_fit_comes_first() {
        check("ADD", 10, &["main/add", "a/add_all", "main/fused.Add.1", "other/a.long.doubled"], 0);
        check("add", 1, &["main/add"], 3);
        check("%add", 1, &["main/add"], 3);
        check("xyz", 10, &[], 0);
        check("", 10, &["a/main", "b/other", "a/add_all"], 0);
    }
}
