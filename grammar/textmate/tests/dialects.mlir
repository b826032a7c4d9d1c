// SYNTAX TEST "source.mlir" "ops in both forms, names, types, attributes, locations"

#map = affine_map<(d0) -> (d0)>
// <---- entity.name.type.alias.mlir
//   ^ keyword.operator.assignment.mlir
//     ^^^^^^^^^^ support.type.property-name.mlir
module @jit_f attributes {a.b = 1 : i32} {
// <------ keyword.control.function.mlir
//     ^^^^^^ entity.name.function.mlir
//            ^^^^^^^^^^ keyword.control.mlir
//                        ^^^ variable.other.property.mlir
//                              ^ constant.numeric.mlir
  func.func private @main(%arg0: tensor<4x?xf32>) -> !stablehlo.token {
//^^^^^^^^^ keyword.control.function.mlir
//          ^^^^^^^ storage.modifier.mlir
//                  ^^^^^ entity.name.function.mlir
//                        ^^^^^ variable.other.reference.mlir
//                               ^^^^^^ storage.type.array.mlir
//                                          ^^^ storage.type.element.mlir
//                                                   ^^^^^^^^^^^^^^^^ storage.type.dialect.mlir
    %0:2 = "unknown.op"(%arg0) <{m = #map}> : (f32) -> (i1, index)
//  ^^ variable.other.definition.mlir
//          ^^^^^^^^^^ support.function.opcode.mlir
//                      ^^^^^ variable.other.reference.mlir
//                               ^ variable.other.property.mlir
//                                   ^^^^ constant.other.attribute.mlir
//                                             ^^^ storage.type.element.mlir
    %1 = nobody.heard %0#1, ^bb0 {x = "text"} : f32 loc(#loc1)
//       ^^^^^^^^^^^^ support.function.opcode.mlir
//                    ^^^^ variable.other.reference.mlir
//                          ^^^^ entity.name.label.mlir
//                                    ^^^^^^ string.quoted.double.mlir
//                                                  ^^^ keyword.other.location.mlir
    return %1 : f32
//  ^^^^^^ support.function.opcode.mlir
  }
}
// -----
// <-------- comment.line.double-slash.split.mlir
