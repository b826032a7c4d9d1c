#indexing_map = #xla.indexing_map<"(pid, tid, d2) -> (((pid * 2 + tid) / 3) * 4 + d2), domain: pid in [0, 5], tid in [0, 1], d2 in [0, 24]">
#indexing_map1 = #xla.indexing_map<"(pid, tid) -> (((pid * 2 + tid) mod 3) * 32), domain: pid in [0, 5], tid in [0, 1]">
#indexing_map2 = #xla.indexing_map<"(pid, tid) -> (((pid * 2 + tid) / 3) * 4), domain: pid in [0, 5], tid in [0, 1]">
module {
  xtile.entry_func @tiles_a_block_slice(%arg0: memref<40x70xf32>, %arg1: memref<i32>, %arg2: memref<16x70xf32>, %arg3: index {xla.range = [0 : index, 5 : index]}) attributes {num_opaque_args = 0 : i32} {
    %c24_i32 = arith.constant 24 : i32
    %c0_i32 = arith.constant 0 : i32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    scf.for %arg4 = %c0 to %c2 step %c1 {
      %0 = xtile.extract %arg1[] [] [] : memref<i32> -> tensor<i32>
      %extracted = tensor.extract %0[] : tensor<i32>
      %1 = arith.maxsi %extracted, %c0_i32 : i32
      %2 = arith.minsi %1, %c24_i32 : i32
      %3 = arith.index_cast %2 : i32 to index
      %4 = xla.apply_indexing #indexing_map(%arg3, %arg4, %3) {xla.range = [0 : index, 36 : index]}
      %5 = xla.apply_indexing #indexing_map1(%arg3, %arg4) {xla.range = [0 : index, 64 : index]}
      %6 = xtile.extract %arg0[%4, %5] [4, 32] [1, 1] : memref<40x70xf32> -> tensor<4x32xf32>
      %7 = arith.negf %6 : tensor<4x32xf32>
      %8 = xla.apply_indexing #indexing_map2(%arg3, %arg4) {xla.range = [0 : index, 12 : index]}
      xtile.insert %7 into %arg2[%8, %5] [4, 32] [1, 1] : tensor<4x32xf32> -> memref<16x70xf32>
    }
    xtile.return
  }
}
