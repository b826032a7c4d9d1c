(region) @local.scope
(results (value) @local.definition)
(block_label (parens (value) @local.definition))
(op (value) @local.reference)
(op (parens (value) @local.reference))
