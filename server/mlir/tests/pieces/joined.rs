//! The parses of the pieces of a text, joined: the parts of each function, and where its names are defined.

use std::collections::BTreeSet;

use mlir::{
    Definition, FunctionPart, LEFT_OPEN, OpId, Outside, Parse, PieceState, has_errors, parse, parse_among,
};
use rustc_hash::{FxHashMap, FxHashSet};
use text::Span;

use crate::compare::Way;

pub struct Piece<'t> {
    pub start: usize,
    pub state: PieceState,
    pub text: &'t str,
    pub parse: Parse,
    /// The parse before names of other pieces are known; numbers of values refer to this one.
    pub alone: Parse,
    pub parts: Vec<FunctionPart>,
    /// The function of each part.
    pub functions: Vec<usize>,
}

#[derive(Default)]
pub struct Function<'t> {
    /// Names with their sigils: piece, value or block, and the offset.
    pub names: FxHashMap<&'t str, (usize, u32, usize)>,
    pub has_errors: bool,
}

pub struct Pieces<'t> {
    pub pieces: Vec<Piece<'t>>,
    pub functions: Vec<Function<'t>>,
    pub errors: BTreeSet<(usize, String)>,
}

pub fn at(piece: &Piece<'_>, span: Span) -> (usize, usize) {
    (piece.start + span.start as usize, piece.start + span.end as usize)
}

impl<'t> Pieces<'t> {
    pub fn of(text: &'t str, min_bytes: usize, way: Way) -> Pieces<'t> {
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
    pub fn find(&self, piece: usize, op: OpId, name: &str) -> Option<(usize, u32, usize)> {
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

    pub fn outside(&self, piece: usize, name: &str, op: OpId) -> Option<Outside<'_>> {
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
