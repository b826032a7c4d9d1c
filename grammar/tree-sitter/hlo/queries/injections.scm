((attribute
  key: (key) @_key
  value: (braces) @injection.content)
  (#eq? @_key "backend_config")
  (#set! injection.language "json")
  (#set! injection.include-children))

((comment) @injection.content
  (#set! injection.language "comment"))
