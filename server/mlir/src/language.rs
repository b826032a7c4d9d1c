//! Detects the language of a text: HLO text is often saved as `.mlir`, and MLIR without any name.

/// The text after leading blanks and comments.
fn code(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let (comment, end) = match (rest.strip_prefix("//"), rest.strip_prefix("/*")) {
            (Some(line), _) => (line, "\n"),
            // A block comment, which only HLO has.
            (_, Some(block)) => (block, "*/"),
            _ => return rest,
        };
        rest = comment.split_once(end).map_or("", |(_, behind)| behind).trim_start();
    }
}

/// Whether the first word of a text, after comments, starts an HLO module.
pub fn holds_hlo(text: &str) -> bool {
    let behind = code(text).strip_prefix("HloModule");
    behind.is_some_and(|b| b.starts_with(|c: char| c.is_whitespace() || c == ','))
}

/// The number of bytes at the start of a text on which [`holds_hlo`] depends: up to and with the first word.
pub fn deciding_bytes(text: &str) -> usize {
    // A character behind the word has up to 4 bytes.
    (text.len() - code(text).len() + "HloModule".len() + 4).min(text.len())
}

/// Whether a text starts like MLIR, and unlike HLO.
pub fn starts_like_mlir(text: &str) -> bool {
    let code = code(text);
    ["module", "func.func", "builtin.module", "\"builtin.module\"", "#", "!"]
        .iter()
        .any(|start| code.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_tells() {
        assert!(holds_hlo("// RUN: x\n\n// y\nHloModule m\n"));
        assert!(holds_hlo("/* x\n y */ // z\nHloModule m\n"));
        assert!(!holds_hlo("/* HloModule m"));
        assert!(!holds_hlo("module @HloModule {}"));
        assert!(!holds_hlo("HloModules"));
        assert!(!holds_hlo("//"));
        let text = "// x\nHloModule m, a=b, c=d";
        assert_eq!(&text[..deciding_bytes(text)], "// x\nHloModule m, ");
        assert_eq!(deciding_bytes("// x"), 4);
        assert!(starts_like_mlir("// c\n\nmodule @a {"));
        assert!(!starts_like_mlir("HloModule m"));
    }
}
