// MLIR of any dialect as tokens: enough for colours, and every text parses.

const TYPE = /tensor|memref|vector|tuple|complex|index|none|[su]?i[0-9]+|f[0-9]+(E[0-9]+M[0-9]+[A-Z]*)?|bf16|tf32/;

module.exports = grammar({
  name: "mlir",
  extras: () => [/\s/],
  rules: {
    module: ($) => repeat($._item),
    _item: ($) =>
      choice(
        $.comment, $.string, $.number, $.extents, $.type, $.keyword, $.value, $.symbol, $.alias, $.block, $.op, $.word,
        $.punctuation,
      ),
    comment: () => token(/\/\/[^\n]*/),
    string: () => token(/"([^"\\]|\\.)*"/),
    number: () => token(prec(1, choice(/-?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?/, /0x[0-9a-fA-F]+/))),
    extents: () => token(prec(2, /([0-9]+x|\?x)+/)),
    type: () => token(prec(1, TYPE)),
    keyword: () =>
      token(prec(2, choice("module", "return", "call", "private", "public", "attributes", "loc", "true", "false", "unit", "dense"))),
    value: () => token(/%[A-Za-z0-9_$.\-]+(#[0-9]+)?/),
    symbol: () => token(/@([A-Za-z_][A-Za-z0-9_$.]*|"[^"]*")/),
    alias: () => token(/[#!][A-Za-z_][A-Za-z0-9_$.]*/),
    block: () => token(/\^[A-Za-z0-9_$.\-]+/),
    op: () => token(/[A-Za-z_][A-Za-z0-9_$]*(\.[A-Za-z_][A-Za-z0-9_$]*)+/),
    word: () => token(/[A-Za-z_][A-Za-z0-9_$]*/),
    punctuation: () => token(prec(-1, choice("->", "::", "==", ">=", "<=", /[^\sA-Za-z0-9_"]/))),
  },
});
