//! Lowering of a fusion to its kernel.

mod body;
mod contraction;
mod elemental;
mod entry;
mod entry_concatenate;
mod entry_loop;
mod entry_ops;
mod entry_reduction;
mod entry_scatter;
mod entry_scatter_sorted;
mod entry_sort;
mod entry_transpose;
mod entry_update;
mod parts;
mod reducer;
mod sort_comparison;
mod tables;

use std::cell::RefCell;
use std::sync::Arc;

use gpu::{Emitter, FusionAnalysis, Launch, Partition};
use indexing::Callees;
use ir::{ArrayShape, Graph, OpId, Shape};
use rustc_hash::FxHashMap;

use self::entry_transpose::Tiles;
use crate::Reason;
use crate::kernel::{Function, Kernel, Param, Role};

/// A fusion, or an op that XLA would wrap into one, with the inputs of its kernel.
pub struct Source<'a> {
    /// The name of the instruction, after which the kernel is named.
    pub name: &'a str,
    /// The name of the fused computation, after which functions are named.
    pub computation: &'a str,
    pub analysis: &'a FusionAnalysis,
    pub callees: &'a Callees<'a>,
}

/// Alignment of arguments of the module, and of buffers that XLA allocates. Source: `kBytes` constants of
/// `service/gpu/gpu_constants.h`.
const ENTRY_ALIGN: u32 = 16;
const BUFFER_ALIGN: u32 = 256;

/// The arrays that a kernel can take: a launch passes 32,764 bytes, and a pointer has 8. Source: "Kernel Function Parameters" of the
/// CUDA C++ Programming Guide.
const MAX_PARAMS: usize = 32_764 / 8;

/// Emits the kernel of a fusion, or the reason why there is none.
pub fn emit(source: &Source<'_>) -> Result<Kernel, Reason> {
    recursion::with_stack(crate::STACK, || emitted(source))
}

fn emitted(source: &Source<'_>) -> Result<Kernel, Reason> {
    let analysis = source.analysis;
    let launch = analysis.launch().ok_or_else(|| elsewhere(analysis))?;
    let name = kernel_name(source.name);
    let params = params(analysis)?;
    let partition = analysis.partition(&name, source.computation, source.callees);
    let operands = params.iter().filter(|param| !param.is_result());
    let operand_shapes: Vec<_> = operands.map(|param| param.shape.clone()).collect();
    partition.check_arguments(operand_shapes.len())?;
    let mut kernel = Kernel {
        name,
        launch,
        params,
        functions: Vec::new(),
        tables: Vec::new(),
        missing: Vec::new(),
        waits: !matches!(analysis.emitter, Emitter::Sort(_)),
        then: Vec::new(),
    };
    let tables = tables::of(&analysis.fused.graph, &mut kernel.tables);
    let context = Emission {
        source,
        partition: &partition,
        operand_shapes,
        launch,
        tables,
        added: RefCell::default(),
        computations: RefCell::default(),
    };
    // If a result is an element of a tuple, the other elements have no memory.
    let own = entry::results_of(&context).last().map_or(0, |last| last.end);
    if own > analysis.fused.outputs.len() {
        return Err("a result of the fusion is one of several that an instruction computes".into());
    }
    match &analysis.emitter {
        Emitter::Loop(_) => entry_loop::emit(&context, &mut kernel)?,
        Emitter::Transpose(transpose) => {
            entry_transpose::emit(&context, Tiles::Plain(transpose), &mut kernel)?;
        }
        Emitter::PackedTranspose(transpose) => {
            entry_transpose::emit(&context, Tiles::Packed(transpose), &mut kernel)?;
        }
        Emitter::Concatenate(_) => entry_concatenate::emit(&context, &mut kernel)?,
        Emitter::DynamicUpdateSlice(update) => entry_update::emit(&context, update, &mut kernel)?,
        Emitter::Scatter(scatter) => entry_scatter::emit(&context, scatter, &mut kernel)?,
        Emitter::Reduction(reduction) => entry_reduction::emit(&context, reduction, &mut kernel)?,
        Emitter::Sort(sort) => entry_sort::emit(&context, sort, &mut kernel)?,
        other => return Err(format!("the {} emitter is not written yet", other.name()).into()),
    }
    Ok(kernel)
}

/// The common inputs of all emitters.
pub(crate) struct Emission<'a> {
    pub source: &'a Source<'a>,
    pub partition: &'a Partition,
    /// The arrays of the fusion's operands, by number.
    operand_shapes: Vec<Arc<ArrayShape>>,
    pub launch: Launch,
    /// Constant arrays: the number of the table, or the reason why there is none.
    pub tables: FxHashMap<OpId, Result<usize, Reason>>,
    /// Functions after those of the partition: computations on scalars, and epilogues.
    pub added: RefCell<Vec<Function>>,
    /// Numbers of functions of computations on scalars, by name.
    computations: RefCell<FxHashMap<String, Result<usize, Reason>>>,
}

impl<'a> Emission<'a> {
    pub fn graph(&self) -> &'a Graph {
        &self.source.analysis.fused.graph
    }

    /// The same emission for another kernel of the op.
    pub fn with_launch(&self, launch: Launch) -> Emission<'a> {
        Emission {
            source: self.source,
            partition: self.partition,
            operand_shapes: self.operand_shapes.clone(),
            launch,
            tables: self.tables.clone(),
            added: RefCell::default(),
            computations: RefCell::default(),
        }
    }

    /// Adds a function and returns its number.
    pub fn add(&self, function: Function) -> usize {
        let mut added = self.added.borrow_mut();
        added.push(function);
        // Numbers count the entry, the functions of the partition, and the added ones.
        self.partition.functions.len() + added.len()
    }

    /// The number of the function for a computation on scalars, which is added on first use.
    pub fn computation(&self, name: &str) -> Result<usize, Reason> {
        if let Some(known) = self.computations.borrow().get(name) {
            return known.clone();
        }
        let number = reducer::function(name, &|name| (self.source.callees)(name)).map(|f| self.add(f));
        self.computations.borrow_mut().insert(name.to_owned(), number.clone());
        number
    }

    pub fn operand_shapes(&self) -> impl Iterator<Item = Arc<ArrayShape>> + use<'_> {
        self.operand_shapes.iter().cloned()
    }
}

fn elsewhere(analysis: &FusionAnalysis) -> Reason {
    match &analysis.fused.backend_kind {
        Some(kind) => format!("{kind} is not written by XLA's own emitters").into(),
        None => "it is not written by XLA's own emitters".into(),
    }
}

/// The name with `_` for all characters but letters and digits. Source: `GetSanitizedUniqueName`.
pub fn kernel_name(instruction: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
    let name: String = instruction.chars().map(plain).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name }
}

fn params(analysis: &FusionAnalysis) -> Result<Vec<Param>, Reason> {
    let fused = &analysis.fused;
    let mut params = Vec::new();
    let parameters = fused.graph.parameters();
    let count = parameters.len() + fused.outputs.len();
    if count > MAX_PARAMS {
        return Err(format!("a launch passes at most {MAX_PARAMS} arrays, and the kernel has {count}").into());
    }
    for (number, op) in parameters.into_iter().enumerate() {
        let op = op.ok_or("the fusion lacks a parameter")?;
        let shape = array(&fused.op(op).shape).ok_or("an operand of the fusion is no array")?;
        let own = param(Role::Operand(number), shape, ENTRY_ALIGN)?;
        let same_as = fused.same_as.get(number).copied().unwrap_or(number);
        params.push(Param { same_as, is_changing: fused.changing.contains(&number), ..own });
    }
    let mut leaves: Vec<Arc<ArrayShape>> = Vec::new();
    for &root in &fused.roots {
        arrays(&fused.op(root).shape, &mut leaves);
    }
    // A root that is several results has a buffer for each.
    let mut next = leaves.into_iter();
    let mut result = 0;
    let mut seen = Vec::new();
    for &root in &fused.outputs {
        if seen.contains(&root) && fused.op(fused.roots[root]).shape.as_array().is_some() {
            continue;
        }
        seen.push(root);
        let Some(shape) = next.next() else { break };
        let same_as = params.len();
        params.push(Param { same_as, ..param(Role::Result(result), shape, BUFFER_ALIGN)? });
        result += 1;
    }
    Ok(params)
}

fn param(role: Role, shape: Arc<ArrayShape>, align: u32) -> Result<Param, Reason> {
    let bytes = shape.bytes().ok_or("an array of the fusion has no size")?;
    Ok(Param { role, shape, bytes, align, aliases: None, same_as: 0, is_changing: false })
}

fn array(shape: &Shape) -> Option<Arc<ArrayShape>> {
    match shape {
        Shape::Array(array) => Some(array.clone()),
        _ => None,
    }
}

fn arrays(shape: &Shape, leaves: &mut Vec<Arc<ArrayShape>>) {
    match shape {
        Shape::Array(array) => leaves.push(array.clone()),
        Shape::Tuple(elements) => elements.iter().for_each(|element| arrays(element, leaves)),
        _ => {}
    }
}
