//! The header of a module of HLO as attributes of the module, and of its entry's arguments.

use ir::{Block, Graph, ModuleSettings, Shape};
use rustc_hash::FxHashMap;

use crate::lists::{array_attribute, joined};

/// Per parameter of the entry, what the header says of its memory, where an attribute of the argument can say it.
pub(super) fn donations(settings: &ModuleSettings, graph: &Graph) -> FxHashMap<u32, String> {
    let mut found = FxHashMap::default();
    let root = &graph.ops[graph.root as usize].shape;
    let results = root.tuple_elements().map_or(1, |e| e.len());
    for alias in settings.aliases.iter().filter(|a| is_simple(a, results)) {
        let output = alias.output.first().copied().unwrap_or(0);
        found.insert(alias.parameter as u32, format!("tf.aliasing_output = {output} : i32"));
    }
    for (parameter, index) in &settings.donors {
        if index.is_empty() {
            found.entry(*parameter as u32).or_insert_with(|| "jax.buffer_donor = true".to_owned());
        }
    }
    found
}

/// Whether a whole argument gives its memory to a whole result.
fn is_simple(alias: &ir::Alias, results: usize) -> bool {
    let is_whole = alias.output.len() == usize::from(results != 1) && !alias.is_must;
    alias.index.is_empty() && is_whole && u32::try_from(alias.parameter).is_ok()
}

/// ` attributes {…}`, or nothing.
pub(super) fn module_attributes(
    settings: Option<&ModuleSettings>,
    frontend: Option<&str>,
    entry: Option<&Graph>,
) -> String {
    let Some(settings) = settings else { return String::new() };
    let mut attributes = Vec::new();
    attributes.extend(
        frontend.map(|text| format!("mhlo.frontend_attributes = {}", super::annotations::frontend(text))),
    );
    let results = entry.map_or(1, |g| g.ops[g.root as usize].shape.tuple_elements().map_or(1, |e| e.len()));
    let others: Vec<_> =
        settings.aliases.iter().filter(|a| !is_simple(a, results)).map(stated_alias).collect();
    if !others.is_empty() {
        attributes.push(format!("mhlo.input_output_alias = [{}]", others.join(", ")));
    }
    attributes.push(format!("mhlo.num_partitions = {} : i32", settings.num_partitions));
    attributes.push(format!("mhlo.num_replicas = {} : i32", settings.replica_count));
    if let Some((parameters, result)) = &settings.entry_layout {
        let is_usual = |shape: &Shape| shape.as_array().is_none_or(is_row_major);
        let results = result.tuple_elements().filter(|e| e.len() != 1);
        let is_usual_result = results.map_or_else(|| is_usual(result), |e| e.iter().all(is_usual));
        if !parameters.iter().all(is_usual) {
            let layouts: Vec<_> = parameters.iter().map(layout).collect();
            attributes
                .push(format!("mhlo.xla_entry_computation_parameter_layouts = [{}]", layouts.join(", ")));
        }
        if !is_usual_result {
            let layouts = match results {
                None => layout(result),
                Some(elements) => {
                    format!("[{}]", elements.iter().map(layout).collect::<Vec<_>>().join(", "))
                }
            };
            attributes.push(format!("mhlo.xla_entry_computation_result_layout = {layouts}"));
        }
    }
    format!(" attributes {{{}}}", attributes.join(", "))
}

/// The attributes of a module's header.
pub(super) fn stated(block: &Block) -> Vec<(&str, &str)> {
    let header = block.parse.header.iter();
    let attributes = header.flat_map(|h| h.attributes.iter());
    attributes.map(|(name, value)| (name.of(&block.text), value.of(&block.text))).collect()
}

/// What of a header the attributes of a module do not say.
pub(super) fn unsaid<'s>(
    stated: &'s [(&str, &str)],
    settings: Option<&'s ModuleSettings>,
) -> impl Iterator<Item = String> + 's {
    let is_said = |name: &str| {
        matches!(
            name,
            "replica_count"
                | "num_partitions"
                | "input_output_alias"
                | "buffer_donor"
                | "entry_computation_layout"
                | "frontend_attributes"
        )
    };
    let is_off = |value: &str| value.trim() == "false";
    let others = stated.iter().filter(move |(name, value)| !is_said(name) && !is_off(value));
    // An order of dimensions is all that StableHLO has of a layout.
    let is_more = |shape: &Shape| {
        super::values::leaves(shape).into_iter().any(|leaf| {
            let layout = leaf.as_array().and_then(|array| array.layout.as_ref());
            layout.is_some_and(|layout| {
                let order =
                    ir::Layout { minor_to_major: layout.minor_to_major.clone(), ..ir::Layout::row_major(0) };
                *layout != order
            })
        })
    };
    let layouts = settings.and_then(|s| s.entry_layout.as_ref());
    let is_tiled =
        layouts.is_some_and(|(parameters, result)| parameters.iter().any(is_more) || is_more(result));
    let tiled = is_tiled.then(|| "tiles and memory spaces of entry_computation_layout".to_owned());
    let donors = settings.is_some_and(|s| s.donors.iter().any(|(_, index)| !index.is_empty()));
    let donors = donors.then(|| "buffer_donor of an element of an argument".to_owned());
    others.map(|(name, _)| format!("HloModule: attribute {name}")).chain(tiled).chain(donors)
}

fn stated_alias(alias: &ir::Alias) -> String {
    let kind = if alias.is_must { "must_alias" } else { "may_alias" };
    format!(
        "{{alias = {{kind = \"{kind}\", parameter_index = {}, parameter_number = {} : i64}}, output_index = {}}}",
        array_attribute(&alias.index),
        alias.parameter,
        array_attribute(&alias.output)
    )
}

/// Whether the layout is the default.
pub(super) fn is_row_major(array: &ir::ArrayShape) -> bool {
    array.layout.as_ref().is_none_or(|layout| *layout == ir::Layout::row_major(array.rank()))
}

/// `dense<[1, 0]> : tensor<2xindex>`
pub(super) fn layout(shape: &Shape) -> String {
    let order: Vec<i64> = shape
        .as_array()
        .map(|a| a.minor_to_major().into_iter().map(|d| d as i64).collect())
        .unwrap_or_default();
    match order.is_empty() {
        true => "dense<> : tensor<0xindex>".to_owned(),
        false => format!("dense<[{}]> : tensor<{}xindex>", joined(&order, ", "), order.len()),
    }
}
