//! Findings of small functions.

use super::*;
use crate::{PieceState, parse};

fn check_body(lines: &str, expect: &[&str]) {
    let text = format!("func.func @f(%a: tensor<4xf32>, %n: index) {{\n{lines}\n}}\n");
    let parse = parse(&text, PieceState::default());
    let shown: Vec<_> = check(&parse, &text)
        .iter()
        .map(|f| {
            let related = f.related.as_ref().map_or("", |(span, _)| span.of(&text));
            format!("{} {} {related}", f.code, f.span.of(&text)).trim_end().to_owned()
        })
        .collect();
    assert_eq!(shown, expect);
}

#[test]
fn names_that_stand_for_nothing() {
    check_body("%0 = a.b %a, %c : f32\nreturn", &["unknown-value %c"]);
    check_body("%0:2 = a.b %a : f32, f32\na.c %0#2, %0#1 : f32, f32", &["unknown-result %0#2 %0"]);
    check_body("cf.br ^bb1\n^bb2:\n  return", &["unknown-block ^bb1"]);
    check_body("%0 = a.b %a : f32\n%0 = a.b %a : f32", &["redefinition %0 %0"]);
}

#[test]
fn uses_in_front_of_definitions() {
    check_body("%0 = a.b %1 : f32\n%1 = a.b %a : f32", &["use-before-definition %1 %1"]);
    check_body("a.b {\n  a.c %1 : f32\n}\n%1 = a.b %a : f32", &["use-before-definition %1 %1"]);
    check_body("cf.br ^bb2\n^bb1:\n  return %1 : f32\n^bb2:\n  %1 = a.b %a : f32\n  cf.br ^bb1", &[]);
}

#[test]
fn types_that_are_others_where_the_value_is_defined() {
    check_body("%0 = a.b %a : (tensor<8xf32>) -> f32", &["type-mismatch tensor<8xf32> %a"]);
    check_body("%0 = a.b %a : (tensor< 4xf32 >) -> f32\n%1 = a.c %a : (!alias) -> f32", &[]);
    check_body("%0 = a.b %a : tensor<8xf32> -> f32", &[]);
}

#[test]
fn types_of_custom_forms_are_those_of_the_operands() {
    check_body("%0 = arith.addi %n, %a : index", &["type-mismatch %a %a"]);
    check_body("%0 = stablehlo.add %a, %a : tensor<5xf32>", &["type-mismatch %a %a", "type-mismatch %a %a"]);
    check_body("%0 = stablehlo.select %n, %a, %a : tensor<4xi1>, tensor<4xf32>", &["type-mismatch %n %n"]);
    check_body("%0 = tensor.extract %a[%n] : tensor<5xf32>", &["type-mismatch %a %a"]);
    check_body("%0 = arith.index_cast %n : i32 to i64", &["type-mismatch %n %n"]);
    check_body("%s, %v = gpu.shuffle xor %a, %a, %a : f32\n%0 = arith.andi %v, %v : i1", &[]);
    check_body(
        "%o = vector.outerproduct %a, %a : vector<2xf32>, vector<3xf32>\n%0 = arith.negf %o : vector<2x3xf32>",
        &[],
    );
    check_body(
        "%r:2 = linalg.map ins(%a : f32) outs(%a, %a : tensor<2xf32>, tensor<3xi1>) {\n}\n%0 = arith.negf %r#1 : tensor<3xf32>",
        &["type-mismatch %r#1 %r"],
    );
    // Types with an encoding may be equal although spelled differently.
    check_body("%0 = arith.addf %a, %a : tensor<4xf32, #x.y>", &[]);
    check_body("%0 = arith.addf %a, %a : tensor< 4xf32>", &[]);
    check_body("%0 = nobody.addf %a, %a : tensor<5xf32>", &[]);
}

#[test]
fn as_many_types_as_operands_and_results() {
    check_body("%0 = \"a.b\"(%a) : (tensor<4xf32>, f32) -> f32", &["type-count \"a.b\""]);
    check_body("%0:2 = \"a.b\"(%n) : (index) -> f32", &["result-count %0"]);
    check_body("%0, %1 = arith.addi %n, %n : index", &["result-count %0"]);
    check_body("%0 = func.call @g(%n) : () -> f32", &["type-count func.call"]);
    check_body("%0:2 = \"a.b\"(%n)[^bb1] : (index) -> (f32, f32)\n^bb1:", &[]);
}

#[test]
fn types_and_literals_that_cannot_be() {
    check_body("%0 = arith.addf %c, %c : f31", &["unknown-value %c", "unknown-value %c", "unknown-type f31"]);
    check_body("%0 = a.b : tensor<8,64xf32>", &["unknown-type tensor<8,64xf32>"]);
    check_body("%0 = a.b : ptr", &[]);
    check_body("%0 = arith.constant dense<[1, 2, 3]> : tensor<2xi8>", &["literal-shape tensor<2xi8>"]);
    check_body(
        "%0 = arith.constant dense<[[1], [2, 3]]> : tensor<2x1xi8>",
        &["literal-shape tensor<2x1xi8>"],
    );
    check_body(
        "%0 = arith.constant dense<[[1, 2]]> : tensor<1x2xi8>\n%1 = arith.constant dense<1> : tensor<2xi8>",
        &[],
    );
}

#[test]
fn what_is_returned_is_what_is_declared() {
    let text = "func.func @f(%a: f32) -> f32 {\n  return %a, %a : f32, i32\n}\n";
    let parse = parse(text, PieceState::default());
    let told = |declared: &[&str]| {
        let found = check_returned(&parse, text, 1, declared);
        found.into_iter().map(|f| format!("{} {}", f.code, f.span.of(text))).collect::<Vec<_>>()
    };
    assert_eq!(told(&["f32"]), ["return-count return"]);
    assert_eq!(told(&["f32", "i64"]), ["return-type %a"]);
    assert_eq!(told(&["f32", "!x.y"]), [""; 0]);
}

#[test]
fn what_follows_from_a_syntax_error_is_not_told() {
    check_body("%0 = a.b %c : tensor<4xf32\n%1 = a.b %d : f32", &[]);
}
