// HLO as tokens, and what the token behind a word makes of it: enough for colours, and every text parses.

const TYPE = /pred|token|opaque|[suf][0-9]+(e[0-9]+m[0-9]+[a-z]*)?|bf16|c64|c128/;

module.exports = grammar({
  name: "hlo",
  extras: () => [/\s/],
  rules: {
    module: ($) => repeat($._item),
    _item: ($) =>
      choice($.comment, $.string, $.number, $.type, $.keyword, $.value, $.call, $.attribute, $.word, $.punctuation),
    comment: () => token(choice(/\/\/[^\n]*/, /\/\*[^*]*\*+([^/*][^*]*\*+)*\//)),
    string: () => token(/"([^"\\]|\\.)*"/),
    number: () => token(prec(1, /-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?/)),
    type: () => token(prec(1, TYPE)),
    keyword: () => token(prec(2, choice("HloModule", "ENTRY", "ROOT", "true", "false", "inf", "nan"))),
    value: () => token(/%[A-Za-z0-9_.\-]+/),
    word: () => token(/[A-Za-z_][A-Za-z0-9_.\-]*/),
    // `add(`: an opcode; the parameters of a computation have a space in front.
    call: ($) => prec(1, seq(alias($.word, $.opcode), token.immediate("("))),
    // `dimensions=`; the name of a value has a space behind it.
    attribute: ($) => prec(1, seq(alias($.word, $.key), token.immediate("="))),
    punctuation: () => token(prec(-1, choice("->", /[^\sA-Za-z0-9_"]/))),
  },
});
