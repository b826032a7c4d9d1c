//! What is wrong with maps and subscripts, as far as the text proves it: maps with other arguments than they take, domains
//! without a point, elements that are not there, reassociations that do not add up.

use indexing_map::{Expr, Interval};
use mlir::{Finding, Form, OpId, TokenKind};

use crate::access::SymbolSource;
use crate::affine_map::AffineSet;
use crate::array_type::ArrayType;
use crate::elements::subscripts;
use crate::linalg_ops::{ins_and_outs, split_list, written_maps};
use crate::map_builder::MapBuilder;
use crate::map_use::{WrittenMap, map_use};
use crate::op_text::OpText;
use crate::slices::Window;
use crate::source::{Operand, Source};
use crate::transfers::Transfer;

/// Points of loops that are looked at to find one that leads outside.
const MAX_POINTS: u64 = 1 << 16;
/// Boxes that are looked at to prove that a domain is empty.
const EMPTINESS_BUDGET: usize = 2000;

/// The findings about one op, in no order.
pub fn check_maps(source: &Source<'_>, id: OpId) -> Vec<Finding> {
    let name = source.parse.name(id, source.text);
    let is_alias = source.parse.op(id).form == Form::Alias;
    let Some((dialect, op)) = name.split_once('.').or_else(|| is_alias.then_some(("", ""))) else {
        return Vec::new();
    };
    if !is_alias
        && !matches!(
            dialect,
            "affine" | "linalg" | "memref" | "tensor" | "vector" | "xla" | "xla_gpu" | "xtile"
        )
    {
        return Vec::new();
    }
    let Some(text) = OpText::new(source, id) else { return Vec::new() };
    let mut check = Check { text: &text, findings: Vec::new() };
    match (dialect, op) {
        ("", _) => check.domains(),
        ("affine", "apply" | "min" | "max" | "for" | "parallel") | ("xla", "apply_indexing") => {
            check.map_arguments();
            check.domains();
        }
        ("affine", "if") => check.set_arguments(),
        ("xla" | "xla_gpu", _) => check.domains(),
        ("affine" | "memref", "load") | ("tensor", "extract") => check.point(0),
        ("affine" | "memref", "store") | ("tensor", "insert") => check.point(1),
        ("tensor", "extract_slice") | ("memref", "subview") | ("xtile", "extract") => check.window(0, 1),
        ("tensor", "insert_slice" | "parallel_insert_slice") | ("xtile", "insert") => check.window(1, 2),
        ("tensor" | "memref", "collapse_shape") => check.reassociation(true),
        ("tensor" | "memref", "expand_shape") => check.reassociation(false),
        ("linalg", "generic" | "contract" | "elementwise") => check.structured(),
        ("vector", "contract") => check.structured(),
        ("vector", "transfer_read") => check.transfer(0),
        ("vector", "transfer_write") => check.transfer(1),
        _ => {}
    }
    check.findings
}

struct Check<'a, 't> {
    text: &'a OpText<'t>,
    findings: Vec<Finding>,
}

impl Check<'_, '_> {
    fn push(&mut self, code: &'static str, message: String) {
        let span = self.text.source.parse.op(self.text.id).name;
        self.findings.push(Finding { span, code, message, related: None });
    }

    /// Maps that are given more or fewer arguments than they take.
    fn map_arguments(&mut self) {
        let text = self.text;
        let (mut at, mut uses) = (0, 0);
        while at < text.tokens.len() {
            let Some(Ok(found)) = map_use(text, at) else {
                at = text.behind(at);
                continue;
            };
            let is_bound = text.name == "affine.for" || text.name == "affine.parallel";
            let given = (text.items(found.dims.clone()).len(), text.items(found.symbols.clone()).len());
            let is_given = found.end > at + 1
                && matches!(text.kind(found.end - 1), Some(TokenKind::CloseParen | TokenKind::CloseSquare));
            uses += 1;
            let takes = found.map.arity();
            if (is_given || text.name == "affine.apply") && given != takes {
                self.push(
                    "map-arity",
                    format!("the map takes {}, and is given {}", shown(takes), shown(given)),
                );
            }
            let results = text.source.result_count(text.id);
            let is_apply = matches!(text.name, "affine.apply" | "xla.apply_indexing");
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
        let start = text.source.parse.op(text.id).span.start;
        let Ok(set) = AffineSet::parse(&text.source.resolved(text.text_of(0..behind), start)) else { return };
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

    /// Maps of XLA without a point.
    fn domains(&mut self) {
        let text = self.text;
        for at in 0..text.tokens.len() {
            if text.word(at) != "#xla.indexing_map" || text.kind(at + 1) != Some(TokenKind::OpenAngle) {
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

    /// An index is below 0, or not below the extent: always, or for some point of loops that nothing guards.
    fn bounds(&mut self, builder: &mut MapBuilder<'_>, index: &Expr, extent: i64, what: &str) -> bool {
        let range = builder.range_of(index);
        if range.is_empty() || extent < 0 {
            return false;
        }
        if range.upper < 0 || range.lower >= extent && range.lower != i64::MIN {
            let value = if range.upper < 0 { range.upper } else { range.lower };
            let words = match range.as_point() {
                Some(_) => format!("{what} is {value}"),
                None if range.upper < 0 => format!("{what} is {value} or less"),
                None => format!("{what} is {value} or more"),
            };
            self.push("out-of-bounds", format!("{words}, of {extent} elements"));
            return true;
        }
        if range.upper < extent && range.lower >= 0 {
            return false;
        }
        let Some((value, at)) = self.witness(builder, index, extent) else { return false };
        self.push("out-of-bounds", format!("{what} is {value} where {at}, of {extent} elements"));
        true
    }

    /// An iteration in which an index leads outside, of loops that run in any case.
    fn witness(&self, builder: &MapBuilder<'_>, index: &Expr, extent: i64) -> Option<(i64, String)> {
        let finished = builder.finish(vec![index.clone()], Vec::new());
        if finished.map.num_dims() > 0 || finished.map.num_ranges() > 0 {
            return None;
        }
        let mut uses_other = false;
        index_variables(&finished.map, &mut |v| {
            let source = finished.symbols.get(v as usize).map(|s| &s.source);
            uses_other |=
                !matches!(source, Some(SymbolSource::Loop { value, .. }) if self.is_unguarded(value.0));
        });
        if uses_other || finished.symbols.is_empty() {
            return None;
        }
        let names: Vec<String> = finished.symbols.iter().map(|s| s.describe(&finished.map)).collect();
        let found = finished
            .map
            .points(MAX_POINTS)?
            .find(|(_, results)| results.first().is_some_and(|&value| value < 0 || value >= extent))?;
        let at: Vec<String> = names.iter().zip(&found.0).map(|(n, v)| format!("{n} is {v}")).collect();
        Some((*found.1.first()?, at.join(" and ")))
    }

    /// Between the op and the loop of a variable there are only loops, so that each iteration gets here.
    fn is_unguarded(&self, variable: mlir::ValueId) -> bool {
        let parse = self.text.source.parse;
        let at = parse.values.get(variable as usize).map_or(0, |v| v.name.start);
        let mut id = self.text.id;
        for _ in 0..64 {
            let Some(parent) = parse.parent(id) else { return false };
            let name = parse.name(parent, self.text.source.text);
            if !matches!(name, "affine.for" | "affine.parallel" | "scf.for" | "scf.parallel" | "scf.forall") {
                return false;
            }
            if parse.op(parent).head.start <= at && at <= parse.op(parent).head.end {
                return true;
            }
            id = parent;
        }
        false
    }

    /// `%m[%i, %j]`
    fn point(&mut self, nth: usize) {
        let text = self.text;
        let Some((operand, ty)) = self.array(nth) else { return };
        if self.is_plainly_inside(&ty) {
            return;
        }
        let mut builder = MapBuilder::new(text.source);
        let Ok(index) = subscripts(&mut builder, text, nth + 1) else { return };
        if index.len() != ty.rank() {
            let (given, rank) = (index.len(), ty.rank());
            self.push("map-arity", format!("{} has {rank} dimensions, and {given} subscripts", operand.name));
            return;
        }
        for (k, index) in index.iter().enumerate() {
            if let Some(extent) = ty.extents[k] {
                self.bounds(&mut builder, index, extent, &format!("subscript {k}"));
            }
        }
    }

    /// Each subscript is a value alone, which is in bounds whatever the loops do: most are, and this is told in no time.
    fn is_plainly_inside(&self, ty: &ArrayType) -> bool {
        let text = self.text;
        let Some(list) = text.squares().into_iter().next().filter(|_| !text.is_generic()) else {
            return false;
        };
        let items = text.items(list);
        let is_inside = |(item, extent): (std::ops::Range<usize>, &Option<i64>)| {
            let operand = if item.len() == 1 { text.operand_at(item.start) } else { None };
            let (Some(operand), Some(extent)) = (operand, extent) else { return false };
            Interval::from_size(*extent).contains_interval(text.source.range(&operand))
        };
        items.len() == ty.rank() && items.into_iter().zip(&ty.extents).all(is_inside)
    }

    fn array(&self, nth: usize) -> Option<(Operand, ArrayType)> {
        let operand = self.text.operand(nth).ok()?;
        let ty = self.text.array_of(&operand).ok()?;
        Some((operand, ty))
    }

    /// `%x[offsets] [sizes] [strides]`
    fn window(&mut self, nth: usize, fixed: usize) {
        let Some((_, ty)) = self.array(nth) else { return };
        // A tile of XLA may reach over the end: what is there is not read.
        let is_tile = self.text.name.starts_with("xtile.");
        let mut builder = MapBuilder::new(self.text.source);
        let Ok(window) = Window::read(&mut builder, self.text, fixed, ty.rank()) else { return };
        for k in 0..ty.rank() {
            let Some(extent) = ty.extents[k] else { continue };
            let (offset, size, stride) = (&window.offsets[k], &window.sizes[k], &window.strides[k]);
            if size.as_const().is_none_or(|n| n < 1) {
                continue;
            }
            let is_told = self.bounds(&mut builder, offset, extent, &format!("offset {k}"));
            if !is_told && !is_tile {
                let last = offset.clone() + (size.clone() - 1) * stride.clone();
                self.bounds(&mut builder, &last, extent, &format!("the last element of dimension {k}"));
            }
        }
    }

    /// `[[0, 1], [2]]`: the groups, and whether their extents multiply to what is on the other side.
    fn reassociation(&mut self, is_collapse: bool) {
        let text = self.text;
        let Some((_, from)) = self.array(0) else { return };
        let Ok(to) = text.result_array(0) else { return };
        let (wide, narrow) = if is_collapse { (&from, &to) } else { (&to, &from) };
        let groups = match crate::reshapes::groups(text, wide.rank()) {
            Ok(groups) => groups,
            Err(reason) => return self.push("reassociation", reason),
        };
        if groups.len() != narrow.rank() {
            let (has, rank) = (groups.len(), narrow.rank());
            return self
                .push("reassociation", format!("its reassociation has {has} groups for {rank} dimensions"));
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

    /// Maps of an op that is loops: as many as operands, all of the same loops, each with a result per dimension.
    fn structured(&mut self) {
        let text = self.text;
        let Some(Ok(maps)) = written_maps(text) else { return };
        let operands = match text.name {
            "vector.contract" => text.operands().into_iter().take(3).collect(),
            _ => match ins_and_outs(text) {
                Some((ins, outs)) => [ins, outs].concat(),
                None => return,
            },
        };
        if maps.len() != operands.len() {
            let (maps, count) = (maps.len(), operands.len());
            return self.push("map-arity", format!("{maps} indexing maps for {count} operands"));
        }
        let start = text.source.parse.op(text.id).span.start;
        let kinds = text.attribute("iterator_types").and_then(|list| {
            let list = text.source.resolved(list, start).into_owned();
            Some(split_list(list.trim().strip_prefix('[')?.strip_suffix(']')?).len())
        });
        let loops = kinds.or_else(|| maps.first().map(|m| m.dims.len())).unwrap_or(0);
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

    /// Where a transfer is said to stay inside of the array.
    fn transfer(&mut self, nth: usize) {
        let text = self.text;
        let vector = match nth {
            0 => text.result_array(0),
            _ => text.operand(0).and_then(|v| text.array_of(&v)),
        };
        let (Ok(vector), Some(_)) = (vector, self.array(nth)) else { return };
        let mut builder = MapBuilder::new(text.source);
        let transfer = match Transfer::read(&mut builder, text, nth, &vector) {
            Ok(transfer) => transfer,
            Err(reason) if reason.starts_with("its permutation_map has") => {
                return self.push("map-arity", reason);
            }
            Err(_) => return,
        };
        for (j, along) in transfer.along.iter().enumerate() {
            let (Some(k), true) = (along, transfer.in_bounds.get(j).copied().unwrap_or(false)) else {
                continue;
            };
            let Some(extent) = transfer.array_type.extents.get(*k).copied().flatten() else { continue };
            let base = transfer.bases[*k].clone();
            let told = self.bounds(&mut builder, &base, extent, &format!("index {k}"));
            if let (false, Some(size)) = (told, vector.extents[j]) {
                let last = base + size.saturating_sub(1);
                self.bounds(&mut builder, &last, extent, &format!("the last element along dimension {k}"));
            }
        }
    }
}

fn index_variables(map: &indexing_map::IndexingMap, f: &mut impl FnMut(u32)) {
    for result in map.results() {
        result.for_each_var(f);
    }
    for constraint in map.constraints() {
        constraint.expr.for_each_var(f);
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
