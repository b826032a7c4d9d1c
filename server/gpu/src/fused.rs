//! A fusion as the emitters see it: one graph without nested fusions, its roots, and the users of each op.

use indexing::Callees;
use ir::{
    AttributeKey, Attributes, ElementTypeExt, Given, Graph, Op, OpId, Opcode, Shape, is_elementwise, op_info,
    result_shape,
};
use rustc_hash::FxHashMap;

use crate::Reason;
use crate::block_config::block_config;
use crate::cost::BlockLevel;
use crate::emitters::Elsewhere;

/// A fusion with more ops is not analysed: freeing its graph must not take longer than a cancellation may.
pub const MAX_OPS: usize = 1 << 14;

/// A fusion with more results is not analysed.
pub const MAX_ROOTS: usize = 4096;

/// Nested fusions beyond this depth are opaque.
const MAX_DEPTH: usize = 16;

/// The ops of a fusion. Lives for one analysis.
#[derive(Debug, Clone)]
pub struct Fused {
    /// The ops. Parameters are the fusion's operands; nested fusions are inlined.
    pub graph: Graph,
    /// The written values: the root, or the operands of a root tuple, each once, in order. An op with several
    /// results is one root.
    pub roots: Vec<OpId>,
    /// Per result of the fusion, the position of its root.
    pub outputs: Vec<usize>,
    /// Per op, the ops that use it, each once.
    pub users: Vec<Vec<OpId>>,
    /// `kind` of the fusion's backend configuration: `__triton`, `__custom_fusion`, …
    pub backend_kind: Option<String>,
    /// Whether its kind in the text is `kCustom`: no emitter is chosen by its ops.
    pub is_custom: bool,
    /// Block sizes that the same configuration states, as text.
    pub block_config: Option<String>,
    /// The tiling of a block-level fusion.
    pub block_level: Option<BlockLevel>,
    /// Whether XLA's flag is set with which it emits block-level fusions of several results:
    /// `xla_gpu_experimental_enable_same_shape_multi_output_fusion`.
    pub has_several_results_flag: bool,
    /// Numbers of the operands whose memory may be written from elsewhere while the kernel runs. Source: the
    /// frontend attribute `xla.no_invariant_operands`.
    pub changing: Vec<usize>,
    /// Per operand, the first operand that is the same array; empty if all are different. Source:
    /// `slice_index` of `codegen/emitters/kernel_arguments.cc`.
    pub same_as: Vec<usize>,
    /// The origin of the kernel if XLA made no fusion for it: see [`Fused::standing_alone`] and
    /// [`Fused::of_function`].
    pub left_to: Option<Elsewhere>,
}

/// Refuses a fusion or computation with parts that are not in this vocabulary: a kernel without them would
/// compute something else.
fn understood(op: &Op, callee: &Graph) -> Result<(), Reason> {
    let of_op = op.attributes.unknown().first().map(|unknown| format!("{unknown}; it is not understood"));
    of_op.or_else(|| callee.not_understood()).map_or(Ok(()), |unknown| Err(unknown.into()))
}

impl Fused {
    /// Builds the fusion `op` whose computation is `callee`.
    pub fn of_fusion(op: &Op, callee: &Graph, callees: &Callees<'_>) -> Result<Fused, Reason> {
        understood(op, callee)?;
        if !callee.is_complete {
            return Err("the fused computation has errors".into());
        }
        let mut flat = Flattened::default();
        let root = flat.add(callee, None, callees, 0)?;
        let mut fused = Fused::new(flat.graph, root)?;
        fused.backend_kind = backend_kind(&op.attributes);
        fused.is_custom = op.attributes.text(AttributeKey::Kind) == Some("kCustom");
        fused.block_config = block_config(&op.attributes);
        fused.block_level = BlockLevel::of(&op.attributes);
        fused.changing = changing(&op.attributes);
        Ok(fused)
    }

    /// Treats a computation that XLA has not compiled yet as one fusion. A dot or a convolution in it is left
    /// to other compilers and libraries, which decide what they fuse with it.
    pub fn of_function(op: &Op, callee: &Graph, callees: &Callees<'_>) -> Result<Fused, Reason> {
        let mut fused = Fused::of_fusion(op, callee, callees)?;
        let left_to = fused.ops().find_map(|(_, op)| Elsewhere::of_op(op.opcode));
        fused.left_to = left_to;
        Ok(fused)
    }

    /// Takes an op as it occurs in a module, outside of fusions. Dots and convolutions are left to libraries
    /// and to Triton; other ops are wrapped.
    pub fn standing_alone(op: &Op, name: &str) -> Result<Fused, Reason> {
        let mut fused = Fused::wrapping(op, name)?;
        fused.left_to = Elsewhere::of_op(op.opcode);
        Ok(fused)
    }

    /// Wraps an unfused op in a fusion of its own with a parameter for each operand. Only for ops that XLA
    /// wraps so.
    /// Source: `service/gpu/transforms/fusion_wrapper.cc`.
    pub fn wrapping(op: &Op, name: &str) -> Result<Fused, Reason> {
        understood(op, &Graph::default())?;
        if !is_wrapped(op.opcode) {
            return Err(format!("{} is no kernel of a fusion emitter", op.opcode.name()).into());
        }
        let mut graph = Graph { is_complete: true, ..Graph::default() };
        let mut operands = Vec::new();
        for (i, shape) in op.operand_shapes.iter().enumerate() {
            let leaf = Op { parameter: Some(i as u32), ..Op::leaf(shape.clone()) };
            operands.push(graph.push(leaf, Vec::new(), format!("operand_{i}")));
        }
        let root = graph.push(op.clone(), operands, name.to_owned());
        Fused::new(graph, vec![root])
    }

    fn new(graph: Graph, results: Vec<OpId>) -> Result<Fused, Reason> {
        for (op, operands) in graph.ops.iter().zip(&graph.operands) {
            cancel::tick();
            // The code below takes operands by position.
            let has_all =
                op.operand_shapes.len() == operands.len() && op_info(op.opcode).arity.accepts(operands.len());
            if !has_all && op.opcode != Opcode::Parameter {
                return Err("an instruction of the fusion lacks an operand, or has too many".into());
            }
            if let Some(reason) = contradiction(&graph, op, operands) {
                return Err(reason);
            }
            if !has_bounds(&op.shape) {
                return Err("a dimension in the fusion has no bound".into());
            }
        }
        Fused::trusted(graph, results)
    }

    /// Builds a fusion of ops that are parts of other fusions already.
    pub(crate) fn trusted(mut graph: Graph, results: Vec<OpId>) -> Result<Fused, Reason> {
        if results.len() > MAX_ROOTS {
            return Err(format!("the fusion has more than {MAX_ROOTS} results").into());
        }
        let (mut roots, mut outputs) = (Vec::new(), Vec::new());
        for result in results {
            let root = producer(&graph, result);
            let at = roots.iter().position(|&known| known == root).unwrap_or(roots.len());
            if at == roots.len() {
                roots.push(root);
            }
            let shape = &graph.ops[result as usize].shape;
            let leaves = leaf_count(shape);
            if leaves == 0 || first_array(shape).is_none() {
                return Err("a result of the fusion is no array".into());
            }
            outputs.extend(std::iter::repeat_n(at, leaves));
        }
        let Some(&first) = roots.first() else { return Err("the fusion has no result".into()) };
        graph.root = first;
        let mut users = vec![Vec::new(); graph.ops.len()];
        for (user, operands) in graph.operands.iter().enumerate() {
            for &operand in operands {
                let list: &mut Vec<OpId> = &mut users[operand as usize];
                if list.last() != Some(&(user as OpId)) {
                    list.push(user as OpId);
                }
            }
        }
        Ok(Fused {
            graph,
            roots,
            outputs,
            users,
            backend_kind: None,
            is_custom: false,
            block_config: None,
            block_level: None,
            has_several_results_flag: false,
            changing: Vec::new(),
            same_as: Vec::new(),
            left_to: None,
        })
    }

    pub fn op(&self, id: OpId) -> &Op {
        &self.graph.ops[id as usize]
    }

    pub fn name(&self, id: OpId) -> &str {
        &self.graph.names[id as usize]
    }

    pub fn operands(&self, id: OpId) -> &[OpId] {
        &self.graph.operands[id as usize]
    }

    /// Whether the op is computed in the fusion, as opposed to being an operand of it.
    pub fn is_inside(&self, id: OpId) -> bool {
        self.op(id).opcode != Opcode::Parameter
    }

    /// Ops, users before their operands.
    pub fn users_first(&self) -> impl Iterator<Item = OpId> + '_ {
        (0..self.graph.ops.len() as OpId).rev()
    }

    /// Ops inside the fusion.
    pub fn ops(&self) -> impl Iterator<Item = (OpId, &Op)> + '_ {
        let all = self.graph.ops.iter().enumerate().map(|(id, op)| (id as OpId, op));
        all.filter(|(_, op)| op.opcode != Opcode::Parameter)
    }

    /// The array that a root writes; the first one if there are several.
    pub fn root_shape(&self, root: usize) -> &Shape {
        let shape = &self.op(self.roots[root]).shape;
        first_array(shape).unwrap_or(shape)
    }

    /// Bits of the narrowest element type among the operands; `None` if there are none.
    /// Source: `HloFusionAnalysis::InputOutputInfo`.
    pub fn smallest_input_bits(&self) -> Option<i64> {
        let parameters = self.graph.ops.iter().filter(|op| op.opcode == Opcode::Parameter);
        parameters.flat_map(|op| leaf_bits(&op.shape)).min()
    }

    /// Bits of the narrowest element type among the results.
    pub fn smallest_output_bits(&self) -> Option<i64> {
        self.roots.iter().flat_map(|&root| leaf_bits(&self.op(root).shape)).min()
    }
}

/// `kind` in `backend_config={…"fusion_backend_config":{"kind":"…"}}`, or the whole configuration if it is a
/// name.
fn backend_kind(attributes: &Attributes) -> Option<String> {
    let text = attributes.text(AttributeKey::BackendConfig)?.trim().trim_matches('"');
    let plain: String = text.chars().filter(|c| !c.is_whitespace() && *c != '\\').collect();
    let inner = match plain.split_once("\"fusion_backend_config\":") {
        Some((_, inner)) => inner,
        None => &plain,
    };
    match inner.split_once("\"kind\":\"") {
        Some((_, rest)) => rest.split('"').next().map(str::to_owned),
        None => plain.starts_with("__").then_some(plain.clone()),
    }
}

/// The numbers in `xla.no_invariant_operands="0,2"`.
fn changing(attributes: &Attributes) -> Vec<usize> {
    let text = attributes.text(AttributeKey::FrontendAttributes);
    let numbers = text.and_then(|text| ir::frontend_attribute(text, "xla.no_invariant_operands"));
    numbers.into_iter().flat_map(|list| list.split(',')).filter_map(|n| n.trim().parse().ok()).collect()
}

/// Whether this is the configuration of an instruction from XLA's CPU compiler. Only that compiler states the
/// number of threads over which an instruction is split, and only it gives fusions to these libraries.
/// Source: `service/cpu/backend_config.proto`, `service/cpu/cpu_compiler.cc`.
pub fn is_of_cpu_backend(backend_config: &str) -> bool {
    let marks = ["outer_dimension_partitions", "__ynn_fusion", "__xnn_fusion", "__onednn_fusion"];
    marks.iter().any(|mark| backend_config.contains(mark))
}

/// Whether this target of a custom call is LAPACK on the host, which JAX calls only on CPUs. Observed in its
/// dumps; on GPUs the same functions call cuSOLVER or are expanded.
pub fn is_call_of_cpu(target: &str) -> bool {
    target.contains("\"lapack_")
}

/// Whether XLA puts an unfused op into a fusion of its own. Source:
/// `service/gpu/transforms/fusion_wrapper.cc`.
pub fn is_wrapped(opcode: Opcode) -> bool {
    use Opcode::*;
    is_elementwise(opcode)
        || matches!(
            opcode,
            Broadcast
                | Concatenate
                | Convolution
                | Dot
                | DynamicSlice
                | DynamicUpdateSlice
                | Gather
                | Iota
                | Map
                | Pad
                | Reduce
                | ReduceWindow
                | Reshape
                | Reverse
                | Scatter
                | Slice
                | Sort
                | Transpose
        )
}

/// Why the shape of an op contradicts its operands and attributes. The analysis takes dimensions by position
/// in one shape or the other, so its results for such an op would be wrong or empty.
fn contradiction(graph: &Graph, op: &Op, operands: &[OpId]) -> Option<Reason> {
    if matches!(op.opcode, Opcode::Parameter | Opcode::Fusion) {
        return None;
    }
    let shapes: Vec<&Shape> = operands.iter().map(|&of| &graph.ops[of as usize].shape).collect();
    let printed = op.operand_shapes.iter().zip(&shapes);
    if let Some((printed, shape)) = printed.clone().find(|(printed, shape)| !has_same_dims(printed, shape)) {
        return Some(format!("an operand of {} is {shape}, not {printed}", op.opcode).into());
    }
    let attributes = (&op.attributes).into();
    let given = Given { operands: &shapes, attributes, declared: Some(&op.shape), called: &|_| None };
    match result_shape(op.opcode, &given) {
        Ok(shape) if has_same_dims(&shape, &op.shape) => None,
        Ok(shape) => Some(format!("{} gives {shape}, not {}", op.opcode, op.shape).into()),
        Err(problem) => Some(format!("{}: {problem}", op.opcode).into()),
    }
}

/// Whether two shapes have the same structure and the same dimensions.
fn has_same_dims(a: &Shape, b: &Shape) -> bool {
    match (a, b) {
        (Shape::Tuple(a), Shape::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| has_same_dims(a, b))
        }
        (Shape::Array(a), Shape::Array(b)) => a.dims == b.dims,
        (a, b) => a == b,
    }
}

/// For an element of a tuple, the op that makes the tuple.
fn producer(graph: &Graph, mut result: OpId) -> OpId {
    while graph.ops[result as usize].opcode == Opcode::GetTupleElement {
        let Some(&of) = graph.operands[result as usize].first() else { break };
        result = of;
    }
    result
}

fn leaf_count(shape: &Shape) -> usize {
    shape.tuple_elements().map_or(1, |elements| elements.iter().map(leaf_count).sum())
}

fn first_array(shape: &Shape) -> Option<&Shape> {
    match shape {
        Shape::Array(_) => Some(shape),
        Shape::Tuple(elements) => elements.iter().find_map(first_array),
        _ => None,
    }
}

/// Whether all sizes, or at least their bounds, are known.
fn has_bounds(shape: &Shape) -> bool {
    match shape {
        Shape::Tuple(elements) => elements.iter().all(has_bounds),
        other => other.dims().iter().all(|&size| size >= 0),
    }
}

fn leaf_bits(shape: &Shape) -> Vec<i64> {
    match shape {
        Shape::Tuple(elements) => elements.iter().flat_map(leaf_bits).collect(),
        other => other.element().and_then(|e| e.bits()).map(i64::from).into_iter().collect(),
    }
}

#[derive(Default)]
struct Flattened {
    graph: Graph,
}

impl Flattened {
    /// Adds the ops of a computation and returns its results. `arguments` replace its parameters; without
    /// them it keeps its own.
    fn add(
        &mut self,
        computation: &Graph,
        arguments: Option<&[OpId]>,
        callees: &Callees<'_>,
        depth: usize,
    ) -> Result<Vec<OpId>, Reason> {
        let mut new_ids: Vec<OpId> = Vec::with_capacity(computation.ops.len());
        // Results of inlined fusions that have several.
        let mut tuples: FxHashMap<OpId, Vec<OpId>> = FxHashMap::default();
        for (id, op) in computation.ops.iter().enumerate() {
            cancel::tick();
            if self.graph.ops.len() >= MAX_OPS {
                return Err(format!("the fusion has more than {MAX_OPS} instructions").into());
            }
            let old = &computation.operands[id];
            let operands: Vec<OpId> = old.iter().map(|&o| new_ids[o as usize]).collect();
            let argument = arguments.and_then(|list| list.get(op.parameter? as usize).copied());
            if let Some(argument) = argument {
                new_ids.push(argument);
                continue;
            }
            if let (Opcode::GetTupleElement, Some(of)) = (op.opcode, old.first()) {
                let index = op.attributes.int(AttributeKey::Index).and_then(|i| usize::try_from(i).ok());
                let element = tuples.get(of).zip(index).and_then(|(list, i)| list.get(i).copied());
                if let Some(element) = element {
                    new_ids.push(element);
                    continue;
                }
            }
            let called = match op.opcode {
                Opcode::Fusion if depth < MAX_DEPTH => op.attributes.computation(AttributeKey::Calls),
                _ => None,
            };
            let called = called.and_then(callees);
            if let Some(called) = &called {
                understood(op, called)?;
            }
            if let Some(called) = called.filter(|called| called.is_complete) {
                let results = self.add(&called, Some(&operands), callees, depth + 1)?;
                new_ids.push(results.first().copied().unwrap_or_default());
                tuples.insert(id as OpId, results);
                continue;
            }
            let name = computation.names.get(id).cloned().unwrap_or_default();
            new_ids.push(self.graph.push(op.clone(), operands, name));
        }
        self.graph.is_complete = true;
        let root = computation.root as usize;
        let Some(op) = computation.ops.get(root) else { return Err("the fusion is empty".into()) };
        Ok(match op.opcode {
            Opcode::Tuple => computation.operands[root].iter().map(|&o| new_ids[o as usize]).collect(),
            _ => tuples.remove(&computation.root).unwrap_or_else(|| vec![new_ids[root]]),
        })
    }
}
