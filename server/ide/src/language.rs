//! The language of a text: detected from its name and first words, and what features ask of it.

use crate::Language;
use crate::file_context::FileContext;
use crate::hlo::Hlo;
use crate::mlir::Mlir;
use crate::semantics::Semantics;

/// The language by the extension of a path, ignoring `.gz`, else by the start of the text.
pub fn language_of(path: &str, text: &str) -> Language {
    let path = path.strip_suffix(".gz").unwrap_or(path);
    let extension = path.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    match extension.as_deref() {
        Some("mlir") => Language::Mlir,
        Some("hlo") => Language::Hlo,
        _ if ::mlir::starts_like_mlir(text) => Language::Mlir,
        _ => Language::Hlo,
    }
}

impl FileContext<'_> {
    /// The semantics of the file's language: the one place that asks for it.
    pub(crate) fn semantics(&self) -> &'static dyn Semantics {
        match self.view.file.language(self.db) {
            Language::Hlo => &Hlo,
            Language::Mlir => &Mlir,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_before_texts_do() {
        assert_eq!(language_of("a.mlir.gz", ""), Language::Mlir);
        assert_eq!(language_of("a.MLIR", "HloModule m"), Language::Mlir);
        assert_eq!(language_of("a.hlo", "module {"), Language::Hlo);
        assert_eq!(language_of("a.txt", "// c\nmodule {"), Language::Mlir);
        assert_eq!(language_of("-", "HloModule m"), Language::Hlo);
    }
}
