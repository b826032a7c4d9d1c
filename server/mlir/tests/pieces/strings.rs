//! A parse as strings, of a whole text and of its pieces.

use std::collections::BTreeSet;

use mlir::{
    OpId, Parse, PieceState, TypeRef, Use, check, check_outside, has_errors, is_function_like, parse,
};
use text::Span;

use crate::compare::Way;
use crate::joined::{Pieces, at};

/// The whole parse of a text, as strings.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Read {
    pub ops: BTreeSet<String>,
    pub regions: BTreeSet<String>,
    pub uses: BTreeSet<String>,
    pub errors: BTreeSet<(usize, String)>,
    pub findings: BTreeSet<String>,
}

fn show_type(parse: &Parse, text: &str, ty: TypeRef, elsewhere: &dyn Fn(Span) -> Option<String>) -> String {
    match parse.followed(ty) {
        Some(TypeRef::Elsewhere(span)) => elsewhere(span).unwrap_or_else(|| "?".to_owned()),
        _ => parse.type_text(ty, text).map_or("?".to_owned(), |ty| ty.into_owned()),
    }
}

/// Whether a span is in the text of a function itself, before its body or, because of an extra brace, after
/// it: there a piece does not know the arguments.
fn is_of_function(parse: &Parse, text: &str, span: Span) -> bool {
    let op = parse.op_at(span.start as usize);
    op.is_some_and(|op| {
        let inside = |region: u32| {
            let region = parse.regions[region as usize].span;
            region.start <= span.start && span.end <= region.end
        };
        (is_function_like(parse.name(op, text)) || parse.is_cut_function(op))
            && !parse.regions_of(op).any(inside)
    })
}

pub fn read_pieces(text: &str, min_bytes: usize, way: Way) -> (Read, usize) {
    let all = Pieces::of(text, min_bytes, way);
    let mut read = Read { errors: all.errors.clone(), ..Read::default() };
    for (i, piece) in all.pieces.iter().enumerate() {
        let (parse, text) = (&piece.parse, piece.text);
        let elsewhere = |op: OpId| {
            let all = &all;
            move |span: Span| all.outside(i, span.of(text), op)?.ty.map(|ty| ty.into_owned())
        };
        let find = |used: &Use| all.find(i, used.op, used.span.of(text)).map(|found| found.2);
        show(parse, text, piece.start, &mut read, &elsewhere, &find);
        let is_left = |span: Span| {
            piece.parts.iter().zip(&piece.functions).any(|(part, &function)| {
                let op = parse.op(part.op).span;
                all.functions[function].has_errors && op.start <= span.start && span.end <= op.end
            })
        };
        let outside = |name: &str, op: OpId| all.outside(i, name, op);
        let mut findings: Vec<_> = check(parse, text);
        findings.extend(check_outside(parse, text, &outside).into_iter().map(|(f, _)| f));
        for (part, &function) in piece.parts.iter().zip(&piece.functions) {
            for &value in &part.values {
                let name = parse.values[value as usize].name;
                let winner = all.functions[function].names.get(name.of(text));
                if winner.is_some_and(|winner| winner.0 != i) {
                    findings.push(mlir::redefinition(name, text));
                }
            }
        }
        for successor in parse.successors.iter().filter(|s| s.is_external) {
            if all.find(i, successor.op, successor.span.of(text)).is_none() {
                findings.push(mlir::unknown_block(successor.span, text));
            }
        }
        for finding in findings.iter().filter(|f| !is_left(f.span) && !is_of_function(parse, text, f.span)) {
            let place = at(piece, finding.span);
            read.findings.insert(format!("{place:?} {} {}", finding.code, finding.message));
        }
    }
    (read, all.pieces.len())
}

pub fn read_whole(text: &str) -> Read {
    let parse = parse(text, PieceState::default());
    let mut read = Read::default();
    for error in &parse.errors {
        read.errors.insert((error.span.start as usize, error.message.clone()));
    }
    let mut unclosed = Vec::new();
    for &region in &parse.open_below {
        let brace = parse.brace(region);
        read.errors.insert((brace.start as usize, "this { is not closed".to_owned()));
        unclosed.push(parse.regions[region as usize].op);
    }
    show(&parse, text, 0, &mut read, &|_| |_| None, &|_| None);
    for finding in check(&parse, text) {
        let is_left = parse.function_parts().iter().any(|part| {
            let op = parse.op(part.op).span;
            let has_errors = has_errors(&parse, text, part.op) || unclosed.contains(&part.op);
            has_errors && op.start <= finding.span.start && finding.span.end <= op.end
        });
        if !is_left && !is_of_function(&parse, text, finding.span) {
            let place = (finding.span.start as usize, finding.span.end as usize);
            read.findings.insert(format!("{place:?} {} {}", finding.code, finding.message));
        }
    }
    read
}

fn show<F: Fn(Span) -> Option<String>>(
    parse: &Parse,
    text: &str,
    start: usize,
    read: &mut Read,
    elsewhere: &dyn Fn(OpId) -> F,
    find: &dyn Fn(&Use) -> Option<usize>,
) {
    let place = |span: Span| (start + span.start as usize, start + span.end as usize);
    let is_open = |id: OpId| {
        parse.is_continued(id) || parse.regions_of(id).any(|region| parse.open_below.contains(&region))
    };
    for (id, op) in parse.ops.iter().enumerate() {
        let id = id as OpId;
        if parse.is_continued(id) {
            continue;
        }
        let elsewhere = elsewhere(id);
        let is_function =
            is_function_like(parse.name(id, text)) || mlir::is_module_like(parse.name(id, text));
        let shown = match is_open(id) || is_function {
            // Its end may be in another piece.
            true => format!("{:?} {:?}", place(op.span).0, op.form),
            false => {
                let types = |range| {
                    let types: Vec<_> =
                        parse.types(range).iter().map(|&ty| show_type(parse, text, ty, &elsewhere)).collect();
                    types.join(", ")
                };
                let value = |span: Span| (!span.is_empty()).then(|| place(span));
                let attributes: Vec<_> = parse
                    .attributes_of(id)
                    .iter()
                    .map(|a| (place(a.name), value(a.value), a.place))
                    .collect();
                format!(
                    "{:?} {:?} {:?} {:?} {} -> {} {attributes:?} {} {}",
                    place(op.span),
                    place(op.name),
                    op.form,
                    place(op.head),
                    types(&op.operand_types),
                    types(&op.result_types),
                    op.location.of(text),
                    op.is_isolated,
                )
            }
        };
        read.ops.insert(shown);
        if is_open(id) || is_function {
            continue;
        }
        for used in parse.uses_of(id) {
            let local = used.value.map(|value| place(parse.values[value as usize].name).0);
            let found = local.or_else(|| find(used).filter(|_| used.is_external));
            let ty = used.value.and_then(|value| {
                let index = used.span.of(text).split_once('#').and_then(|(_, i)| i.parse().ok()).unwrap_or(0);
                let types = parse.types(&parse.values[value as usize].types);
                types.get(index).map(|&ty: &TypeRef| show_type(parse, text, ty, &elsewhere))
            });
            let ty = match ty {
                Some(ty) => ty,
                None if used.is_external => elsewhere(used.span).unwrap_or_else(|| "?".to_owned()),
                None => "?".to_owned(),
            };
            read.uses.insert(format!("{:?} {} {found:?} {ty}", place(used.span), used.is_operand));
        }
    }
    for (id, region) in parse.regions.iter().enumerate() {
        let id = id as u32;
        if id >= parse.continued && !parse.open_below.contains(&id) {
            read.regions.insert(format!("{:?} {}", place(region.span), region.is_closed));
        } else if id >= parse.continued {
            read.regions.insert(format!("{:?}", place(region.span).0));
        }
    }
}

/// Regions that are cut somewhere are compared by their start.
pub fn without_ends(regions: &BTreeSet<String>, starts: &BTreeSet<String>) -> BTreeSet<String> {
    let cut: BTreeSet<&str> = starts.iter().filter(|r| !r.starts_with('(')).map(String::as_str).collect();
    let start = |r: &str| r.trim_start_matches('(').split(',').next().unwrap_or_default().to_owned();
    regions.iter().map(|r| if cut.contains(start(r).as_str()) { start(r) } else { r.clone() }).collect()
}
