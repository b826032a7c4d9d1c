" HLO: colours without, or until, the server's semantic tokens.
if exists("b:current_syntax")
  finish
endif
syntax keyword hloKeyword HloModule ENTRY ROOT
syntax keyword hloBoolean true false
syntax match hloNumber /\<-\?\d\+\(\.\d\+\)\?\([eE][+-]\?\d\+\)\?\>/
syntax keyword hloNumber inf nan
syntax match hloType /\<\(pred\|token\|opaque\|[suf]\d\+\(e\d\+m\d\+[a-z0-9]*\)\?\|bf16\|c64\|c128\)\>/
syntax match hloOpcode /\<[a-z][a-z0-9-]*\ze(/
syntax match hloKey /\<[a-z_][a-z0-9_]*\ze=\S/
syntax match hloName /%[A-Za-z0-9_.-]\+/
syntax region hloString start=/"/ skip=/\\./ end=/"/
syntax match hloComment "//.*$"
syntax region hloComment start="/\*" end="\*/"
highlight default link hloKeyword Keyword
highlight default link hloBoolean Boolean
highlight default link hloNumber Number
highlight default link hloType Type
highlight default link hloOpcode Function
highlight default link hloKey Identifier
highlight default link hloName Special
highlight default link hloString String
highlight default link hloComment Comment
let b:current_syntax = "hlo"
