#indexing_map = #xla.indexing_map<"(pid) -> ((pid / 6) * 16), domain: pid in [0, 95]">
#indexing_map1 = #xla.indexing_map<"(pid) -> ((pid mod 6) * 64), domain: pid in [0, 95]">
module {
  xtile.entry_func @convert_bf16_f8e5m2(%arg0: memref<256x384xbf16>, %arg1: memref<256x384xf8E5M2>, %arg2: index {xla.range = [0 : index, 95 : index]}) attributes {num_opaque_args = 0 : i32} {
    %0 = xla.apply_indexing #indexing_map(%arg2)
    %1 = xla.apply_indexing #indexing_map1(%arg2)
    %2 = xtile.extract %arg0[%0, %1] [16, 64] [1, 1] : memref<256x384xbf16> -> tensor<16x64xbf16>
    %3 = arith.extf %2 : tensor<16x64xbf16> to tensor<16x64xf32>
    %4 = tt.fp_to_fp %3, rounding = rtne : tensor<16x64xf32> -> tensor<16x64xf8E5M2>
    xtile.insert %4 into %arg1[%0, %1] [16, 64] [1, 1] : tensor<16x64xf8E5M2> -> memref<256x384xf8E5M2>
    xtile.return
  }
}
