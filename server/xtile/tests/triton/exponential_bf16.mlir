#indexing_map = #xla.indexing_map<"(pid) -> ((pid / 3) * 8), domain: pid in [0, 23]">
#indexing_map1 = #xla.indexing_map<"(pid) -> ((pid mod 3) * 32), domain: pid in [0, 23]">
module {
  xtile.entry_func @exponential_bf16(%arg0: memref<64x96xbf16>, %arg1: memref<64x96xbf16>, %arg2: index {xla.range = [0 : index, 23 : index]}) attributes {num_opaque_args = 0 : i32} {
    %0 = xla.apply_indexing #indexing_map(%arg2)
    %1 = xla.apply_indexing #indexing_map1(%arg2)
    %2 = xtile.extract %arg0[%0, %1] [8, 32] [1, 1] : memref<64x96xbf16> -> tensor<8x32xbf16>
    %3 = arith.extf %2 : tensor<8x32xbf16> to tensor<8x32xf32>
    %4 = tt.extern_elementwise %3 {libname = "libdevice", libpath = "libdevice.10.bc", pure = true, symbol = "__nv_fast_expf"} : (tensor<8x32xf32>) -> tensor<8x32xf32>
    %5 = arith.truncf %4 : tensor<8x32xf32> to tensor<8x32xbf16>
    xtile.insert %5 into %arg1[%0, %1] [8, 32] [1, 1] : tensor<8x32xbf16> -> memref<64x96xbf16>
    xtile.return
  }
}
