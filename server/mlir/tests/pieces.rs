//! The pieces of a text, each parsed separately, match a parse of the whole text: the same ops, regions,
//! names, types and findings, for any text and any cuts.

#![allow(clippy::print_stdout, reason = "how much was compared")]

use std::collections::BTreeSet;

use mlir::{
    Definition, FunctionPart, LEFT_OPEN, OpId, Outside, Parse, PieceState, TypeRef, Use, check,
    check_outside, has_errors, is_function_like, parse, parse_among, read_in_pieces, split_in_segments,
};
use proptest::prelude::*;
use random::Rng;
use rustc_hash::{FxHashMap, FxHashSet};
use text::Span;

const CONSTRUCTS: &str = include_str!("fixtures/constructs.mlir");

struct Piece<'t> {
    start: usize,
    state: PieceState,
    text: &'t str,
    parse: Parse,
    /// The parse before names of other pieces are known; numbers of values refer to this one.
    alone: Parse,
    parts: Vec<FunctionPart>,
    /// The function of each part.
    functions: Vec<usize>,
}

#[derive(Default)]
struct Function<'t> {
    /// Names with their sigils: piece, value or block, and the offset.
    names: FxHashMap<&'t str, (usize, u32, usize)>,
    has_errors: bool,
}

struct Pieces<'t> {
    pieces: Vec<Piece<'t>>,
    functions: Vec<Function<'t>>,
    errors: BTreeSet<(usize, String)>,
}

fn at(piece: &Piece<'_>, span: Span) -> (usize, usize) {
    (piece.start + span.start as usize, piece.start + span.end as usize)
}

impl<'t> Pieces<'t> {
    fn of(text: &'t str, min_bytes: usize, way: Way) -> Pieces<'t> {
        let (cuts, mut parses) = way.cut(text, min_bytes);
        let mut starts = vec![(0, 0)];
        starts.extend(cuts.pieces);
        parses.resize(starts.len(), None);
        let mut read = Pieces { pieces: Vec::new(), functions: Vec::new(), errors: BTreeSet::new() };
        for (i, &(start, state)) in starts.iter().enumerate() {
            let end = starts.get(i + 1).map_or(text.len(), |next| next.0);
            let text = &text[start..end];
            let state = PieceState::from_u8(state);
            let parse = parses[i].take().unwrap_or_else(|| parse(text, state));
            let parts = parse.function_parts();
            let alone = parse.clone();
            read.pieces.push(Piece { start, state, text, parse, alone, parts, functions: Vec::new() });
        }
        read.join();
        read.resolve();
        read
    }

    /// Matches the parts of each function, the unclosed braces, and the definition of each name.
    fn join(&mut self) {
        let mut open: Vec<(usize, u32)> = Vec::new();
        let mut current: Option<usize> = None;
        let unclosed = |(piece, region): (usize, u32), message: &str, pieces: &[Piece<'_>]| {
            let piece = &pieces[piece];
            (piece.start + piece.parse.brace(region).start as usize, message.to_owned())
        };
        let mut left: Vec<(usize, OpId)> = Vec::new();
        for i in 0..self.pieces.len() {
            let (parse, text) = (&self.pieces[i].parse, self.pieces[i].text);
            for error in &parse.errors {
                self.errors.insert((at(&self.pieces[i], error.span).0, error.message.clone()));
            }
            for closing in &parse.closed_above {
                let Some(region) = open.pop() else { continue };
                if !closing.is_closed {
                    self.errors.insert(unclosed(region, LEFT_OPEN, &self.pieces));
                    left.push((region.0, self.pieces[region.0].parse.regions[region.1 as usize].op));
                }
            }
            if !parse.splits.is_empty() {
                for region in open.drain(..) {
                    self.errors.insert(unclosed(region, "this { is not closed", &self.pieces));
                    left.push((region.0, self.pieces[region.0].parse.regions[region.1 as usize].op));
                }
            }
            let mut functions = Vec::new();
            for part in &self.pieces[i].parts {
                let function = match current.filter(|_| part.is_continued) {
                    Some(function) => function,
                    None => {
                        if part.is_continued {
                            for piece in &self.pieces {
                                println!("{}\n=========== {:?}", piece.text, piece.state);
                            }
                            panic!("what is continued was open above");
                        }
                        self.functions.push(Function::default());
                        self.functions.len() - 1
                    }
                };
                self.functions[function].has_errors |= has_errors(parse, text, part.op);
                current = part.is_open.then_some(function);
                functions.push(function);
            }
            open.extend(parse.open_below.iter().map(|&region| (i, region)));
            self.pieces[i].functions = functions;
        }
        for region in open {
            self.errors.insert(unclosed(region, "this { is not closed", &self.pieces));
            left.push((region.0, self.pieces[region.0].parse.regions[region.1 as usize].op));
        }
        for (piece, op) in left {
            let piece = &self.pieces[piece];
            if let Some(nth) = piece.parts.iter().position(|part| part.op == op) {
                self.functions[piece.functions[nth]].has_errors = true;
            }
        }
        for (i, piece) in self.pieces.iter().enumerate() {
            for (part, &function) in piece.parts.iter().zip(&piece.functions) {
                let function = &mut self.functions[function];
                let parse = &piece.parse;
                for &value in &part.values {
                    let name = parse.values[value as usize].name;
                    function.names.entry(name.of(piece.text)).or_insert((i, value, at(piece, name).0));
                }
                for &block in &part.blocks {
                    let label = parse.blocks[block as usize].label;
                    if !label.is_empty() {
                        function.names.entry(label.of(piece.text)).or_insert((i, block, at(piece, label).0));
                    }
                }
            }
        }
        for (i, piece) in self.pieces.iter().enumerate() {
            for (part, &function) in piece.parts.iter().zip(&piece.functions) {
                // The last of several arguments with one name counts.
                for &value in part.arguments.iter().rev() {
                    let name = piece.parse.values[value as usize].name;
                    let place = at(piece, name).0;
                    self.functions[function].names.entry(name.of(piece.text)).or_insert((i, value, place));
                }
            }
        }
    }

    /// Parses the pieces with names of other pieces again.
    fn resolve(&mut self) {
        for i in 0..self.pieces.len() {
            let piece = &self.pieces[i];
            let mut foreign: FxHashSet<(usize, &str)> = FxHashSet::default();
            for (nth, (part, &function)) in piece.parts.iter().zip(&piece.functions).enumerate() {
                let names = &self.functions[function].names;
                let values = part.values.iter().chain(&part.arguments);
                let own = values.map(|&v| piece.parse.values[v as usize].name);
                let labels = part.blocks.iter().map(|&b| piece.parse.blocks[b as usize].label);
                let maybe = part.maybe_operands.iter().copied();
                for span in own.chain(labels).chain(maybe) {
                    let name = span.of(piece.text);
                    if names.get(name).is_some_and(|found| found.0 != i) {
                        foreign.insert((nth, name));
                    }
                }
            }
            if !foreign.is_empty() {
                let parse = parse_among(piece.text, piece.state, &foreign);
                assert_eq!(parse.ops.len(), piece.parse.ops.len());
                self.pieces[i].parse = parse;
            }
        }
    }

    /// Resolves a name used by an op in other pieces.
    fn find(&self, piece: usize, op: OpId, name: &str) -> Option<(usize, u32, usize)> {
        let read = &self.pieces[piece];
        let (part, _) = read.parse.in_cut_body(op)?;
        let nth = read.parts.iter().position(|p| p.body == part)?;
        self.functions[read.functions[nth]].names.get(name.split('#').next()?).copied()
    }

    /// The number of a block in its function, from the start of the function.
    fn block_number(&self, piece: usize, part: usize, block: u32) -> Option<usize> {
        let read = &self.pieces[piece];
        let nth = read.parts[part].blocks.iter().position(|&b| b == block)?;
        let function = read.functions[part];
        let counts =
            self.pieces[..piece].iter().map(|p| match p.functions.iter().position(|&f| f == function) {
                Some(nth) => p.parts[nth].blocks.len() - usize::from(p.parts[nth].is_continued),
                None => 0,
            });
        let before: usize = counts.sum();
        Some(before + nth - usize::from(read.parts[part].is_continued))
    }

    fn outside(&self, piece: usize, name: &str, op: OpId) -> Option<Outside<'_>> {
        let (there, value, place) = self.find(piece, op, name)?;
        let read = &self.pieces[there];
        let defined = &read.alone.values[value as usize];
        let index = name.split_once('#').and_then(|(_, i)| i.parse().ok()).unwrap_or(0);
        let (function, around) = self.pieces[piece].parse.in_cut_body(op)?;
        let own = self.pieces[piece].parts.iter().position(|p| p.body == function)?;
        let here = self.block_number(piece, own, self.pieces[piece].parse.op(around).block?);
        let part = read.functions.iter().position(|&f| f == self.pieces[piece].functions[own])?;
        let is_below = match defined.definition {
            Definition::Result(defining) => {
                let block = read.alone.op(defining).block;
                place > at(&self.pieces[piece], self.pieces[piece].parse.op(around).span).0
                    && block.is_some_and(|block| self.block_number(there, part, block) == here)
            }
            _ => false,
        };
        Some(Outside { count: defined.count, ty: read.alone.type_of(value, index, read.text), is_below })
    }
}

/// The whole parse of a text, as strings.
#[derive(Debug, Default, PartialEq, Eq)]
struct Read {
    ops: BTreeSet<String>,
    regions: BTreeSet<String>,
    uses: BTreeSet<String>,
    errors: BTreeSet<(usize, String)>,
    findings: BTreeSet<String>,
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

fn read_pieces(text: &str, min_bytes: usize, way: Way) -> (Read, usize) {
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

fn read_whole(text: &str) -> Read {
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
fn without_ends(regions: &BTreeSet<String>, starts: &BTreeSet<String>) -> BTreeSet<String> {
    let cut: BTreeSet<&str> = starts.iter().filter(|r| !r.starts_with('(')).map(String::as_str).collect();
    let start = |r: &str| r.trim_start_matches('(').split(',').next().unwrap_or_default().to_owned();
    regions.iter().map(|r| if cut.contains(start(r).as_str()) { start(r) } else { r.clone() }).collect()
}

/// A way of cutting a text.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// State is guessed every so many bytes.
    Segments(usize),
    /// State is guessed for each piece, which is parsed at once.
    Ahead,
}

/// Guesses nowhere, in long texts, and everywhere.
const WAYS: [Way; 4] = [Way::Segments(usize::MAX), Way::Segments(60), Way::Segments(400), Way::Ahead];

impl Way {
    fn cut(self, text: &str, min_bytes: usize) -> (text::Cuts, Vec<Option<Parse>>) {
        match self {
            Way::Segments(bytes) => (split_in_segments(text, 0, min_bytes, bytes), Vec::new()),
            Way::Ahead => read_in_pieces(text, min_bytes),
        }
    }
}

/// Returns the number of pieces.
fn check_text(text: &str, min_bytes: usize) -> usize {
    WAYS.map(|way| check_in_pieces(text, min_bytes, way))[0]
}

fn check_in_pieces(text: &str, min_bytes: usize, way: Way) -> usize {
    let whole = read_whole(text);
    let (mut pieces, count) = read_pieces(text, min_bytes, way);
    let regions = without_ends(&whole.regions, &pieces.regions);
    pieces.regions = without_ends(&pieces.regions, &pieces.regions.clone());
    let whole = Read { regions, ..whole };
    let differ = |a: &BTreeSet<String>, b: &BTreeSet<String>| -> Vec<String> {
        let less = a.difference(b).take(3).map(|x| format!("- {x}"));
        less.chain(b.difference(a).take(3).map(|x| format!("+ {x}"))).collect()
    };
    let none: Vec<String> = Vec::new();
    let shown = || -> String {
        if text.len() > 7000 {
            return String::new();
        }
        let mut out = format!("{way:?}\n");
        let mut start = 0;
        for (at, state) in way.cut(text, min_bytes).0.pieces.into_iter().chain([(text.len(), 0)]) {
            out += &format!("{}\n======== {:?}\n", &text[start..at], PieceState::from_u8(state));
            start = at;
        }
        out
    };
    assert_eq!(differ(&whole.ops, &pieces.ops), none, "ops\n{}", shown());
    assert_eq!(differ(&whole.regions, &pieces.regions), none, "regions\n{}", shown());
    assert_eq!(whole.errors, pieces.errors, "errors\n{}", shown());
    // Arguments are not followed into a second region that an extra brace makes of a function.
    if !has_functions_of_two_regions(text) {
        assert_eq!(differ(&whole.uses, &pieces.uses), none, "uses\n{}", shown());
        // Functions with errors are skipped; after an extra brace their extent may differ.
        if whole.errors.is_empty() {
            assert_eq!(differ(&whole.findings, &pieces.findings), none, "findings\n{}", shown());
        }
    }
    count
}

fn has_functions_of_two_regions(text: &str) -> bool {
    let parse = parse(text, PieceState::default());
    let mut functions = (0..parse.ops.len() as OpId).filter(|&id| is_function_like(parse.name(id, text)));
    functions.any(|id| parse.regions_of(id).count() > 1)
}

#[test]
fn every_construct_is_the_same_in_pieces() {
    for min_bytes in [1, 8, 16, 40, 100, 1000] {
        let count = check_text(CONSTRUCTS, min_bytes);
        assert!(count > 4 || min_bytes > 100, "{count} pieces of {min_bytes}");
    }
}

/// Names that an extra brace leaves outside of functions.
#[test]
fn names_outside_of_functions_end_at_the_next_function() {
    let text = "\
func.func @f() {
  }
  %0 = x.y : f32
  x.z %0 : f32
func.func @g() {
  }
  x.z %1 : f64
  %0 = x.y : f64
  x.v {
    x.z %0 : f64
  }
  x.z %2 : f64
%3 = func.func @h() {
  }
  x.z %3 : f64
";
    let parse = parse(text, PieceState::default());
    let found: Vec<_> = parse
        .uses
        .iter()
        .map(|used| {
            (used.span.of(text), used.value.and_then(|v| parse.type_of(v, 0, text)), used.may_be_above)
        })
        .map(|(name, ty, above)| (name, ty.unwrap_or_default().into_owned(), above))
        .collect();
    let expect =
        [("%0", "f32", false), ("%1", "", true), ("%0", "f64", false), ("%2", "", true), ("%3", "", true)];
    assert_eq!(found, expect.map(|(name, ty, above)| (name, ty.to_owned(), above)));
    assert_eq!(check(&parse, text), Vec::new());
    assert!(check_text(text, 1) > 1);
}

/// Names defined in one piece and used in others, in every way.
const GIANT: &str = "\
module {
  func.func @f(%a: tensor<4xf32>, %b: i1) -> f32 {
    %0:2 = x.y %a : (tensor<4xf32>) -> (f32, tensor<8xf32>)
    %1 = x.z %0#1 : (tensor<9xf32>) -> f32
    %2 = x.z %0#2, %9, %3 : (f32, f32, f32) -> f32
    x.w ins(%a : tensor<4xf32>) outs(%q : f32) {
      x.u %q, %a, %0#0 : f32
    }
    %3 = x.for %i = %0 to %1 iter_args(%c = %0#1) {
      x.u %c : (tensor<7xf32>) -> ()
    }
    cf.cond_br %b, ^bb1(%1 : f32), ^bb9
  ^bb1(%p: f32):
    %4 = x.z %5 : (f32) -> f32
    %1 = x.z %p : (f32) -> f32
    cf.br ^bb2
  ^bb2:
    %5 = x.z %1 : (f64) -> f32
    %a = x.z %1 : (f32) -> f32
    cf.br ^bb1(%5 : f32)
  ^bb1:
    return %4 : f32
  } loc(\"f\")
  func.func @g(%a: f32) {
    return
  }
}
";

#[test]
fn names_are_found_in_other_pieces() {
    for min_bytes in 1..40 {
        check_text(GIANT, min_bytes);
    }
    let (read, count) = read_pieces(GIANT, 1, WAYS[0]);
    assert!(count > 10, "{count}");
    let codes: BTreeSet<_> = read.findings.iter().filter_map(|f| f.split(' ').nth(2)).collect();
    let expect = [
        "redefinition",
        "type-mismatch",
        "unknown-block",
        "unknown-result",
        "unknown-value",
        "use-before-definition",
    ];
    assert_eq!(codes.into_iter().collect::<Vec<_>>(), expect);
}

/// `@f` lacks its closing brace, so a piece may hold its end and the start of `@g`. In such a piece `%a` is
/// the argument of `@f`, defined in a piece above, and a new name in `@g`.
const TWO_FUNCTIONS: &str = "\
func.func @f(%a: f32) {
  x.y : tensor<4xf32>
  x.w ins(%a : f32) {
  }
func.func @g() {
  x.w ins(%a : f64) {
    x.z %a : f64
  }
  cf.br ^bb
^bb:
  return
}
";

#[test]
fn names_of_another_function_in_the_piece_are_not_foreign() {
    let mut of_two = 0;
    for min_bytes in 1..TWO_FUNCTIONS.len() {
        check_text(TWO_FUNCTIONS, min_bytes);
        let all = Pieces::of(TWO_FUNCTIONS, min_bytes, WAYS[0]);
        for Piece { parse, text, .. } in all.pieces.iter().filter(|piece| piece.parts.len() > 1) {
            let types: Vec<_> = (0..parse.values.len()).map(|v| parse.type_of(v as u32, 0, text)).collect();
            assert_eq!(types, [Some("f64".into())], "{text}");
            of_two += 1;
        }
    }
    assert!(of_two > 0);
}

/// A module that binds a name because of an extra brace, and a generic function op without its parentheses.
#[test]
fn broken_units_are_the_same_in_pieces() {
    let module = "\
module {
  x.y } @f(%a: i1) -> f32 {
    x.y %a : i1
  func.func @g() {
  }
  x.y %a : i1
}
";
    let in_quotes = "\
\"func.func\"() <{sym_name = \"f\"}> {
  x.y
  x.y
}) : () -> ()
";
    for text in [module, in_quotes] {
        (1..text.len()).for_each(|min_bytes| _ = check_text(text, min_bytes));
    }
    assert!(check_text(module, 1) > 1);
}

/// Parts of a text replaced by other parts of it, and by punctuation.
fn spoilt(text: &str, next: &mut impl FnMut(usize) -> usize) -> String {
    const SIGNS: [&str; 14] = [
        "",
        "{",
        "}",
        "(",
        ")",
        "<",
        ">",
        "\"",
        "%0 = ",
        "\n",
        "func.func @n() {\n",
        "\n// -----\n",
        "#",
        "return ",
    ];
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + next(4) {
        let at = next(bytes.len() + 1);
        let end = (at + next(12)).min(bytes.len());
        let from = next(text.len() + 1);
        let inserted: Vec<u8> = match next(3) {
            0 => text.as_bytes()[from..(from + next(40)).min(text.len())].to_vec(),
            _ => SIGNS[next(SIGNS.len())].into(),
        };
        bytes.splice(at..end, inserted);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn spoilt_texts_are_the_same_in_pieces(seed in any::<u64>(), min_bytes in 1usize..60, giant in any::<bool>()) {
        let mut random = Rng::new(seed);
        let mut next = |below: usize| random.index(below);
        check_text(&spoilt(if giant { GIANT } else { CONSTRUCTS }, &mut next), min_bytes);
    }

    #[test]
    fn any_signs_are_the_same_in_pieces(lines in proptest::collection::vec("( {0,2}(%[ab] = x\\.y|x\\.y|return|\\^b[ab]:|\\}|func\\.func @f\\(\\) \\{|module \\{|// -----|\\{-#|#-\\}|))[ %ab^:=,<>(){}\"x./#-]{0,6}", 0..30), min_bytes in 1usize..12) {
        check_text(&(lines.join("\n") + "\n"), min_bytes);
    }
}

mod needs_mlir_corpus {
    use super::*;

    #[test]
    #[ignore = "needs MLIR files in the folder MLIR_CORPUS: cargo xtask test"]
    fn files_of_upstream_are_the_same_in_pieces() {
        let mut random = Rng::new(1);
        let mut next = |below: usize| random.index(below);
        let (mut count, mut pieces) = (0, 0);
        for path in test_files::needs::mlir_corpus() {
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            let check = |text: &str, min_bytes: usize| {
                let checked = std::panic::catch_unwind(|| check_text(text, min_bytes));
                checked.unwrap_or_else(|_| panic!("{} in pieces of {min_bytes}", path.display()))
            };
            let min_bytes = [1, 30, 120][next(3)];
            pieces += check(&text, min_bytes);
            count += 1;
            if text.len() < 50_000 && count % 4 == 0 {
                check(&spoilt(&text, &mut next), min_bytes);
            }
        }
        println!("{count} files in {pieces} pieces");
    }
}
