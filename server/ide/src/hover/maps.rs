//! The maps in a hover: a block per operand, one block for operands that are read alike, and XLA's own map
//! where it differs.

use indexing::{MapBeside, OpIndexing, OperandIndexing, RuntimeSource};
use indexing_map::{PrintStyle, Verdict, domain_short_named, print_map, print_named, same_function, wrap};
use ir::{Op, Opcode, Shape};

use crate::rich_text::{Inline, Line, RichText, code, parts, quoted, strong};
use crate::units::{bytes, figure};

/// The column after which a map is broken at a comma, because hovers are narrow.
const MAP_WIDTH: usize = 72;
/// The number of points and boxes examined to decide whether XLA's map differs from ours.
const EQUALITY_BUDGET: usize = 5_000;
/// The number of maps in one hover; the rest are counted.
const MAP_LIMIT: usize = 32;

/// The first blocks of maps, and the number of the others.
pub(crate) fn concatenated(mut blocks: Vec<RichText>) -> RichText {
    let omitted = blocks.len().saturating_sub(MAP_LIMIT);
    blocks.truncate(MAP_LIMIT);
    let mut text = RichText::default();
    blocks.into_iter().for_each(|block| text.append(block));
    if omitted > 0 {
        text.paragraph(format!("… and {omitted} more maps."));
    }
    text
}

/// A block per map other than those of the operands.
pub(crate) fn beside_blocks(maps: &[MapBeside]) -> Vec<RichText> {
    let end = |name: &str| if name.starts_with('%') { code(name) } else { Inline::Words(name.to_owned()) };
    let block = |MapBeside { from, to, access }: &MapBeside| {
        let mut text = RichText::default();
        text.titled_map(strong(parts![end(from), " → ", end(to)]), &map_text(access, None));
        text
    };
    maps.iter().map(block).collect()
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
) -> Vec<RichText> {
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
        let operands = Line::joined(names.into_iter().map(code), ", ");
        let title = parts![strong(parts![from, " → ", operands])];
        if accesses.is_empty() {
            let why = if op.opcode == Opcode::Fusion { "not read by this output" } else { "not read" };
            blocks.push(paragraph(parts![title.clone(), " ", why]));
        }
        if !accesses.is_empty() && accesses.iter().all(|a| a.map.is_mapped() && a.map.results().is_empty()) {
            blocks.push(paragraph(parts![title, " the scalar"]));
            continue;
        }
        for (n, access) in accesses.iter().enumerate() {
            let nth = match accesses.len() {
                1 => String::new(),
                count => format!(" ({} of {count})", n + 1),
            };
            let mut block = access_block(parts![title.clone(), nth], access, named);
            // Where XLA's own map is a different function, both are shown.
            let xla = theirs.filter(|t| t.len() == accesses.len()).and_then(|t| t.get(n));
            if let Some(xla) = xla.filter(|xla| differs(xla, access)) {
                match xla.map.is_undefined() {
                    true => block.paragraph("XLA has no map here."),
                    false => block.titled_map("XLA's own map:", &map_text(xla, named)),
                }
            }
            blocks.push(block);
        }
        // The text already says if the operand is not read.
        let read = shape.filter(|_| !accesses.is_empty());
        blocks.extend(read.and_then(|shape| utilisation_text(accesses, shape)).map(paragraph));
    }
    blocks
}

fn paragraph(line: impl Into<Line>) -> RichText {
    let mut text = RichText::default();
    text.paragraph(line);
    text
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
        () if low == high => format!(", each element {} times", figure(low)),
        () => format!(", each element {} to {} times", figure(low), figure(high)),
    };
    let bound = if used.is_exact { "" } else { ", at most" };
    Some(format!("{read}{times}{bound}"))
}

/// An access under its title.
fn access_block(title: Line, access: &OperandIndexing, named: Option<&Op>) -> RichText {
    let mut text = RichText::default();
    let note = access.note.as_deref().map(quoted);
    if access.map.is_undefined() {
        text.paragraph(parts![title, " no map: ", note.unwrap_or_else(|| quoted("not known"))]);
        return text;
    }
    let names = variable_names(access, named);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    if access.is_identity() && access.map.num_dims() > 0 && access.runtime_variables.is_empty() {
        let domain = domain_short_named(&access.map, &names, PrintStyle::Floordiv);
        text.paragraph(parts![title, " identity · ", domain]);
        note.into_iter().for_each(|note| text.paragraph(note));
        return text;
    }
    text.titled_map(title, &map_text(access, named));
    note.into_iter().for_each(|note| text.paragraph(note));
    let printed = access.map.with_names(&names);
    for (i, variable) in access.runtime_variables.iter().enumerate() {
        let source = match &variable.source {
            RuntimeSource::Operand(n) => Line::from(format!("operand {n}")),
            RuntimeSource::Op { op: indexing::OWN_REPLICA, .. } => "the executing device".into(),
            RuntimeSource::Op { name, .. } => code(format!("%{name}")).into(),
            RuntimeSource::Extent { array, dimension } => {
                Line::from(format!("dimension {dimension} of {array}"))
            }
        };
        let name = printed.runtime().get(i).and_then(|v| v.name.as_deref());
        let name = name.map_or_else(|| format!("rt{i}"), str::to_owned);
        if matches!(variable.source, RuntimeSource::Extent { .. }) {
            text.paragraph(parts![code(name), " is ", source]);
            continue;
        }
        // Its map uses the access's dimensions.
        let map = print_named(&variable.map, &names[..access.map.num_dims()], PrintStyle::Floordiv);
        let index = map.split(", domain:").next().unwrap_or_default();
        text.paragraph(parts![code(name), " is ", source, " at ", code(index)]);
    }
    if let Some(replica) = &access.replica_id_map {
        text.line("replica id:");
        text.code("", wrap(&print_map(replica, PrintStyle::Floordiv), MAP_WIDTH));
    }
    text
}

fn variable_names(access: &OperandIndexing, named: Option<&Op>) -> Vec<String> {
    match named {
        Some(op) => indexing::variable_names(op, access),
        None => vec![String::new(); access.map.variables().len()],
    }
}

/// The map without variables of size 1.
fn map_text(access: &OperandIndexing, named: Option<&Op>) -> String {
    let names = variable_names(access, named);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let map = access.map.with_names(&names);
    print_map(&map.without_unit_variables(map.num_dims()), PrintStyle::Floordiv)
}
