; `cargo xtask codegen` copies grammar/tree-sitter/hlo/queries/injections.scm.
((attribute
  key: (key) @_key
  value: (braces) @injection.content)
  (#eq? @_key "backend_config")
  (#set! injection.language "json")
  (#set! injection.include-children))

((comment) @injection.content
  (#set! injection.language "comment"))
