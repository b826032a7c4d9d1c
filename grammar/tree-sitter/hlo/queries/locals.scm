(computation) @local.scope
(parameter name: (_) @local.definition)
(instruction name: (_) @local.definition)
(operands [(value) (word)] @local.reference)
