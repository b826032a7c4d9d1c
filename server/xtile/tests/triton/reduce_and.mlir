#indexing_map = #xla.indexing_map<"(pid) -> (pid * 8), domain: pid in [0, 7]">
module {
  xtile.entry_func @reduce_and(%arg0: memref<64x96xi8>, %arg1: memref<64xi8>, %arg2: index {xla.range = [0 : index, 7 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0> : tensor<8x128xi8>
    %true = arith.constant true
    %c0 = arith.constant 0 : index
    %0 = xla.apply_indexing #indexing_map(%arg2)
    %1 = xtile.extract %arg0[%0, %c0] [8, 128] [1, 1] : memref<64x96xi8> -> tensor<8x128xi8>
    %2 = arith.cmpi ne, %1, %cst : tensor<8x128xi8>
    %3 = xtile.mask %2 bounds [8, 96], %true : tensor<8x128xi1>
    %4 = "tt.reduce"(%3) <{axis = 1 : i32}> ({
    ^bb0(%arg3: i1, %arg4: i1):
      %6 = arith.andi %arg3, %arg4 : i1
      tt.reduce.return %6 : i1
    }) : (tensor<8x128xi1>) -> tensor<8xi1>
    %5 = arith.extui %4 : tensor<8xi1> to tensor<8xi8>
    xtile.insert %5 into %arg1[%0] [8] [1] : tensor<8xi8> -> memref<64xi8>
    xtile.return
  }
}
