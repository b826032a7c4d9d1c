//! The maps in a hover: a block per operand, one block for operands that are read alike, and XLA's own map
//! where it differs.

use indexing::{MapBeside, OpIndexing, OperandIndexing, Rules, RuntimeSource};
use indexing_map::{PrintStyle, Verdict, domain_short_named, print_map, print_named, same_function, wrap};
use ir::{Op, Opcode, Shape};

use super::loops::of_loop;
use super::{HoverConfig, operand_names};
use crate::locate::{FileContext, InstructionRef};
use crate::maps::{LocalGraph, outputs};
use crate::markdown::{bytes, code, fence, prose};

/// The column after which a map is broken at a comma, because hovers are narrow.
const MAP_WIDTH: usize = 72;
/// The number of points and boxes examined to decide whether XLA's map differs from ours.
const EQUALITY_BUDGET: usize = 5_000;
/// The number of maps in one hover; the rest are counted.
pub(crate) const MAP_LIMIT: usize = 32;

pub(super) fn maps(context: &FileContext<'_>, at: InstructionRef, config: &HoverConfig) -> String {
    let block = context.block(at.piece);
    let Some(opcode) = block.instruction(at.id).opcode else { return String::new() };
    // A tuple reads nothing by index.
    let reads_nothing = block.instruction(at.id).operands.1 == 0 && opcode != Opcode::Iota;
    if reads_nothing || opcode == Opcode::Tuple {
        return String::new();
    }
    let Some(local) = LocalGraph::of(context, at) else {
        return "No map: a shape is not known.\n\n".to_owned();
    };
    let names = operand_names(context, at);
    if let Some(text) = loop_text(context, &local, &names) {
        return text;
    }
    let outputs = outputs(context, at);
    let op = config.readable_variables.then_some(local.op());
    let mut blocks = Vec::new();
    for output in 0..outputs {
        let from = if outputs > 1 { format!("output {output}") } else { "output".to_owned() };
        let exact = local.maps(context, output, Rules::Exact);
        let xla = local.maps(context, output, Rules::Xla);
        blocks.extend(access_blocks(&from, &names, local.op(), &exact, &xla, op));
    }
    blocks.extend(beside_blocks(&local.maps_beside(context, &names)));
    let omitted = blocks.len().saturating_sub(MAP_LIMIT);
    blocks.truncate(MAP_LIMIT);
    if omitted > 0 {
        blocks.push(format!("… and {omitted} more maps.\n\n"));
    }
    blocks.concat()
}

/// A block per map other than those of the operands.
pub(crate) fn beside_blocks(maps: &[MapBeside]) -> Vec<String> {
    let end = |name: &str| if name.starts_with('%') { code(name) } else { name.to_owned() };
    let block = |MapBeside { from, to, access }: &MapBeside| {
        format!("**{} → {}**\n{}", end(from), end(to), fence("", &map_text(access, None)))
    };
    maps.iter().map(block).collect()
}

/// A loop over a tuple, in words.
pub(crate) fn loop_text(context: &FileContext<'_>, local: &LocalGraph, names: &[String]) -> Option<String> {
    let state = local.op().shape.tuple_elements().filter(|_| local.op().opcode == Opcode::While)?;
    let [name] = names else { return None };
    of_loop(name, state.len(), |output| local.maps(context, output, Rules::Exact))
}

/// Whether XLA's own map is a different function from ours.
pub(crate) fn differs(xla: &OperandIndexing, exact: &OperandIndexing) -> bool {
    same_function(&xla.map, &exact.map, EQUALITY_BUDGET) != Verdict::Yes
}

/// Operands that are read alike.
struct Group<'a> {
    names: Vec<&'a str>,
    accesses: &'a [OperandIndexing],
    /// XLA's own maps for the first of them, and its shape.
    theirs: Option<&'a [OperandIndexing]>,
    shape: Option<&'a Shape>,
}

/// One block per operand; operands with equal maps share one. `named` is the op by whose roles variables are
/// named.
pub(crate) fn access_blocks(
    from: &str,
    names: &[String],
    op: &Op,
    exact: &OpIndexing,
    xla: &OpIndexing,
    named: Option<&Op>,
) -> Vec<String> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (i, accesses) in exact.operands.iter().enumerate() {
        let name = names.get(i).map_or("operand", String::as_str);
        let theirs = xla.operands.get(i).map(Vec::as_slice);
        match groups.iter_mut().find(|g| g.accesses == accesses.as_slice()) {
            Some(group) if group.names.contains(&name) => {}
            Some(group) => group.names.push(name),
            None => {
                groups.push(Group { names: vec![name], accesses, theirs, shape: op.operand_shapes.get(i) })
            }
        }
    }
    let mut blocks = Vec::new();
    for Group { names, accesses, theirs, shape } in groups {
        let operands = names.iter().map(|n| code(n)).collect::<Vec<_>>().join(", ");
        if accesses.is_empty() {
            let why = if op.opcode == Opcode::Fusion { "not read by this output" } else { "not read" };
            blocks.push(format!("**{from} → {operands}** {why}\n\n"));
        }
        if !accesses.is_empty() && accesses.iter().all(|a| a.map.is_mapped() && a.map.results().is_empty()) {
            blocks.push(format!("**{from} → {operands}** the scalar\n\n"));
            continue;
        }
        for (n, access) in accesses.iter().enumerate() {
            let nth = if accesses.len() > 1 {
                format!(" ({} of {})", n + 1, accesses.len())
            } else {
                String::new()
            };
            let mut block = format!("**{from} → {operands}**{nth}{}", access_text(access, named));
            // Where XLA's own map is a different function, both are shown.
            let xla = theirs.filter(|t| t.len() == accesses.len()).and_then(|t| t.get(n));
            if let Some(xla) = xla.filter(|xla| differs(xla, access)) {
                block += &match xla.map.is_undefined() {
                    true => "XLA has no map here.\n\n".to_owned(),
                    false => format!("XLA's own map:\n{}", fence("", &map_text(xla, named))),
                };
            }
            blocks.push(block);
        }
        // The text already says if the operand is not read.
        let read = shape.filter(|_| !accesses.is_empty());
        blocks.extend(read.and_then(|shape| utilisation_text(accesses, shape)));
    }
    blocks
}

/// The share of the operand that is read, unless all of it is read once.
pub(crate) fn utilisation_text(accesses: &[OperandIndexing], shape: &Shape) -> Option<String> {
    if accesses.iter().any(|a| a.map.is_undefined()) {
        return None;
    }
    let used = indexing::utilisation(accesses, shape)?;
    let total = used.elements;
    if total == 0 || (used.read.lower == total && used.reads.upper == total) {
        return None;
    }
    let share = |n: u64| format!("{:.3}", n as f64 * 100.0 / total as f64);
    let share = |n: u64| share(n).trim_end_matches('0').trim_end_matches('.').to_owned();
    let size = |n: u64| {
        used.bytes_read.map_or_else(String::new, |b| {
            format!(" ({})", bytes(if n == used.read.lower { b.lower } else { b.upper }))
        })
    };
    let read = match used.read.is_exact() {
        true => format!("reads {} %{}", share(used.read.upper), size(used.read.upper)),
        false => format!(
            "reads {} to {} %{}",
            share(used.read.lower),
            share(used.read.upper),
            size(used.read.upper)
        ),
    };
    let (low, high) = used.reads_per_element;
    let times = match () {
        () if used.reads.upper == u64::MAX => String::new(),
        () if high <= 1.0 => ", each element once".to_owned(),
        () if low == high => format!(", each element {} times", rounded(low)),
        () => format!(", each element {} to {} times", rounded(low), rounded(high)),
    };
    let bound = if used.is_exact { "" } else { ", at most" };
    Some(format!("{read}{times}{bound}\n\n"))
}

fn rounded(times: f64) -> String {
    let text = format!("{times:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn access_text(access: &OperandIndexing, named: Option<&Op>) -> String {
    let note = access.note.as_deref().map(|n| format!("{}\n\n", prose(n))).unwrap_or_default();
    if access.map.is_undefined() {
        return format!(" no map: {note}");
    }
    let names = variable_names(access, named);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    if access.is_identity() && access.map.num_dims() > 0 && access.runtime_variables.is_empty() {
        let domain = domain_short_named(&access.map, &names, PrintStyle::Floordiv);
        return format!(" identity · {domain}\n\n{note}");
    }
    let mut text = format!("\n{}{note}", fence("", &map_text(access, named)));
    let printed = access.map.with_names(&names);
    for (i, variable) in access.runtime_variables.iter().enumerate() {
        let source = match &variable.source {
            RuntimeSource::Operand(n) => format!("operand {n}"),
            RuntimeSource::Op { op: indexing::OWN_REPLICA, .. } => "the executing device".to_owned(),
            RuntimeSource::Op { name, .. } => code(&format!("%{name}")),
        };
        let name = printed.runtime().get(i).and_then(|v| v.name.as_deref());
        let name = name.map_or_else(|| format!("rt{i}"), str::to_owned);
        // Its map uses the access's dimensions.
        let map = print_named(&variable.map, &names[..access.map.num_dims()], PrintStyle::Floordiv);
        let index = map.split(", domain:").next().unwrap_or_default();
        text += &format!("{} is {source} at {}\n\n", code(&name), code(index));
    }
    if let Some(replica) = &access.replica_id_map {
        text += &format!(
            "replica id:\n{}",
            fence("", &wrap(&print_map(replica, PrintStyle::Floordiv), MAP_WIDTH))
        );
    }
    text
}

fn variable_names(access: &OperandIndexing, named: Option<&Op>) -> Vec<String> {
    match named {
        Some(op) => indexing::variable_names(op, access),
        None => vec![String::new(); access.map.variables().len()],
    }
}

/// The map, and its domain on a separate line.
fn map_text(access: &OperandIndexing, named: Option<&Op>) -> String {
    let names = variable_names(access, named);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let map = access.map.with_names(&names);
    let text = print_map(&map.without_unit_variables(map.num_dims()), PrintStyle::Floordiv);
    match text.split_once(", domain: ") {
        Some((map, domain)) => {
            let domain = format!("domain: {domain}");
            format!("{}\n{}", wrap(map, MAP_WIDTH), wrap(&domain, MAP_WIDTH))
        }
        None => wrap(&text, MAP_WIDTH),
    }
}
