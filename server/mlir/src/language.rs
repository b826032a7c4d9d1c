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
        assert!(starts_like_mlir("// c\n\nmodule @a {"));
        assert!(!starts_like_mlir("HloModule m"));
    }
}
