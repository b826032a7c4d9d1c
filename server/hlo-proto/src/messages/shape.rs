//! Shapes, layouts and literals.

use super::messages;

messages! {
    ShapeProto {
        2 element_type: i32 = [int32],
        3 dimensions: Vec<i64> = [int64, repeated],
        4 tuple_shapes: Vec<ShapeProto> = [message, repeated] of ShapeProto,
        5 layout: Option<LayoutProto> = [message, optional] of LayoutProto,
        6 is_dynamic_dimension: Vec<bool> = [bool, repeated],
    }
    LayoutProto {
        1 minor_to_major: Vec<i64> = [int64, repeated],
        6 tiles: Vec<TileProto> = [message, repeated] of TileProto,
        7 element_size_in_bits: i64 = [int64],
        8 memory_space: i64 = [int64],
        9 dim_level_types: Vec<i32> = [int32, repeated],
        10 physical_shape: Vec<u8> = [bytes = "vec"],
        11 index_primitive_type: i32 = [int32],
        12 pointer_primitive_type: i32 = [int32],
        13 dim_unique: Vec<bool> = [bool, repeated],
        14 dim_ordered: Vec<bool> = [bool, repeated],
        15 dynamic_shape_metadata_prefix_bytes: i64 = [int64],
        16 tail_padding_alignment_in_elements: i64 = [int64],
        17 split_configs: Vec<SplitConfigProto> = [message, repeated] of SplitConfigProto,
    }
    TileProto {
        1 dimensions: Vec<i64> = [int64, repeated],
    }
    SplitConfigProto {
        1 dimension: i64 = [int64],
        2 split_indices: Vec<i64> = [int64, repeated],
    }
    ProgramShapeProto {
        1 parameters: Vec<ShapeProto> = [message, repeated] of ShapeProto,
        2 result: Option<ShapeProto> = [message, optional] of ShapeProto,
        3 parameter_names: Vec<String> = [string, repeated],
    }
    /// The elements are in the field of their type, in the order in which they lie in memory. What has no field of numbers is bytes: two for
    /// a type of 16 bits, one for a smaller one.
    LiteralProto {
        1 shape: Option<ShapeProto> = [message, optional] of ShapeProto,
        2 preds: Vec<bool> = [bool, repeated],
        3 u8s: Vec<u8> = [bytes = "vec"],
        4 s32s: Vec<i32> = [int32, repeated],
        5 s64s: Vec<i64> = [int64, repeated],
        6 u32s: Vec<u32> = [uint32, repeated],
        7 u64s: Vec<u64> = [uint64, repeated],
        8 f32s: Vec<f32> = [float, repeated],
        9 f64s: Vec<f64> = [double, repeated],
        10 tuple_literals: Vec<LiteralProto> = [message, repeated] of LiteralProto,
        11 f16s: Vec<u8> = [bytes = "vec"],
        12 c64s: Vec<f32> = [float, repeated],
        13 bf16s: Vec<u8> = [bytes = "vec"],
        14 sparse_indices: Vec<i64> = [int64, repeated],
        15 s8s: Vec<u8> = [bytes = "vec"],
        16 u16s: Vec<u8> = [bytes = "vec"],
        17 s16s: Vec<u8> = [bytes = "vec"],
        18 c128s: Vec<f64> = [double, repeated],
        19 f8e5m2s: Vec<u8> = [bytes = "vec"],
        20 f8e4m3fns: Vec<u8> = [bytes = "vec"],
        21 s4s: Vec<u8> = [bytes = "vec"],
        22 u4s: Vec<u8> = [bytes = "vec"],
        23 f8e4m3b11fnuzs: Vec<u8> = [bytes = "vec"],
        24 f8e5m2fnuzs: Vec<u8> = [bytes = "vec"],
        25 f8e4m3fnuzs: Vec<u8> = [bytes = "vec"],
        26 s2s: Vec<u8> = [bytes = "vec"],
        27 u2s: Vec<u8> = [bytes = "vec"],
        28 f8e4m3s: Vec<u8> = [bytes = "vec"],
        29 f8e3m4s: Vec<u8> = [bytes = "vec"],
        30 s1s: Vec<u8> = [bytes = "vec"],
        31 u1s: Vec<u8> = [bytes = "vec"],
        32 f4e2m1fns: Vec<u8> = [bytes = "vec"],
        33 f8e8m0fnus: Vec<u8> = [bytes = "vec"],
        34 dynamic_sizes: Vec<i32> = [int32, repeated],
        35 f6e3m2fns: Vec<u8> = [bytes = "vec"],
        36 f6e2m3fns: Vec<u8> = [bytes = "vec"],
    }
}
