#indexing_map = #xla.indexing_map<"(pid) -> ((pid / 8) * 16), domain: pid in [0, 191]">
#indexing_map1 = #xla.indexing_map<"(pid) -> ((pid mod 8) * 64), domain: pid in [0, 191]">
module {
  xtile.entry_func @elem_remainder(%arg0: memref<384x500xf32>, %arg1: memref<384x500xf32>, %arg2: memref<384x500xf32>, %arg3: index {xla.range = [0 : index, 191 : index]}) attributes {num_opaque_args = 0 : i32} {
    %0 = xla.apply_indexing #indexing_map(%arg3)
    %1 = xla.apply_indexing #indexing_map1(%arg3)
    %2 = xtile.extract %arg0[%0, %1] [16, 64] [1, 1] : memref<384x500xf32> -> tensor<16x64xf32>
    %3 = xtile.extract %arg1[%0, %1] [16, 64] [1, 1] : memref<384x500xf32> -> tensor<16x64xf32>
    %4 = tt.extern_elementwise %2, %3 {libname = "libdevice", libpath = "libdevice.10.bc", pure = true, symbol = "__nv_fmodf"} : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    xtile.insert %4 into %arg2[%0, %1] [16, 64] [1, 1] : tensor<16x64xf32> -> memref<384x500xf32>
    xtile.return
  }
}
