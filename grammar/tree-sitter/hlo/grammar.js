// HLO: modules, computations, instructions and attributes. Groups in brackets are tokens: what they mean depends on the
// opcode and the attribute.

const TYPE = /pred|token|opaque|[suf][0-9]+(e[0-9]+m[0-9]+[a-z0-9]*)?|bf16|c64|c128/;

module.exports = grammar({
  name: "hlo",
  extras: ($) => [/\s/, $.comment],
  word: ($) => $.word,
  rules: {
    module: ($) => repeat(choice($.header, $.table, $.computation, $.instruction)),

    header: ($) => seq("HloModule", field("name", $._name), repeat(seq(",", $.attribute))),

    // `FileNames`, `StackFrames` and so on: rows that metadata refers to by number.
    table: ($) => seq(field("name", $.table_name), repeat($.row)),
    table_name: () => choice("FileNames", "FunctionNames", "FileLocations", "StackFrames"),
    row: ($) => seq($.number, choice($.string, $.braces)),

    computation: ($) =>
      seq(
        optional("ENTRY"),
        field("name", $._name),
        optional(seq($.parameters, "->", $._shape)),
        field("body", $.body),
        repeat(seq(",", $.attribute)),
      ),
    parameters: ($) => seq("(", optional(seq($.parameter, repeat(seq(",", $.parameter)))), ")"),
    parameter: ($) => seq(field("name", $._name), ":", $._shape),
    body: ($) => seq("{", repeat($.instruction), "}"),

    instruction: ($) =>
      seq(
        optional("ROOT"),
        field("name", $._name),
        "=",
        optional(field("shape", $._shape)),
        field("opcode", alias($.word, $.opcode)),
        field("operands", $.operands),
        repeat(seq(",", $.attribute)),
      ),
    // A name after `(` or `,` is an operand; literals are tokens.
    operands: ($) => seq("(", repeat($._token), ")"),

    attribute: ($) => seq(field("key", alias($.word, $.key)), "=", field("value", $._value)),
    _value: ($) =>
      choice(
        $.braces,
        $.string,
        $.number,
        $.boolean,
        $.word,
        $.value,
        $.dim_labels,
        // `devices=[2,4]<=[8]`, `[4,2]<=[2,4]T(1,0)`, `mesh['x'=2]{…}`.
        prec.right(seq(optional($.word), $.brackets, optional(seq("<=", $.brackets)), optional($._transposed), optional($.braces))),
        seq($._shape_type, optional($.parens)),
      ),
    _transposed: ($) => seq(token.immediate("T"), $.parens),

    _shape: ($) => choice($._shape_type, $.tuple_shape, $.buffer_shape),
    _shape_type: ($) => prec.right(seq($.type, $.brackets, optional($.layout))),
    // With a space in front it is the body of a computation.
    layout: ($) => seq(token.immediate("{"), repeat($._token), "}"),
    tuple_shape: ($) => seq("(", optional(seq($._shape, repeat(seq(",", $._shape)))), ")"),

    // `b(f32[4])`. No opcode is called b.
    buffer_shape: ($) => seq(token(prec(1, "b(")), $._shape, ")"),

    braces: ($) => seq("{", repeat($._token), "}"),
    brackets: ($) => seq("[", repeat($._token), "]"),
    parens: ($) => seq("(", repeat($._token), ")"),
    _token: ($) =>
      choice(
        $.braces,
        $.brackets,
        $.parens,
        $.pair,
        $.string,
        $.number,
        $.type,
        $.boolean,
        $.dim_labels,
        $.value,
        $.word,
        "->",
        "<=",
        "=",
        "ROOT",
        "ENTRY",
        $.punctuation,
      ),
    // `op_name="x"` in braces.
    pair: ($) => seq(alias($.word, $.key), token.immediate("=")),

    _name: ($) => choice($.value, $.word),
    comment: () => token(choice(/\/\/[^\n]*/, /\/\*[^*]*\*+([^/*][^*]*\*+)*\//)),
    string: () => token(choice(/"([^"\\]|\\(.|\n))*"/, /'([^'\\\n]|\\.)*'/)),
    number: () => token(/-?[0-9][0-9A-Za-z_.]*([eE][+-][0-9]+)?(_-?[0-9]+|x-?[0-9]+)*|-(inf|nan)/),
    type: () => token(prec(1, TYPE)),
    boolean: () => choice("true", "false", "inf", "nan"),
    dim_labels: () => token(prec(1, /[0-9a-z?]+_[0-9a-z?]+->[0-9a-z?]+/)),
    value: () => token(/%[A-Za-z0-9_.\-]+/),
    word: () => /[A-Za-z_][A-Za-z0-9_.]*(-[A-Za-z0-9_.]+)*/,
    punctuation: () => token(prec(-1, /[^\sA-Za-z0-9_"(){}\[\]]/)),
  },
});
