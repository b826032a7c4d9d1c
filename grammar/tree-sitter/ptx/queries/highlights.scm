(comment) @comment
(string) @string
(number) @constant.numeric
(directive) @keyword
(register) @variable
(instruction) @function
(label) @label
(punctuation) @punctuation
