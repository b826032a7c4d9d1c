//! Invalid shapes: of the result, and of one operand.

use ir::{AttributeKey, Opcode, Part};
use random::Rng;
use syntax::Span;

use super::{Broken, Root};

/// One size of the result, if sizes follow from operands and attributes.
pub fn result_size(root: &Root<'_>, rng: &mut Rng) -> Option<Broken> {
    use Opcode::*;
    if root.is(&[Parameter, Constant, Broadcast, Iota, Rng, RngBitGenerator, Bitcast, Scan, CustomCall]) {
        return None;
    }
    // A group of one device does not determine the factor.
    let is_group_of_one =
        |groups: &str| groups.contains(",1]") || groups.split("},{").all(|g| !g.contains(','));
    if root.is(&[AllGather, AllGatherStart, ReduceScatter])
        && root.span_of(AttributeKey::ReplicaGroups).is_none_or(|s| is_group_of_one(s.of(&root.block.text)))
    {
        return None;
    }
    let span = root.part(Part::Shape);
    let text = span.of(&root.block.text);
    // Numbers between square brackets.
    let mut sizes = Vec::new();
    let (mut inside, mut at) = (false, 0);
    while at < text.len() {
        let byte = text.as_bytes()[at];
        inside = if byte == b'[' {
            true
        } else if byte == b']' {
            false
        } else {
            inside
        };
        let len = text[at..].bytes().take_while(u8::is_ascii_digit).count();
        if inside && len > 0 {
            sizes.push(at..at + len);
        }
        at += len.max(1);
    }
    if sizes.is_empty() {
        return None;
    }
    let place = sizes[rng.range(0, sizes.len() as i64 - 1) as usize].clone();
    let size: i64 = text[place.clone()].parse().ok()?;
    let all: Vec<i64> = sizes.iter().filter_map(|r| text[r.clone()].parse().ok()).collect();
    if all.contains(&0) && root.is(&[Reshape, DynamicReshape]) {
        return None;
    }
    let other = if size > 0 && rng.one_in(2) { size - 1 } else { size + rng.range(1, 3) };
    let mut shape = text.to_owned();
    shape.replace_range(place, &other.to_string());
    Some(root.replaced("result size", span, &shape))
}

/// The element type of the result, if it follows from the operands.
pub fn result_type(root: &Root<'_>, _: &mut Rng) -> Option<Broken> {
    use Opcode::*;
    let is_free = [
        Convert,
        BitcastConvert,
        StochasticConvert,
        Dot,
        RaggedDot,
        ScaledDot,
        Convolution,
        Parameter,
        Constant,
        Iota,
        Bitcast,
        RngBitGenerator,
        CustomCall,
        Scan,
    ];
    if root.is(&is_free) {
        return None;
    }
    let span = root.part(Part::Shape);
    let text = span.of(&root.block.text);
    let (from, to) =
        [("f32[", "s32["), ("s32[", "f32["), ("pred[", "f32["), ("u32[", "f32["), ("c64[", "f32[")]
            .into_iter()
            .find(|(from, _)| text.contains(from))?;
    Some(root.replaced("result type", span, &text.replacen(from, to, 1)))
}

/// An operand of another element type, beside one whose type it must have.
pub fn operand_type(root: &Root<'_>, rng: &mut Rng) -> Option<Broken> {
    use Opcode::*;
    if root.operands() == 0 {
        return None;
    }
    let i = rng.range(0, root.operands() as i64 - 1) as usize;
    let count = root.operands();
    let is_typed = match root.opcode {
        Add | And | Atan2 | Compare | Complex | Divide | Maximum | Minimum | Mulhi | Multiply | Or
        | Power | Remainder | ShiftLeft | ShiftRightArithmetic | ShiftRightLogical | Subtract | Xor
        | Clamp | Select | Pad | DynamicUpdateSlice | Reduce | ReduceWindow | SelectAndScatter
        | TriangularSolve | Scatter | BatchNormTraining | BatchNormInference | BatchNormGrad | Fusion
        | Call | While | Map | Sort | Rng => true,
        Gather | DynamicSlice => i > 0,
        Concatenate => count > 1,
        Conditional => true,
        Sine | Cosine | Exponential | Log | Sqrt | Rsqrt | Tanh | Floor | Ceil | Cbrt | Erf | IsFinite
        | RoundNearestAfz | RoundNearestEven | Logistic | Cholesky => true,
        _ => false,
    };
    let shape = root.operand(i)?.as_array().filter(|_| is_typed)?;
    let other = match shape.element.name() {
        "s32" => "f32",
        "pred" => "f32",
        _ => "s32",
    };
    let sizes: Vec<String> = shape.dims.iter().map(i64::to_string).collect();
    root.with_operand("operand type", i, &format!("{other}[{}]", sizes.join(",")))
}

/// An operand with one size changed, if each of its sizes also occurs elsewhere.
pub fn operand_size(root: &Root<'_>, rng: &mut Rng) -> Option<Broken> {
    use Opcode::*;
    if root.operands() == 0 {
        return None;
    }
    let i = rng.range(0, root.operands() as i64 - 1) as usize;
    let shape = root.operand(i)?.as_array().filter(|shape| shape.rank() > 0)?;
    let shows = match root.opcode {
        opcode if ir::is_elementwise(opcode) => opcode != BitcastConvert,
        Transpose | Reverse | Broadcast | Sort | Dot | Tuple | OptBarrier | Fusion | Call | While | Map
        | AllReduce | Cholesky | TriangularSolve | BatchNormTraining | BatchNormInference | BatchNormGrad
        | CollectivePermute | SetDimensionSize | Pad => true,
        Reshape => !shape.dims.contains(&0),
        DynamicUpdateSlice | Scatter | Conditional => i == 0,
        Concatenate => true,
        _ => false,
    };
    if !shows {
        return None;
    }
    let mut dims = shape.dims.clone();
    let dim = rng.range(0, dims.len() as i64 - 1) as usize;
    dims[dim] += 1;
    let sizes: Vec<String> = dims.iter().map(i64::to_string).collect();
    let mut broken =
        root.with_operand("operand size", i, &format!("{}[{}]", shape.element, sizes.join(",")))?;
    // If only the result has this size, either may be reported.
    let is_alone = matches!(
        root.opcode,
        Pad | DynamicUpdateSlice
            | Dot
            | AllReduce
            | Tuple
            | Broadcast
            | Concatenate
            | Clamp
            | SetDimensionSize
            | Scatter
            | BatchNormTraining
    );
    if is_alone && broken.wrong.len() == 1 {
        let (shape, line) =
            (root.part(Part::Shape), broken.wrong[0].start - root.part(Part::Operand(i as u32)).start);
        broken.wrong.push(Span { start: shape.start + line, end: shape.end + line });
    }
    if root.is(&[Broadcast]) {
        let place = root.part(Part::Element(AttributeKey::Dimensions, dim as u32));
        let line = broken.text.len() - root.block.text.len();
        broken.wrong.push(Span { start: place.start + line as u32, end: place.end + line as u32 });
    }
    Some(broken)
}
