//! `cargo xtask codegen`: generates all lists of HLO keywords outside the crate `syntax` from its table:
//! those of the TextMate grammar, and the grammar's test, which contains each keyword once. Zed wants the
//! queries of the tree-sitter grammars beside its languages: they are copied.

use std::fs;

use anyhow::{Context, Result, bail, ensure};

use crate::commands::root;

const VOCABULARY: &str = "server/syntax/src/hlo/vocabulary.rs";
const GRAMMAR: &str = "grammar/textmate/hlo.tmLanguage.json";
/// The languages with a tree-sitter grammar, and the queries of them that Zed reads under the same names.
const LANGUAGES: [&str; 3] = ["hlo", "mlir", "ptx"];
const QUERIES: [&str; 2] = ["highlights.scm", "injections.scm"];
const GRAMMAR_TEST: &str = "grammar/textmate/tests/every_opcode_and_type.hlo";

#[derive(Clone, Copy, PartialEq)]
pub enum Mode {
    Write,
    /// Fails if the tree differs from the generated text.
    Check,
}

pub fn codegen(mode: Mode) -> Result<()> {
    let vocabulary = read(VOCABULARY)?;
    let types = words(&vocabulary, "ElementType")?;
    let opcodes = words(&vocabulary, "Opcode")?;

    let grammar = replace_list(&read(GRAMMAR)?, "bf16", &types)?;
    let grammar = replace_list(&grammar, "dynamic-slice", &opcodes)?;
    let mut made =
        vec![(GRAMMAR.to_owned(), grammar), (GRAMMAR_TEST.to_owned(), grammar_test(&opcodes, &types))];
    for language in LANGUAGES {
        for query in QUERIES {
            let source = format!("grammar/tree-sitter/{language}/queries/{query}");
            let copy = format!("; `cargo xtask codegen` copies {source}.\n{}", read(&source)?);
            made.push((format!("editor-clients/zed/languages/{language}/{query}"), copy));
        }
    }

    let mut stale = Vec::new();
    for (file, text) in made {
        if read(&file).is_ok_and(|present| present == text) {
            continue;
        }
        match mode {
            Mode::Write => {
                fs::write(root().join(&file), text)?;
                println!("wrote {file}");
            }
            Mode::Check => stale.push(file),
        }
    }
    ensure!(stale.is_empty(), "`cargo xtask codegen` would change {}", stale.join(" and "));
    Ok(())
}

fn read(file: &str) -> Result<String> {
    fs::read_to_string(root().join(file)).with_context(|| format!("cannot read {file}"))
}

/// The spellings in one table of the vocabulary: `Name { Variant = "spelling", … }`.
fn words<'a>(vocabulary: &'a str, table: &str) -> Result<Vec<&'a str>> {
    let head = format!("    {table} {{\n");
    let (_, rest) = vocabulary.split_once(&head).with_context(|| format!("no {table} in {VOCABULARY}"))?;
    let (body, _) = rest.split_once("\n    }").with_context(|| format!("{table} does not end"))?;
    let words: Vec<&str> = body.lines().filter_map(|line| line.split('"').nth(1)).collect();
    ensure!(!words.is_empty(), "{table} in {VOCABULARY} is empty");
    Ok(words)
}

/// Replaces each alternation `(a|b|…)` of the grammar that contains `member` by `words`.
fn replace_list(grammar: &str, member: &str, words: &[&str]) -> Result<String> {
    // Longest first: an alternation takes the first match, and `f8e4m3` matches a prefix of `f8e4m3fn`.
    let mut sorted = words.to_vec();
    sorted.sort_by_key(|word| (std::cmp::Reverse(word.len()), *word));
    let list = sorted.join("|");

    let needle = format!("|{member}|");
    let (mut out, mut rest) = (String::new(), grammar);
    while let Some(at) = rest.find(&needle) {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '|';
        let start = rest[..at].rfind(|c| !is_word(c)).map_or(0, |before| before + 1);
        let end = rest[at..].find(|c| !is_word(c)).map_or(rest.len(), |after| at + after);
        out.push_str(&rest[..start]);
        out.push_str(&list);
        rest = &rest[end..];
    }
    if out.is_empty() {
        bail!("no list with {member} in {GRAMMAR}");
    }
    out.push_str(rest);
    Ok(out)
}

/// Each opcode once as an operation, with the element types in turn as its shape.
fn grammar_test(opcodes: &[&str], types: &[&str]) -> String {
    let mut text = String::from(
        "// SYNTAX TEST \"source.hlo\" \"each opcode as an operation, each element type in a shape\"\n\n",
    );
    for (index, opcode) in opcodes.iter().enumerate() {
        let line = format!("  a = {}[] {opcode}(x)\n", types[index % types.len()]);
        let after_type = line.find('[').unwrap_or_default();
        let opcode_at = after_type + "[] ".len();
        let carets = |from: usize, to: usize, scope: &str| {
            format!("//{}{} {scope}\n", " ".repeat(from - 2), "^".repeat(to - from))
        };
        text.push_str(&line);
        text.push_str(&carets(6, after_type, "storage.type.element.hlo"));
        text.push_str(&carets(opcode_at, opcode_at + opcode.len(), "support.function.opcode.hlo"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{replace_list, words};

    #[test]
    fn lists_are_replaced_wherever_the_member_is() {
        let replaced = replace_list("(?:a|bf16|c)x(d) (f32|bf16|u1)", "bf16", &["u8", "bf16"]).unwrap();
        assert_eq!(replaced, "(?:bf16|u8)x(d) (bf16|u8)");
        assert!(replace_list("(a|b)", "bf16", &["u8"]).is_err());
    }

    #[test]
    fn words_are_read_from_their_own_table() {
        let vocabulary = r#"    A {
        X = "x",
        Y = "y-z",
    }
    B {
        Q = "q",
    }"#;
        assert_eq!(words(vocabulary, "A").unwrap(), ["x", "y-z"]);
        assert_eq!(words(vocabulary, "B").unwrap(), ["q"]);
    }
}
