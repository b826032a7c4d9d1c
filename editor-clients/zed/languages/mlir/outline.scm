(op
  name: (_) @context
  (symbol) @name) @item
