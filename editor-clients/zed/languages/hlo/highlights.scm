; `cargo xtask codegen` copies grammar/tree-sitter/hlo/queries/highlights.scm.
(comment) @comment
(string) @string
(number) @constant.numeric
(boolean) @constant.builtin
(dim_labels) @constant
(type) @type
["HloModule" "ENTRY" "ROOT"] @keyword
(table_name) @keyword
(opcode) @function
(key) @attribute
(value) @variable
(header name: (word) @namespace)
(computation name: (_) @function)
(parameter name: (_) @variable.parameter)
(instruction name: (_) @variable)
["=" "," ":" "->" "<="] @punctuation.delimiter
["(" ")" "{" "}" "[" "]"] @punctuation.bracket
(punctuation) @punctuation
