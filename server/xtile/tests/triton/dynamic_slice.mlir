#indexing_map = #xla.indexing_map<"(pid) -> ((pid / 2) * 8), domain: pid in [0, 15]">
#indexing_map1 = #xla.indexing_map<"(pid, d1) -> ((pid mod 2) * 16 + d1), domain: pid in [0, 15], d1 in [0, 64]">
#indexing_map2 = #xla.indexing_map<"(pid) -> ((pid mod 2) * 16), domain: pid in [0, 15]">
module {
  xtile.entry_func @dynamic_slice(%arg0: memref<64x96xf32>, %arg1: memref<i32>, %arg2: memref<i32>, %arg3: memref<64x32xf32>, %arg4: index {xla.range = [0 : index, 15 : index]}) attributes {num_opaque_args = 0 : i32} {
    %c64_i32 = arith.constant 64 : i32
    %c0_i32 = arith.constant 0 : i32
    %0 = xtile.extract %arg1[] [] [] : memref<i32> -> tensor<i32>
    %1 = xtile.extract %arg2[] [] [] : memref<i32> -> tensor<i32>
    %extracted = tensor.extract %1[] : tensor<i32>
    %2 = arith.maxsi %extracted, %c0_i32 : i32
    %3 = arith.minsi %2, %c64_i32 : i32
    %4 = arith.index_cast %3 : i32 to index
    %5 = xla.apply_indexing #indexing_map(%arg4)
    %6 = xla.apply_indexing #indexing_map1(%arg4, %4)
    %7 = xtile.extract %arg0[%5, %6] [8, 16] [1, 1] : memref<64x96xf32> -> tensor<8x16xf32>
    %8 = xla.apply_indexing #indexing_map2(%arg4)
    xtile.insert %7 into %arg3[%5, %8] [8, 16] [1, 1] : tensor<8x16xf32> -> memref<64x32xf32>
    xtile.return
  }
}
