//! One op of MLIR as an op of HLO, in a graph of its own whose parameters are the operands. Its maps and findings hold for the op
//! of MLIR.

use std::collections::hash_map::Entry;
use std::sync::Arc;

use ir::{AttributeKey, AttributeValue, Attributes, Graph, Op, Opcode, Shape};
use mlir::{Definition, OpId, Parse, TypeRef};
use mlir_ops::Source;
use rustc_hash::FxHashMap;

use crate::environment::Environment;
use crate::lists::braces;
use crate::not_in_hlo::NotInHlo;
use crate::op_row::{Dialect, Form, How, OpRow, Pretty, Special};
use crate::op_table::{mnemonic, opcode_of, row_of, row_of_chlo};
use crate::other_dialects::op_of_other_dialect;
use crate::to_hlo::{Writer, pack_index};
use crate::types::{self, stored_shape};

/// An op of HLO in a graph of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HloOp {
    /// The root is the op. A parameter is the operand of its number, and has its name without `%`.
    pub graph: Graph,
    /// The computations that the op calls, by name.
    pub callees: FxHashMap<String, Arc<Graph>>,
    /// The names of the operands in the text of MLIR, in the order of the op's.
    pub operands: Vec<String>,
    /// How many results the op of MLIR has; more than one are a tuple.
    pub results: usize,
    /// Whether it has maps and no other use: extents are unknown, or integers stand for quantised elements.
    pub only_maps: bool,
}

/// Ops with more operands than this have no graph.
const MAX_OPERANDS: usize = 1024;

/// Returns the op of HLO that reads its operands as this op does, or why there is none. `None` for ops that have no counterpart.
/// Its extents may be unknown ([`HloOp::only_maps`]).
pub fn hlo_op(source: &Source<'_>, id: OpId) -> Option<Result<HloOp, NotInHlo>> {
    let name = source.parse.name(id, source.text);
    if let Some(row) = mnemonic(name).and_then(row_of).or_else(|| row_of_chlo(name)) {
        // An einsum has maps of its own: it is several instructions.
        let has_maps = !is_opaque(row) && row.how != How::Special(Special::Einsum);
        return has_maps.then(|| of_row(source, id));
    }
    op_of_other_dialect(source, id).map(Ok)
}

/// Ops whose maps are those of other ops, or nobody's.
fn is_opaque(row: &OpRow) -> bool {
    let How::Special(special) = row.how else { return false };
    matches!(
        special,
        Special::AsyncDone
            | Special::AsyncStart
            | Special::Call
            | Special::Case
            | Special::Composite
            | Special::CreateToken
            | Special::CustomCall
            | Special::If
            | Special::Infeed
            | Special::Outfeed
            | Special::Recv
            | Special::Send
            | Special::While
    )
}

/// Whether what HLO's verifier says of the op of HLO is true of an op. Ops whose operands and results are of one type
/// have nothing to be wrong; exchanges between devices depend on how many there are.
pub fn is_checked_as_hlo(parse: &Parse, text: &str, id: OpId) -> bool {
    let Some(row) = mnemonic(parse.name(id, text)).and_then(row_of).filter(|row| !is_opaque(row)) else {
        return false;
    };
    let is_between_devices =
        |form: Form| matches!(form, Form::Groups | Form::Pairs | Form::Channel | Form::RaggedNumbers);
    if row.how == How::Special(Special::Constant)
        || matches!(
            row.opcode,
            Opcode::BatchNormGrad
                | Opcode::BatchNormInference
                | Opcode::BatchNormTraining
                | Opcode::Rng
                | Opcode::RngBitGenerator
        )
        || row.dialect == Dialect::Mhlo && !matches!(row.opcode, Opcode::Copy | Opcode::Erf | Opcode::Bitcast)
        || row.attributes.iter().any(|a| is_between_devices(a.form))
    {
        return false;
    }
    let op = parse.op(id);
    let types = parse.types(&op.operand_types).iter().chain(parse.types(&op.result_types));
    let mut written = types.map(|&ty| parse.type_text(ty, text));
    let first = written.next();
    let is_one = written.all(|ty| Some(ty) == first);
    let is_plain = row.how == How::Row
        && row.regions.is_empty()
        && row.attributes.iter().all(|a| a.form == Form::Accuracy)
        && matches!(row.pretty, Pretty::Same | Pretty::Functional | Pretty::Select | Pretty::No);
    !(is_plain && is_one)
}

fn of_row(source: &Source<'_>, id: OpId) -> Result<HloOp, NotInHlo> {
    let (parse, text, environment) = (source.parse, source.text, Environment::default());
    let op = parse.op(id);
    if op.results.is_empty() {
        return Err("it has no result".into());
    }
    let mut is_quantised = false;
    for &ty in parse.types(&op.result_types) {
        let ty =
            parse.type_text(ty, text).ok_or(NotInHlo::Type("the type of a result is not known".into()))?;
        let ty = source.resolved(&ty, op.span.start);
        is_quantised |= types::is_quantised(ty);
        stored_shape(ty)?;
    }
    let mut writer = Writer::bare(source, &environment);
    let mut given = Vec::new();
    for (n, operand) in parse.operands_of(id).enumerate() {
        if n == MAX_OPERANDS {
            return Err("it has too many operands".into());
        }
        let name = operand.span.of(text);
        let index = pack_index(name);
        let Some(value) = operand.value else { return Err(NotInHlo::unknown_type(name)) };
        let ty = parse.type_of(value, index as usize, text);
        let ty = ty.ok_or_else(|| NotInHlo::unknown_type(name))?;
        let ty = source.resolved(&ty, op.span.start);
        is_quantised |= types::is_quantised(ty);
        let shape = stored_shape(ty)?;
        if !writer.body().values.contains_key(&(value, index)) {
            let parameter = writer.body().parameter("operand", shape, Attributes::default(), id);
            writer.body().values.insert((value, index), parameter);
            given.push((name, value));
        }
    }
    writer.try_op(id)?;
    let results: usize = op.results.clone().map(|v| parse.values[v as usize].count as usize).sum();
    let last = writer.body().last().ok_or("it has no instruction")?;
    let mut written = std::mem::take(writer.body()).finish("op", &last).into_graph();
    // Several results are a tuple: its `get-tuple-element`s are not part of the op.
    if results != 1 {
        drop_elements(&mut written);
    }
    let given: Vec<Given<'_>> = given
        .into_iter()
        .map(|(name, value)| {
            let literal = match writer.only_maps {
                true => writer.integers_of(value).map(|list| braces(&list)),
                false => scalar_constant(source, value),
            };
            Given { name, literal }
        })
        .collect();
    let callees = writer.finished.drain(..).map(|c| (c.name.into(), c.graph)).collect();
    let mut found = HloOp::of_instructions(written, &given, callees, results)?;
    found.only_maps |= is_quantised || writer.only_maps;
    Ok(found)
}

/// An operand of the op: its name in the text of MLIR, and its numbers where it is a constant whose numbers are places.
struct Given<'t> {
    name: &'t str,
    literal: Option<String>,
}

/// Drops what only takes elements of a tuple at the end: the op before them is the root.
fn drop_elements(graph: &mut Graph) {
    while graph.ops.last().is_some_and(|op| op.opcode == Opcode::GetTupleElement) {
        graph.ops.pop();
        graph.operands.pop();
        graph.names.pop();
    }
    graph.root = (graph.ops.len() as ir::OpId).saturating_sub(1);
}

impl HloOp {
    /// Bounds become unknown extents: as a bound XLA would take them for the size.
    pub(crate) fn with_unknown_extents(mut self) -> HloOp {
        let mut ops = self.callees.values().flat_map(|graph| &graph.ops).chain(&self.graph.ops);
        if !ops.all(|op| op.shape.is_static()) {
            self.only_maps = true;
            for op in &mut self.graph.ops {
                op.shape = op.shape.with_unknown_extents();
                op.operand_shapes.iter_mut().for_each(|shape| *shape = shape.with_unknown_extents());
            }
        }
        self
    }

    pub fn op(&self) -> &Op {
        &self.graph.ops[self.graph.root as usize]
    }

    /// The operand that an op of the graph stands for.
    pub fn operand(&self, op: ir::OpId) -> Option<usize> {
        Some(self.graph.ops.get(op as usize)?.parameter? as usize)
    }

    /// A graph of the operands alone, as its first ops.
    pub(crate) fn of_operands(operands: Vec<String>, shapes: &[Shape]) -> HloOp {
        let mut graph = Graph { is_complete: true, ..Graph::default() };
        for ((number, shape), name) in (0..).zip(shapes).zip(&operands) {
            graph.push(Op::parameter(number, shape.clone()), Vec::new(), value_name(name));
        }
        HloOp { graph, callees: FxHashMap::default(), operands, results: 1, only_maps: false }
    }

    /// The op of a graph that starts with a parameter for each of `given`. Several instructions behind these become one fusion.
    fn of_instructions(
        mut written: Graph,
        given: &[Given<'_>],
        callees: FxHashMap<String, Arc<Graph>>,
        results: usize,
    ) -> Result<HloOp, NotInHlo> {
        let count = given.len();
        let root = written.root as usize;
        if root < count {
            return Err(NotInHlo::no_instruction("HLO has no such instruction"));
        }
        let is_one = root == count;
        let order: Vec<usize> = match is_one {
            true => written.operands[root].iter().map(|&id| id as usize).collect(),
            false => (0..count).collect(),
        };
        let operands = order.iter().map(|&at| given[at].name.to_owned()).collect();
        let mut graph = Graph { is_complete: true, ..Graph::default() };
        let mut places: FxHashMap<usize, ir::OpId> = FxHashMap::default();
        let mut ids = Vec::with_capacity(order.len());
        for (place, &at) in order.iter().enumerate() {
            let id = match places.entry(at) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(free) => {
                    let shape = written.ops[at].shape.clone();
                    let op = match given[at].literal.clone().filter(|_| is_one) {
                        // A known index makes the map exact.
                        Some(literal) => Op::constant(literal, shape),
                        None => Op::parameter(place as u32, shape),
                    };
                    *free.insert(graph.push(op, Vec::new(), value_name(given[at].name)))
                }
            };
            ids.push(id);
        }
        let mut found = HloOp { graph, callees, operands, results, only_maps: false };
        found.graph.root = match is_one {
            true => {
                let op = written.ops.swap_remove(root);
                let name = std::mem::take(&mut written.names[root]);
                found.graph.push(op, ids, name)
            }
            false => {
                let shape = written.ops[root].shape.clone();
                found.fuse("fused", written, shape, &ids)
            }
        };
        Ok(found.with_unknown_extents())
    }

    /// Adds a fusion that calls `fused`.
    pub(crate) fn fuse(&mut self, name: &str, fused: Graph, shape: Shape, operands: &[ir::OpId]) -> ir::OpId {
        self.callees.insert(name.to_owned(), Arc::new(fused));
        let attributes = Attributes::default()
            .with(AttributeKey::Kind, AttributeValue::Word("kLoop".to_owned()))
            .with(AttributeKey::Calls, AttributeValue::Computation(name.to_owned()));
        self.graph.add(Opcode::Fusion, shape, operands, attributes, "r")
    }

    /// A module of HLO whose entry is the op, as text. Its operands are called `p0`, `p1` and so on, the op `r`.
    pub fn text(&self) -> String {
        let mut text = "HloModule m\n\n".to_owned();
        let mut computation = |head: &str, graph: &Graph| {
            text.push_str(head);
            text.push_str(" {\n");
            for id in 0..graph.ops.len() as ir::OpId {
                text.push_str("  ");
                graph.write_instruction(&mut text, id);
                text.push('\n');
            }
            text.push_str("}\n\n");
        };
        let mut callees: Vec<_> = self.callees.iter().collect();
        // The others are called from the one that is fused.
        callees.sort_by_key(|(name, _)| (*name == "fused", *name));
        callees.into_iter().for_each(|(name, graph)| computation(name, graph));
        let mut entry = self.graph.clone();
        entry.names = (0..entry.ops.len()).map(|id| format!("p{id}")).collect();
        entry.names[entry.root as usize] = "r".to_owned();
        let parameters = entry.ops.iter_mut().filter_map(|op| op.parameter.as_mut());
        (0..).zip(parameters).for_each(|(number, parameter)| *parameter = number);
        computation("ENTRY e", &entry);
        text
    }
}

/// A name without `%`.
fn value_name(name: &str) -> String {
    name.trim_start_matches('%').to_owned()
}

/// The value of a scalar constant.
fn scalar_constant(source: &Source<'_>, value: mlir::ValueId) -> Option<String> {
    let parse = source.parse;
    let Definition::Result(op) = parse.values[value as usize].definition else { return None };
    if opcode_of(parse.name(op, source.text))? != Opcode::Constant {
        return None;
    }
    let types = parse.types(&parse.op(op).result_types);
    let [TypeRef::Written(ty)] = types else { return None };
    if mlir::ArrayType::parse(ty.of(source.text)).ok()?.rank() > 0 {
        return None;
    }
    let environment = Environment::default();
    let mut writer = Writer::bare(source, &environment);
    writer.try_op(op).ok()?;
    let (constant, _) = writer.body().take_last()?;
    constant.literal.filter(|number| number.parse::<f64>().is_ok())
}
