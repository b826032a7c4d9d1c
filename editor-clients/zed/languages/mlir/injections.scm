; `cargo xtask codegen` copies grammar/tree-sitter/mlir/queries/injections.scm.
((comment) @injection.content
  (#set! injection.language "comment"))
