; `cargo xtask codegen` copies grammar/tree-sitter/ptx/queries/injections.scm.
((comment) @injection.content
  (#set! injection.language "comment"))
