//! On a producer: whether XLA may fuse it into its consumers, the benefit, and the reason if not.

use gpu::Decision;
use ir::{Graph, Op, OpId, Opcode, SegmentRef};
use rustc_hash::FxHashMap;

use crate::file_context::FileContext;
use crate::hlo::Hlo;
use crate::hlo::locate::InstructionRef;
use crate::hlo::maps::callee_graph;
use crate::rich_text::{Line, RichText, code, parts, quoted, strong};
use crate::semantics::Names;
use crate::symbol::{Role, Symbol};

/// With more consumers the hover says nothing: each one requires analysing a fusion.
const MAX_CONSUMERS: usize = 32;

/// The section of the hover, in a computation that runs as kernels; empty if XLA does not consider fusing.
pub(crate) fn why_not_fused(context: &FileContext<'_>, at: InstructionRef) -> RichText {
    let mut text = RichText::default();
    let Some(computation) = context.computation_id(at) else { return text };
    if !context.launches_kernels(SegmentRef { piece: at.piece, computation }) {
        return text;
    }
    let consumers = consumers(context, at);
    if consumers.is_empty() {
        return text;
    }
    if consumers.len() > MAX_CONSUMERS {
        let count = consumers.len();
        text.paragraph(parts![strong("fusion"), format!(" into {count} consumers: too many to look at")]);
        return text;
    }
    let Some((graph, producer)) = surroundings(context, at, &consumers) else { return text };
    let root = context.block(at.piece).instruction(at.id).is_root.then_some(producer);
    let device = context.db.device_of(context.view.file);
    let callees = |name: &str| callee_graph(context, at, name);
    match gpu::decide(&graph, root, producer, device, &callees) {
        Some(decision) => section(&graph, &decision, device.name),
        None => text,
    }
}

fn section(graph: &Graph, decision: &Decision, device: &str) -> RichText {
    let name = |id: OpId| code(format!("%{}", graph.names[id as usize]));
    let mut text = RichText::default();
    let mut taking = Vec::new();
    let mut accessors = Vec::new();
    for consumer in &decision.consumers {
        match &consumer.reason {
            Some(_) if is_accessor(graph.ops[consumer.consumer as usize].opcode) => {
                accessors.push(name(consumer.consumer));
            }
            Some(reason) => {
                let title = strong(parts!["not fused into ", name(consumer.consumer)]);
                let mut line = parts![title, ": ", quoted(&**reason)];
                // A tuple or a library call is not a kernel that could compute both results.
                if let Some(why) = &consumer.several_results
                    && !reason.ends_with("not fusible")
                {
                    line.push("; nor with the results of both: ");
                    line.push(quoted(&**why));
                }
                text.paragraph(line);
            }
            None => taking.push(name(consumer.consumer)),
        }
    }
    if taking.is_empty() && !accessors.is_empty() {
        return text;
    }
    let is_refused = !text.is_empty() || !accessors.is_empty();
    let is_taken = !taking.is_empty();
    let taking = Line::joined(taking, ", ");
    let title = || strong(parts!["fusion into ", taking.clone()]);
    if is_refused && is_taken {
        let kept = match accessors.is_empty() {
            true => Line::default(),
            false => parts![Line::joined(accessors, ", "), " keeps its value, and "],
        };
        let rule = "XLA fuses a producer into all of its consumers or none";
        text.paragraph(parts!["not fused into ", taking, ": ", kept, rule]);
    } else if let (Some(apart), Some(together)) = (decision.unfused_us, decision.fused_us) {
        let verdict = if decision.is_fused() { "XLA fuses it" } else { "slower, so XLA does not" };
        let times = format!(": {apart:.2} µs apart, {together:.2} µs together on {device}: {verdict}");
        text.paragraph(parts![title(), times]);
    } else if decision.ineligible.is_none() {
        text.paragraph(parts![title(), ": allowed; its time is not modelled"]);
    } else if text.is_empty() {
        let reason = decision.ineligible.as_deref().unwrap_or_default();
        text.paragraph(parts![strong("not fused"), ": ", quoted(reason)]);
    }
    text
}

/// Whether an op only names a value, so that it needs no kernel.
fn is_accessor(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::GetTupleElement | Opcode::Tuple | Opcode::OptBarrier | Opcode::AddDependency)
}

/// The instructions of the computation that have it as an operand, without duplicates.
fn consumers(context: &FileContext<'_>, at: InstructionRef) -> Vec<InstructionRef> {
    let mut found: Vec<InstructionRef> = Vec::new();
    for occurrence in Hlo.occurrences(context, &Symbol::Instruction(at)) {
        let offset = context.range(occurrence.piece, occurrence.span).start;
        let Some(user) = context.instruction_at(offset).filter(|_| occurrence.role == Role::Use) else {
            continue;
        };
        if !found.contains(&user) {
            found.push(user);
        }
    }
    found
}

/// The producer, its consumers, and all their operands as leaves.
fn surroundings(
    context: &FileContext<'_>,
    at: InstructionRef,
    consumers: &[InstructionRef],
) -> Option<(Graph, OpId)> {
    let mut graph = Graph { is_complete: true, ..Graph::default() };
    let mut known: FxHashMap<(usize, u32), OpId> = FxHashMap::default();
    let producer = add(context, at, &mut graph, &mut known)?;
    for &consumer in consumers {
        add(context, consumer, &mut graph, &mut known)?;
    }
    Some((graph, producer))
}

fn add(
    context: &FileContext<'_>,
    at: InstructionRef,
    graph: &mut Graph,
    known: &mut FxHashMap<(usize, u32), OpId>,
) -> Option<OpId> {
    let op = context.op(at)?;
    let block = context.block(at.piece);
    let mut operands = Vec::new();
    for (i, (operand, _)) in block.operands_of(at.id).enumerate() {
        let is_element = matches!(operand.kind, syntax::hlo::OperandKind::Element { .. });
        let definition = context.definition(at, i).filter(|_| !is_element);
        let key = definition.map(|definition| (definition.piece, definition.id));
        if let Some(&id) = key.and_then(|key| known.get(&key)) {
            operands.push(id);
            continue;
        }
        // Constant values determine where slices start; the ops that compute other operands do not matter.
        let shape = op.operand_shapes.get(i)?.clone();
        let constant = definition.and_then(|d| context.op(d)).filter(|op| op.opcode == Opcode::Constant);
        let leaf = constant.unwrap_or_else(|| Op::leaf(shape));
        let id = graph.push(leaf, Vec::new(), operand.name.of(&block.text).to_owned());
        if let Some(key) = key {
            known.insert(key, id);
        }
        operands.push(id);
    }
    let id = graph.push(op, operands, block.name(at.id).to_owned());
    known.insert((at.piece, at.id), id);
    Some(id)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::fixture::open;

    /// The section of the hover at `$0`, in an entry with a fusion.
    fn check(lines: &str, expect: Expect) {
        let module = format!(
            "\
HloModule m

%sum {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}}

%fused {{
  p.1 = f32[2048,1024] parameter(0)
  ROOT n.1 = f32[2048,1024] negate(p.1)
}}

ENTRY %e {{
  p = f32[2048,1024] parameter(0)
  z = f32[] constant(0)
  i = s32[] parameter(1)
{lines}
}}
"
        );
        let (analysis, file, offset) = open(&module);
        let hover = analysis.hover(file, offset).expect("nobody cancels").expect("a popup").markdown();
        let section: String = hover
            .lines()
            .filter(|line| line.contains("fus") && !line.contains("calls="))
            .collect::<Vec<_>>()
            .join("\n");
        expect.assert_eq(&section);
    }

    #[test]
    fn what_would_be_faster_together() {
        check(
            "  $0n = f32[2048,1024] floor(p)\n  ROOT f = f32[2048,1024] fusion(n), kind=kLoop, calls=%fused",
            expect!["**fusion into `%f`**: 12.02 µs apart, 6.01 µs together on h100-sxm: XLA fuses it"],
        );
    }

    #[test]
    fn one_that_cannot_take_it() {
        check(
            "  $0f = f32[2048,1024] fusion(p), kind=kLoop, calls=%fused\n  c = f32[2048,1024] ceil(f)\n  ROOT t = (f32[2048,1024], f32[2048,1024]) tuple(f, c)",
            expect![
                "not fused into `%c`: `%t` keeps its value, and XLA fuses a producer into all of its consumers or none"
            ],
        );
    }

    #[test]
    fn reductions_stay_apart() {
        check(
            "  f = f32[2048,1024] fusion(p), kind=kLoop, calls=%fused\n  $0r = f32[2048] reduce(f, z), dimensions={1}, to_apply=%sum\n  ROOT b = f32[2048,1024] broadcast(r), dimensions={0}",
            expect![
                "**not fused into `%b`**: fusion into output of a reduce fusion would create a loop fusion; nor with the results of both: b is not eligible as multi-output fusion root."
            ],
        );
    }

    #[test]
    fn accessors_and_results_are_not_explained() {
        check(
            "  $0f = f32[2048,1024] fusion(p), kind=kLoop, calls=%fused\n  ROOT t = (f32[2048,1024]) tuple(f)",
            expect![""],
        );
        check("  ROOT $0f = f32[2048,1024] fusion(p), kind=kLoop, calls=%fused", expect![[""]]);
    }
}
