; `cargo xtask codegen` copies grammar/tree-sitter/ptx/queries/highlights.scm.
(comment) @comment
(string) @string
(number) @constant.numeric
(directive) @keyword
(register) @variable
(instruction) @function
(label) @label
(label_definition name: (word) @label)
(function name: (_) @function)
["," ":" ";"] @punctuation.delimiter
["(" ")" "{" "}" "[" "]"] @punctuation.bracket
(punctuation) @punctuation
