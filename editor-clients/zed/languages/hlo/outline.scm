(header "HloModule" @context name: (_) @name) @item
(computation "ENTRY"? @context name: (_) @name) @item
(instruction "ROOT"? @context name: (_) @name) @item
