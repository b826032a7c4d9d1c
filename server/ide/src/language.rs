//! Detects the language of a text from its name and first words.

use crate::Language;

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
