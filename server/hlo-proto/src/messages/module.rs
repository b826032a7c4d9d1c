//! Modules, computations, and the messages that hold modules.

use std::collections::BTreeMap;

use super::{
    FrontendAttributes, HloInstructionProto, OpSharding, OriginalArrayProto, ProgramShapeProto,
    StackFrameIndexProto, messages,
};

messages! {
    HloModuleProto {
        1 name: String = [string],
        2 entry_computation_name: String = [string],
        3 computations: Vec<HloComputationProto> = [message, repeated] of HloComputationProto,
        4 host_program_shape: Option<ProgramShapeProto> = [message, optional] of ProgramShapeProto,
        5 id: i64 = [int64],
        6 entry_computation_id: i64 = [int64],
        7 schedule: Option<HloScheduleProto> = [message, optional],
        8 input_output_alias: Option<HloInputOutputAliasProto> = [message, optional] of HloInputOutputAliasProto,
        10 cross_program_prefetches: Vec<Vec<u8>> = [bytes = "vec", repeated],
        11 is_dynamic: bool = [bool],
        12 spmd_output_sharding: Option<OpSharding> = [message, optional] of OpSharding,
        13 profile_info: Vec<Vec<u8>> = [bytes = "vec", repeated],
        14 spmd_parameters_shardings: Vec<OpSharding> = [message, repeated] of OpSharding,
        15 device_assignment: Vec<u8> = [bytes = "vec"],
        16 use_auto_spmd_partitioning: bool = [bool],
        17 stack_frame_index: Option<StackFrameIndexProto> = [message, optional] of StackFrameIndexProto,
        18 buffer_donor: Option<HloBufferDonorProto> = [message, optional] of HloBufferDonorProto,
        19 frontend_attributes: Option<FrontendAttributes> = [message, optional],
        20 original_value_recovery_table: Option<OriginalValueRecoveryTableProto> = [message, optional] of OriginalValueRecoveryTableProto,
        21 device_type: String = [string],
        22 payloads: Vec<Vec<u8>> = [bytes = "vec", repeated],
        23 pjrt_id: Option<i64> = [int64, optional],
        24 debug_attributes: Vec<DebugAttributeTableEntryProto> = [message, repeated] of DebugAttributeTableEntryProto,
        25 backend_config: Vec<u8> = [bytes = "vec"],
    }
    HloComputationProto {
        1 name: String = [string],
        2 instructions: Vec<HloInstructionProto> = [message, repeated] of HloInstructionProto,
        4 program_shape: Option<ProgramShapeProto> = [message, optional] of ProgramShapeProto,
        5 id: i64 = [int64],
        6 root_id: i64 = [int64],
        7 is_fusion_computation: bool = [bool],
        8 execution_thread: String = [string],
        9 backend_config: Vec<u8> = [bytes = "vec"],
    }
    HloScheduleProto {
        1 sequences: BTreeMap<i64, InstructionSequence> = [btree_map = "int64, message"],
    }
    InstructionSequence {
        1 instruction_ids: Vec<i64> = [int64, repeated],
    }
    HloInputOutputAliasProto {
        1 entries: Vec<AliasEntryProto> = [message, repeated] of AliasEntryProto,
    }
    AliasEntryProto {
        1 output_shape_index: Vec<i64> = [int64, repeated],
        2 parameter_number: i64 = [int64],
        3 parameter_shape_index: Vec<i64> = [int64, repeated],
        4 kind: i32 = [int32],
    }
    HloBufferDonorProto {
        1 entries: Vec<BufferDonorEntryProto> = [message, repeated] of BufferDonorEntryProto,
    }
    BufferDonorEntryProto {
        1 parameter_number: i64 = [int64],
        2 parameter_shape_index: Vec<i64> = [int64, repeated],
    }
    OriginalValueRecoveryTableProto {
        1 entries: Vec<RecoveryEntry> = [message, repeated] of RecoveryEntry,
    }
    RecoveryEntry {
        1 old_original_array: Option<OriginalArrayProto> = [message, optional] of OriginalArrayProto,
        2 new_original_array: Option<OriginalArrayProto> = [message, optional] of OriginalArrayProto,
        3 recovery_module: Option<HloModuleProto> = [message, optional] of HloModuleProto,
    }
    DebugAttributeTableEntryProto {
        1 original_array: Option<OriginalArrayProto> = [message, optional] of OriginalArrayProto,
        2 debug_attributes: Vec<DebugAttributesProto> = [message, repeated] of DebugAttributesProto,
    }
    DebugAttributesProto {
        1 log_mode: i32 = [int32],
        2 callback_id: i64 = [int64],
        3 op_id: i64 = [int64],
        4 partitioned: bool = [bool],
        5 operands_sharding: String = [string],
        6 x64_config: Vec<u8> = [bytes = "vec"],
    }

    /// What XLA dumps. Field 2 is the configuration where the message is an `HloModuleProtoWithConfig`, which is read alike.
    HloProto {
        1 hlo_module: Option<HloModuleProto> = [message, optional] of HloModuleProto,
        2 config: Option<HloModuleConfigProto> = [message, optional],
        3 buffer_assignment: Vec<u8> = [bytes = "vec"],
    }
    /// The fields that the header of a text has too. The others are about how XLA compiles the module.
    HloModuleConfigProto {
        4 replica_count: i64 = [int64],
        5 num_partitions: i64 = [int64],
        17 alias_passthrough_params: bool = [bool],
        27 allow_spmd_sharding_propagation_to_output: Vec<bool> = [bool, repeated],
        33 allow_spmd_sharding_propagation_to_parameters: Vec<bool> = [bool, repeated],
    }
    HloSnapshot {
        1 hlo: Option<HloProto> = [message, optional] of HloProto,
        2 arguments: Vec<Vec<u8>> = [bytes = "vec", repeated],
        3 result: Vec<u8> = [bytes = "vec"],
        4 execution_platform: String = [string],
    }
    HloUnoptimizedSnapshot {
        1 hlo_module: Option<HloModuleProto> = [message, optional] of HloModuleProto,
        2 partitions: Vec<Vec<u8>> = [bytes = "vec", repeated],
        3 version: i32 = [int32],
    }
}
