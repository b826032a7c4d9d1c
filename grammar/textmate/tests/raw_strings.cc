// SYNTAX TEST "source.cpp" "HLO, MLIR and PTX in raw strings of C++"

const char* kHlo = R"hlo(
//                 ^^^^^^ string.quoted.double.raw.cpp
HloModule m
// <--------- meta.embedded.block.hlo keyword.other.module.hlo
  ROOT add.2 = f32[] add(lhs, rhs)
//     ^^^^^ meta.embedded.block.hlo variable.other.definition.hlo
//                   ^^^ meta.embedded.block.hlo support.function.opcode.hlo
)hlo";
// <----- string.quoted.double.raw.cpp
int after = 1;
//  ^^^^^ - meta.embedded.block.hlo

auto mlir = Parse(R"mlir(func.func @f() { return })mlir", 1);
//                       ^^^^^^^^^ meta.embedded.block.mlir
//                                                ^^^^^^ string.quoted.double.raw.cpp
//                                                        ^ constant.numeric.decimal.cpp - meta.embedded.block.mlir

auto other = R"(HloModule m)";
//              ^^^^^^^^^ - meta.embedded.block.hlo

// R"hlo(HloModule m)hlo"
//       ^^^^^^^^^ comment.line.double-slash.cpp - meta.embedded.block.hlo
auto text = "R\"hlo(HloModule m)hlo";
//                  ^^^^^^^^^ string.quoted.double.cpp - meta.embedded.block.hlo
