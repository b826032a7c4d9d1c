// MLIR of any dialect. An op is a line that starts with results, a name with a dialect or a word that ops of the
// builtin and old dialects have, with the lines that go on in brackets or start with something else. Braces with a line
// break behind `{` are a region or a long dictionary.

const TYPE = /tensor|memref|vector|tuple|complex|index|none|[su]?i[0-9]+|f[0-9]+(E[0-9]+M[0-9]+[A-Z]*)?|bf16|tf32/;

module.exports = grammar({
  name: "mlir",
  extras: ($) => [/[ \t\r\f\uFEFF]/, $.comment],
  word: ($) => $.word,
  rules: {
    module: ($) => repeat(choice($._line_break, $._statement)),
    _statement: ($) => choice($.op, $.alias_definition, $.block_label, $._continued_line, "}", ")", "]"),

    op: ($) =>
      prec.right(seq(
        optional(seq(field("results", $.results), "=")),
        field("name", choice($.op_name, $.string, $.keyword)),
        repeat($._token),
        // What ends an op is the line behind it, so it includes its line breaks.
        repeat(seq($._line_break, optional($._continued_line))),
      )),
    results: ($) => seq($._result, repeat(seq($._comma, $._result))),
    _result: ($) => seq($.value, optional(seq(":", $.number))),
    alias_definition: ($) => prec.right(seq(field("name", $.alias), "=", repeat($._in_group))),
    // `^bb1(%a: i32):`
    block_label: ($) => seq(field("name", $.block), optional($.parens), ":"),
    // A line that no op starts with: `ins(%a : tensor<4xf32>)`, `-> tensor<4xf32> {`.
    _continued_line: ($) => prec.right(seq($._goes_on, repeat($._token))),

    region: ($) => seq("{", $._line_break, repeat(choice($._line_break, $._statement_in)), "}"),
    _statement_in: ($) => choice($.op, $.alias_definition, $.block_label, $._continued_line),
    braces: ($) => seq("{", optional(seq($._token, repeat($._in_group))), "}"),
    parens: ($) => seq("(", repeat($._in_group), ")"),
    brackets: ($) => seq("[", repeat($._in_group), "]"),
    _in_group: ($) => choice($._token, $._line_break),

    _token: ($) => choice($._goes_on, $.op_name, $.string, $.keyword, $.value, $.alias, $.block),
    // What a line inside an op may start with.
    _goes_on: ($) =>
      choice(
        $.region, $.braces, $.parens, $.brackets, $.number, $.extents, $.type, $.constant, $.symbol,
        $.word, "=", $._comma, ":", $.punctuation,
      ),

    _line_break: () => /\n/,
    // What follows a comma belongs to the same op, on whichever line it is.
    _comma: () => token(/,(\s*\n)?/),
    comment: () => token(/\/\/[^\n]*/),
    string: () => token(/"([^"\\]|\\(.|\n))*"/),
    number: () => token(prec(1, choice(/-?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?/, /0x[0-9a-fA-F]+/))),
    extents: () => token(prec(2, /([0-9]+x|\?x)+/)),
    type: () => token(prec(1, TYPE)),
    keyword: () => choice("module", "func", "return", "call", "br", "cond_br", "private", "public", "attributes", "loc", "dense"),
    constant: () => choice("true", "false", "unit"),
    value: () => token(/%[A-Za-z0-9_$.\-]+(#[0-9]+)?/),
    symbol: () => token(/@([A-Za-z_][A-Za-z0-9_$.]*|"[^"]*")/),
    alias: () => token(/[#!][A-Za-z_][A-Za-z0-9_$.]*/),
    block: () => token(/\^[A-Za-z0-9_$.\-]+/),
    op_name: () => token(/[A-Za-z_][A-Za-z0-9_$]*(\.[A-Za-z_][A-Za-z0-9_$]*)+/),
    word: () => /[A-Za-z_][A-Za-z0-9_$]*/,
    punctuation: () => token(prec(-1, choice("->", "::", "==", ">=", "<=", /[^\sA-Za-z0-9_"(){}\[\]=,:]/))),
  },
});
