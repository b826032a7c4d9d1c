//! Words that XLA may have added since are warnings, not errors: they are named, kept, and printed as
//! written.

use generators::hlo;
use ir::{Block, Module, PrintOptions, Severity, Surroundings, UNKNOWN_WORD};
use random::Rng;

use crate::{floor, lowered};

/// The warnings about unknown words, in text order. There must be no other findings.
fn unknown(block: &Block) -> Vec<String> {
    assert_eq!(block.parse.errors, [], "{}", block.text);
    let findings: Vec<_> = block.findings.iter().filter(|f| f.code != UNKNOWN_WORD).collect();
    assert!(findings.is_empty(), "{findings:?}\n{}", block.text);
    let verified = ir::verify(block, &Surroundings::alone(block));
    assert!(verified.iter().all(|f| f.severity != Severity::Error), "{verified:?}\n{}", block.text);
    let words = block.parse.unknown.iter().map(|word| (word.span.start, word.message.clone()));
    let attributes = block.findings.iter().map(|f| (f.span.start, f.message.clone()));
    let mut all: Vec<_> = words.chain(attributes).collect();
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, message)| message).collect()
}

fn print(block: &Block) -> String {
    let module = Module::of_block(block);
    ir::print_module(&[block], &module, &PrintOptions::lossless()).expect("it is small")
}

/// Checks the unknown words in the root of an entry, and how it is printed.
fn check(root: &str, words: &[&str], kept: &str) {
    let text = format!(
        "\
HloModule m

ENTRY e {{
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  ROOT r = {root}
}}
"
    );
    let block = lowered(&text);
    let found = unknown(&block);
    assert_eq!(found.len(), words.len(), "{found:?} in {root}");
    for (message, word) in found.iter().zip(words) {
        assert!(message.contains(word), "{message} names {word} in {root}");
    }
    let printed = print(&block);
    assert!(printed.contains(kept), "{kept} is not in\n{printed}");
    let again = lowered(&printed);
    assert_eq!(unknown(&again), found, "{printed}");
    assert_eq!(print(&again), printed);
}

#[test]
fn attributes_are_kept_whatever_their_value() {
    for value in [
        "3",
        "-1.5",
        "true",
        "word",
        "\"a, b\"",
        "{1,2}",
        "{{0,1},{2,3}}",
        "{\"json\": [1, {\"a\": \"}\"}]}",
        "[2,2]<=[4]T(1,0)",
        "mesh['x'=2] {'x'}",
        "1x2x3",
        "b0f_0io->b0f",
        "f32[4]{0}",
        "(f32[4], s32[])",
        "{lhs={idx=2 size=1x4}}",
    ] {
        let kept = format!("negate(%p), new_one={value}, metadata={{op_name=\"x\"}}");
        check(&format!("f32[4] negate(p), new_one={value}, metadata={{op_name=\"x\"}}"), &["new_one"], &kept);
    }
    check("f32[4] negate(p), dimensions={0}", &["dimensions"], "dimensions={0}");
}

#[test]
fn opcodes_are_kept_with_their_operands() {
    check("f32[4] frobnicate(p, q), dimensions={0}", &["frobnicate"], "frobnicate(%p, %q), dimensions={0}");
    check("(f32[4], f32[]) frobnicate()", &["frobnicate"], "frobnicate()");
    check("f32[4] frobnicate({1, 2}, \"x)\")", &["frobnicate"], "frobnicate({1, 2}, \"x)\")");
    check("f32[4] add(f32[4] frobnicate(p), q)", &["frobnicate"], "add(%frobnicate.anon, %q)");
}

#[test]
fn values_of_enumerations_are_kept() {
    check("pred[4] compare(p, q), direction=NEAR", &["NEAR"], "direction=NEAR");
    check("pred[4] compare(p, q), direction=LT, order=FUZZY", &["FUZZY"], "order=FUZZY");
    check(
        "f32[] dot(p, q), lhs_contracting_dims={0}, rhs_contracting_dims={0}, algorithm=dot_f3_F4",
        &["dot_f3_F4"],
        "algorithm=dot_f3_F4",
    );
    check(
        "f32[] dot(p, q), lhs_contracting_dims={0}, rhs_contracting_dims={0}, operand_precision={Lowest,high}",
        &["Lowest"],
        "operand_precision={Lowest,high}",
    );
    check(
        "f32[4] custom-call(p), custom_call_target=\"t\", api_version=API_VERSION_NEXT",
        &["API_VERSION_NEXT"],
        "API_VERSION_NEXT",
    );
}

#[test]
fn forms_inside_of_values_are_kept() {
    for (sharding, word) in [
        ("{scattered}", "scattered"),
        ("{devices=[2,2]<=[4] last_tile_dims={folded}}", "folded"),
        ("{devices=[4]<=[4] priority=3}", "priority"),
        ("{mesh['x'=2], [{'x'}], pinned={'x'}}", "pinned"),
        ("{mesh['x'=2], folded}", "folded"),
        ("{scattered [3,4]}", "scattered"),
    ] {
        let kept = format!("sharding={sharding}");
        check(&format!("f32[4] negate(p), {kept}"), &[word], &kept);
    }
    check(
        "f32[4] negate(p), metadata={op_name=\"a\" origin_id=3}",
        &["origin_id"],
        "metadata={op_name=\"a\" origin_id=3}",
    );
    check("f32[4] exponential(p), result_accuracy={bits=3}", &["bits"], "result_accuracy={bits=3}");
    let reduce = "\
HloModule m, priority={3}

f {
  a = f32[] parameter(0)
  ROOT n = f32[] negate(a)
}

ENTRY e {
  p = f32[] parameter(0)
  ROOT c = f32[] call(p), to_apply=f
}
";
    let block = lowered(reduce);
    assert_eq!(unknown(&block), ["unknown module attribute: priority"]);
    assert!(print(&block).contains(", priority={3}"), "{}", print(&block));
}

/// Not of the root, whose layout the header repeats.
#[test]
fn fields_of_layouts_are_kept() {
    let add = |layout: &str, words: &[&str], printed: &str| {
        check(
            &format!("f32[4] add(f32[4]{layout} negate(p), q)"),
            words,
            &format!("= f32[4]{printed} negate(%p)"),
        );
    };
    add("{0:X(3)}", &["X"], "{0:X(3)}");
    add("{0:NEW}", &["NEW"], "{0:NEW}");
    add("{0:T(8)X((1,2),a)S(1)Y}", &["X", "Y"], "{0:T(8)S(1)X((1,2),a)Y}");
    // Each occurrence has its own warning.
    check("f32[4] add(f32[4]{0:X} negate(p), f32[4]{0:X} abs(q))", &["X", "X"], "= f32[4]{0:X} abs(%q)");
}

#[test]
fn what_is_malformed_is_still_an_error() {
    for root in [
        "f32[4] negate(p), new_one=",
        "f32[4] frobnicate(p",
        "frobnicate(p)",
        "f32[4] frobnicate p",
        "f32[4]{0:X(3} negate(p)",
        "f32[4]{0:S(1)T(8)} negate(p)",
        "f32[4]{0:X(3)4} negate(p)",
        "f32[4] negate(p), sharding={devices=[2,2]0,1}",
    ] {
        let block = lowered(&format!(
            "HloModule m\n\nENTRY e {{\n  p = f32[4] parameter(0)\n  ROOT r = {root}\n}}\n"
        ));
        assert!(!block.parse.errors.is_empty(), "{root}");
    }
}

/// Any instruction with one more attribute is unchanged except for that attribute.
#[test]
fn any_instruction_may_have_one_more_attribute() {
    let mut rng = Rng::new(7);
    for opcode in hlo::opcodes() {
        let Some(generated) = hlo::random_op(opcode, &mut rng) else { continue };
        let text = generated.text.trim_end();
        let Some(body) = text.strip_suffix('}').map(str::trim_end) else { continue };
        // A start without its done is not a valid module to begin with.
        if !crate::verified(text).1.is_empty() {
            continue;
        }
        let text = format!("{body}, added_since={{a=1}}\n}}\n");
        let block = lowered(&text);
        let found = unknown(&block);
        assert_eq!(found.len(), 1, "{found:?} in {}", &text[..floor(&text, 2000)]);
        let printed = print(&block);
        assert!(printed.contains("added_since={a=1}"), "{printed}");
        assert_eq!(print(&lowered(&printed)), printed);
    }
}
