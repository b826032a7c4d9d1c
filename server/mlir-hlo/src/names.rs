//! Names that HLO and MLIR can write.

use rustc_hash::FxHashSet;

/// `symbol` as an identifier of HLO: letters, digits, `_`, `.` and `-`, not a digit first, and no word that HLO reads as
/// something else.
pub(crate) fn sanitized(symbol: &str) -> String {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let mut name: String = symbol.chars().map(|c| if is_letter(c) { c } else { '_' }).collect();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        name.insert(0, '_');
    }
    if is_reserved(&name) {
        name.push('_');
    }
    name
}

/// Whether HLO reads the name as something else where it has no `%`.
fn is_reserved(name: &str) -> bool {
    // `b0f_0io->b0f` starts like this.
    let is_labels = name.contains('_')
        && name.bytes().all(|b| matches!(b, b'b' | b'f' | b'i' | b'o' | b'_' | b'0'..=b'9'));
    syntax::hlo::is_reserved(name)
        || matches!(name, "inf" | "nan" | "tuple")
        || is_labels
        || ir::ElementType::from_name(name).is_some()
        || ir::Opcode::from_name(name).is_some()
}

/// Names of one computation or one function, each once.
#[derive(Debug, Default)]
pub(crate) struct UniqueNames {
    used: FxHashSet<String>,
    next: usize,
}

impl UniqueNames {
    /// `wanted`, with a number after it where it is taken.
    pub(crate) fn take(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        while self.used.contains(&name) {
            self.next += 1;
            name = format!("{wanted}.{}", self.next);
        }
        self.used.insert(name.clone());
        name
    }
}
