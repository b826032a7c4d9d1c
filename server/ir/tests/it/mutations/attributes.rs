//! Invalid attributes: dimensions, numbers, called computations, devices.

use ir::{AttributeKey, Opcode, Part};
use random::Rng;
use syntax::Span;

use super::{Broken, Root};

/// Whether a list names dimensions of an operand or of the result.
fn names_dimensions(key: AttributeKey) -> bool {
    use AttributeKey::*;
    matches!(
        key,
        Dimensions
            | LhsContractingDims
            | RhsContractingDims
            | LhsBatchDims
            | RhsBatchDims
            | LhsRaggedDims
            | RhsGroupDims
            | OffsetDims
            | CollapsedSliceDims
            | StartIndexMap
            | OperandBatchingDims
            | StartIndicesBatchingDims
            | UpdateWindowDims
            | InsertedWindowDims
            | ScatterDimsToOperandDims
            | InputBatchingDims
    )
}

pub fn list_out_of_range(root: &Root<'_>, rng: &mut Rng) -> Option<Broken> {
    let lists = root.lists();
    let (key, numbers, _) = lists.get(rng.range(0, lists.len().max(1) as i64 - 1) as usize)?;
    let is_size = matches!(key, AttributeKey::SliceSizes | AttributeKey::DynamicSliceSizes);
    if !names_dimensions(*key) && !is_size {
        return None;
    }
    let n = rng.range(0, numbers.len() as i64 - 1) as u32;
    let insert = *rng.pick(&["99", "-1", "1000000000000"]);
    Some(root.replaced("out of range", root.part(Part::Element(*key, n)), insert))
}

pub fn list_duplicate(root: &Root<'_>, rng: &mut Rng) -> Option<Broken> {
    let lists: Vec<_> =
        root.lists().into_iter().filter(|(key, n, _)| n.len() > 1 && names_dimensions(*key)).collect();
    if lists.is_empty() || root.is(&[Opcode::Broadcast]) {
        return None;
    }
    let (key, numbers, _) = rng.pick(&lists);
    let n = rng.range(1, numbers.len() as i64 - 1) as usize;
    Some(root.replaced("duplicate", root.part(Part::Element(*key, n as u32)), &numbers[n - 1].to_string()))
}

/// One number too few in a list with one per dimension.
pub fn list_length(root: &Root<'_>, _: &mut Rng) -> Option<Broken> {
    use AttributeKey::*;
    let lists = root.lists();
    let (_, numbers, span) = lists.iter().find(|(key, _, _)| match key {
        Dimensions => root.is(&[Opcode::Transpose, Opcode::Broadcast]),
        SliceSizes => root.is(&[Opcode::Gather]),
        DynamicSliceSizes | StartIndexMap | ScatterDimsToOperandDims => true,
        _ => false,
    })?;
    let fewer: Vec<String> = numbers[1..].iter().map(i64::to_string).collect();
    Some(root.replaced("too few", *span, &format!("{{{}}}", fewer.join(","))))
}

/// A number or word out of range.
pub fn number(root: &Root<'_>, rng: &mut Rng) -> Option<Broken> {
    use AttributeKey::*;
    let ways: &[(AttributeKey, &[&str])] = match root.opcode {
        Opcode::Gather | Opcode::Scatter => &[(IndexVectorDim, &["9", "-1"])],
        Opcode::Iota => &[(IotaDimension, &["9", "-1"])],
        Opcode::GetTupleElement => &[(Index, &["9", "-1"])],
        Opcode::BatchNormTraining | Opcode::BatchNormInference | Opcode::BatchNormGrad => {
            &[(FeatureIndex, &["9", "-1"])]
        }
        Opcode::Topk => &[(K, &["999", "-1"])],
        Opcode::ReducePrecision => &[(ExponentBits, &["0", "-1"]), (MantissaBits, &["-1"])],
        Opcode::Convolution => &[(FeatureGroupCount, &["0", "-1"]), (BatchGroupCount, &["0", "-1"])],
        Opcode::Slice => &[(Slice, &[])],
        Opcode::Pad => &[(Padding, &[])],
        Opcode::Fft => &[(FftLength, &["{}", "{9,9,9,9}"])],
        Opcode::Compare => &[(Type, &["SIGNED", "UNSIGNED"])],
        _ => return None,
    };
    let (key, values) = rng.pick(ways);
    let span = root.span_of(*key)?;
    let text = span.of(&root.block.text);
    let insert = match root.opcode {
        Opcode::Compare if root.operand(0)?.as_array()?.element.name() != "f32" => return None,
        // The first range ends out of bounds, or runs backwards.
        Opcode::Slice => {
            let first = root.part(Part::Element(*key, 0));
            let (start, _) = first.of(&root.block.text).trim_start_matches('[').split_once(':')?;
            let start: i64 = start.parse().ok()?;
            let insert = rng
                .pick(&[format!("[{start}:999]"), format!("[{}:{start}]", start + 1), "[-1:1]".to_owned()])
                .clone();
            return Some(root.replaced("number", first, &insert));
        }
        Opcode::Pad => {
            let first = root.part(Part::Element(*key, 0));
            let insert = *rng.pick(&["0_0_-1", "-999_0"]);
            return Some(root.replaced("number", first, insert));
        }
        _ => *rng.pick(values),
    };
    (insert != text).then(|| root.replaced("number", span, insert))
}

/// Another computation: too few parameters, of the wrong type, or with a wrong result.
pub fn computation(root: &Root<'_>, rng: &mut Rng) -> Option<Broken> {
    use AttributeKey::*;
    let keys: &[AttributeKey] = match root.opcode {
        Opcode::Reduce
        | Opcode::ReduceWindow
        | Opcode::Scatter
        | Opcode::Map
        | Opcode::Sort
        | Opcode::Call
        | Opcode::Scan => &[ToApply],
        Opcode::Fusion => &[Calls],
        Opcode::While => &[Condition, Body],
        Opcode::SelectAndScatter => &[Select, Scatter],
        _ => return None,
    };
    let key = *rng.pick(keys);
    let mut broken = root.replaced("computation", root.span_of(key)?, "other_one");
    let other = match rng.range(0, 2) {
        0 => "other_one {\n  a = f32[77] parameter(0)\n  ROOT b = f32[77] negate(a)\n}\n\n",
        1 => {
            "\
other_one {
  a = s8[] parameter(0)
  b = s8[] parameter(1)
  ROOT c = s8[] add(a, b)
}

"
        }
        _ => "other_one {\n  ROOT a = c128[3] constant({(1, 0), (2, 0), (3, 0)})\n}\n\n",
    };
    let entry = broken.text.find("ENTRY")?;
    broken.text.insert_str(entry, other);
    for wrong in &mut broken.wrong {
        *wrong = Span::new(wrong.start as usize + other.len(), wrong.end as usize + other.len());
    }
    Some(broken)
}

/// Duplicate, missing or negative devices.
pub fn groups(root: &Root<'_>, rng: &mut Rng) -> Option<Broken> {
    use AttributeKey::{ReplicaGroups, SourceTargetPairs};
    use Opcode::*;
    let key = match root.opcode {
        AllGather | AllGatherStart | AllReduce | AllReduceStart | ReduceScatter | AllToAll => ReplicaGroups,
        CollectivePermute | CollectivePermuteStart => SourceTargetPairs,
        _ => return None,
    };
    let text = root.span_of(key)?.of(&root.block.text);
    if !text.starts_with("{{") {
        return None;
    }
    let insert = if key == ReplicaGroups { *rng.pick(&["7", "-1"]) } else { "-1" };
    Some(root.replaced("devices", root.part(Part::Element(key, 0)), insert))
}
