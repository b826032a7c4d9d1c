#map = affine_map<(d0) -> (d0)>
!t = tensor<4x8xf32>
module @m {
  func.func @f(%a: !t, %b: tensor<i1>, %i: tensor<i32>) -> tensor<8xf32> {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %f = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.add %a, %a : !t
    %1 = stablehlo.dynamic_slice %0, %c, %i, sizes = [2, 8] : (!t, tensor<i32>, tensor<i32>) -> tensor<2x8xf32>
    %2:2 = "x.y"(%1) ({
    ^bb0(%p: tensor<f32>):
      %q = x.z %p, %f, %1 : (tensor<f32>, tensor<f32>, tensor<2x8xf32>) -> f32
      x.r %q : f32
    }) : (tensor<2x8xf32>) -> (tensor<8x2xf32>, i1)
    %3 = stablehlo.transpose %1, dims = [1, 0] : (tensor<2x8xf32>) -> tensor<8x2xf32>
    %4 = stablehlo.add %2#0, %3 : tensor<8x2xf32>
    %5 = stablehlo.reduce(%4 init: %f) applies stablehlo.add across dimensions = [1] : (tensor<8x2xf32>, tensor<f32>) -> tensor<8xf32>
    %w:2 = stablehlo.while(%iterArg = %i, %iterArg_0 = %5) : tensor<i32>, tensor<8xf32>
    cond {
      %l = stablehlo.compare LT, %iterArg, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %l : tensor<i1>
    } do {
      %n = stablehlo.add %iterArg, %c : tensor<i32>
      %m = stablehlo.add %iterArg_0, %5 : tensor<8xf32>
      stablehlo.return %n, %m : tensor<i32>, tensor<8xf32>
    }
    %g = x.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%5 : tensor<8xf32>) outs(%w#1 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      x.yield %in : f32
    } -> tensor<8xf32>
    %less = arith.cmpf olt, %g, %5 : tensor<8xf32>
    cf.cond_br %2#1, ^bb1(%5 : tensor<8xf32>), ^bb2
  ^bb1(%r: tensor<8xf32>):
    %6 = stablehlo.add %r, %5 : tensor<8xf32>
    cf.br ^bb3(%6 : tensor<8xf32>)
  ^bb2:
    %7 = stablehlo.reshape %4 : (tensor<8x2xf32>) -> tensor<15xf32>
    %8 = stablehlo.negate %9, %2#3 : (tensor<8xf32>, i1) -> tensor<8xf32>
    %9 = stablehlo.negate %g : (tensor<9xf32>) -> tensor<8xf32>
    %5 = stablehlo.negate %unknown : (tensor<8xf32>) -> tensor<8xf32>
    cf.br ^bb4
  ^bb3(%s: tensor<8xf32>):
    %k = func.call @g(%s) : (tensor<8xf32>) -> tensor<8xf32>
    return %k : tensor<8xf32>
  } loc("f")
  func.func private @g(%a: tensor<8xf32>) -> tensor<8xf32> {
    return %a : tensor<8xf32>
  }
}
