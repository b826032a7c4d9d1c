//! What the changelog says of a version.

use anyhow::{Context, Result, bail};

use crate::commands::root;

/// The notes of a version. A version that is not released yet has those under “Unreleased”.
pub fn notes(version: &str, is_tagged: bool) -> Result<String> {
    let file = root().join("CHANGELOG.md");
    let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    match (section(&text, version), is_tagged) {
        (Some(notes), _) => Ok(notes),
        (None, true) => bail!("CHANGELOG.md has no section `## {version}`"),
        (None, false) => section(&text, "Unreleased").with_context(|| {
            format!("CHANGELOG.md has neither a section `## {version}` nor `## Unreleased` with text")
        }),
    }
}

/// The text below `## NAME` or `## NAME (DATE)`; `None` if there is no such heading or nothing below it.
fn section(text: &str, name: &str) -> Option<String> {
    let is_heading = |line: &str| {
        let rest = line.strip_prefix("## ").and_then(|title| title.strip_prefix(name));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("))
    };
    let below = text.lines().skip_while(|line| !is_heading(line)).skip(1);
    let lines: Vec<&str> = below.take_while(|line| !line.starts_with("## ")).collect();
    let notes = lines.join("\n").trim().to_owned();
    (!notes.is_empty()).then(|| notes + "\n")
}

#[cfg(test)]
mod tests {
    use super::section;

    #[test]
    fn a_section_ends_at_the_next_version() {
        let text = "# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-05-01)\n\n### Added\n\n- two\n\n## 0.1.0\n\n- one\n";
        assert_eq!(section(text, "0.2.0").as_deref(), Some("### Added\n\n- two\n"));
        assert_eq!(section(text, "0.1.0").as_deref(), Some("- one\n"));
        assert_eq!(section(text, "Unreleased"), None);
        assert_eq!(section(text, "0.2"), None);
    }
}
