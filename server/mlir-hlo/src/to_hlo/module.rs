//! A module of HLO from the functions of one of MLIR.

use std::fmt::Write as _;

use ir::Shape;
use mlir::lists::{dictionary, split};
use mlir::{OpId, integer, integers};
use rustc_hash::FxHashMap;

use super::arguments::with_layout_text;
use super::function::{FunctionHeader, HloFunction, functions};
use crate::environment::{Environment, Slice};
use crate::incomplete::Incomplete;
use crate::lists::braces;
use crate::names::sanitized;
use crate::piece_names::PieceNames;
use crate::strings::hlo_string;
use crate::types::with_layout;

/// Bytes of text that a conversion yields, at most.
const MAX_BYTES: usize = 512 << 20;

/// Where an instruction comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// Where its line starts.
    pub offset: u32,
    /// The piece of the text of MLIR, and the op in it.
    pub piece: usize,
    pub op: OpId,
}

/// A module as text of HLO.
///
/// Owner: who asked for it. Size: about the text it was made from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HloModule {
    pub text: String,
    /// What the text does not say, with the piece that says it.
    pub incomplete: Vec<(usize, Incomplete)>,
    /// One per instruction, in the order of the text.
    pub origins: Vec<Origin>,
}

/// Converts a text: the slices of each of its parts, with the piece that each is of. Modules of several parts are separated by
/// `// -----` lines.
pub fn to_hlo(parts: &[Vec<(usize, Slice<'_>)>]) -> HloModule {
    let mut all = HloModule::default();
    for slices in parts {
        let names: Vec<_> = slices.iter().map(|(_, slice)| PieceNames::of(*slice)).collect();
        let environment = Environment::of(&names);
        let found: Vec<_> =
            slices.iter().map(|(piece, slice)| (*piece, functions(*slice, &environment))).collect();
        if found.iter().all(|(_, functions)| functions.is_empty()) && parts.len() > 1 {
            continue;
        }
        let flat: Vec<_> = found.iter().flat_map(|(piece, f)| f.iter().map(|f| (*piece, f))).collect();
        let module = assemble(&environment, &flat);
        if !all.text.is_empty() {
            all.text.push_str("\n// -----\n\n");
        }
        let base = all.text.len() as u32;
        all.text.push_str(&module.text);
        all.incomplete.extend(module.incomplete);
        all.origins.extend(module.origins.into_iter().map(|o| Origin { offset: base + o.offset, ..o }));
        if all.text.len() > MAX_BYTES {
            all.incomplete
                .push((0, Incomplete { span: Default::default(), what: "the text is too large".to_owned() }));
            break;
        }
    }
    all
}

/// The module of these functions, each with its piece: callees come before callers, the entry is the last.
pub fn assemble(environment: &Environment, functions: &[(usize, &HloFunction)]) -> HloModule {
    let mut module = HloModule::default();
    let entry = environment.entry();
    let by_symbol: FxHashMap<&str, usize> =
        functions.iter().enumerate().map(|(at, (_, f))| (&*f.symbol, at)).collect();
    let entry_at = entry.and_then(|symbol| by_symbol.get(symbol).copied());
    module.text = header(environment, entry_at.map(|at| functions[at].1));
    let (order, circles) = callees_first(functions, &by_symbol, entry_at);
    for at in circles {
        let (piece, function) = functions[at];
        let what = format!("@{} calls itself: computations of HLO do not", function.symbol);
        let span = function.incomplete.first().map_or_else(Default::default, |i| i.span);
        module.incomplete.push((piece, Incomplete { span, what }));
    }
    for at in order {
        let (piece, function) = functions[at];
        let last = function.computations.len() - 1;
        for (nth, computation) in function.computations.iter().enumerate() {
            module.text.push('\n');
            if Some(at) == entry_at && nth == last {
                module.text.push_str("ENTRY ");
            }
            let HloModule { text, origins, .. } = &mut module;
            computation.write(text, |at, op| origins.push(Origin { offset: at as u32, piece, op }));
        }
        module.incomplete.extend(function.incomplete.iter().map(|i| (piece, i.clone())));
    }
    let unsaid = unsaid(environment).into_iter();
    module.incomplete.extend(unsaid.map(|what| (0, Incomplete { span: Default::default(), what })));
    if functions.is_empty() {
        let what = "there is no function with a body".to_owned();
        module.incomplete.push((0, Incomplete { span: Default::default(), what }));
    }
    module
}

/// The functions with callees before callers and the entry last, and the recursive ones.
fn callees_first(
    functions: &[(usize, &HloFunction)],
    by_symbol: &FxHashMap<&str, usize>,
    entry: Option<usize>,
) -> (Vec<usize>, Vec<usize>) {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut states = vec![State::New; functions.len()];
    let mut order = Vec::with_capacity(functions.len());
    let mut circles = Vec::new();
    let roots = (0..functions.len()).filter(|&at| Some(at) != entry).chain(entry);
    for root in roots {
        let mut stack = vec![(root, 0usize)];
        while let Some((at, call)) = stack.pop() {
            if call == 0 {
                if states[at] != State::New {
                    continue;
                }
                states[at] = State::Open;
            }
            let callee = functions[at].1.calls.get(call).map(|symbol| by_symbol.get(&**symbol).copied());
            match callee {
                None => {
                    states[at] = State::Done;
                    order.push(at);
                }
                Some(callee) => {
                    stack.push((at, call + 1));
                    match callee {
                        Some(callee) if states[callee] == State::New => stack.push((callee, 0)),
                        Some(callee) if states[callee] == State::Open => circles.push(callee),
                        _ => {}
                    }
                }
            }
        }
    }
    (order, circles)
}

fn header(environment: &Environment, entry: Option<&HloFunction>) -> String {
    let name = if environment.name.is_empty() { "module".to_owned() } else { sanitized(&environment.name) };
    let mut text = format!("HloModule {name}");
    let mut aliases = Vec::new();
    let mut donors = Vec::new();
    if let Some(HloFunction { header, .. }) = entry {
        for &(argument, output) in &header.aliases {
            let output = if header.is_single { String::new() } else { output.to_string() };
            aliases.push(format!("{{{output}}}: ({argument}, {{}}, may-alias)"));
        }
        donors = header.donors.iter().map(|argument| format!("({argument}, {{}})")).collect();
    }
    aliases.extend(stated_aliases(environment.attribute("mhlo.input_output_alias").unwrap_or_default()));
    if !aliases.is_empty() {
        _ = write!(text, ", input_output_alias={{ {} }}", aliases.join(", "));
    }
    if !donors.is_empty() {
        _ = write!(text, ", buffer_donor={{ {} }}", donors.join(", "));
    }
    if let Some(HloFunction { header, .. }) = entry {
        let stated = environment.attribute("mhlo.xla_entry_computation_parameter_layouts");
        let stated: Vec<&str> =
            stated.and_then(|l| l.strip_prefix('[')?.strip_suffix(']')).map(split).unwrap_or_default();
        let parameters: Vec<_> = header
            .parameters
            .iter()
            .enumerate()
            .map(|(at, shape)| laid_out(shape, stated.get(at).and_then(|list| integers(list))).to_string())
            .collect();
        let stated = environment.attribute("mhlo.xla_entry_computation_result_layout").unwrap_or_default();
        let result = result_with_layout(header, stated);
        _ = write!(text, ", entry_computation_layout={{({})->{result}}}", parameters.join(", "));
    }
    for (attribute, key) in
        [("mhlo.num_replicas", "replica_count"), ("mhlo.num_partitions", "num_partitions")]
    {
        if let Some(count) = environment.attribute(attribute).and_then(integer).filter(|&n| n > 1) {
            _ = write!(text, ", {key}={count}");
        }
    }
    let mut frontend: Vec<_> =
        dictionary(environment.attribute("mhlo.frontend_attributes").unwrap_or_default())
            .into_iter()
            .map(|(key, value)| format!("{key}=\"{}\"", hlo_string(value.trim_matches('"'))))
            .collect();
    let meshes = environment.meshes();
    if !meshes.is_empty() {
        let mut each: Vec<_> =
            meshes.iter().map(|(name, mesh)| format!("{name} = {}", mesh.text())).collect();
        each.sort_unstable();
        frontend.push(format!("xla.sdy.meshes={{{}}}", each.join(", ")));
    }
    if !frontend.is_empty() {
        _ = write!(text, ", frontend_attributes={{{}}}", frontend.join(","));
    }
    text + "\n"
}

/// The result with what the module states of it, or else the function.
fn result_with_layout(header: &FunctionHeader, stated: &str) -> Shape {
    // One layout, or a list of them.
    let lists: Vec<&str> = match stated.trim().strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
        Some(list) => split(list),
        None if stated.is_empty() => Vec::new(),
        None => vec![stated],
    };
    let own = |at: usize| header.result_layouts.get(at).filter(|layout| !layout.is_empty());
    let one = |at: usize, shape: &Shape| match (lists.get(at).and_then(|list| integers(list)), own(at)) {
        (None, Some(own)) if !has_layout(shape) => with_layout_text(shape.clone(), own),
        (list, _) => laid_out(shape, list),
    };
    match &header.result {
        None => Shape::tuple([]),
        Some(Shape::Tuple(elements)) if !header.is_single => {
            Shape::tuple(elements.iter().enumerate().map(|(at, shape)| one(at, shape)))
        }
        Some(only) => one(0, only),
    }
}

fn has_layout(shape: &Shape) -> bool {
    shape.as_array().is_some_and(|array| array.layout.is_some())
}

/// What the header of HLO does not say of the attributes of a module.
fn unsaid(environment: &Environment) -> Vec<String> {
    let is_said = |name: &str, value: &str| match name {
        "mhlo.num_replicas"
        | "mhlo.num_partitions"
        | "mhlo.input_output_alias"
        | "mhlo.frontend_attributes"
        | "mhlo.xla_entry_computation_parameter_layouts"
        | "mhlo.xla_entry_computation_result_layout"
        | "sym_name"
        | "sym_visibility" => true,
        _ if name.starts_with("jax.") => true,
        // Lists of nothing, and what is off.
        _ => {
            value.trim() == "false"
                || value.chars().all(|c| matches!(c, '[' | ']' | ',' | ' ')) && value.contains('[')
        }
    };
    let attributes = environment.attributes.iter().filter(|(name, value)| !is_said(name, value));
    attributes.map(|(name, _)| format!("module: attribute {name}")).collect()
}

/// A shape with the layout that is stated for it, or else with the usual one; tuples element by element.
fn laid_out(shape: &Shape, layout: Option<Vec<i64>>) -> Shape {
    if let Some(elements) = shape.tuple_elements() {
        return Shape::tuple(elements.iter().map(|element| laid_out(element, None)));
    }
    let rank = shape.dims().len();
    if has_layout(shape) {
        return shape.clone();
    }
    let layout = layout.filter(|l| l.len() == rank).unwrap_or_else(|| (0..rank as i64).rev().collect());
    with_layout(shape, &layout)
}

/// Entries of `mhlo.input_output_alias`. Source: `xla/hlo/translate/hlo_to_mhlo/attribute_importer.cc` ConvertInputOutputAlias.
fn stated_aliases(list: &str) -> Vec<String> {
    let list = list.trim().strip_prefix('[').and_then(|l| l.strip_suffix(']')).unwrap_or_default();
    let entry = |text: &str| {
        let of = |dictionary: Vec<(&str, &str)>, name: &str| {
            dictionary.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
        };
        let output = of(dictionary(text), "output_index").and_then(|l| integers(&l))?;
        let alias = of(dictionary(text), "alias")?;
        let parameter = of(dictionary(&alias), "parameter_number").and_then(|n| integer(&n))?;
        let inside = of(dictionary(&alias), "parameter_index").and_then(|l| integers(&l)).unwrap_or_default();
        let kind = of(dictionary(&alias), "kind").unwrap_or_default();
        let kind = if kind.contains("must") { "must-alias" } else { "may-alias" };
        Some(format!("{}: ({parameter}, {}, {kind})", braces(&output), braces(&inside)))
    };
    split(list).into_iter().filter_map(entry).collect()
}
