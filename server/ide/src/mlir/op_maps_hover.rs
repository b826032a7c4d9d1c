//! The maps in the hover of an op: of results, stores and index values, and from the results to distant
//! arguments.

use db::MlirMaps;
use indexing::{OperandIndexing, Rules};
use indexing_map::{IndexingMap, PrintStyle, domain_short, print_map, wrap};
use mlir_indexing::{Access, OpMaps, Role, Space, SymbolSource};
use mlir_ops::Source;

use crate::file_context::FileContext;
use crate::hover::{HoverConfig, access_blocks, beside_blocks, concatenated, utilisation_text};
use crate::inlay_hints::DomainHints;
use crate::mlir::context::OpRef;
use crate::mlir::map_text::{domain_text, map_text};
use crate::rich_text::{Line, RichText, code, parts, quoted, strong};

/// The largest number of results whose maps are shown.
pub(crate) const RESULT_LIMIT: usize = 8;
/// The largest number of distant arguments whose maps are shown.
const FAR_LIMIT: usize = 8;

/// All known reads and writes of an op; may be empty.
pub(crate) fn op_maps_hover(context: &FileContext<'_>, at: OpRef, config: &HoverConfig) -> RichText {
    let read = context.mlir_piece(at.piece);
    let found = db::with_mlir_source(context.db, context.view.file, at.piece, |source| {
        let results = source.result_count(at.id).clamp(1, RESULT_LIMIT);
        let mut blocks = Vec::new();
        for result in 0..results {
            match db::mlir_maps(source, at.id, result) {
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
                    blocks.push(RichText::of_line(parts!["No map: ", quoted(reason.to_string()), "."]));
                    break;
                }
                _ => {}
            }
        }
        let mut text = RichText::default();
        if !blocks.is_empty() {
            text.space();
            text.append(concatenated(blocks));
            far_blocks(context, at, &mut text);
        }
        text
    });
    found.unwrap_or_default()
}

/// One block per operand; operands that are read alike share one.
fn own_blocks(source: &Source<'_>, maps: &OpMaps, results: usize) -> Vec<RichText> {
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
        let operands = Line::joined(names.into_iter().map(code), ", ");
        let mut text = RichText::default();
        access_block(title(&maps.space, operands, access.role, results), access, &mut text);
        if let Space::Result(_) = maps.space {
            utilisation(source, access).into_iter().for_each(|used| text.paragraph(used));
        }
        text
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

/// The source and target of a map.
pub(crate) fn title(space: &Space, operands: Line, role: Role, results: usize) -> Line {
    let to = |from: Line| strong(parts![from, " → ", operands.clone()]);
    match (space, role) {
        (Space::Loops, Role::Value) => strong("points of the loop").into(),
        (_, Role::Value) => strong(parts![operands, " is"]).into(),
        (Space::Around, Role::Read) => strong(parts!["reads ", operands]).into(),
        (Space::Around, Role::Write) => strong(parts!["writes ", operands]).into(),
        (Space::Result(n), _) if results > 1 => to(format!("output {n}").into()).into(),
        (Space::Result(_), _) => to("output".into()).into(),
        (Space::Loops, Role::Read) => to("loops".into()).into(),
        (Space::Loops, Role::Write) => parts![to("loops".into()), " written"],
        (Space::Stored(value), Role::Read) => to(code(value).into()).into(),
        (Space::Stored(value), Role::Write) => parts![to(code(value).into()), " written"],
        (Space::Written(buffer), _) => to(code(buffer).into()).into(),
    }
}

/// An access under its title.
fn access_block(title: Line, access: &Access, text: &mut RichText) {
    let note = access.note.as_ref().map(|note| quoted(note.to_string()));
    let map = &access.map;
    if map.is_undefined() {
        return text.paragraph(parts![title, " no map: ", note.unwrap_or_else(|| quoted("not known"))]);
    }
    if map.is_known_empty() {
        text.paragraph(parts![title, " nothing is read"]);
        return note.into_iter().for_each(|note| text.paragraph(note));
    }
    if map.results().is_empty() && map.constraints().is_empty() {
        let note = note.map_or_else(Line::default, |note| parts![", ", note]);
        return text.paragraph(parts![title, " the scalar", note]);
    }
    if map.is_identity() && map.num_dims() > 0 && access.symbols.is_empty() {
        let domain = quoted(domain_short(map, PrintStyle::Floordiv));
        text.paragraph(parts![title, " identity · ", domain]);
    } else {
        text.titled_map(title, &map_text(map));
    }
    note.into_iter().for_each(|note| text.paragraph(note));
    let symbols = symbols(access, map);
    if !symbols.is_empty() {
        text.paragraph(Line::facts(symbols));
    }
    if let Some(address) = &access.address {
        let linear = print_map(&address.map, PrintStyle::Floordiv);
        let linear = linear.split(", domain: ").next().unwrap_or_default();
        let result = linear.split_once(" -> ").map_or(linear, |(_, result)| result);
        let result = result.strip_prefix('(').and_then(|r| r.strip_suffix(')')).unwrap_or(result);
        let mut line = parts!["address ", code(wrap(result, 72))];
        if let Some((name, stride)) = &address.stride {
            line.push(parts![" · next ", code(&**name), format!(": {stride:+}")]);
        }
        text.paragraph(line);
    }
}

/// The meaning of runtime variables, unless their names show it.
fn symbols(access: &Access, map: &IndexingMap) -> Vec<Line> {
    let mut told = Vec::new();
    for symbol in &access.symbols {
        let what = symbol.describe(map);
        let is_plain = matches!(symbol.source, SymbolSource::Value { .. } | SymbolSource::Loop { .. })
            && what.trim_start_matches('%') == &*symbol.name;
        if !is_plain {
            told.push(parts![code(&*symbol.name), " is ", code(what)]);
        }
    }
    told
}

/// The function arguments from which the results are computed.
fn far_blocks(context: &FileContext<'_>, at: OpRef, text: &mut RichText) {
    let far = db::mlir_producers(context.db, context.view.file, at.piece, at.id, 0);
    for found in far.accesses.iter().take(FAR_LIMIT) {
        let title = strong(parts!["→ ", code(&found.access.operand)]);
        let title = parts![title, format!(" (through {} ops)", found.through)];
        access_block(title, &found.access, text);
    }
    let omitted = far.accesses.len().saturating_sub(FAR_LIMIT);
    if omitted > 0 {
        text.paragraph(format!("… and {omitted} more arguments."));
    }
    if far.is_cut {
        text.paragraph("The way back to the arguments is long: not all of it was followed.");
    }
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
