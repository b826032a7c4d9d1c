//! HLO text is often saved as `.mlir`.

/// Whether the first word of a text, behind comments, is that of an HLO module.
pub fn holds_hlo(text: &str) -> bool {
    let mut rest = text.trim_start();
    while let Some(comment) = rest.strip_prefix("//") {
        rest = comment.split_once('\n').map_or("", |(_, behind)| behind).trim_start();
    }
    let behind = rest.strip_prefix("HloModule");
    behind.is_some_and(|b| b.starts_with(|c: char| c.is_whitespace() || c == ','))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_tells() {
        assert!(holds_hlo("// RUN: x\n\n// y\nHloModule m\n"));
        assert!(!holds_hlo("module @HloModule {}"));
        assert!(!holds_hlo("HloModules"));
        assert!(!holds_hlo("//"));
    }
}
