#map = affine_map<(d0)[s0] -> (d0 * 4 + s0)>
#wide = affine_map<(d0, d1) -> (d0, d1)>
!t = tensor<64x32xf32>
module @m {
  func.func @maps(%a: !t, %d: tensor<?x32xf32>, %i: index {xla.range = [0 : index, 7 : index]}, %m: memref<64x32xf32>) -> tensor<8x4xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %x = affine.apply #map(%i)[%c4]
    %y = arith.addi %x, %c1 : index
    %n = tensor.dim %d, %c0 : tensor<?x32xf32>
    %e = tensor.empty(%n) : tensor<?x32xf32>
    %0 = linalg.exp ins(%d : tensor<?x32xf32>) outs(%e : tensor<?x32xf32>) -> tensor<?x32xf32>
    %1 = tensor.extract_slice %0[0, 8] [%n, 4] [1, 2] : tensor<?x32xf32> to tensor<?x4xf32>
    %2 = stablehlo.transpose %a, dims = [1, 0] : (!t) -> tensor<32x64xf32>
    %3 = tensor.collapse_shape %2 [[0, 1]] : tensor<32x64xf32> into tensor<2048xf32>
    %4 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%3 : tensor<2048xf32>) outs(%3 : tensor<2048xf32>) {
    ^bb0(%in: f32, %out: f32):
      %l = linalg.index 0 : index
      %f = memref.load %m[%y, %l] : memref<64x32xf32>
      %s = arith.addf %in, %f : f32
      linalg.yield %s : f32
    } -> tensor<2048xf32>
    %5 = tensor.extract_slice %4[%x] [32] [2] : tensor<2048xf32> to tensor<32xf32>
    %6 = tensor.expand_shape %5 [[0, 1]] output_shape [8, 4] : tensor<32xf32> into tensor<8x4xf32>
    %7:2 = "x.y"(%6, %1) : (tensor<8x4xf32>, tensor<?x4xf32>) -> (tensor<8x4xf32>, tensor<?x4xf32>)
    %8 = arith.addf %6, %7#0 : tensor<8x4xf32>
    %9 = scf.for %k = %c0 to %y step %c4 iter_args(%carried = %8) -> (tensor<8x4xf32>) {
      %z = memref.load %m[%k, %x] : memref<64x32xf32>
      %w = scf.for %j = %k to %n step %c1 iter_args(%inner = %carried) -> (tensor<8x4xf32>) {
        scf.yield %inner : tensor<8x4xf32>
      }
      scf.yield %w : tensor<8x4xf32>
    }
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c4, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bdx = %n, %bdy = %c1, %bdz = %c1) {
      %v = memref.load %m[%bx, %tx] : memref<64x32xf32>
      gpu.terminator
    }
    %far = arith.constant 70 : index
    %outside = memref.load %m[%far, %c0] : memref<64x32xf32>
    %q = tensor.extract_slice %4[%c4] [8] [1] : tensor<2048xf32> to tensor<8xf32>
    return %9 : tensor<8x4xf32>
  }
  func.func @kernel(%a: !t, %b: tensor<32xf32>) -> tensor<64xf32> {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<32xf32>) -> !t
    %1 = stablehlo.add %a, %0 : !t
    %2 = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [1] : (!t, tensor<f32>) -> tensor<64xf32>
    return %2 : tensor<64xf32>
  }
  func.func @calls(%a: !t, %b: tensor<32xf32>) -> tensor<16xf32> {
    %0 = call @kernel(%a, %b) : (!t, tensor<32xf32>) -> tensor<64xf32>
    %1 = stablehlo.reshape %0 : (tensor<64xf32>) -> tensor<8x8xf32>
    %2 = stablehlo.slice %1 [2:4, 0:8] : (tensor<8x8xf32>) -> tensor<2x8xf32>
    %3 = stablehlo.reshape %2 : (tensor<2x8xf32>) -> tensor<16xf32>
    return %3 : tensor<16xf32>
  }
}
