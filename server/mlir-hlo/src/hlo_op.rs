//! One op of MLIR as an op of HLO, in a graph of its own whose parameters are the operands. Its maps and findings hold for the op
//! of MLIR.

mod arguments;
mod graphs;

use std::sync::Arc;

use ir::{Attributes, Graph, Opcode, op_info};
use mlir::{OpId, Parse};
use mlir_ops::{OpText, Source};
use rustc_hash::FxHashMap;

use self::arguments::{Arguments, Given, Shapes, scalar_constant};
use crate::environment::Environment;
use crate::lists::braces;
use crate::not_in_hlo::NotInHlo;
use crate::op_row::{Dialect, Form, How, OpRow, Pretty, Special};
use crate::op_table::{mnemonic, row_of, row_of_chlo};
use crate::other_dialects::op_of_other_dialect;
use crate::to_hlo::{Writer, one_instruction, wanted_name};
use crate::types::{computed_shape, stored_shape};

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
    let own = mnemonic(name).and_then(row_of);
    if let Some(row) = own.or_else(|| row_of_chlo(name)) {
        // An einsum has maps of its own: it is several instructions.
        let has_maps = !is_opaque(row) && row.how != How::Special(Special::Einsum);
        return has_maps.then(|| of_row(source, id, own, false));
    }
    op_of_other_dialect(source, id).map(Ok)
}

/// Returns the op of HLO that computes what an op computes. Scalars are arrays without dimensions, an index is an `s64`.
///
/// # Errors
///
/// If HLO has no such instruction, or the text of the op is not understood.
pub fn computed_op(source: &Source<'_>, id: OpId) -> Result<HloOp, NotInHlo> {
    let row = mnemonic(source.parse.name(id, source.text)).and_then(row_of);
    if row.is_some_and(is_opaque) {
        return Err(NotInHlo::no_instruction("it is not a function of its operands alone"));
    }
    let found = of_row(source, id, row, true)?;
    match found.only_maps {
        true => Err(NotInHlo::no_instruction("no instruction with these operands computes the same")),
        false => Ok(found),
    }
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

/// Whether what HLO's verifier says of the op of HLO is true of an op. Ops with all operands, of the type of the results,
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
    let is_complete = op_info(row.opcode).arity.accepts(parse.operands_of(id).count());
    let is_plain = row.how == How::Row
        && row.regions.is_empty()
        && row.attributes.iter().all(|a| a.form == Form::Accuracy)
        && matches!(row.pretty, Pretty::Same | Pretty::Functional | Pretty::Select | Pretty::No);
    !(is_plain && is_one && is_complete)
}

/// `row` is that of an op of StableHLO or MHLO.
fn of_row(source: &Source<'_>, id: OpId, row: Option<&OpRow>, is_computed: bool) -> Result<HloOp, NotInHlo> {
    let (parse, text) = (source.parse, source.text);
    let op = parse.op(id);
    if op.results.is_empty() {
        return Err("it has no result".into());
    }
    let shape_of = if is_computed { computed_shape } else { stored_shape };
    let mut shapes = Shapes::new(source, op.span.start, shape_of);
    let mut result = None;
    for &ty in parse.types(&op.result_types) {
        let ty =
            parse.type_text(ty, text).ok_or(NotInHlo::Type("the type of a result is not known".into()))?;
        result = Some(shapes.of(ty)?);
    }
    let arguments = Arguments::read(source, &mut shapes, id)?;
    let results = source.result_count(id);
    let single = match (row, result) {
        (Some(row), Some(shape)) if results == 1 && op.result_types.len() == 1 => {
            let op = OpText::of_any_length(source, id);
            one_instruction(&op, row, &arguments.operands, &shape).transpose()?
        }
        _ => None,
    };
    let mut found = match single {
        Some(single) => {
            let Arguments { mut given, operands } = arguments;
            for value in &mut given {
                value.literal = scalar_constant(source, value.key.0);
            }
            let name = wanted_name(source, op.results.start, single.opcode.name());
            HloOp::of_instruction(single, name, &operands, &given, FxHashMap::default(), 1)
        }
        None => written(source, id, arguments.given, results, is_computed)?,
    };
    found.only_maps |= shapes.is_quantised;
    Ok(found)
}

/// The op as the instructions that a [`Writer`] makes of it.
fn written(
    source: &Source<'_>,
    id: OpId,
    mut given: Vec<Given<'_>>,
    results: usize,
    is_computed: bool,
) -> Result<HloOp, NotInHlo> {
    let environment = Environment::default();
    let mut writer = match is_computed {
        true => Writer::computed(source, &environment),
        false => Writer::bare(source, &environment),
    };
    for value in &given {
        let parameter = writer.body().parameter("operand", value.shape.clone(), Attributes::default(), id);
        writer.body().values.insert(value.key, parameter);
    }
    writer.try_op(id)?;
    let last = writer.body().last().ok_or("it has no instruction")?;
    let mut graph = std::mem::take(writer.body()).finish("op", &last).into_graph();
    // Several results are a tuple: its `get-tuple-element`s are not part of the op.
    if results != 1 {
        drop_elements(&mut graph);
    }
    for value in &mut given {
        value.literal = match writer.only_maps {
            true => writer.integers_of(value.key.0).map(|list| braces(&list)),
            false => scalar_constant(source, value.key.0),
        };
    }
    let callees = writer.finished.drain(..).map(|c| (c.name.into(), c.graph)).collect();
    let mut found = HloOp::of_instructions(graph, &given, callees, results)?;
    found.only_maps |= writer.only_maps;
    Ok(found)
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
