(block) @local.scope
(label_definition name: (_) @local.definition)
(statement (label) @local.reference)
