//! Printing of maps and expressions with XLA's term order and parentheses (`symbolic_expr.cc`).

use std::fmt::{self, Write};

use crate::expr::{BinaryOp, Expr};
use crate::interval::Interval;
use crate::map::{Constraint, IndexingMap, VariableKind};

/// The notation of floor division.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PrintStyle {
    /// `d0 floordiv 8`, as in MLIR and XLA's documentation.
    #[default]
    Floordiv,
    /// `d0 / 8`, as XLA prints since it has symbolic expressions.
    Symbolic,
}

/// Prints a map on one line: `(d0)[s0]{rt0} -> (…), domain: …`, with constraints sorted by their text;
/// `KNOWN EMPTY` or `unknown indexing` for the other two states. [`crate::parse_map`] parses it back.
pub fn print_map(map: &IndexingMap, style: PrintStyle) -> String {
    if map.is_undefined() {
        return "unknown indexing".to_owned();
    }
    if map.is_known_empty() {
        return "KNOWN EMPTY".to_owned();
    }
    let printer = Printer { names: Names::Map(map), style };
    let mut out = String::with_capacity(64 + 32 * map.variables().len() + 8 * map.node_count());
    let (dims, symbols, all) = (map.num_dims(), map.num_dims() + map.num_ranges(), map.variables().len());
    printer.list(&mut out, '(', 0..dims, ')');
    if symbols > dims {
        printer.list(&mut out, '[', dims..symbols, ']');
    }
    if all > symbols {
        printer.list(&mut out, '{', symbols..all, '}');
    }
    out.push_str(" -> (");
    for (i, r) in map.results().iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        printer.expr(&mut out, r);
    }
    out.push(')');
    let mut separator = ", domain: ";
    for (id, v) in map.variables().iter().enumerate() {
        out.push_str(separator);
        printer.name(&mut out, id as u32);
        _ = write!(out, " in [{}, {}]", v.bounds.lower, v.bounds.upper);
        separator = ", ";
    }
    let within = |text: &str, bounds: Interval| format!("{text} in [{}, {}]", bounds.lower, bounds.upper);
    for c in printer.constraints(map, within) {
        out.push_str(separator);
        out.push_str(&c);
        separator = ", ";
    }
    out
}

/// Prints an expression of `map`, with the map's variable names.
pub fn print_expr(e: &Expr, map: &IndexingMap, style: PrintStyle) -> String {
    let mut out = String::new();
    Printer { names: Names::Map(map), style }.expr(&mut out, e);
    out
}

impl fmt::Display for IndexingMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print_map(self, PrintStyle::Floordiv))
    }
}

/// Variables print as `v0`, `v1`, …
impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text(PrintStyle::Floordiv))
    }
}

impl Expr {
    /// Prints the expression with variables `v0`, `v1`, …
    pub fn to_text(&self, style: PrintStyle) -> String {
        let mut out = String::new();
        Printer { names: Names::Flat, style }.expr(&mut out, self);
        out
    }
}

enum Names<'a> {
    Flat,
    Map(&'a IndexingMap),
}

pub(super) struct Printer<'a> {
    names: Names<'a>,
    style: PrintStyle,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Precedence {
    Sum,
    Product,
    Leaf,
}

impl<'a> Printer<'a> {
    /// The constraints of a map, each written from its expression and its interval, sorted by their text.
    pub(super) fn constraints(&self, map: &IndexingMap, write: fn(&str, Interval) -> String) -> Vec<String> {
        let text = |c: &Constraint| {
            let mut text = String::new();
            self.expr(&mut text, &c.expr);
            write(&text, c.interval)
        };
        let mut constraints: Vec<String> = map.constraints().iter().map(text).collect();
        constraints.sort_unstable();
        constraints
    }

    pub(super) fn of_map(map: &'a IndexingMap, style: PrintStyle) -> Self {
        Printer { names: Names::Map(map), style }
    }

    pub(super) fn name(&self, out: &mut String, id: u32) {
        let Names::Map(map) = self.names else {
            _ = write!(out, "v{id}");
            return;
        };
        if let Some(name) = map.variables().get(id as usize).and_then(|v| v.name.as_deref()) {
            out.push_str(name);
            return;
        }
        let (kind, position) = map.kind(id as usize);
        let prefix = match kind {
            VariableKind::Dimension => "d",
            VariableKind::Range => "s",
            VariableKind::Runtime => "rt",
        };
        _ = write!(out, "{prefix}{position}");
    }

    fn list(&self, out: &mut String, open: char, ids: std::ops::Range<usize>, close: char) {
        out.push(open);
        for id in ids.clone() {
            if id > ids.start {
                out.push_str(", ");
            }
            self.name(out, id as u32);
        }
        out.push(close);
    }

    pub(super) fn expr(&self, out: &mut String, e: &Expr) {
        match e {
            Expr::Const(c) => _ = write!(out, "{c}"),
            Expr::Var(v) => self.name(out, *v),
            Expr::Binary(b) => match b.op() {
                BinaryOp::Add => self.sum(out, b.lhs(), b.rhs()),
                BinaryOp::Mul if *b.rhs() == Expr::Const(-1) => {
                    out.push('-');
                    self.operand(out, b.lhs(), negates_plainly(b.lhs()));
                }
                BinaryOp::Max | BinaryOp::Min => {
                    out.push_str(if b.op() == BinaryOp::Max { "max(" } else { "min(" });
                    self.expr(out, b.lhs());
                    out.push_str(", ");
                    self.expr(out, b.rhs());
                    out.push(')');
                }
                op => {
                    let same = b.lhs().as_binary().is_some_and(|(o, _, r)| o == op && *r != Expr::Const(-1));
                    self.operand(out, b.lhs(), same || precedence(b.lhs()) == Precedence::Leaf);
                    out.push_str(match (op, self.style) {
                        (BinaryOp::Mul, _) => " * ",
                        (BinaryOp::Mod, _) => " mod ",
                        (BinaryOp::FloorDiv, PrintStyle::Floordiv) => " floordiv ",
                        (BinaryOp::FloorDiv, PrintStyle::Symbolic) => " / ",
                        _ => " ceildiv ",
                    });
                    self.operand(out, b.rhs(), precedence(b.rhs()) == Precedence::Leaf);
                }
            },
        }
    }

    /// Prints `lhs + rhs`, as a subtraction if `rhs` is negative.
    fn sum(&self, out: &mut String, lhs: &Expr, rhs: &Expr) {
        self.expr(out, lhs);
        match rhs {
            Expr::Const(c) if *c < 0 => _ = write!(out, " - {}", c.unsigned_abs()),
            _ => match rhs.as_scaled() {
                // The parser folds a minus before a sum into the multiplier only for a plain product.
                Some((x, -1)) => {
                    out.push_str(" - ");
                    self.operand(out, x, x.as_scaled().is_none() && precedence(x) > Precedence::Sum);
                }
                Some((x, c)) if c < 0 && c != i64::MIN => {
                    out.push_str(" - ");
                    let same =
                        x.as_binary().is_some_and(|(o, _, r)| o == BinaryOp::Mul && *r != Expr::Const(-1));
                    self.operand(out, x, same || precedence(x) == Precedence::Leaf);
                    _ = write!(out, " * {}", c.unsigned_abs());
                }
                _ => {
                    out.push_str(" + ");
                    self.operand(out, rhs, precedence(rhs) > Precedence::Sum);
                }
            },
        }
    }

    fn operand(&self, out: &mut String, e: &Expr, bare: bool) {
        if bare {
            self.expr(out, e);
        } else {
            out.push('(');
            self.expr(out, e);
            out.push(')');
        }
    }
}

/// The precedence of the outermost operator. A leaf, `min`, `max` or a negation binds tighter than any
/// operator.
fn precedence(e: &Expr) -> Precedence {
    match e.as_binary() {
        None | Some((BinaryOp::Max | BinaryOp::Min, ..)) => Precedence::Leaf,
        Some((BinaryOp::Mul, _, Expr::Const(-1))) => Precedence::Leaf,
        Some((BinaryOp::Add, ..)) => Precedence::Sum,
        Some(_) => Precedence::Product,
    }
}

/// Whether the expression can follow a minus sign; a constant there would read as a negative constant.
fn negates_plainly(e: &Expr) -> bool {
    matches!(e, Expr::Var(_)) || matches!(e.as_binary(), Some((BinaryOp::Max | BinaryOp::Min, ..)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parse_map;

    /// Checks that the text prints as itself after parsing.
    #[track_caller]
    fn check(text: &str) {
        let map = parse_map(&format!(
            "(d0, d1)[s0] -> ({text}), domain: d0 in [0, 9], d1 in [0, 9], s0 in [-1, 1], d0 mod 2 in [0, 0], d0 + d1 in [0, 5]"
        ))
        .unwrap();
        assert_eq!(print_expr(&map.results()[0], &map, PrintStyle::Symbolic), text);
        let again = parse_map(&map.to_string()).unwrap();
        assert_eq!(again, map);
    }

    #[test]
    fn parentheses_where_needed() {
        check("(s0 mod 3) * 4");
        check("(d0 * 2) mod 3");
        check("(d0 / 8) mod 512");
        check("d0 / 100 / 128");
        check("d0 mod 32 mod 16");
        check("(d0 + d1) * 4 + s0");
        check("d0 * (d1 * s0)");
        check("d0 + (d1 + s0)");
        check("min(d0, d1 + 1) * 2");
        check("d0 mod (d1 mod s0)");
    }

    #[test]
    fn minus_signs() {
        check("-d0");
        check("-d0 mod 2");
        check("-((d0 + d1) / 10) + s0");
        check("d0 - s0 * 3");
        check("d0 - 5");
        check("d0 - (d1 + s0)");
        check("(d0 / 8) * -3 + d1");
        check("d0 * -3");
        check("d0 - 9223372036854775808");
        check("-9223372036854775808");
        check("-(d0 mod 2)");
    }

    #[test]
    fn constraints_are_sorted_by_text() {
        let map =
            parse_map("(d0) -> (d0), domain: d0 in [0, 9], d0 mod 3 in [0, 0], d0 * d0 in [0, 9]").unwrap();
        assert_eq!(
            map.to_string(),
            "(d0) -> (d0), domain: d0 in [0, 9], d0 * d0 in [0, 9], d0 mod 3 in [0, 0]"
        );
    }
}
