#indexing_map = #xla.indexing_map<"(pid) -> ((pid / 2) * 16), domain: pid in [0, 15]">
#indexing_map1 = #xla.indexing_map<"(pid) -> ((pid mod 2) * 32), domain: pid in [0, 15]">
module {
  xtile.entry_func @pad_100_128(%arg0: memref<100x60xf32>, %arg1: memref<f32>, %arg2: memref<128x64xf32>, %arg3: index {xla.range = [0 : index, 15 : index]}) attributes {num_opaque_args = 0 : i32} {
    %c60_i32 = arith.constant 60 : i32
    %c100_i32 = arith.constant 100 : i32
    %0 = xla.apply_indexing #indexing_map(%arg3)
    %1 = xla.apply_indexing #indexing_map1(%arg3)
    %2 = xtile.extract %arg0[%0, %1] [16, 32] [1, 1] : memref<100x60xf32> -> tensor<16x32xf32>
    %3 = xtile.extract %arg1[] [] [] : memref<f32> -> tensor<f32>
    %4 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %5 = tt.expand_dims %4 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %6 = tt.broadcast %5 : tensor<16x1xi32> -> tensor<16x32xi32>
    %7 = arith.index_cast %0 : index to i32
    %8 = arith.subi %c100_i32, %7 : i32
    %9 = tt.splat %8 : i32 -> tensor<16x32xi32>
    %10 = arith.cmpi slt, %6, %9 : tensor<16x32xi32>
    %11 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %12 = tt.expand_dims %11 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %13 = tt.broadcast %12 : tensor<1x32xi32> -> tensor<16x32xi32>
    %14 = arith.index_cast %1 : index to i32
    %15 = arith.subi %c60_i32, %14 : i32
    %16 = tt.splat %15 : i32 -> tensor<16x32xi32>
    %17 = arith.cmpi slt, %13, %16 : tensor<16x32xi32>
    %18 = arith.andi %10, %17 : tensor<16x32xi1>
    %extracted = tensor.extract %3[] : tensor<f32>
    %19 = tt.splat %extracted : f32 -> tensor<16x32xf32>
    %20 = arith.select %18, %2, %19 : tensor<16x32xi1>, tensor<16x32xf32>
    xtile.insert %20 into %arg2[%0, %1] [16, 32] [1, 1] : tensor<16x32xf32> -> memref<128x64xf32>
    xtile.return
  }
}
