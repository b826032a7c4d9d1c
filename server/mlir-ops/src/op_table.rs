//! The table of ops: the kind of each op, by its name.
//!
//! Source: mlir.llvm.org/docs/Dialects; `xla/codegen/emitters/ir/xla_ops.td`,
//! `xla/codegen/xtile/ir/xtile_ops.td`, `xla/backends/gpu/codegen/triton/ir/triton_xla_ops.td`.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::op_kind::Arithmetic::*;
use crate::op_kind::{HardwareId, Linalg, Loop, OpKind, OpKind::*, Winograd};

/// The kind of an op of the table. Named structured ops have a table of their own (`named_ops.rs`).
pub(crate) fn kind_of(name: &str) -> Option<OpKind<'static>> {
    static BY_NAME: LazyLock<FxHashMap<&str, OpKind<'_>>> = LazyLock::new(|| {
        OPS.iter().flat_map(|&(names, kind)| names.iter().map(move |&name| (name, kind))).collect()
    });
    BY_NAME.get(name).copied()
}

const OPS: &[(&[&str], OpKind<'static>)] = &[
    (&["arith.constant", "constant"], Constant),
    (&["arith.addi", "index.add"], Integer(Add)),
    (&["arith.subi", "index.sub"], Integer(Subtract)),
    (&["arith.muli", "index.mul"], Integer(Multiply)),
    (&["arith.divsi", "index.divs"], Integer(Divide)),
    (&["arith.divui", "index.divu"], Integer(DivideUnsigned)),
    (&["arith.floordivsi", "index.floordivs"], Integer(FloorDivide)),
    (&["arith.ceildivsi", "index.ceildivs"], Integer(CeilDivide)),
    (&["arith.ceildivui", "index.ceildivu"], Integer(CeilDivideUnsigned)),
    (&["arith.remsi", "index.rems"], Integer(Remainder)),
    (&["arith.remui", "index.remu"], Integer(RemainderUnsigned)),
    (&["arith.minsi", "index.mins"], Integer(Minimum)),
    (&["arith.minui", "index.minu"], Integer(MinimumUnsigned)),
    (&["arith.maxsi", "index.maxs"], Integer(Maximum)),
    (&["arith.maxui", "index.maxu"], Integer(MaximumUnsigned)),
    (&["arith.index_cast", "arith.extsi", "index.casts"], Integer(Convert)),
    (&["arith.index_castui", "arith.extui", "index.castu"], Integer(ConvertUnsigned)),
    (&["arith.cmpi", "index.cmp"], Integer(Compare)),
    (&["arith.andi"], Integer(And)),
    (&["arith.ori"], Integer(Or)),
    (&["arith.xori"], Integer(Xor)),
    (&["arith.addf"], Elementwise(Add)),
    (&["arith.subf"], Elementwise(Subtract)),
    (&["arith.mulf"], Elementwise(Multiply)),
    (&["arith.divf"], Elementwise(Divide)),
    (&["arith.minimumf"], Elementwise(Minimum)),
    (&["arith.maximumf"], Elementwise(Maximum)),
    (&["arith.negf"], Elementwise(Negate)),
    (&["math.absf", "math.absi"], Elementwise(Abs)),
    (&["math.ceil"], Elementwise(Ceil)),
    (&["math.cos"], Elementwise(Cosine)),
    (&["math.erf"], Elementwise(Erf)),
    (&["math.exp"], Elementwise(Exp)),
    (&["math.expm1"], Elementwise(Expm1)),
    (&["math.floor"], Elementwise(Floor)),
    (&["math.log"], Elementwise(Log)),
    (&["math.log1p"], Elementwise(Log1p)),
    (&["math.powf"], Elementwise(Power)),
    (&["math.rsqrt"], Elementwise(Rsqrt)),
    (&["math.sin"], Elementwise(Sine)),
    (&["math.sqrt"], Elementwise(Sqrt)),
    (&["math.tan"], Elementwise(Tan)),
    (&["math.tanh"], Elementwise(Tanh)),
    (&["stablehlo.uniform_quantize", "mhlo.uniform_quantize"], Quantize),
    (&["stablehlo.uniform_dequantize", "mhlo.uniform_dequantize"], Quantize),
    (&["index.constant"], IndexConstant),
    (&["affine.apply"], Apply),
    (&["affine.min"], AffineMin),
    (&["affine.max"], AffineMax),
    (&["affine.delinearize_index"], Delinearize),
    (&["affine.linearize_index"], Linearize),
    (&["xla.apply_indexing", "xla_gpu.apply_indexing"], ApplyIndexing),
    (&["tensor.dim", "memref.dim"], Dim),
    (&["gpu.thread_id"], HardwareId(HardwareId::Thread)),
    (&["gpu.block_id"], HardwareId(HardwareId::Block)),
    (&["gpu.block_dim"], HardwareId(HardwareId::BlockSize)),
    (&["gpu.grid_dim"], HardwareId(HardwareId::GridSize)),
    (&["gpu.cluster_id"], HardwareId(HardwareId::Cluster)),
    (&["gpu.cluster_dim"], HardwareId(HardwareId::ClusterSize)),
    (&["gpu.lane_id"], HardwareId(HardwareId::Lane)),
    (&["gpu.subgroup_id"], HardwareId(HardwareId::Subgroup)),
    (&["gpu.num_subgroups"], HardwareId(HardwareId::SubgroupCount)),
    (&["gpu.subgroup_size"], HardwareId(HardwareId::SubgroupSize)),
    (&["gpu.global_id"], HardwareId(HardwareId::Global)),
    (&["xla.workgroup_id"], HardwareId(HardwareId::Workgroup)),
    (&["affine.for"], Loop(Loop::AffineFor)),
    (&["affine.parallel"], Loop(Loop::AffineParallel)),
    (&["scf.for"], Loop(Loop::ScfFor)),
    (&["scf.forall"], Loop(Loop::ScfForall)),
    (&["scf.parallel"], Loop(Loop::ScfParallel)),
    (&["xla.loop", "xla_gpu.loop"], Loop(Loop::Xla)),
    (&["affine.if"], AffineIf),
    (&["scf.if"], ScfIf),
    (&["gpu.launch"], GpuLaunch),
    (&["gpu.func"], GpuFunction),
    (&["func.call", "call"], Call),
    (&["func.return", "return"], Return),
    (&["affine.yield", "linalg.yield", "scf.yield", "tensor.yield", "vector.yield", "xla.yield"], Yield),
    (&["affine.load", "memref.load", "tensor.extract"], Load),
    (&["affine.store", "memref.store"], Store),
    (&["tensor.insert"], InsertElement),
    (&["memref.prefetch", "xla.predicated_extract", "xla_gpu.predicated_extract"], GuardedLoad),
    (&["xla.predicated_insert", "xla_gpu.predicated_insert"], GuardedInsert),
    (&["memref.atomic_rmw"], AtomicUpdate(1)),
    (&["memref.generic_atomic_rmw", "xla.atomic_rmw", "xla_gpu.atomic_rmw"], AtomicUpdate(0)),
    (&["tensor.extract_slice"], ExtractSlice),
    (&["memref.subview"], Subview),
    (&["tensor.insert_slice"], InsertSlice),
    (&["tensor.parallel_insert_slice"], ParallelInsertSlice),
    (&["xtile.extract"], ExtractTile),
    (&["xtile.insert"], InsertTile),
    (&["triton_xla.extract"], ExtractPointedTile),
    (&["triton_xla.insert"], InsertPointedTile),
    (&["tensor.collapse_shape", "memref.collapse_shape"], Collapse),
    (&["tensor.expand_shape", "memref.expand_shape"], Expand),
    (&["tensor.reshape", "memref.reshape", "vector.shape_cast"], Reshape),
    (&["tensor.cast", "memref.cast"], Cast),
    (&["bufferization.to_tensor", "bufferization.to_memref", "bufferization.to_buffer"], Cast),
    (&["tensor.bitcast", "memref.memory_space_cast", "bufferization.clone"], Recast),
    (&["tensor.splat"], Splat),
    (&["tensor.from_elements", "vector.from_elements"], FromElements),
    (&["tensor.pad"], Pad),
    (&["tensor.concat"], Concat),
    (&["tensor.gather"], Gather),
    (&["tensor.scatter"], Scatter),
    (&["tensor.empty"], EmptyTensor),
    (&["memref.alloc", "memref.alloca"], Allocate),
    (&["memref.transpose"], MemrefTranspose),
    (&["memref.reinterpret_cast"], ReinterpretCast),
    (&["memref.view"], View),
    (&["memref.copy"], CopyBuffer),
    (&["linalg.index"], LinalgIndex),
    (&["linalg.generic"], Linalg(Linalg::Generic)),
    (&["linalg.contract"], Linalg(Linalg::Contract)),
    (&["linalg.elementwise"], Linalg(Linalg::Elementwise)),
    (&["linalg.map"], Linalg(Linalg::Map)),
    (&["linalg.reduce"], Linalg(Linalg::Reduce)),
    (&["linalg.transpose"], Linalg(Linalg::Transpose)),
    (&["linalg.broadcast"], Linalg(Linalg::Broadcast)),
    (&["linalg.softmax"], Linalg(Linalg::Softmax)),
    (&["linalg.fill"], Linalg(Linalg::Fill)),
    (&["linalg.abs", "linalg.ceil", "linalg.copy", "linalg.erf"], Linalg(Linalg::Pointwise)),
    (&["linalg.exp", "linalg.floor", "linalg.log", "linalg.negf"], Linalg(Linalg::Pointwise)),
    (&["linalg.reciprocal", "linalg.round", "linalg.rsqrt", "linalg.sqrt"], Linalg(Linalg::Pointwise)),
    (&["linalg.square", "linalg.tanh", "linalg.add", "linalg.div"], Linalg(Linalg::Pointwise)),
    (&["linalg.div_unsigned", "linalg.max", "linalg.min", "linalg.mul"], Linalg(Linalg::Pointwise)),
    (&["linalg.powf", "linalg.sub", "linalg.select"], Linalg(Linalg::Pointwise)),
    (&["linalg.winograd_filter_transform"], Winograd(Winograd::Filter)),
    (&["linalg.winograd_input_transform"], Winograd(Winograd::Input)),
    (&["linalg.winograd_output_transform"], Winograd(Winograd::Output)),
    (&["linalg.pack", "tensor.pack"], Pack),
    (&["linalg.unpack", "tensor.unpack"], Unpack),
    (&["vector.mask"], VectorMask),
    (&["vector.load", "affine.vector_load"], VectorLoad),
    (&["vector.store", "affine.vector_store"], VectorStore),
    (&["vector.maskedload"], MaskedLoad),
    (&["vector.maskedstore"], MaskedStore),
    (&["vector.expandload"], ExpandLoad),
    (&["vector.compressstore"], CompressStore),
    (&["vector.transfer_read"], TransferRead),
    (&["vector.transfer_write"], TransferWrite),
    (&["vector.gather"], VectorGather),
    (&["vector.scatter"], VectorScatter),
    (&["vector.extract"], VectorExtract),
    (&["vector.insert"], VectorInsert),
    (&["vector.broadcast", "vector.splat"], VectorBroadcast),
    (&["vector.transpose"], VectorTranspose),
    (&["vector.bitcast"], VectorBitcast),
    (&["vector.extract_strided_slice"], ExtractStridedSlice),
    (&["vector.insert_strided_slice"], InsertStridedSlice),
    (&["vector.outerproduct"], OuterProduct),
    (&["vector.fma"], Fma),
    (&["vector.interleave"], Interleave),
    (&["vector.deinterleave"], Deinterleave),
    (&["vector.shuffle"], Shuffle),
    (&["vector.multi_reduction"], MultiReduction),
    (&["vector.reduction"], Reduction),
    (&["vector.contract"], VectorContract),
    (&["xla_gpu.insert"], IndexedInsert),
    (&["xla_gpu.reduce"], XlaReduce),
    (&["xtile.mask"], XtileMask),
    (&["xtile.scan"], XtileScan),
    (&["xtile.dot_scaled"], DotScaled),
    (&["triton_xla.squeeze_dims"], SqueezeDims),
    (&["stablehlo.einsum", "stablehlo.unary_einsum", "mhlo.einsum", "mhlo.unary_einsum"], Einsum),
    (
        &[
            "stablehlo.dynamic_broadcast_in_dim",
            "mhlo.dynamic_broadcast_in_dim",
            "stablehlo.dynamic_reshape",
            "mhlo.dynamic_reshape",
        ],
        DynamicShape(1),
    ),
    (&["stablehlo.dynamic_iota", "mhlo.dynamic_iota"], DynamicShape(0)),
    (&["shape.shape_of"], ShapeOf),
    (&["stablehlo.get_dimension_size", "mhlo.get_dimension_size"], DimensionSize),
    (&["shape.const_shape"], ConstantShape),
    (&["stablehlo.slice"], BoundedSlice),
    (&["stablehlo.reshape"], StatedReshape),
    (&["stablehlo.convert", "mhlo.reshape", "mhlo.convert", "shape.to_extent_tensor"], SameNumbers),
    (&["stablehlo.concatenate", "mhlo.concatenate"], JoinedLists),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::named_ops::named_op;

    #[test]
    fn each_name_has_one_row() {
        let mut seen = FxHashMap::default();
        for (name, kind) in OPS.iter().flat_map(|(names, kind)| names.iter().map(move |name| (*name, kind))) {
            assert_eq!(seen.insert(name, kind), None, "{name} has two rows");
            assert_eq!(name.strip_prefix("linalg.").and_then(named_op), None, "{name} is a named op, too");
            assert_eq!(OpKind::of(name), *kind);
        }
    }

    #[test]
    fn ops_without_a_row_follow_their_dialect() {
        assert_eq!(OpKind::of("arith.shli"), Elementwise(crate::Arithmetic::Other));
        assert_eq!(OpKind::of("linalg.unheard_of"), Linalg(Linalg::Other));
        assert!(matches!(OpKind::of("linalg.matmul"), Linalg(Linalg::Named(_))));
        assert_eq!(OpKind::of("xla_gpu.allocate_shared"), Xla);
        assert_eq!(OpKind::of("scf.while"), OpKind::Other("scf.while"));
        assert!(OpKind::of("llvm.mlir.constant").is_constant() && !OpKind::of("scf.while").is_constant());
    }
}
