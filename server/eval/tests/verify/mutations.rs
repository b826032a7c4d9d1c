//! Valid instructions, broken in one place in a way that XLA's rules forbid, by the kind of change alone.
//!
//! Source of what is forbidden: XLA `service/shape_inference.cc` and `service/hlo_verifier.cc`. No case asks the verifier
//! whether it is one.

use std::collections::BTreeMap;
use std::sync::Mutex;

use eval::generate::{self, Rng};
use ir::{AttributeKey, Block, Opcode, Part, Shape};
use syntax::Span;
use syntax::hlo::{InstructionId, Value};

use crate::{lowered, verified};

/// A text, and which bytes of it are wrong.
pub struct Broken {
    pub kind: &'static str,
    pub opcode: Opcode,
    pub text: String,
    pub wrong: Vec<Span>,
}

/// The entry's root with what is needed to break it.
struct Root<'a> {
    block: &'a Block,
    id: InstructionId,
    opcode: Opcode,
}

fn cases() -> u64 {
    std::env::var("VERIFY_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(4_000)
}

#[test]
fn what_is_forbidden_is_told_at_its_place() {
    let opcodes = generate::opcodes();
    // Per opcode: cases, told, at the token.
    let tally: Mutex<BTreeMap<Opcode, [usize; 3]>> = Mutex::default();
    let misses: Mutex<Vec<String>> = Mutex::default();
    let dump = std::env::var("VERIFY_DUMP").ok();
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (opcodes, tally, misses, dump) = (&opcodes, &tally, &misses, &dump);
            scope.spawn(move || {
                for i in (thread..cases()).step_by(threads as usize) {
                    let opcode = opcodes[i as usize % opcodes.len()];
                    let mut rng = Rng::new(i.wrapping_mul(0xd134_2543_de82_ef95) ^ 0x5851_f42d);
                    let Some(generated) = generate::random_op(opcode, &mut rng) else { continue };
                    let Some(broken) = broken(&generated.text, &mut rng) else { continue };
                    let (is_told, is_there) = judge(&broken);
                    if let Some(folder) = dump {
                        let name = format!(
                            "{folder}/{i}_{}_{}_{}.hlo",
                            broken.opcode,
                            broken.kind.replace(' ', "-"),
                            u8::from(is_told)
                        );
                        std::fs::write(name, &broken.text).expect("the folder can be written");
                    }
                    let mut tally = tally.lock().expect("no thread panics");
                    let row = tally.entry(opcode).or_default();
                    row[0] += 1;
                    row[1] += usize::from(is_told);
                    row[2] += usize::from(is_there);
                    if !is_there {
                        let what = if is_told { "told elsewhere" } else { "not told" };
                        let wrong = broken.wrong[0].of(&broken.text);
                        let mut misses = misses.lock().expect("no thread panics");
                        misses.push(format!(
                            "{what}: {}: {} «{wrong}»\n{}",
                            broken.kind,
                            opcode,
                            root_line(&broken.text)
                        ));
                    }
                }
            });
        }
    });
    let (tally, misses) = (tally.into_inner().expect("no panic"), misses.into_inner().expect("no panic"));
    let mut total = [0; 3];
    for (opcode, row) in &tally {
        eprintln!("{opcode:28} told {} of {}, at the token {}", row[1], row[0], row[2]);
        total.iter_mut().zip(row).for_each(|(total, n)| *total += n);
    }
    eprintln!("{} of {} told, {} at the token", total[1], total[0], total[2]);
    let mut by_text = misses;
    by_text.sort();
    by_text.iter().take(40).for_each(|miss| eprintln!("{miss}"));
    assert!(total[0] > 0, "no case was made");
    assert!(total[1] * 1000 >= total[0] * 990, "less than 99 % is told");
    assert!(total[2] * 100 >= total[0] * 98, "less than 98 % is told at the token");
}

fn root_line(text: &str) -> String {
    let parameters = text.rsplit("ENTRY").next().unwrap_or_default();
    parameters.lines().skip(1).take_while(|line| *line != "}").map(|line| format!("{line}\n")).collect()
}

/// Whether anything is told, and whether it is told where the text is wrong.
fn judge(broken: &Broken) -> (bool, bool) {
    let (block, findings) = verified(&broken.text);
    let mut spans: Vec<Span> = findings.iter().map(|f| block.part(f.instruction, f.part)).collect();
    spans.extend(block.findings.iter().map(|f| f.span));
    spans.extend(block.parse.errors.iter().map(|e| e.span));
    let holds = |outer: &Span, inner: &Span| outer.start <= inner.start && inner.end <= outer.end;
    let is_there = spans.iter().any(|span| broken.wrong.iter().any(|wrong| holds(span, wrong)));
    (!spans.is_empty(), is_there)
}

/// The text broken in a random way that fits its root; nothing where the drawn way does not.
fn broken(text: &str, rng: &mut Rng) -> Option<Broken> {
    let block = lowered(text);
    let entry = block.parse.computations.iter().position(|c| c.is_entry)?;
    let id = block.root(entry as u32)?;
    let opcode = block.instruction(id).opcode?;
    // A start without its done is no valid module to begin with.
    let (_, findings) = verified(text);
    let is_valid = block.parse.errors.is_empty() && block.findings.is_empty() && findings.is_empty();
    let root = Root { block: &block, id, opcode };
    let ways: [fn(&Root<'_>, &mut Rng) -> Option<Broken>; 10] = [
        result_size,
        result_type,
        operand_type,
        operand_size,
        list_out_of_range,
        list_duplicate,
        list_length,
        number,
        computation,
        groups,
    ];
    if !is_valid {
        return None;
    }
    for _ in 0..30 {
        if let Some(broken) = rng.pick(&ways)(&root, rng) {
            return Some(broken);
        }
    }
    None
}

impl Root<'_> {
    fn operand(&self, i: usize) -> Option<&Shape> {
        let (_, target) = self.block.operands_of(self.id).nth(i)?;
        match target {
            ir::OperandRef::Local(id) => self.block.shape(id),
            _ => None,
        }
    }

    fn operands(&self) -> usize {
        self.block.instruction(self.id).operands.1 as usize
    }

    fn is(&self, opcodes: &[Opcode]) -> bool {
        opcodes.contains(&self.opcode)
    }

    fn part(&self, part: Part) -> Span {
        self.block.part(self.id, part)
    }

    /// The text with `insert` where `span` was.
    fn replaced(&self, kind: &'static str, span: Span, insert: &str) -> Broken {
        let mut text = self.block.text.to_string();
        text.replace_range(span.range(), insert);
        let wrong = vec![Span::new(span.start as usize, span.start as usize + insert.len())];
        Broken { kind, opcode: self.opcode, text, wrong }
    }

    /// Operand `i` is another parameter, of this shape.
    fn with_operand(&self, kind: &'static str, i: usize, shape: &str) -> Option<Broken> {
        let (operand, _) = self.block.operands_of(self.id).nth(i)?;
        let mut broken = self.replaced(kind, operand.span, "stranger");
        let entry = self.block.parse.computations.iter().find(|c| c.is_entry)?;
        let parameters =
            entry.instructions.clone().filter(|&id| self.block.parameter_number(id).is_some()).count();
        let first = self.block.instruction(entry.instructions.start).span.start as usize;
        let line = format!("stranger = {shape} parameter({parameters})\n  ");
        broken.text.insert_str(first, &line);
        let moved = |span: Span| Span::new(span.start as usize + line.len(), span.end as usize + line.len());
        broken.wrong = broken.wrong.iter().map(|&span| moved(span)).collect();
        if self.operands() == 1 {
            // What does not fit together is one operand and the result: either may be meant.
            let shape = self.part(Part::Shape);
            broken.wrong.push(moved(shape));
        }
        Some(broken)
    }

    /// Attributes that are lists of numbers.
    fn lists(&self) -> Vec<(AttributeKey, Vec<i64>, Span)> {
        let attributes = self.block.parse.attributes_of(self.block.instruction(self.id)).iter();
        let lists = attributes.filter_map(|attribute| match attribute.value {
            Value::Ints { start, len } if len > 0 => {
                Some((attribute.key?, self.block.parse.ints(start, len).to_vec(), attribute.value_span))
            }
            _ => None,
        });
        lists.collect()
    }

    fn span_of(&self, key: AttributeKey) -> Option<Span> {
        let attributes = self.block.parse.attributes_of(self.block.instruction(self.id));
        attributes.iter().find(|a| a.key == Some(key)).map(|a| a.value_span)
    }
}

/// One size of the result, where sizes follow from operands and attributes.
fn result_size(root: &Root<'_>, rng: &mut Rng) -> Option<Broken> {
    use Opcode::*;
    if root.is(&[Parameter, Constant, Broadcast, Iota, Rng, RngBitGenerator, Bitcast, Scan, CustomCall]) {
        return None;
    }
    // A group of one device leaves the factor open.
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

/// The element type of the result, where it follows from the operands.
fn result_type(root: &Root<'_>, _: &mut Rng) -> Option<Broken> {
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

/// An operand of another element type, beside one of which it must have the type.
fn operand_type(root: &Root<'_>, rng: &mut Rng) -> Option<Broken> {
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

/// An operand with one size changed, where every size of it shows elsewhere.
fn operand_size(root: &Root<'_>, rng: &mut Rng) -> Option<Broken> {
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
    // Where only the result shows this size it may be the one that is meant.
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

/// Lists that name dimensions of an operand or of the result.
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

fn list_out_of_range(root: &Root<'_>, rng: &mut Rng) -> Option<Broken> {
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

fn list_duplicate(root: &Root<'_>, rng: &mut Rng) -> Option<Broken> {
    let lists: Vec<_> =
        root.lists().into_iter().filter(|(key, n, _)| n.len() > 1 && names_dimensions(*key)).collect();
    if lists.is_empty() || root.is(&[Opcode::Broadcast]) {
        return None;
    }
    let (key, numbers, _) = rng.pick(&lists);
    let n = rng.range(1, numbers.len() as i64 - 1) as usize;
    Some(root.replaced("duplicate", root.part(Part::Element(*key, n as u32)), &numbers[n - 1].to_string()))
}

/// One number too few, where there is one per dimension.
fn list_length(root: &Root<'_>, _: &mut Rng) -> Option<Broken> {
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

/// A number or word out of its range.
fn number(root: &Root<'_>, rng: &mut Rng) -> Option<Broken> {
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
        // The first range ends outside, or runs backwards.
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
fn computation(root: &Root<'_>, rng: &mut Rng) -> Option<Broken> {
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
            "other_one {\n  a = s8[] parameter(0)\n  b = s8[] parameter(1)\n  ROOT c = s8[] add(a, b)\n}\n\n"
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

/// Devices twice, missing or negative.
fn groups(root: &Root<'_>, rng: &mut Rng) -> Option<Broken> {
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

/// Writes instructions with any change at all, for XLA to judge: `VERIFY_ANY` is the folder. The name ends with what the
/// verifier says.
#[test]
fn any_change_is_written_for_a_judge() {
    let Ok(folder) = std::env::var("VERIFY_ANY") else {
        eprintln!("skipped: VERIFY_ANY is not set");
        return;
    };
    let opcodes = generate::opcodes();
    for i in 0..cases() {
        let opcode = opcodes[i as usize % opcodes.len()];
        let mut rng = Rng::new(i.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234);
        let Some(generated) = generate::random_op(opcode, &mut rng) else { continue };
        let Some(text) = any_change(&generated.text, &mut rng) else { continue };
        let block = lowered(&text);
        let (_, findings) = verified(&text);
        let told = !(block.parse.errors.is_empty() && block.findings.is_empty() && findings.is_empty());
        std::fs::write(format!("{folder}/{i}_{opcode}_{}.hlo", u8::from(told)), text)
            .expect("the folder can be written");
    }
}

/// A number, an element type or an attribute of any instruction changes.
fn any_change(text: &str, rng: &mut Rng) -> Option<String> {
    let block = lowered(text);
    let count = block.parse.instructions.len() as i64;
    let id = if rng.one_in(4) { rng.range(0, count - 1) } else { count - 1 } as usize;
    let instruction = &block.parse.instructions[id];
    let line = instruction.span;
    let inside = line.of(text);
    let from = inside.find('=')?;
    let mut text = text.to_owned();
    let types = ["f32[", "s32[", "pred[", "bf16[", "u32[", "c64[", "f16["];
    match rng.range(0, 3) {
        0 => {
            let (at, old) = types.iter().find_map(|old| Some((inside.find(old)?, old)))?;
            let start = line.start as usize + at;
            let other: &str = rng.pick::<&str>(&types);
            text.replace_range(start..start + old.len(), other);
        }
        1 => {
            let attributes = block.parse.attributes_of(instruction);
            let attribute = attributes.get(rng.range(0, attributes.len().max(1) as i64 - 1) as usize)?;
            let start = text[..attribute.key_span.start as usize].rfind(',')?;
            text.replace_range(start..attribute.value_span.end as usize, "");
        }
        _ => {
            let numbers: Vec<(usize, usize)> = number_tokens(&inside[from..]).collect();
            let (at, len) = *numbers.get(rng.range(0, numbers.len().max(1) as i64 - 1) as usize)?;
            let start = line.start as usize + from + at;
            let old: i64 = text[start..start + len].parse().ok()?;
            let new = *rng.pick(&[old + 1, old - 1, 0, 1, old * 2]);
            if new == old {
                return None;
            }
            text.replace_range(start..start + len, &new.to_string());
        }
    }
    Some(text)
}

/// Numbers that are no part of a word.
fn number_tokens(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let bytes = text.as_bytes();
    let is_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'.' || b == b'-';
    let starts = (0..bytes.len()).filter(move |&i| {
        bytes[i].is_ascii_digit()
            && (i == 0
                || !is_word(bytes[i - 1])
                || bytes[i - 1] == b'_' && i > 1 && bytes[i - 2].is_ascii_digit())
    });
    starts.map(move |i| (i, bytes[i..].iter().take_while(|b| b.is_ascii_digit()).count()))
}
