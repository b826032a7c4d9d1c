//! The maps in the hover of an op: of results, stores and index values, and from the results to distant
//! arguments.

use db::MlirMaps;
use indexing::{OperandIndexing, Rules};
use indexing_map::{IndexingMap, PrintStyle, domain_short, print_map, wrap};
use mlir_indexing::{Access, OpMaps, Role, Space, SymbolSource};
use mlir_ops::Source;

use crate::hover::{HoverConfig, MAP_LIMIT, access_blocks, beside_blocks, utilisation_text};
use crate::inlay_hints::DomainHints;
use crate::locate::FileContext;
use crate::markdown::{code, fence, prose};
use crate::mlir::context::OpRef;
use crate::mlir::map_text::{domain_text, map_text};

/// The largest number of results whose maps are shown.
pub(crate) const RESULT_LIMIT: usize = 8;
/// The largest number of distant arguments whose maps are shown.
const FAR_LIMIT: usize = 8;

/// All known reads and writes of an op, as Markdown; may be empty.
pub(crate) fn op_maps_hover(context: &FileContext<'_>, at: OpRef, config: &HoverConfig) -> String {
    let read = context.mlir_piece(at.piece);
    let found = db::with_mlir_source(context.db, context.view.file, at.piece, |source| {
        let results = source.result_count(at.id).clamp(1, RESULT_LIMIT);
        let environment = db::alias_environment(source);
        let mut blocks = Vec::new();
        for result in 0..results {
            match db::mlir_maps(source, &environment, at.id, result) {
                Some(Ok(MlirMaps::Own(maps))) => blocks.extend(own_blocks(source, &maps, results)),
                Some(Ok(MlirMaps::Hlo(hlo))) => {
                    let from = if results > 1 { format!("output {result}") } else { "output".to_owned() };
                    let named = config.readable_variables.then(|| hlo.op());
                    let (exact, xla) = (
                        db::hlo_op_maps(&hlo, result, Rules::Exact),
                        db::hlo_op_maps(&hlo, result, Rules::Xla),
                    );
                    blocks.extend(access_blocks(&from, &hlo.operands, hlo.op(), &exact, &xla, named));
                    blocks.extend(beside_blocks(&db::hlo_maps_beside(&hlo)));
                }
                // An op without operands needs no explanation.
                Some(Err(reason)) if read.parse.operands_of(at.id).next().is_some() => {
                    blocks.push(format!("No map: {}.\n", prose(&reason.to_string())));
                    break;
                }
                _ => {}
            }
        }
        if blocks.is_empty() {
            return String::new();
        }
        let omitted = blocks.len().saturating_sub(MAP_LIMIT);
        blocks.truncate(MAP_LIMIT);
        if omitted > 0 {
            blocks.push(format!("… and {omitted} more maps.\n\n"));
        }
        blocks.push(far_blocks(context, at));
        format!("\n{}", blocks.concat())
    });
    found.unwrap_or_default()
}

/// One block per operand; operands that are read alike share one.
fn own_blocks(source: &Source<'_>, maps: &OpMaps, results: usize) -> Vec<String> {
    let mut groups: Vec<(Vec<&str>, &Access)> = Vec::new();
    for access in &maps.accesses {
        let is_like = |other: &Access| {
            (&other.map, &other.symbols, &other.note, &other.address, other.role)
                == (&access.map, &access.symbols, &access.note, &access.address, access.role)
        };
        match groups.iter_mut().find(|(_, other)| is_like(other)) {
            Some((names, _)) if names.contains(&access.operand.as_str()) => {}
            Some((names, _)) => names.push(&access.operand),
            None => groups.push((vec![&access.operand], access)),
        }
    }
    let block = |(names, access): (Vec<&str>, &Access)| {
        let used = match maps.space {
            Space::Result(_) => utilisation(source, access).unwrap_or_default(),
            _ => String::new(),
        };
        own_block(&maps.space, &names, access, results) + &used
    };
    groups.into_iter().map(block).collect()
}

/// The share of an array of known shape that is read, if the map alone determines it.
fn utilisation(source: &Source<'_>, access: &Access) -> Option<String> {
    if access.role != Role::Read || access.note.is_some() || !access.symbols.is_empty() {
        return None;
    }
    let (value, index) = access.value?;
    let shape = mlir_hlo::static_hlo_shape(&source.type_of(value, index)?).ok()?;
    utilisation_text(&[OperandIndexing::from(access.map.clone())], &shape)
}

fn own_block(space: &Space, names: &[&str], access: &Access, results: usize) -> String {
    let operands = names.iter().map(|n| code(n)).collect::<Vec<_>>().join(", ");
    format!("{}{}", title(space, &operands, access.role, results), access_text(access))
}

/// The source and target of a map, as Markdown.
pub(crate) fn title(space: &Space, operands: &str, role: Role, results: usize) -> String {
    match (space, role) {
        (Space::Loops, Role::Value) => "**points of the loop**".to_owned(),
        (_, Role::Value) => format!("**{operands} is**"),
        (Space::Around, Role::Read) => format!("**reads {operands}**"),
        (Space::Around, Role::Write) => format!("**writes {operands}**"),
        (Space::Result(n), _) if results > 1 => format!("**output {n} → {operands}**"),
        (Space::Result(_), _) => format!("**output → {operands}**"),
        (Space::Loops, Role::Read) => format!("**loops → {operands}**"),
        (Space::Loops, Role::Write) => format!("**loops → {operands}** written"),
        (Space::Stored(value), Role::Read) => format!("**{} → {operands}**", code(value)),
        (Space::Stored(value), Role::Write) => format!("**{} → {operands}** written", code(value)),
        (Space::Written(buffer), _) => format!("**{} → {operands}**", code(buffer)),
    }
}

fn access_text(access: &Access) -> String {
    let note = access.note.as_ref().map(|n| format!("{}\n\n", prose(n))).unwrap_or_default();
    let map = &access.map;
    if map.is_undefined() {
        return format!(" no map: {note}");
    }
    if map.is_known_empty() {
        return format!(" nothing is read\n\n{note}");
    }
    if map.results().is_empty() && map.constraints().is_empty() {
        let note = access.note.as_ref().map(|n| format!(", {}", prose(n))).unwrap_or_default();
        return format!(" the scalar{note}\n\n");
    }
    let mut text = match map.is_identity() && map.num_dims() > 0 && access.symbols.is_empty() {
        true => format!(" identity · {}\n\n{note}", prose(&domain_short(map, PrintStyle::Floordiv))),
        false => format!("\n{}{note}", fence("", &map_text(map))),
    };
    text += &symbols(access, map);
    if let Some(address) = &access.address {
        let linear = print_map(&address.map, PrintStyle::Floordiv);
        let linear = linear.split(", domain: ").next().unwrap_or_default();
        let result = linear.split_once(" -> ").map_or(linear, |(_, result)| result);
        let result = result.strip_prefix('(').and_then(|r| r.strip_suffix(')')).unwrap_or(result);
        let stride = match &address.stride {
            Some((name, stride)) => format!(" · next {}: {stride:+}", code(name)),
            None => String::new(),
        };
        text += &format!("address {}{stride}\n\n", code(&wrap(result, 72)));
    }
    text
}

/// The meaning of runtime variables, unless their names show it.
fn symbols(access: &Access, map: &IndexingMap) -> String {
    let mut told = Vec::new();
    for symbol in &access.symbols {
        let what = symbol.describe(map);
        let is_plain = matches!(symbol.source, SymbolSource::Value { .. } | SymbolSource::Loop { .. })
            && what.trim_start_matches('%') == &*symbol.name;
        if !is_plain {
            told.push(format!("{} is {}", code(&symbol.name), code(&what)));
        }
    }
    if told.is_empty() { String::new() } else { format!("{}\n\n", told.join(" · ")) }
}

/// The function arguments from which the results are computed.
fn far_blocks(context: &FileContext<'_>, at: OpRef) -> String {
    let mut text = String::new();
    let far = db::mlir_producers(context.db, context.view.file, at.piece, at.id, 0);
    for found in far.accesses.iter().take(FAR_LIMIT) {
        text += &format!("**→ {}** (through {} ops)", code(&found.access.operand), found.through);
        text += &access_text(&found.access);
    }
    let omitted = far.accesses.len().saturating_sub(FAR_LIMIT);
    if omitted > 0 {
        text += &format!("… and {omitted} more arguments.\n\n");
    }
    if far.is_cut {
        text += "The way back to the arguments is long: not all of it was followed.\n\n";
    }
    text
}

/// The domain of an op's own maps, for a hint: of the most informative access. A box without symbols and
/// constraints repeats the shape of the result.
pub(crate) fn own_domain(maps: &OpMaps, wanted: DomainHints) -> Option<String> {
    if matches!(maps.space, Space::Around) {
        return None;
    }
    let mapped = maps.accesses.iter().filter(|a| a.map.is_mapped() && !a.map.variables().is_empty());
    let extent = |a: &&Access| (!a.map.results().is_empty(), a.map.num_ranges() + a.map.num_runtime());
    let is_wanted = |access: &&Access| {
        let map = &access.map;
        let is_box = map.num_ranges() + map.num_runtime() == 0 && map.constraints().is_empty();
        wanted == DomainHints::All || !is_box
    };
    let widest = mapped.rev().max_by_key(extent).filter(is_wanted)?;
    let is_unbounded = widest.map.variables().iter().any(|v| v.bounds.upper == i64::MAX);
    let label = match is_unbounded {
        true => domain_text(&widest.map),
        false => domain_short(&widest.map, PrintStyle::Floordiv),
    };
    (!label.is_empty()).then_some(label)
}

#[cfg(test)]
mod tests;
