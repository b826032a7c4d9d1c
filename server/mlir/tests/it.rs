//! Invariants for any bytes, and for a text of every construct with parts deleted.

use std::time::Instant;

use mlir::{Definition, Form, Parse, PieceState, TypeRef, Use, parse, split, tokens};
use proptest::prelude::*;

const CONSTRUCTS: &str = include_str!("fixtures/constructs.mlir");

fn read(text: &str) -> Parse {
    parse(text, PieceState::default())
}

/// Checks the invariants of the arrays for any text.
fn check(text: &str, parse: &Parse) {
    let fits = |span: text::Span| {
        assert!(span.start <= span.end, "{span:?}");
        assert!(text.get(span.range()).is_some(), "{span:?} of {}", text.len());
    };
    let mut above: Vec<u32> = Vec::new();
    for (id, op) in parse.ops.iter().enumerate() {
        [op.span, op.name, op.head, op.location].into_iter().for_each(fits);
        assert!(op.behind as usize > id && op.behind as usize <= parse.ops.len());
        let parent = parse.parent(id as u32);
        while above.last().copied() != parent {
            assert!(above.pop().is_some(), "ops stand after those that hold them");
        }
        if let Some(parent) = parent {
            let outer = parse.op(parent);
            assert!((id as u32) < outer.behind);
            assert!(outer.span.start <= op.span.start && op.span.end <= outer.span.end, "ops nest");
        }
        above.push(id as u32);
        for Use { span, op: of, value, .. } in parse.uses_of(id as u32) {
            fits(*span);
            assert_eq!(*of, id as u32);
            if let Some(value) = value {
                let name = parse.values[*value as usize].name.of(text);
                assert!(span.of(text).starts_with(name), "a use is called like its definition");
            }
        }
        for attribute in parse.attributes_of(id as u32) {
            fits(attribute.name);
            fits(attribute.value);
        }
        for ty in parse.types(&op.operand_types).iter().chain(parse.types(&op.result_types)) {
            if let TypeRef::Written(span) = ty {
                fits(*span);
            }
        }
        assert!(parse.regions_of(id as u32).count() <= parse.regions.len());
    }
    let tops: usize = parse.top_ops().map(|id| (parse.op(id).behind - id) as usize).sum();
    assert_eq!(tops, parse.ops.len(), "the ops at the top and those inside of them are all");
    for (id, region) in parse.regions.iter().enumerate() {
        fits(region.span);
        for block in parse.blocks_of(id as u32) {
            assert_eq!(parse.blocks[block as usize].region, id as u32);
        }
    }
    for id in 0..parse.values.len() {
        fits(parse.values[id].name);
        _ = parse.type_of(id as u32, 0, text);
    }
    let names = parse.symbols.iter().map(|s| s.span).chain(parse.aliases.iter().map(|a| a.span));
    names.chain(parse.successors.iter().map(|s| s.span)).for_each(fits);
    for pair in parse.errors.windows(2) {
        assert!(pair[0].span.start <= pair[1].span.start, "errors are in order");
        assert_ne!(pair[0], pair[1]);
    }
    parse.errors.iter().for_each(|e| fits(e.span));
}

#[test]
fn every_construct_is_read() {
    let parse = read(CONSTRUCTS);
    check(CONSTRUCTS, &parse);
    assert_eq!(parse.errors, []);
    assert_eq!(parse.uses.iter().filter(|u| u.value.is_none()).count(), 0, "all names are known");
    let untyped: Vec<_> = (0..parse.values.len() as u32)
        .filter(|&id| parse.type_of(id, 0, CONSTRUCTS).is_none())
        .map(|id| parse.values[id as usize].name.of(CONSTRUCTS))
        .collect();
    assert!(untyped.is_empty(), "{untyped:?} have no type");
    let defined: Vec<_> =
        parse.symbols.iter().filter(|s| s.is_definition).map(|s| s.span.of(CONSTRUCTS)).collect();
    let expect =
        ["@jit_f", "@table", "@mesh", "@declared", "@main", "@control", "@kernels", "@k", "generic", "g"];
    assert_eq!(defined, expect);
    assert_eq!(parse.splits.len(), 1);
}

/// The type of a value with this name.
fn type_of(name: &str, index: usize) -> String {
    let parse = read(CONSTRUCTS);
    let id = parse.values.iter().position(|v| v.name.of(CONSTRUCTS) == name).expect("it is defined");
    parse.type_of(id as u32, index, CONSTRUCTS).map(|t| t.into_owned()).unwrap_or_default()
}

#[test]
fn types_follow_from_how_ops_are_written() {
    assert_eq!(type_of("%0", 1), "tensor<4xf32>");
    assert_eq!(type_of("%1", 0), "tensor<f32>");
    assert_eq!(type_of("%3", 0), "tensor<f32>");
    assert_eq!(type_of("%iterArg_0", 0), "tensor<f32>");
    assert_eq!(type_of("%p", 0), "!pair");
    assert_eq!(type_of("%true", 0), "i1");
    assert_eq!(type_of("%l", 0), "f32");
    assert_eq!(type_of("%less", 0), "i1");
    assert_eq!(type_of("%i", 0), "index");
    assert_eq!(type_of("%idx", 0), "index");
    assert_eq!(type_of("%k", 1), "f32");
    assert_eq!(type_of("%sum", 0), "tensor<4xf32>");
    assert_eq!(type_of("%call", 0), "i1");
    assert_eq!(type_of("%xl", 1), "f32");
}

#[test]
fn shuffles_are_as_long_as_their_lists() {
    let of = |op: &str| {
        let text = format!("{op}\n\"use\"(%r) : (f32) -> ()\n");
        let parse = read(&text);
        (0..2).map(|v| parse.type_of(v, 0, &text).map(|ty| ty.into_owned())).collect::<Vec<_>>()
    };
    for (list, ty, expect) in [
        ("[0, 1]", "vector<4xf32>", "vector<2xf32>"),
        ("[0, 1, 5]", "vector<4x8xbf16>", "vector<3x8xbf16>"),
        ("[0]", "vector<f32>", "vector<1xf32>"),
        ("[]", "vector<4xi32>", "vector<0xi32>"),
    ] {
        let found = of(&format!("%r = vector.shuffle %a, %b {list} : {ty}, {ty}"));
        assert_eq!(found[0].as_deref(), Some(expect), "{list} of {ty}");
    }
    for names in ["%r, %s", "%r:2"] {
        let op = format!("{names} = vector.deinterleave %a : vector<8xf32> -> vector<4xf32>\n");
        let parse = read(&op);
        let last = parse.values.len() as u32 - 1;
        let index = if last == 0 { 1 } else { 0 };
        assert_eq!(parse.type_of(last, index, &op).as_deref(), Some("vector<4xf32>"), "{names}");
    }
}

/// The value of a constant may be an alias: its type is the one in the alias definition.
#[test]
fn constants_by_alias_have_the_type_of_the_alias() {
    let text = r#"#big = dense<[[0, 1],
  [2, 3]]>
  : vector<2x2xi32>
#list = array<i64: 1>
%a = arith.constant #big
%b = arith.constant #list
%c = arith.constant #none
%d = "other.op"() {x = #big} : () -> i32
"#;
    let parse = read(text);
    let types: Vec<_> = (0..parse.values.len() as u32).map(|v| parse.type_of(v, 0, text)).collect();
    let types: Vec<_> = types.iter().map(|ty| ty.as_deref()).collect();
    assert_eq!(types, [Some("vector<2x2xi32>"), None, None, Some("i32")]);
}

#[test]
fn operands_are_what_stands_in_front_of_the_types() {
    let parse = read(CONSTRUCTS);
    let of = |name: &str| -> Vec<&str> {
        let id =
            (0..parse.ops.len() as u32).find(|&id| parse.name(id, CONSTRUCTS) == name).expect("it is there");
        parse.operands_of(id).map(|u| u.span.of(CONSTRUCTS)).collect()
    };
    assert_eq!(of("stablehlo.reduce"), ["%arg0", "%arg0", "%arg1", "%arg1"]);
    assert_eq!(of("stablehlo.while"), ["%1", "%2"]);
    assert_eq!(of("unknown.split"), ["%w", "%idx"]);
    assert_eq!(of("func.call"), ["%sum"]);
}

#[test]
fn one_broken_op_costs_that_op() {
    for broken in [
        "%0 = ",
        "%0 = stablehlo.add %arg0,",
        "%0 = \"a.b\"(%arg0, ",
        "%0 = a.b {x = [1, 2",
        "a.b %arg0 : tensor<",
        "= 3",
        ")",
    ] {
        let text = format!(
            "\
func.func @f(%arg0: f32) -> f32 {{
  {broken}
  %1 = a.c %arg0 : f32
  return %1 : f32
}}
func.func @g() {{
}}
"
        );
        let parse = read(&text);
        check(&text, &parse);
        assert!(!parse.errors.is_empty() || broken.ends_with("%arg0,"), "{broken}");
        let names: Vec<_> = (0..parse.ops.len() as u32).map(|id| parse.name(id, &text)).collect();
        for expect in ["a.c", "return"] {
            assert!(names.contains(&expect), "{broken}: {names:?}");
        }
        assert_eq!(names.iter().filter(|n| **n == "func.func").count(), 2, "{broken}: {names:?}");
        assert_eq!(parse.uses.iter().filter(|u| u.value.is_none()).count(), 0, "{broken}");
    }
}

/// Counts the ops that are still found after one bracket is deleted.
#[test]
fn a_missing_bracket_costs_one_op() {
    let whole = read(CONSTRUCTS);
    let (all, _) = tokens(CONSTRUCTS, 0, CONSTRUCTS.len(), false);
    for sign in ["(", ")", "[", "]", "{", "}", "<", ">"] {
        let (mut kept, mut expected) = (0usize, 0usize);
        for token in all.iter().filter(|t| t.span.of(CONSTRUCTS) == sign) {
            let at = token.span.start as usize;
            let without = format!("{}{}", &CONSTRUCTS[..at], &CONSTRUCTS[at + 1..]);
            let parse = read(&without);
            check(&without, &parse);
            assert!(!parse.errors.is_empty() || !parse.open_below.is_empty(), "{sign} at {at}");
            let found: std::collections::HashSet<_> =
                parse.ops.iter().map(|op| op.name.start as usize).collect();
            let hit = whole.op_at(at);
            for (id, op) in whole.ops.iter().enumerate() {
                if hit == Some(id as u32) || op.form == Form::Alias {
                    continue;
                }
                let start = op.name.start as usize;
                expected += 1;
                kept += usize::from(found.contains(&(start - usize::from(start > at))));
            }
        }
        assert!(kept * 100 >= expected * 97, "{sign}: {kept} of {expected}");
    }
}

/// Time per byte does not grow with the length, even for texts that invite a naive parser to scan back or
/// ahead too far.
#[test]
fn time_is_linear() {
    let texts: [(&str, &str, &str); 10] = [
        ("", "%0 = stablehlo.add %a, %b : tensor<4xf32>\n", ""),
        ("", "(", ""),
        ("", "({", ""),
        ("a.b ", "(", " ]]]]]]]]]]]]]]]]]]"),
        ("a.b ", "%a, ", "= 1"),
        ("a.b {", "\"x\" = \"y\", ", ""),
        ("", "{-#\n", ""),
        ("", "func.func @f() {\n", ""),
        ("", "\"\\\\\\\\", ""),
        ("%0 = a.b dense<\"", "0123456789abcdef", "\"> : tensor<4xf32>"),
    ];
    for (start, repeated, end) in texts {
        let time = |count: usize| {
            let text =
                format!("{start}{}{}", repeated.repeat(count / repeated.len()), end.repeat(count / 64));
            let clock = Instant::now();
            let parse = read(&text);
            _ = split(&text, 0, 1);
            assert!(parse.ops.len() <= text.len() + 1);
            clock.elapsed().as_secs_f64()
        };
        let short = time(100_000).min(time(100_000)).max(0.001);
        let long = time(1_600_000).min(time(1_600_000));
        assert!(long < short * 16.0 * 8.0, "{repeated:?}: {short} s, sixteen times as long {long} s");
    }
}

#[test]
fn bodies_of_dialects_are_no_aliases() {
    let text = "#map = 1\na.b {c = #stablehlo<direction LT>, d = #map, e = !quant<x>, f = #x.y}\n";
    let names: Vec<_> = read(text).aliases.iter().map(|a| a.span.of(text)).collect();
    assert_eq!(names, ["#map", "#map"]);
}

#[test]
fn definitions_are_of_their_kinds() {
    let parse = read(CONSTRUCTS);
    let count = |is: fn(&Definition) -> bool| parse.values.iter().filter(|v| is(&v.definition)).count();
    assert_eq!(count(|d| matches!(d, Definition::BlockArgument(_))), 4 + 1 + 1 + 2 + 1);
    let binders: Vec<_> = parse
        .values
        .iter()
        .filter(|v| matches!(v.definition, Definition::Binder(_)))
        .map(|v| v.name.of(CONSTRUCTS))
        .collect();
    assert!(
        ["%arg0", "%x", "%iterArg", "%acc", "%j", "%u", "%ra"].iter().all(|b| binders.contains(b)),
        "{binders:?}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read(text in "\\PC{0,200}") {
        check(&text, &read(&text));
        split(&text, 0, 1);
    }

    #[test]
    fn any_signs_are_read(text in "[%^#!@a.b:=,<>(){}\\[\\]\"\\\\\n /0-9x-]{0,300}", depth in 0u8..4) {
        check(&text, &parse(&text, PieceState { depth, ..PieceState::default() }));
        split(&text, depth, 1);
    }

    /// Parts of the fixture replaced by other parts of it.
    #[test]
    fn spoilt_text_is_read(edits in proptest::collection::vec((any::<prop::sample::Index>(), 0usize..40, any::<prop::sample::Index>(), 0usize..40), 1..8)) {
        let mut bytes = CONSTRUCTS.as_bytes().to_vec();
        for (at, removed, from, len) in edits {
            let at = at.index(bytes.len());
            let from = from.index(CONSTRUCTS.len());
            let inserted = CONSTRUCTS.as_bytes()[from..(from + len).min(CONSTRUCTS.len())].to_vec();
            let end = (at + removed).min(bytes.len());
            bytes.splice(at..end, inserted);
        }
        let text = String::from_utf8_lossy(&bytes);
        check(&text, &read(&text));
        let mut start = 0;
        let mut depth = 0;
        for (at, state) in split(&text, 0, 64).pieces.into_iter().chain([(text.len(), 0)]) {
            check(&text[start..at], &parse(&text[start..at], PieceState::from_u8(depth)));
            (start, depth) = (at, state);
        }
    }
}
