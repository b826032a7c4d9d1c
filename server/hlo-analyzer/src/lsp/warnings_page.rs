//! The page that explains each diagnostic code, and the link from a diagnostic to its section.

use std::collections::HashSet;
use std::sync::{LazyLock, Mutex, PoisonError};

use tower_lsp::lsp_types::{CodeDescription, Url};

use super::kernel_files;
use super::snapshot::View;
use crate::assembler::WorkFolder;

const PAGE: &str = include_str!("../../../docs/warnings.md");

/// The codes with a section: third-level headings.
static SECTIONS: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| PAGE.lines().filter_map(|line| line.strip_prefix("### ")).map(str::trim).collect());

/// The page as a file, for clients without their own copy. Written with the first diagnostic, removed by
/// [`clean`].
static FILE: Mutex<Option<(WorkFolder, Url)>> = Mutex::new(None);

impl View {
    /// The link to the section about the code, or to the page if the code has none.
    pub(super) fn code_description(&self, code: &str) -> Option<CodeDescription> {
        if !self.session.client.code_description {
            return None;
        }
        let mut href = self.session.settings.warnings_page.clone().or_else(file)?;
        if SECTIONS.contains(code) {
            href.set_fragment(Some(code));
        }
        Some(CodeDescription { href })
    }
}

fn file() -> Option<Url> {
    let mut file = FILE.lock().unwrap_or_else(PoisonError::into_inner);
    if file.is_none() {
        let folder =
            WorkFolder::new().inspect_err(|e| tracing::error!("no folder for documentation: {e}")).ok()?;
        let path = folder.path().join("warnings.md");
        *file = kernel_files::write(&path, PAGE)
            .then(|| Url::from_file_path(&path).ok())
            .flatten()
            .map(|uri| (folder, uri));
    }
    file.as_ref().map(|(_, uri)| uri.clone())
}

/// Removes the file.
pub(super) fn clean() {
    FILE.lock().unwrap_or_else(PoisonError::into_inner).take();
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;

    /// Files that create diagnostics: each kebab-case string there is a code, except [`OTHER_WORDS`].
    const CHECKERS: &[&str] = &[
        "ir/src/checks",
        "ir/src/checks.rs",
        "ir/src/finding.rs",
        "ir/src/infer",
        "ir/src/infer.rs",
        "ir/src/lower.rs",
        "ir/src/module.rs",
        "ir/src/verify",
        "ir/src/verify.rs",
        "ir/src/warnings",
        "ir/src/warnings.rs",
        "db/src/externals.rs",
        "db/src/mlir_calls.rs",
        "db/src/mlir_unknown.rs",
        "mlir/src/check.rs",
        "mlir-indexing/src/bounds_checks.rs",
        "mlir-indexing/src/checks.rs",
        "ide/src/kernel/coalescing_warnings.rs",
        "ide/src/hlo/diagnostics.rs",
        "ide/src/mlir/diagnostics.rs",
        "hlo-analyzer/src/lsp/diagnostics.rs",
    ];
    const OTHER_WORDS: &[&str] = &["expected-error", "expected-warning"];

    fn rust_files(path: &Path, found: &mut Vec<PathBuf>) {
        match std::fs::read_dir(path) {
            Ok(entries) => entries.for_each(|entry| rust_files(&entry.unwrap().path(), found)),
            Err(_) => found.push(path.to_owned()),
        }
    }

    /// `"…-…"` anywhere, and single words after `code: `, `error(` and `push(`.
    fn codes(text: &str) -> HashSet<String> {
        let mut found = HashSet::new();
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        // Quotes that neither start nor end a string.
        let text = text.replace("\\\"", "").replace("'\"'", "");
        let parts: Vec<&str> = text.split('"').collect();
        for at in (1..parts.len()).step_by(2) {
            let (before, word) = (parts[at - 1].trim_end(), parts[at]);
            let is_kebab =
                word.split('-').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase()));
            let is_code =
                ["code:", "CODE: &str =", "error(", "push("].iter().any(|end| before.ends_with(end));
            if is_kebab && (word.contains('-') || is_code) && !OTHER_WORDS.contains(&word) {
                found.insert(word.to_owned());
            }
        }
        found
    }

    #[test]
    fn each_code_has_a_section() {
        let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut files = Vec::new();
        CHECKERS.iter().for_each(|path| rust_files(&server.join(path), &mut files));
        let mut missing = Vec::new();
        let mut seen = 0;
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
            for code in codes(&text) {
                seen += 1;
                if !SECTIONS.contains(code.as_str()) {
                    missing.push(format!("{code} ({})", file.display()));
                }
            }
        }
        assert!(seen > 60, "only {seen} codes were found");
        assert_eq!(missing, Vec::<String>::new(), "server/docs/warnings.md has no section about these");
    }

    #[test]
    fn codes_are_found_as_they_are_written() {
        let text = "x(\"two-roots\", y); Finding { code: \"sharding\", z }; self.error(\n  \"syntax\"); \"plain\"; \"A-b\"";
        let mut found: Vec<String> = codes(text).into_iter().collect();
        found.sort();
        assert_eq!(found, ["sharding", "syntax", "two-roots"]);
    }
}
