//! The function around a few ops: arguments, constants, sizes and offsets in many forms.

use random::Rng;

use super::groups::divisors;
use super::{Argument, Program};

/// The function around a slice.
pub(super) struct Builder<'r> {
    pub random: &'r mut Rng,
    pub parameters: Vec<String>,
    pub arguments: Vec<Argument>,
    pub lines: Vec<String>,
    /// The enclosing loop: its upper bound (exclusive), and the step.
    pub counted: Option<(i64, i64)>,
    /// Too large to run: arguments are omitted.
    pub is_large: bool,
}

impl<'r> Builder<'r> {
    pub fn new(random: &'r mut Rng) -> Builder<'r> {
        Builder {
            random,
            parameters: Vec::new(),
            arguments: Vec::new(),
            lines: Vec::new(),
            counted: None,
            is_large: false,
        }
    }

    pub fn tensor(&mut self, name: &str, ty: &str, shape: &[i64]) {
        self.parameters.push(format!("{name}: {ty}"));
        if !self.is_large {
            self.arguments.push(Argument::Tensor { shape: shape.to_vec(), first: 0 });
        }
    }

    pub fn parameter(&mut self, number: i64) -> String {
        let name = format!("%n{}", self.parameters.len());
        self.parameters.push(format!("{name}: index"));
        self.arguments.push(Argument::Index(number));
        name
    }

    pub fn line(&mut self, code: String) -> String {
        let name = format!("%v{}", self.lines.len());
        self.lines.push(format!("{name} = {code}"));
        name
    }

    /// An entry of offsets or strides.
    pub fn number(&mut self, n: i64) -> String {
        match self.random.range(0, 9) {
            0 => self.parameter(n),
            1 => self.line(format!("arith.constant {n} : index")),
            2 if n > 1 => {
                let divisors = divisors(n);
                let unit = divisors.into_iter().rev().find(|_| self.random.one_in(2)).unwrap_or(1);
                self.multiple(n, unit)
            }
            _ => n.to_string(),
        }
    }

    /// A value equal to `n` that is provably a multiple of `unit`.
    pub fn multiple(&mut self, n: i64, unit: i64) -> String {
        let count = n / unit;
        let more = self.random.range(0, 9);
        match self.random.range(0, 5) {
            0 => {
                // A sum of multiples.
                let (a, b) = (self.random.range(1, 3), self.random.range(1, 5));
                let x = self.random.range(0, count / a);
                let y = self.random.range(0, (count - a * x) / b);
                let (first, second) = (self.parameter(x), self.parameter(y));
                let (a, b, c) = (a * unit, b * unit, (count - a * x - b * y) * unit);
                self.line(format!(
                    "affine.apply affine_map<(d0, d1) -> (d0 * {a} + d1 * {b} + {c})>({first}, {second})"
                ))
            }
            1 => {
                let by = self.random.range(2, 5);
                let x = self.parameter(count * by + more % by);
                self.line(format!("affine.apply affine_map<(d0) -> ((d0 floordiv {by}) * {unit})>({x})"))
            }
            2 => {
                let x = self.parameter(n + more % unit);
                self.line(format!("affine.apply affine_map<(d0) -> (d0 - d0 mod {unit})>({x})"))
            }
            _ => {
                let x = self.parameter(count);
                self.line(format!("affine.apply affine_map<(d0) -> (d0 * {unit})>({x})"))
            }
        }
    }

    pub fn size(&mut self, n: i64) -> String {
        match self.random.range(0, 11) {
            0 => self.parameter(n),
            1 => self.line(format!("arith.constant {n} : index")),
            2 => {
                let more = self.random.range(0, 3);
                let other = self.parameter(n + more);
                self.line(format!("affine.min affine_map<(d0) -> (d0, {n})>({other})"))
            }
            _ => n.to_string(),
        }
    }

    /// The function with these lines in front.
    pub fn program(self, aliases: &str) -> Program {
        let mut text = format!("{aliases}func.func @f({}) {{\n", self.parameters.join(", "));
        if let Some((end, step)) = self.counted {
            for (name, n) in [("%from", 0), ("%to", end), ("%by", step)] {
                text += &format!("  {name} = arith.constant {n} : index\n");
            }
            text += "  scf.for %tile = %from to %to step %by {\n";
        }
        let margin = if self.counted.is_some() { "    " } else { "  " };
        for line in &self.lines {
            text += &format!("{margin}{line}\n");
        }
        if self.counted.is_some() {
            text += "  }\n";
        }
        text += "  return\n}\n";
        Program { text, arguments: self.arguments }
    }
}
