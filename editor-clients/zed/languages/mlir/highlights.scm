; `cargo xtask codegen` copies grammar/tree-sitter/mlir/queries/highlights.scm.
(comment) @comment
(string) @string
(number) @constant.numeric
(extents) @constant.numeric
(constant) @constant.builtin
(type) @type
(keyword) @keyword
(op_name) @function
(op name: (string) @function)
(symbol) @function
(alias) @constant
(block) @label
(value) @variable
["=" ":"] @punctuation.delimiter
["(" ")" "{" "}" "[" "]"] @punctuation.bracket
(punctuation) @punctuation
