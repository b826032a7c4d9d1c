// PTX: functions, blocks, statements and labels. The operands of a statement are tokens.

module.exports = grammar({
  name: "ptx",
  extras: ($) => [/\s/, $.comment],
  word: ($) => $.word,
  rules: {
    module: ($) => repeat(choice($.module_directive, $.function, $.variable, $.section, $.statement)),

    // `.version 8.7`, `.target sm_90a, debug`, `.address_size 64`, `.file 1 "x.py"`: without a semicolon.
    module_directive: ($) =>
      prec.right(choice(
        seq(alias(choice(".version", ".address_size"), $.directive), $.number),
        seq(alias(".target", $.directive), $.word, repeat(seq(",", $.word))),
        seq(alias(".file", $.directive), $.number, $.string, repeat(seq(",", $.number))),
      )),

    function: ($) =>
      seq(
        optional($._linkage),
        alias(choice(".entry", ".func"), $.directive),
        optional($.parens),
        field("name", $._name),
        optional($.parens),
        repeat($.performance_directive),
        choice(field("body", $.block), ";"),
      ),
    _linkage: ($) => repeat1(alias(choice(".visible", ".extern", ".weak", ".common"), $.directive)),
    // `.extern .shared .align 16 .b8 shared[];`
    variable: ($) => seq($._linkage, $.directive, repeat($._token), ";"),
    // `.reqntid 128, 1, 1`, `.noreturn`.
    performance_directive: ($) => prec.right(seq($.directive, optional(seq($.number, repeat(seq(",", $.number)))))),
    // `.section .debug_info { .b8 1 … }`
    section: ($) => seq(alias(".section", $.directive), $._token, $.braces),

    block: ($) => seq("{", repeat(choice($.statement, $.location, $.label_definition, $.block)), "}"),
    label_definition: ($) => seq(field("name", choice($.label, $.word)), ":"),
    // `.loc 1 5 0`, `, function_name $L__info_string0, inlined_at 1 9 0`
    location: ($) => seq(alias(".loc", $.directive), repeat1($.number), repeat(seq(",", $.word, choice($.number, $.label, $.word), repeat($.number), optional(seq("+", $.number))))),
    statement: ($) => seq(optional(seq($._first, repeat($._token))), ";"),

    parens: ($) => seq("(", repeat($._token), ")"),
    brackets: ($) => seq("[", repeat($._token), "]"),
    // An initialiser, or a vector of registers.
    braces: ($) => seq("{", repeat($._token), "}"),
    _token: ($) =>
      choice($.parens, $.brackets, $.braces, $.string, $.number, $.label, ",", "+", $._first),
    // What a statement starts with. Braces there are a block.
    _first: ($) => choice($.directive, $.register, $.instruction, $.word, $.punctuation),

    _name: ($) => choice($.word, $.label, $.register),
    comment: () => token(choice(/\/\/[^\n]*/, /\/\*[^*]*\*+([^/*][^*]*\*+)*\//)),
    string: () => token(/"([^"\\]|\\.)*"/),
    number: () => token(prec(1, choice(/-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?U?/, /0x[0-9a-fA-F]+U?/, /0[fFdD][0-9a-fA-F]+/))),
    directive: () => token(/\.[A-Za-z_][A-Za-z0-9_:]*/),
    register: () => token(/%[A-Za-z0-9_.]+/),
    instruction: () => token(choice(prec(1, /[a-z][a-z0-9]*(\.[A-Za-z0-9_:]+)+/), prec(1, choice("ret", "exit", "call", "bra", "trap")))),
    label: () => token(/\$[A-Za-z0-9_$]+/),
    word: () => /[A-Za-z_][A-Za-z0-9_$]*/,
    punctuation: () => token(prec(-1, /[^\sA-Za-z0-9_"(){}\[\];,:+]/)),
  },
});
