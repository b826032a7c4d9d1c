//! Prints new code that both MLIR 19 and current MLIR accept. Therefore `affine.delinearize_index` gets its
//! full basis, as values.

use indexing_map::{BinaryOp, Expr};
use rustc_hash::FxHashMap;

use crate::names::Names;
use mlir_ops::AffineMap;

/// Lines of code, and the names of their values.
///
/// Loop-invariant lines come before the loops.
pub(crate) struct Writer<'a> {
    pub(crate) names: &'a mut Names,
    pub(crate) head: Vec<String>,
    pub(crate) body: Vec<String>,
    /// Names of values, by their expression.
    numbers: FxHashMap<Expr, String>,
    /// Names of the results of `affine.delinearize_index`.
    packs: FxHashMap<(Expr, Vec<Expr>), String>,
    /// The names of variables; `Variable::Extent` until a line computes the extent.
    variables: Vec<Variable>,
}

#[derive(Debug, Clone)]
pub(crate) enum Variable {
    Named(String),
    /// The `tensor.dim` of a tensor, not computed yet: its name, its type, the dimension.
    Extent(String, String, usize),
    /// A named value that changes in each iteration.
    Loop(String),
}

impl<'a> Writer<'a> {
    pub(crate) fn new(names: &'a mut Names, variables: Vec<Variable>) -> Writer<'a> {
        Writer {
            names,
            head: Vec::new(),
            body: Vec::new(),
            numbers: FxHashMap::default(),
            packs: FxHashMap::default(),
            variables,
        }
    }

    /// Registers the name of a value.
    pub(crate) fn is_called(&mut self, expr: &Expr, name: &str) {
        if expr.as_const().is_none() {
            self.numbers.entry(expr.clone()).or_insert_with(|| name.to_owned());
        }
    }

    /// The name of a constant, which is defined if it is new.
    pub(crate) fn constant(&mut self, number: i64) -> String {
        if let Some(name) = self.names.constant(number) {
            return name.to_owned();
        }
        let stem = if number < 0 { format!("c_{}", number.unsigned_abs()) } else { format!("c{number}") };
        let name = self.names.fresh(&stem);
        self.head.push(format!("{name} = arith.constant {number} : index"));
        self.names.note_constant(number, &name);
        name
    }

    fn is_in_loop(&self, expr: &Expr) -> bool {
        let mut found = false;
        expr.for_each_var(&mut |v| {
            found |= matches!(self.variables.get(v as usize), Some(Variable::Loop(_)))
        });
        found
    }

    fn line(&mut self, is_in_loop: bool, line: String) {
        if is_in_loop { self.body.push(line) } else { self.head.push(line) }
    }

    /// A list entry: a literal, or the name of a value.
    pub(crate) fn entry(&mut self, expr: &Expr) -> String {
        match expr.as_const() {
            Some(number) => number.to_string(),
            None => self.value(expr),
        }
    }

    /// The name of a value for an expression.
    pub(crate) fn value(&mut self, expr: &Expr) -> String {
        if let Some(number) = expr.as_const() {
            return self.constant(number);
        }
        if let Some(name) = self.numbers.get(expr) {
            return name.clone();
        }
        let name = match expr.as_var().and_then(|v| self.variables.get(v as usize).cloned()) {
            Some(Variable::Named(name) | Variable::Loop(name)) => name,
            Some(Variable::Extent(tensor, ty, axis)) => {
                let axis = self.constant(axis as i64);
                let name = self.names.fresh("dim");
                self.head.push(format!("{name} = tensor.dim {tensor}, {axis} : {ty}"));
                name
            }
            None => self.apply(expr),
        };
        self.numbers.insert(expr.clone(), name.clone());
        name
    }

    fn apply(&mut self, expr: &Expr) -> String {
        let (map, operands) = self.map_of(expr);
        let name = self.names.fresh(if self.is_in_loop(expr) { "linear" } else { "apply" });
        self.line(self.is_in_loop(expr), format!("{name} = affine.apply {map}{operands}"));
        name
    }

    /// `affine_map<(d0)[s0] -> (d0 * s0)>` and `(%a)[%b]`. The right side of a `*` and divisors are symbols.
    fn map_of(&mut self, expr: &Expr) -> (String, String) {
        let (mut used, mut symbols) = (Vec::new(), Vec::new());
        expr.for_each_var(&mut |v| used.push(v));
        symbols_of(expr, &mut symbols);
        used.sort_unstable();
        used.dedup();
        let (symbols, dims): (Vec<u32>, Vec<u32>) = used.into_iter().partition(|v| symbols.contains(v));
        let name_of = |v: u32| match dims.iter().position(|&d| d == v) {
            Some(at) => format!("d{at}"),
            None => format!("s{}", symbols.iter().position(|&s| s == v).unwrap_or(0)),
        };
        let text = affine_text(expr, &name_of);
        let list = |count: usize, letter: &str| {
            (0..count).map(|n| format!("{letter}{n}")).collect::<Vec<_>>().join(", ")
        };
        let mut map = format!("affine_map<({})", list(dims.len(), "d"));
        let values = |writer: &mut Self, of: &[u32]| {
            let names: Vec<_> = of.iter().map(|&v| writer.value(&Expr::Var(v))).collect();
            names.join(", ")
        };
        let mut operands = format!("({})", values(self, &dims));
        if !symbols.is_empty() {
            map += &format!("[{}]", list(symbols.len(), "s"));
            operands += &format!("[{}]", values(self, &symbols));
        }
        (format!("{map} -> ({text})>"), operands)
    }

    /// A digit of a linear index.
    pub(crate) fn digit(&mut self, linear: &Expr, basis: &[Expr], digit: usize) -> String {
        let key = (linear.clone(), basis.to_vec());
        if let Some(pack) = self.packs.get(&key) {
            return format!("{pack}#{digit}");
        }
        let index = self.value(linear);
        let extents: Vec<String> = basis.iter().map(|extent| self.value(extent)).collect();
        let pack = self.names.fresh("index");
        let types = vec!["index"; basis.len()].join(", ");
        let line = format!(
            "{pack}:{} = affine.delinearize_index {index} into ({}) : {types}",
            basis.len(),
            extents.join(", ")
        );
        self.line(self.is_in_loop(linear), line);
        self.packs.insert(key, pack.clone());
        format!("{pack}#{digit}")
    }
}

/// Collects variables that affine maps allow only as symbols.
fn symbols_of(expr: &Expr, found: &mut Vec<u32>) {
    if let Some((op, l, r)) = expr.as_binary() {
        symbols_of(l, found);
        match op {
            BinaryOp::Add | BinaryOp::Min | BinaryOp::Max => symbols_of(r, found),
            _ => r.for_each_var(&mut |v| found.push(v)),
        }
    }
}

/// An expression in affine map syntax. Affine maps have no `min` and `max`, so the result for these is
/// invalid.
pub(crate) fn affine_text(expr: &Expr, name_of: &dyn Fn(u32) -> String) -> String {
    let (op, l, r) = match expr {
        Expr::Const(c) => return c.to_string(),
        Expr::Var(v) => return name_of(*v),
        Expr::Binary(b) => (b.op(), b.lhs(), b.rhs()),
    };
    let (left, right) = (affine_text(l, name_of), affine_text(r, name_of));
    let is_sum = |e: &Expr| e.as_binary().is_some_and(|(op, ..)| op == BinaryOp::Add);
    if op == BinaryOp::Add {
        return match right.strip_prefix('-') {
            Some(right) if !is_sum(r) => format!("{left} - {right}"),
            _ if is_sum(r) => format!("{left} + ({right})"),
            _ => format!("{left} + {right}"),
        };
    }
    let atom = |e: &Expr, text: String| match e {
        Expr::Binary(_) => format!("({text})"),
        Expr::Const(c) if *c < 0 => format!("({text})"),
        _ => text,
    };
    let sign = match op {
        BinaryOp::Mul => "*",
        BinaryOp::Mod => "mod",
        BinaryOp::FloorDiv => "floordiv",
        BinaryOp::CeilDiv => "ceildiv",
        BinaryOp::Min => "min",
        BinaryOp::Max | BinaryOp::Add => "max",
    };
    if op == BinaryOp::Mul && r.as_const() == Some(-1) {
        return format!("-{}", atom(l, left));
    }
    format!("{} {sign} {}", atom(l, left), atom(r, right))
}

/// `affine_map<(i)[n] -> (i + n)>`; `None` if an expression is not affine.
pub fn affine_map_text(map: &AffineMap) -> Option<String> {
    fn is_affine(expr: &Expr) -> bool {
        expr.as_binary().is_none_or(|(op, l, r)| {
            !matches!(op, BinaryOp::Min | BinaryOp::Max) && is_affine(l) && is_affine(r)
        })
    }
    if !map.results.iter().all(is_affine) {
        return None;
    }
    let name_of = |v: u32| map.dims.iter().chain(&map.symbols).nth(v as usize).cloned().unwrap_or_default();
    let results: Vec<String> = map.results.iter().map(|e| affine_text(e, &name_of)).collect();
    let symbols =
        if map.symbols.is_empty() { String::new() } else { format!("[{}]", map.symbols.join(", ")) };
    Some(format!("affine_map<({}){symbols} -> ({})>", map.dims.join(", "), results.join(", ")))
}

/// Joins lines; the first one needs no indentation.
pub(crate) fn joined(lines: &[String], indent: &str) -> String {
    lines.join(&format!("\n{indent}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_read_back() {
        let (x, y) = (Expr::var(0), Expr::var(1));
        let exprs = [
            (x.clone() * 2 + 13, "d0 * 2 + 13"),
            (x.clone() + -3, "d0 - 3"),
            (x.clone() - y.clone() * 4, "d0 + (d1 * -4)"),
            ((x.clone() + 1).floor_div(3).modulo(4), "((d0 + 1) floordiv 3) mod 4"),
            (x.clone() * y.clone(), "d0 * d1"),
            (-x.clone(), "-d0"),
            ((x.clone() + y.clone()) * -2, "(d0 + d1) * (-2)"),
            (y.clone().ceil_div(x), "d1 ceildiv d0"),
        ];
        for (expr, expect) in exprs {
            let text = affine_text(&expr, &|v| format!("d{v}"));
            let read = mlir_ops::AffineMap::parse(&format!("affine_map<(d0, d1) -> ({text})>"));
            let back = read.expect("it is read").results[0].clone();
            for point in [[0, 1], [7, 3], [-5, 2], [11, 4]] {
                assert_eq!(back.evaluate(&point), expr.evaluate(&point), "{text}");
            }
            _ = expect;
        }
    }
}
