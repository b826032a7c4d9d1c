" PTX of generated kernels.
if exists("b:current_syntax")
  finish
endif
syntax match ptxNumber /\<-\?\d\+\(\.\d\+\)\?U\?\>/
syntax match ptxNumber /\<0[fFdDx]\x\+U\?\>/
syntax match ptxInstruction /\<[a-z][a-z0-9]*\(\.[A-Za-z0-9_:]\+\)\+/
syntax keyword ptxInstruction ret exit bra call trap
syntax match ptxDirective /\(^\|\s\|(\)\@<=\.[A-Za-z_]\w*/
syntax match ptxRegister /%[A-Za-z0-9_.]\+/
syntax match ptxLabel /\$[A-Za-z0-9_$]\+/
syntax region ptxString start=/"/ skip=/\\./ end=/"/
syntax match ptxComment "//.*$"
syntax region ptxComment start="/\*" end="\*/"
highlight default link ptxNumber Number
highlight default link ptxInstruction Function
highlight default link ptxDirective Keyword
highlight default link ptxRegister Special
highlight default link ptxLabel Label
highlight default link ptxString String
highlight default link ptxComment Comment
let b:current_syntax = "ptx"
