//! Where instructions are from, and what users say of them.

use std::collections::BTreeMap;

use super::messages;

messages! {
    /// One of both.
    Payload {
        1 value: Option<Vec<u8>> = [bytes = "vec", optional],
        2 id: Option<i64> = [int64, optional],
    }
    OpMetadata {
        1 op_type: String = [string],
        2 op_name: String = [string],
        3 source_file: String = [string],
        4 source_line: i32 = [int32],
        5 profile_type: Vec<i32> = [int32, repeated],
        8 size_of_generated_code_in_bytes: i64 = [int64],
        9 size_of_memory_working_set_in_bytes: i64 = [int64],
        10 profile_info: Vec<u8> = [bytes = "vec"],
        12 deduplicated_name: String = [string],
        15 stack_frame_id: i32 = [int32],
        16 scheduling_name: String = [string],
        17 source_end_line: i32 = [int32],
        18 source_column: i32 = [int32],
        19 source_end_column: i32 = [int32],
        20 metadata_payload: Option<Payload> = [message, optional] of Payload,
    }
    FrontendAttributes {
        1 map: BTreeMap<String, String> = [btree_map = "string, string"],
    }
    StatisticsViz {
        1 stat_index_to_visualize: i64 = [int64],
        2 statistics: Vec<Statistic> = [message, repeated] of Statistic,
    }
    Statistic {
        1 stat_name: String = [string],
        2 stat_val: f64 = [double],
    }
    OriginalValueProto {
        1 elements: Vec<OriginalValueElementProto> = [message, repeated] of OriginalValueElementProto,
        2 is_synthetic_call: bool = [bool],
        3 call_hierarchy: Vec<String> = [string, repeated],
    }
    OriginalValueElementProto {
        1 shape_index: Vec<i64> = [int64, repeated],
        2 original_array: Option<OriginalArrayProto> = [message, optional] of OriginalArrayProto,
    }
    OriginalArrayProto {
        1 instruction_name: String = [string],
        2 shape_index: Vec<i64> = [int64, repeated],
    }
    /// One of both.
    ResultAccuracy {
        1 mode: Option<i32> = [int32, optional],
        2 tolerance: Option<Tolerance> = [message, optional] of Tolerance,
    }
    Tolerance {
        1 atol: f64 = [double],
        2 rtol: f64 = [double],
        3 ulps: i64 = [int64],
    }
    StackFrameIndexProto {
        1 file_names: Vec<String> = [string, repeated],
        2 function_names: Vec<String> = [string, repeated],
        3 file_locations: Vec<FileLocation> = [message, repeated] of FileLocation,
        4 stack_frames: Vec<StackFrame> = [message, repeated] of StackFrame,
    }
    FileLocation {
        1 file_name_id: i32 = [int32],
        2 function_name_id: i32 = [int32],
        3 line: i32 = [int32],
        4 column: i32 = [int32],
        5 end_line: i32 = [int32],
        6 end_column: i32 = [int32],
    }
    StackFrame {
        1 file_location_id: i32 = [int32],
        2 parent_frame_id: i32 = [int32],
    }
}
