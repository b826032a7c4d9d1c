//! In which order attributes are printed.
//!
//! Source: XLA `hlo_instructions.cc`, each class's PrintExtraAttributesImpl; `hlo_instruction.cc` PrintExtraAttributes.

use syntax::hlo::{AttributeKey, Opcode};

use crate::op_table::op_info;

/// The place of an attribute among those of its instruction. Unknown ones come after the op's own.
pub(super) fn rank(opcode: Opcode, key: Option<AttributeKey>) -> usize {
    let Some(key) = key else { return UNKNOWN };
    if op_info(opcode).after_dimensions.contains(&key) {
        return rank(opcode, Some(AttributeKey::Dimensions)) + 1;
    }
    let at = |keys: &[AttributeKey]| keys.iter().position(|&k| k == key);
    // Two places per key leave room for the exception above.
    match (at(OWN), at(BEHIND)) {
        (Some(at), _) => 2 * at,
        (None, Some(at)) => UNKNOWN + 1 + at,
        (None, None) => UNKNOWN,
    }
}

const UNKNOWN: usize = 1000;

const OWN: &[AttributeKey] = {
    use AttributeKey::*;
    &[
        ChannelId,
        IsHostTransfer,
        ReplicaGroups,
        SourceTargetPairs,
        ConstrainLayout,
        UseGlobalDeviceIds,
        HasDynamicRoot,
        Mode,
        // gather and scatter
        OffsetDims,
        CollapsedSliceDims,
        StartIndexMap,
        OperandBatchingDims,
        StartIndicesBatchingDims,
        UpdateWindowDims,
        InsertedWindowDims,
        ScatterDimsToOperandDims,
        InputBatchingDims,
        ScatterIndicesBatchingDims,
        IndexVectorDim,
        SliceSizes,
        IndicesAreSorted,
        UniqueIndices,
        // dot, convolution, custom-call
        LhsBatchDims,
        LhsContractingDims,
        RhsBatchDims,
        RhsContractingDims,
        LhsRaggedDims,
        RhsGroupDims,
        Window,
        DimLabels,
        FeatureGroupCount,
        BatchGroupCount,
        PaddingType,
        ConvolutionKind,
        OperandPrecision,
        Algorithm,
        SparsityConfig,
        BlockScalingConfig,
        Kind,
        AsyncExecutionThread,
        CustomCallTarget,
        OperandLayoutConstraints,
        CustomCallHasSideEffect,
        Literal,
        OutputToOperandAliasing,
        Schedule,
        ApiVersion,
        // the others
        Direction,
        Type,
        Order,
        IotaDimension,
        Slice,
        DynamicSliceSizes,
        Padding,
        FftType,
        FftLength,
        Epsilon,
        FeatureIndex,
        Distribution,
        Delta,
        ExponentBits,
        MantissaBits,
        Index,
        Dimensions,
        Shifts,
        NumCarries,
        IsReverse,
        IsAssociative,
        K,
        Largest,
        IsStable,
        LeftSide,
        Lower,
        UnitDiagonal,
        TransposeA,
        InferredDimension,
        CrossProgramPrefetchIndex,
        ParameterReplication,
        Domain,
        InfeedConfig,
        OutfeedShape,
        OutfeedConfig,
        Condition,
        Body,
        Select,
        Scatter,
        TrueComputation,
        FalseComputation,
        BranchComputations,
        ToApply,
        Calls,
        CalledComputations,
        IsComposite,
    ]
};

const BEHIND: &[AttributeKey] = {
    use AttributeKey::*;
    &[
        Sharding,
        FrontendAttributes,
        ControlPredecessors,
        Statistics,
        ResultAccuracy,
        Origin,
        Metadata,
        BackendConfig,
    ]
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_attribute_has_a_place_of_its_own() {
        for &opcode in Opcode::ALL {
            let mut ranks: Vec<_> = AttributeKey::ALL.iter().map(|&k| rank(opcode, Some(k))).collect();
            assert!(!ranks.contains(&UNKNOWN));
            ranks.sort_unstable();
            ranks.dedup();
            assert_eq!(ranks.len(), AttributeKey::ALL.len(), "{opcode}");
        }
    }
}
