// PTX as tokens: enough for colours, and every text parses.

module.exports = grammar({
  name: "ptx",
  extras: () => [/\s/],
  rules: {
    module: ($) => repeat($._item),
    _item: ($) =>
      choice($.comment, $.string, $.number, $.directive, $.register, $.instruction, $.label, $.word, $.punctuation),
    comment: () => token(choice(/\/\/[^\n]*/, /\/\*[^*]*\*+([^/*][^*]*\*+)*\//)),
    string: () => token(/"([^"\\]|\\.)*"/),
    number: () => token(prec(1, choice(/-?[0-9]+(\.[0-9]+)?U?/, /0x[0-9a-fA-F]+U?/, /0[fFdD][0-9a-fA-F]+/))),
    directive: () => token(/\.[A-Za-z_][A-Za-z0-9_]*/),
    register: () => token(/%[A-Za-z0-9_.]+/),
    instruction: () => token(choice(prec(1, /[a-z][a-z0-9]*(\.[A-Za-z0-9_:]+)+/), prec(1, choice("ret", "exit", "call", "bra", "trap")))),
    label: () => token(/\$[A-Za-z0-9_$]+/),
    word: () => token(/[A-Za-z_][A-Za-z0-9_$]*/),
    punctuation: () => token(prec(-1, /[^\sA-Za-z0-9_"]/)),
  },
});
