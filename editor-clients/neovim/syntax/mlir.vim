" MLIR of any dialect: colours without, or until, the server's semantic tokens.
if exists("b:current_syntax")
  finish
endif
syntax keyword mlirKeyword module return call private public attributes loc dense unit
syntax keyword mlirBoolean true false
syntax match mlirNumber /\<-\?\d\+\(\.\d*\)\?\([eE][+-]\?\d\+\)\?\>/
syntax match mlirNumber /\<0x\x\+\>/
syntax match mlirNumber /\(\d\+x\|?x\)\+/
syntax match mlirType /\(\<\|x\@<=\)\(tensor\|memref\|vector\|tuple\|complex\|index\|none\|[su]\?i\d\+\|f\d\+\(E\d\+M\d\+[A-Z]*\)\?\|bf16\|tf32\)\>/
syntax match mlirOp /\<[A-Za-z_][A-Za-z0-9_$]*\(\.[A-Za-z_][A-Za-z0-9_$]*\)\+/
syntax match mlirValue /%[A-Za-z0-9_$.-]\+\(#\d\+\)\?/
syntax match mlirSymbol /@[A-Za-z_][A-Za-z0-9_$.]*/
syntax match mlirAlias /[#!][A-Za-z_][A-Za-z0-9_$.]*/
syntax match mlirBlock /\^[A-Za-z0-9_$.-]\+/
syntax region mlirString start=/"/ skip=/\\./ end=/"/
syntax match mlirComment "//.*$"
highlight default link mlirKeyword Keyword
highlight default link mlirBoolean Boolean
highlight default link mlirNumber Number
highlight default link mlirType Type
highlight default link mlirOp Function
highlight default link mlirValue Special
highlight default link mlirSymbol Identifier
highlight default link mlirAlias Constant
highlight default link mlirBlock Label
highlight default link mlirString String
highlight default link mlirComment Comment
let b:current_syntax = "mlir"
