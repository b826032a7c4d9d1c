//! The program under construction: lines of HLO text, and the types of its values.

use std::ops::RangeInclusive;
use std::sync::Arc;

use ir::{Graph, Opcode};
use syntax::hlo::PieceState;

use super::{Generated, Rng};
use crate::value::{count, list};

/// The largest number of elements of an array.
pub const MAX_SIZE: i64 = 200;

/// A value of the entry computation.
#[derive(Debug, Clone)]
pub(super) struct Operand {
    pub name: String,
    pub element: String,
    pub dims: Vec<i64>,
    /// The shape as text, with the layout.
    pub shape: String,
}

pub(super) struct Program<'r> {
    pub rng: &'r mut Rng,
    /// The value that the next instruction must use; taken by the first [`Program::input`].
    pub chain: Option<Operand>,
    pub replicas: u32,
    lines: Vec<(String, String)>,
    computations: Vec<(String, String)>,
    values: Vec<Option<Vec<i64>>>,
    earlier: Vec<Operand>,
}

pub(super) struct Mark(usize, usize, usize);

pub(super) fn braces<T: ToString>(items: &[T]) -> String {
    format!("{{{}}}", list(items))
}

impl<'r> Program<'r> {
    pub fn new(rng: &'r mut Rng) -> Program<'r> {
        Program {
            rng,
            chain: None,
            replicas: 1,
            lines: Vec::new(),
            computations: Vec::new(),
            values: Vec::new(),
            earlier: Vec::new(),
        }
    }

    pub fn mark(&self) -> Mark {
        Mark(self.lines.len(), self.computations.len(), self.values.len())
    }

    pub fn undo(&mut self, Mark(lines, computations, values): Mark) {
        self.lines.truncate(lines);
        self.computations.truncate(computations);
        self.values.truncate(values);
    }

    /// Discards everything.
    pub fn restart(&mut self) {
        self.undo(Mark(0, 0, 0));
    }

    pub fn remember(&mut self, value: &Operand) {
        self.earlier.push(value.clone());
    }

    /// The sizes of `rank` dimensions, mostly above 1, rarely 0, with at most [`MAX_SIZE`] elements.
    pub fn sizes(&mut self, rank: usize, largest: i64) -> Vec<i64> {
        let mut sizes = vec![1; rank];
        for dim in self.rng.permutation(rank) {
            let room = (MAX_SIZE / sizes.iter().product::<i64>().max(1)).clamp(1, largest);
            sizes[dim] = if self.rng.one_in(6) { 1 } else { self.rng.range(1, room) };
        }
        if rank > 0 && self.rng.one_in(24) {
            let dim = self.rng.range(0, rank as i64 - 1) as usize;
            sizes[dim] = 0;
        }
        sizes
    }

    /// The value of the chain, `None` if its rank does not fit; without a chain, a new parameter.
    pub fn input(&mut self, ranks: RangeInclusive<usize>, largest: i64) -> Option<Operand> {
        if let Some(chain) = self.chain.take() {
            if !ranks.contains(&chain.dims.len()) {
                self.chain = Some(chain);
                return None;
            }
            return Some(chain);
        }
        let rank = self.rng.range(*ranks.start() as i64, *ranks.end() as i64) as usize;
        let dims = self.sizes(rank, largest);
        Some(self.parameter("f32", &dims))
    }

    /// An operand of these sizes: in a chain sometimes an earlier value.
    pub fn beside(&mut self, dims: &[i64]) -> Operand {
        let fitting: Vec<Operand> = self.earlier.iter().filter(|e| e.dims == dims).cloned().collect();
        if !fitting.is_empty() && self.rng.one_in(2) {
            return self.rng.pick(&fitting).clone();
        }
        self.parameter("f32", dims)
    }

    pub fn parameter(&mut self, element: &str, dims: &[i64]) -> Operand {
        let shape = self.shape(element, dims);
        self.parameter_of(element, dims, shape, None)
    }

    /// A parameter that holds these integers.
    pub fn indices(&mut self, dims: &[i64], values: Vec<i64>) -> Operand {
        self.parameter_of("s32", dims, format!("s32[{}]", list(dims)), Some(values))
    }

    pub fn parameter_of(
        &mut self,
        element: &str,
        dims: &[i64],
        shape: String,
        values: Option<Vec<i64>>,
    ) -> Operand {
        let number = self.values.len();
        self.values.push(values);
        let name = format!("p{number}");
        self.lines.push((name.clone(), format!("{shape} parameter({number})")));
        Operand { name, element: element.to_owned(), dims: dims.to_vec(), shape }
    }

    /// A shape with a random layout.
    pub fn shape(&mut self, element: &str, dims: &[i64]) -> String {
        let mut order: Vec<usize> = (0..dims.len()).rev().collect();
        if self.rng.one_in(2) {
            order = self.rng.permutation(dims.len());
        }
        match dims {
            [] => format!("{element}[]"),
            _ => format!("{element}[{}]{}", list(dims), braces(&order)),
        }
    }

    /// Adds an instruction with an array result; `None` if that is too large.
    pub fn push(
        &mut self,
        opcode: Opcode,
        element: &str,
        dims: &[i64],
        operands: &[&Operand],
        attributes: &str,
    ) -> Option<Operand> {
        let shape = self.shape(element, dims);
        let is_small = dims.iter().all(|&d| d >= 0) && count(dims) <= 2 * MAX_SIZE;
        is_small.then(|| self.push_of(opcode, element, dims, shape, operands, attributes))
    }

    /// Adds an instruction with any shape, given as text.
    pub fn push_of(
        &mut self,
        opcode: Opcode,
        element: &str,
        dims: &[i64],
        shape: String,
        operands: &[&Operand],
        attributes: &str,
    ) -> Operand {
        let name = format!("v{}", self.lines.len());
        let names: Vec<&str> = operands.iter().map(|o| o.name.as_str()).collect();
        let comma = if attributes.is_empty() { "" } else { ", " };
        let line = format!("{shape} {}({}){comma}{attributes}", opcode.name(), names.join(", "));
        self.lines.push((name.clone(), line));
        Operand { name, element: element.to_owned(), dims: dims.to_vec(), shape }
    }

    /// Adds a line as given, for constants.
    pub fn push_line(&mut self, element: &str, dims: &[i64], shape: String, right: &str) -> Operand {
        let name = format!("v{}", self.lines.len());
        self.lines.push((name.clone(), format!("{shape} {right}")));
        Operand { name, element: element.to_owned(), dims: dims.to_vec(), shape }
    }

    /// Adds a computation before the entry, given the lines of its body, root last. Returns its name.
    pub fn computation(&mut self, name: &str, lines: &[String]) -> String {
        if !self.computations.iter().any(|(own, _)| own == name) {
            let (root, before) =
                lines.split_last().map_or(("", &[][..]), |(root, before)| (root.as_str(), before));
            let mut text = format!("{name} {{\n");
            before.iter().for_each(|line| text += &format!("  {line}\n"));
            text += &format!("  ROOT {root}\n}}\n\n");
            self.computations.push((name.to_owned(), text));
        }
        name.to_owned()
    }

    /// A computation on scalars that adds `inputs` pairs; a tuple for several.
    pub fn adder(&mut self, inputs: usize) -> String {
        let mut lines: Vec<String> =
            (0..2 * inputs).map(|i| format!("a{i} = f32[] parameter({i})")).collect();
        lines.extend((0..inputs).map(|i| format!("sum{i} = f32[] add(a{i}, a{})", i + inputs)));
        if inputs > 1 {
            let sums: Vec<String> = (0..inputs).map(|i| format!("sum{i}")).collect();
            lines.push(format!("t = ({}) tuple({})", vec!["f32[]"; inputs].join(", "), sums.join(", ")));
        }
        self.computation(&format!("add{inputs}"), &lines)
    }

    /// A computation that compares the first two of `2 * inputs` scalars.
    pub fn comparison(&mut self, inputs: usize) -> String {
        let mut lines: Vec<String> =
            (0..2 * inputs).map(|i| format!("a{i} = f32[] parameter({i})")).collect();
        lines.push("less = pred[] compare(a0, a1), direction=LT".to_owned());
        self.computation(&format!("less{inputs}"), &lines)
    }

    /// Parses the text. `None` if it does not lower completely, which would be an error of a family.
    pub fn finish(self, root: &Operand, seed: u64) -> Option<Generated> {
        let mut text = "HloModule generated\n\n".to_owned();
        self.computations.iter().for_each(|(_, computation)| text += computation);
        text += "ENTRY entry {\n";
        for (name, line) in &self.lines {
            let mark = if *name == root.name { "ROOT " } else { "" };
            text += &format!("  {mark}{name} = {line}\n");
        }
        text += "}\n";
        let shared: Arc<str> = Arc::from(text.as_str());
        let parse = Arc::new(syntax::hlo::parse(&shared, PieceState::HEADER));
        let block = ir::lower(shared.clone(), parse.clone());
        assert!(parse.errors.is_empty() && block.findings.is_empty(), "{:?}\n{text}", block.findings);
        let mut computations = Vec::new();
        for (i, computation) in parse.computations.iter().enumerate() {
            let graph = Graph::build(&[(&block, i as u32)])?;
            let name = computation.name.of(&shared).trim_start_matches('%').to_owned();
            computations.push((name, Arc::new(graph)));
        }
        let (_, graph) = computations.pop()?;
        let Program { values, replicas, .. } = self;
        Some(Generated { seed, text, graph, computations, values, replicas })
    }
}
