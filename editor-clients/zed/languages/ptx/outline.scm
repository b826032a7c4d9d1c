(function name: (_) @name) @item
(label_definition name: (_) @name) @item
