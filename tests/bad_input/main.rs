//! Invalid input of any bytes gives a located error, never a panic or a hang.

use hlo_analyzer_tests::corpus::own;
use hlo_analyzer_tests::sample::MODULE;
use ide::{Diagnostic, Language};
use proptest::prelude::*;

fn analyse(text: &str) -> Vec<Diagnostic> {
    fuzzing::editor::analyse(Language::Hlo, text)
}

/// The text of the only diagnostic's range, and its message.
fn only_finding(text: &str) -> (String, String) {
    let found = analyse(text);
    assert_eq!(found.len(), 1, "{found:#?}");
    (text[found[0].range.clone()].to_owned(), found[0].message.clone())
}

fn in_entry(line: &str) -> String {
    format!(
        "\
HloModule m

ENTRY e {{
  a = f32[4]{{0}} parameter(0)
{line}
  ROOT r = f32[4]{{0}} negate(a)
}}
"
    )
}

#[test]
fn one_broken_line_costs_that_line() {
    let cases = [
        ("  b = f32[4]{0} negat(a)", "negat"),
        ("  b = f32[4]{0} negate(a", "a"),
        ("  b f32[4]{0} negate(a)", "f32"),
        ("  b = f32[4{0} negate(a)", "{"),
        ("  b = f32[4]{0} negate(c)", "c"),
        ("  b = f32[4]{0} negate(a), bogus={1}", "bogus"),
        ("  b = f32[4]{0} negate(a, a)", "negate"),
        ("  b = f32[4]{0} constant({1, 2})", "}"),
        ("  b = f32[4]{1,0} negate(a)", "{1,0}"),
        ("  b = f32[4]{0} negate(a), metadata={op_name=\"x}", "\"x}"),
        ("  b = f32[4]{0} reduce(a, a), to_apply=f", "reduce"),
        ("  b = f32[9223372036854775807,3] broadcast(a), dimensions={0}", "f32[9223372036854775807,3]"),
        ("  b = f32[99999999999999999999] broadcast(a), dimensions={0}", "99999999999999999999"),
        ("  a = f32[4]{0} negate(a)", "a"),
        ("  b = f32[4]{0} negate(f32[5] a)", "f32[5] a"),
    ];
    for (line, place) in cases {
        let found = analyse(&in_entry(line));
        let text = in_entry(line);
        assert_eq!(&text[found[0].range.clone()], place, "{line}: {found:#?}");
        let line_start = text.find(line).expect("the line is in the text");
        let next = line_start + line.len() + 1;
        assert!(found.iter().all(|d| d.range.start < next + 10), "{line} costs more than itself: {found:#?}");
    }
}

#[test]
fn a_missing_brace_costs_no_other_computation() {
    let text = "\
HloModule m

f {
  ROOT a = f32[] parameter(0)

ENTRY e {
  ROOT b = f32[] parameter(0)
}
";
    let found = analyse(text);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].message.contains("f is not closed"), "{found:#?}");
}

#[test]
fn truncated_files_are_errors_at_their_end() {
    for module in own().iter().map(|m| m.text.as_str()).chain([MODULE]) {
        for end in (0..module.len()).filter(|&end| module.is_char_boundary(end)).step_by(7) {
            analyse(&module[..end]);
        }
    }
}

#[test]
fn nul_bytes_are_errors_at_their_place() {
    let (place, _) = only_finding(&in_entry("  b = f32[4]{0} \0negate(a)"));
    assert_eq!(place, "\0");
    analyse(&"\0".repeat(10_000));
}

#[test]
fn carriage_returns_are_white_space() {
    assert!(analyse(&MODULE.replace('\n', "\r\n")).is_empty());
}

#[test]
fn a_line_of_two_megabytes() {
    let mut text = in_entry(&format!("  b = f32[400000] constant({{{}}})", vec!["1.25"; 400_000].join(", ")));
    assert!(analyse(&text).is_empty());
    text = in_entry(&format!("  b = f32[4]{{0}} {}(a)", "x".repeat(2 << 20)));
    assert_eq!(analyse(&text).len(), 1);
    text = in_entry(&format!("  b = (f32[4]{{0}}) tuple({}a)", "a, ".repeat(700_000)));
    assert_eq!(analyse(&text).len(), 1);
}

#[test]
fn a_hundred_thousand_nested_brackets() {
    let deep = |open: &str, n: usize| in_entry(&format!("  b = {}", open.repeat(n)));
    for open in ["(", "f32[4] add(", "{", "[", "f32[4] call(a), to_apply={ b = ", "f32[4] constant({"] {
        let found = analyse(&deep(open, 100_000));
        assert!(!found.is_empty() && found.len() < 100, "{open}: {} findings", found.len());
    }
    analyse(&"{".repeat(100_000));
    analyse(&"ENTRY e {\n".repeat(20_000));
    analyse(&"e {\n}, x\n a = b\n".repeat(20_000));
}

#[test]
fn huge_numbers_everywhere() {
    let huge = ["9223372036854775807", "-9223372036854775808", "18446744073709551615", "4294967296", "-1"];
    let lines = [
        "  b = f32[4] slice(a), slice={[N:N:N]}",
        "  b = f32[4] pad(a, a), padding=0_N_0",
        "  b = f32[N] broadcast(a), dimensions={N}",
        "  b = f32[4] transpose(a), dimensions={N}",
        "  b = f32[N,N]{N,N} reshape(a)",
        "  b = f32[4] reduce(a, a), dimensions={N}, to_apply=f",
        "  b = f32[4] dot(a, a), lhs_contracting_dims={N}, rhs_contracting_dims={N}",
        "  b = f32[4] dynamic-slice(a, a), dynamic_slice_sizes={N}",
        "  b = f32[4] get-tuple-element(a), index=N",
        "  b = f32[N] concatenate(a, a), dimensions={N}",
        "  b = f32[N] iota(), iota_dimension=N",
        "  b = f32[4] reduce-window(a, a), window={size=N stride=N pad=0_0}, to_apply=f",
        "  b = f32[4] parameter(N)",
        "  b = f32[4]{0:T(N)E(N)S(N)} negate(a#N)",
    ];
    for line in lines {
        for number in huge {
            analyse(&in_entry(&line.replace('N', number)));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        analyse(&String::from_utf8_lossy(&bytes));
    }

    /// Keywords in any order reach deeper code paths than random bytes.
    #[test]
    fn any_tokens(words in proptest::collection::vec(0usize..WORDS.len(), 0..400)) {
        let text: Vec<_> = words.into_iter().map(|w| WORDS[w]).collect();
        analyse(&text.join(""));
    }

    #[test]
    fn any_mutation_of_a_module(place in 0.0..1.0f64, len in 0usize..30, word in 0usize..WORDS.len(), which in 0usize..100) {
        let modules = own();
        let text = &modules[which % modules.len()].text;
        let mut start = (place * text.len() as f64) as usize;
        while !text.is_char_boundary(start) { start -= 1; }
        let mut end = (start + len).min(text.len());
        while !text.is_char_boundary(end) { end += 1; }
        analyse(&format!("{}{}{}", &text[..start], WORDS[word], &text[end..]));
    }
}

const WORDS: &[&str] = &[
    "HloModule m",
    ", ",
    "\n",
    "\n\n",
    "ENTRY ",
    "%e ",
    "{",
    "}",
    "{\n",
    "\n}\n",
    "(",
    ")",
    "[",
    "]",
    "ROOT ",
    "a",
    " = ",
    "f32[4]",
    "f32[4]{0}",
    "(f32[4], s32[])",
    "f32[<=4,?]",
    "parameter(0)",
    "negate(a)",
    "fusion(a, b)",
    "constant({1,2})",
    "dimensions={0,1}",
    "to_apply=",
    "calls=%f",
    "slice={[0:4:2]}",
    "padding=0_1_2x3_4",
    "window={size=3x3 pad=1_1x1_1}",
    "metadata={op_name=\"x\" source_line=1}",
    "backend_config={\"a\":{\"b\":1}}",
    "sharding={devices=[2,1]<=[2]}",
    "sharding={mesh['a'=2], [{'a'}]}",
    "dim_labels=b01f_01io->b01f",
    "\"",
    "'",
    "/*",
    "*/",
    "//",
    "#0",
    "->",
    "...",
    "nan",
    "-inf",
    "1.5e-3",
    "-7",
    "é",
    "dynamic-slice(a, b)",
    "reshape(a)",
    "dot(a, b)",
    "concatenate(a, b)",
    "pad(a, b)",
    "%",
    "transpose(a)",
    "reduce(a, b)",
    "// -----\n",
    "FileNames\n1 \"a\"\n",
    "a = f32[4] add(a, a)\n",
    ":",
    "b(f32[2])",
    "=",
];
