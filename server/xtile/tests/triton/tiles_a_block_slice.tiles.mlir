#indexing_map = #xla.indexing_map<"(pid) -> (min(pid * -2 + 12, 2)), domain: pid in [0, 5]">
#indexing_map1 = #xla.indexing_map<"(pid, tid)[rt_2] -> (((pid * 2 + tid) / 3) * 4 + rt_2), domain: pid in [0, 5], tid in [0, 1], rt_2 in [0, 24]">
#indexing_map2 = #xla.indexing_map<"(pid, tid)[rt_2] -> (((pid * 2 + tid) mod 3) * 32), domain: pid in [0, 5], tid in [0, 1], rt_2 in [0, 24]">
#indexing_map3 = #xla.indexing_map<"(pid, tid) -> (((pid * 2 + tid) / 3) * 4), domain: pid in [0, 5], tid in [0, 1]">
#indexing_map4 = #xla.indexing_map<"(pid, tid) -> (((pid * 2 + tid) mod 3) * 32), domain: pid in [0, 5], tid in [0, 1]">
module {
  xtile.entry_func @tiles_a_block_slice(%arg0: memref<40x70xf32>, %arg1: memref<i32>, %arg2: memref<16x70xf32>, %arg3: index {xla.range = [0 : index, 5 : index]}) attributes {num_opaque_args = 0 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = xla.apply_indexing #indexing_map(%arg3)
    scf.for %arg4 = %c0 to %0 step %c1 {
      %1 = xtile.extract %arg1[] [] [] : memref<i32> -> tensor<i32>
      %extracted = tensor.extract %1[] : tensor<i32>
      %c0_i32 = arith.constant 0 : i32
      %2 = arith.maxsi %extracted, %c0_i32 : i32
      %c24_i32 = arith.constant 24 : i32
      %3 = arith.minsi %2, %c24_i32 : i32
      %4 = arith.index_cast %3 : i32 to index
      %cst = arith.constant dense<0> : tensor<i32>
      %5 = xla.apply_indexing #indexing_map1(%arg3, %arg4)[%4] {xla.range = [0 : index, 36 : index]}
      %6 = xla.apply_indexing #indexing_map2(%arg3, %arg4)[%4] {xla.range = [0 : index, 64 : index]}
      %7 = xtile.extract %arg0[%5, %6] [4, 32] [1, 1] : memref<40x70xf32> -> tensor<4x32xf32>
      %8 = stablehlo.negate %7 : tensor<4x32xf32>
      %9 = xla.apply_indexing #indexing_map3(%arg3, %arg4) {xla.range = [0 : index, 12 : index]}
      %10 = xla.apply_indexing #indexing_map4(%arg3, %arg4) {xla.range = [0 : index, 64 : index]}
      xtile.insert %8 into %arg2[%9, %10] [4, 32] [1, 1] : tensor<4x32xf32> -> memref<16x70xf32>
    }
    xtile.return
  }
}
