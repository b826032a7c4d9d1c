//! Provable errors in maps and subscripts: maps with the wrong number of arguments, empty domains,
//! out-of-bounds elements, reassociations that do not add up.

use mlir::{Finding, Form, OpId, Parse, TokenKind};
use mlir_ops::{AffineSet, HardwareId, Linalg, Loop, OpKind, OpText, Source, WrittenMap, map_use};

use crate::plain::{self, Ranges};
use crate::reshapes::{check_count, groups};

/// The number of boxes tried to prove that a domain is empty.
const EMPTINESS_BUDGET: usize = 2000;

/// The checks of the ops of a piece.
pub struct MapChecks<'a> {
    ranges: Ranges<'a>,
}

impl<'a> MapChecks<'a> {
    pub fn new(source: &'a Source<'a>) -> MapChecks<'a> {
        MapChecks { ranges: Ranges::new(source) }
    }

    /// The findings about one op, in no particular order.
    pub fn of(&self, id: OpId) -> Vec<Finding> {
        if is_plain(&self.ranges, id) { Vec::new() } else { check_all(self.ranges.source, id) }
    }
}

/// Whether a few characters prove that the op has no findings.
fn is_plain(ranges: &Ranges<'_>, id: OpId) -> bool {
    let source = ranges.source;
    match source.op(id) {
        OpKind::Load => plain::is_inside(ranges, id, 0),
        OpKind::Store | OpKind::InsertElement => plain::is_inside(ranges, id, 1),
        OpKind::Apply => plain::has_its_arguments(source, id),
        _ => {
            // Without an attribute there is no map to check.
            let found = source.parse.op(id);
            let (from, to) = (found.name.end as usize, found.head.end.max(found.name.end) as usize);
            has_only_maps(source.parse, source.text, id)
                && source
                    .text
                    .get(from..to)
                    .is_some_and(|written| !written.bytes().any(|b| matches!(b, b'#' | b'<')))
        }
    }
}

/// Whether [`MapChecks`] look at an op: an alias, or an op with maps, subscripts or reassociations.
pub fn has_checked_maps(parse: &Parse, text: &str, id: OpId) -> bool {
    check_of(parse, text, id).is_some()
}

/// Whether nothing but the attributes of an op is checked.
fn has_only_maps(parse: &Parse, text: &str, id: OpId) -> bool {
    use OpKind::{ApplyIndexing, AtomicUpdate, GuardedInsert, GuardedLoad, IndexedInsert, XlaReduce};
    match OpKind::of(parse.name(id, text)) {
        _ if parse.op(id).form == Form::Alias => true,
        OpKind::Loop(kind) => matches!(kind, Loop::AffineFor | Loop::AffineParallel | Loop::Xla),
        GuardedLoad | GuardedInsert | AtomicUpdate(_) | ApplyIndexing => true,
        IndexedInsert | XlaReduce | OpKind::HardwareId(HardwareId::Workgroup) | OpKind::Xla => true,
        _ => false,
    }
}

/// What is checked of an op.
fn check_of(parse: &Parse, text: &str, id: OpId) -> Option<fn(&mut Check<'_, '_>)> {
    Some(match OpKind::of(parse.name(id, text)) {
        OpKind::Apply
        | OpKind::AffineMin
        | OpKind::AffineMax
        | OpKind::ApplyIndexing
        | OpKind::Loop(Loop::AffineFor | Loop::AffineParallel) => |check| {
            check.map_arguments();
            check.domains();
        },
        _ if has_only_maps(parse, text, id) => |check| check.domains(),
        OpKind::AffineIf => |check| check.set_arguments(),
        OpKind::Load => |check| check.point(0),
        OpKind::Store | OpKind::InsertElement => |check| check.point(1),
        OpKind::ExtractSlice | OpKind::Subview | OpKind::ExtractTile => |check| check.window(0, 1),
        OpKind::InsertSlice | OpKind::ParallelInsertSlice | OpKind::InsertTile => |check| check.window(1, 2),
        OpKind::Collapse => |check| check.reassociation(true),
        OpKind::Expand => |check| check.reassociation(false),
        OpKind::Linalg(Linalg::Generic | Linalg::Contract | Linalg::Elementwise) | OpKind::VectorContract => {
            |check| check.structured()
        }
        OpKind::TransferRead => |check| check.transfer(0),
        OpKind::TransferWrite => |check| check.transfer(1),
        _ => return None,
    })
}

/// The findings about an op or an alias, without the fast path.
pub(crate) fn check_all(source: &Source<'_>, id: OpId) -> Vec<Finding> {
    let Some(check_op) = check_of(source.parse, source.text, id) else { return Vec::new() };
    let Some(text) = OpText::new(source, id) else { return Vec::new() };
    let mut check = Check { text: &text, findings: Vec::new() };
    check_op(&mut check);
    check.findings
}

pub(crate) struct Check<'a, 't> {
    pub(crate) text: &'a OpText<'t>,
    findings: Vec<Finding>,
}

impl Check<'_, '_> {
    pub(crate) fn push(&mut self, code: &'static str, message: String) {
        let span = self.text.source.parse.op(self.text.id).name;
        self.findings.push(Finding { span, code, message, related: None });
    }

    /// Checks the numbers of a map's arguments and results.
    fn map_arguments(&mut self) {
        let text = self.text;
        let (mut at, mut uses) = (0, 0);
        while at < text.tokens.len() {
            let Some(Ok(found)) = map_use(text, at) else {
                at = text.behind(at);
                continue;
            };
            let is_bound = matches!(text.op, OpKind::Loop(_));
            let given = (text.items(found.dims.clone()).len(), text.items(found.symbols.clone()).len());
            let is_given = found.end > at + 1
                && matches!(text.kind(found.end - 1), Some(TokenKind::CloseParen | TokenKind::CloseSquare));
            uses += 1;
            let takes = found.map.arity();
            if (is_given || text.op == OpKind::Apply) && given != takes {
                self.push(
                    "map-arity",
                    format!("the map takes {}, and is given {}", shown(takes), shown(given)),
                );
            }
            let results = text.source.result_count(text.id);
            let is_apply = matches!(text.op, OpKind::Apply | OpKind::ApplyIndexing);
            if is_apply && uses == 1 && results > 0 && found.map.result_count() != results {
                let has = found.map.result_count();
                self.push("map-arity", format!("the map has {has} results, the op {results}"));
            }
            if !is_bound {
                break;
            }
            at = found.end;
        }
    }

    fn set_arguments(&mut self) {
        let text = self.text;
        let behind = match text.kind(0) {
            Some(TokenKind::AttributeName) => 1,
            Some(TokenKind::Word) if text.word(0) == "affine_set" => text.behind(1),
            _ => return,
        };
        let start = text.start();
        let Ok(set) = AffineSet::parse(text.source.resolved(text.text_of(0..behind), start)) else { return };
        let mut end = behind;
        let mut list = |open: TokenKind| {
            if text.kind(end) != Some(open) {
                return 0;
            }
            let inside = text.inside(end);
            end = text.behind(end);
            text.items(inside).len()
        };
        let given = (list(TokenKind::OpenParen), list(TokenKind::OpenSquare));
        let takes = (set.dims.len(), set.symbols.len());
        if given != takes {
            self.push("map-arity", format!("the set takes {}, and is given {}", shown(takes), shown(given)));
        }
    }

    /// Reports XLA's maps with an empty domain.
    fn domains(&mut self) {
        let text = self.text;
        if !text.text_of(0..text.tokens.len()).contains('#') {
            return;
        }
        for at in 0..text.tokens.len() {
            if !indexing_map::is_map_attribute(text.word(at))
                || text.kind(at + 1) != Some(TokenKind::OpenAngle)
            {
                continue;
            }
            let end = text.behind(at + 1).min(text.tokens.len());
            let Ok(WrittenMap::Indexing(map)) = WrittenMap::parse(text.text_of(at..end)) else { continue };
            if map.is_known_empty() || map.prove_empty(EMPTINESS_BUDGET) == Some(true) {
                let span = text.tokens[at].span;
                let message = "no point is in the domain of this map".to_owned();
                self.findings.push(Finding { span, code: "empty-domain", message, related: None });
            }
        }
    }

    /// Checks the groups of `[[0, 1], [2]]`, and that their extents multiply to those of the other side.
    fn reassociation(&mut self, is_collapse: bool) {
        let text = self.text;
        let Some((_, from)) = self.array(0) else { return };
        let Ok(to) = text.result_array(0) else { return };
        let (wide, narrow) = if is_collapse { (&from, &to) } else { (&to, &from) };
        let groups = match groups(text, wide.rank()) {
            Ok(groups) => groups,
            Err(reason) => return self.push("reassociation", reason.to_string()),
        };
        if let Err(reason) = check_count(&groups, narrow) {
            return self.push("reassociation", reason.to_string());
        }
        if groups.is_empty() && wide.extents.iter().any(|&e| e.is_some_and(|n| n != 1)) {
            return self.push("reassociation", "more than one element becomes one".to_owned());
        }
        for (g, group) in groups.iter().enumerate() {
            let Some(whole) = narrow.extents[g] else { continue };
            let known: Vec<i64> = group.iter().filter_map(|&k| wide.extents[k]).collect();
            let Some(product) = known.iter().try_fold(1i64, |n, &e| n.checked_mul(e)) else { continue };
            let shown: Vec<String> = known.iter().map(i64::to_string).collect();
            let shown = if shown.len() > 1 {
                format!("{} = {product}", shown.join(" * "))
            } else {
                product.to_string()
            };
            if known.len() == group.len() && product != whole {
                self.push(
                    "reassociation",
                    format!("group {g} has {shown} elements, and {whole} on the other side"),
                );
            } else if known.len() < group.len() && product > 0 && whole % product != 0 {
                self.push("reassociation", format!("group {g}: {whole} elements are no multiple of {shown}"));
            }
        }
    }

    /// Checks the maps of a structured op: one per operand, all over the same loops, each with one result per
    /// dimension.
    fn structured(&mut self) {
        let text = self.text;
        let Some(Ok(maps)) = text.indexing_maps() else { return };
        let operands = match text.op {
            OpKind::VectorContract => text.operands().into_iter().take(3).collect(),
            _ => match text.ins_and_outs() {
                Ok((ins, outs)) => [ins, outs].concat(),
                Err(_) => return,
            },
        };
        if maps.len() != operands.len() {
            let (maps, count) = (maps.len(), operands.len());
            return self.push("map-arity", format!("{maps} indexing maps for {count} operands"));
        }
        let loops = text.iterator_count().or_else(|| maps.first().map(|m| m.dims.len())).unwrap_or(0);
        for (nth, (map, operand)) in maps.iter().zip(&operands).enumerate() {
            if map.dims.len() != loops {
                let has = map.dims.len();
                self.push("map-arity", format!("indexing map {nth} has {has} dimensions for {loops} loops"));
                continue;
            }
            let rank = match text.is_scalar(operand) {
                true => 0,
                false => match text.array_of(operand) {
                    Ok(ty) => ty.rank(),
                    Err(_) => continue,
                },
            };
            if map.results.len() != rank {
                let has = map.results.len();
                self.push(
                    "map-arity",
                    format!(
                        "indexing map {nth} has {has} results, and {} has {rank} dimensions",
                        operand.name
                    ),
                );
            }
        }
    }
}

/// `2 dimensions and 1 symbol`
fn shown((dims, symbols): (usize, usize)) -> String {
    let plural = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    match symbols {
        0 => plural(dims, "dimension"),
        _ => format!("{} and {}", plural(dims, "dimension"), plural(symbols, "symbol")),
    }
}
