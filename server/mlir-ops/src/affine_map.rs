//! `affine_map<(d0, d1)[s0] -> (d0 + s0, d1 floordiv 4)>` and `affine_set<(d0) : (d0 - 3 >= 0)>`.
//!
//! Grammar: mlir.llvm.org/docs/Dialects/Affine.

use indexing_map::{Expr, IndexingMap, Interval, Variable};

use crate::affine_expr::{AffineReader, Names, NoAffineText};

/// An affine map as written. Its results use flat variable ids: dimensions, then symbols.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AffineMap {
    pub dims: Vec<String>,
    pub symbols: Vec<String>,
    pub results: Vec<Expr>,
}

/// An affine set: the points that satisfy all constraints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AffineSet {
    pub dims: Vec<String>,
    pub symbols: Vec<String>,
    /// For each constraint, the left side minus the right side, and the interval it must lie in.
    pub constraints: Vec<(Expr, Interval)>,
}

/// The largest number of results or variables of a map that is read.
const MAX_LIST: usize = 1024;

impl AffineMap {
    /// Parses `affine_map<…>`, or the text between its brackets. The error says what is wrong.
    pub fn parse(text: &str) -> Result<AffineMap, NoAffineText> {
        let mut reader = AffineReader::new(body(text, "affine_map"));
        let (dims, symbols) = variables(&mut reader)?;
        reader.expect("->")?;
        let names = Names { dims: &dims, symbols: &symbols };
        let results = list(&mut reader, "results", |reader| reader.sum(&mut |name| names.find(name)))?;
        Ok(AffineMap { dims, symbols, results })
    }

    /// The identity map of this many dimensions.
    pub fn identity(rank: usize) -> AffineMap {
        AffineMap {
            dims: (0..rank).map(|d| format!("d{d}")).collect(),
            symbols: Vec::new(),
            results: (0..rank).map(Expr::var).collect(),
        }
    }

    /// The dimension that each result is; `None` if a result is another expression or two results are equal.
    pub fn projected_permutation(&self) -> Option<Vec<usize>> {
        let mut found = Vec::with_capacity(self.results.len());
        for result in &self.results {
            let dim = result.as_var()? as usize;
            if dim >= self.dims.len() || found.contains(&dim) {
                return None;
            }
            found.push(dim);
        }
        Some(found)
    }

    /// The results with the variables replaced: dimensions, then symbols. `None` if the counts differ.
    pub fn apply(&self, dims: &[Expr], symbols: &[Expr]) -> Option<Vec<Expr>> {
        if dims.len() != self.dims.len() || symbols.len() != self.symbols.len() {
            return None;
        }
        let replace = |v: u32| {
            let v = v as usize;
            dims.get(v).or_else(|| symbols.get(v.checked_sub(dims.len())?)).cloned()
        };
        Some(self.results.iter().map(|r| r.substitute(&mut { replace })).collect())
    }

    /// The map over all integers. Symbols become runtime variables.
    pub fn unbounded(&self) -> IndexingMap {
        IndexingMap::new(named(&self.dims), Vec::new(), named(&self.symbols), self.results.clone())
    }
}

impl AffineSet {
    /// Parses `affine_set<…>`, or the text between its brackets.
    pub fn parse(text: &str) -> Result<AffineSet, NoAffineText> {
        let mut reader = AffineReader::new(body(text, "affine_set"));
        let (dims, symbols) = variables(&mut reader)?;
        reader.expect(":")?;
        let names = Names { dims: &dims, symbols: &symbols };
        let constraint = |reader: &mut AffineReader<'_>| {
            let left = reader.sum(&mut |name| names.find(name))?;
            let allowed = match () {
                () if reader.eat(">=") => Interval::new(0, i64::MAX),
                () if reader.eat("<=") => Interval::new(i64::MIN, 0),
                () if reader.eat("==") => Interval::point(0),
                () => return Err(NoAffineText::Expected("one of >=, <= and ==")),
            };
            Ok((left - reader.sum(&mut |name| names.find(name))?, allowed))
        };
        let constraints = list(&mut reader, "constraints", constraint)?;
        Ok(AffineSet { dims, symbols, constraints })
    }

    /// The identity map whose domain is the set.
    pub fn unbounded(&self) -> IndexingMap {
        let results = (0..self.dims.len()).map(Expr::var).collect();
        let mut map = IndexingMap::new(named(&self.dims), Vec::new(), named(&self.symbols), results);
        for (expr, allowed) in &self.constraints {
            map.add_constraint(expr.clone(), *allowed);
        }
        map
    }
}

fn named(names: &[String]) -> Vec<Variable> {
    names.iter().map(|name| Variable::named(name, i64::MIN, i64::MAX)).collect()
}

fn body<'t>(text: &'t str, head: &str) -> &'t str {
    let text = text.trim();
    let inner = text.strip_prefix(head).and_then(|rest| rest.trim_start().strip_prefix('<'));
    inner.and_then(|rest| rest.strip_suffix('>')).unwrap_or(text)
}

/// `(d0, d1 + 1)`, which ends the text; `what` names the entries.
fn list<'t, T>(
    reader: &mut AffineReader<'t>,
    what: &'static str,
    mut entry: impl FnMut(&mut AffineReader<'t>) -> Result<T, NoAffineText>,
) -> Result<Vec<T>, NoAffineText> {
    reader.expect("(")?;
    let mut found = Vec::new();
    while !reader.eat(")") {
        if !found.is_empty() {
            reader.expect(",")?;
        }
        if found.len() == MAX_LIST {
            return Err(NoAffineText::TooMany(what));
        }
        found.push(entry(reader)?);
    }
    reader.end()?;
    Ok(found)
}

/// `(d0, d1)[s0]`
fn variables(reader: &mut AffineReader<'_>) -> Result<(Vec<String>, Vec<String>), NoAffineText> {
    reader.expect("(")?;
    let dims = names(reader, ")")?;
    let symbols = if reader.eat("[") { names(reader, "]")? } else { Vec::new() };
    Ok((dims, symbols))
}

fn names(reader: &mut AffineReader<'_>, close: &str) -> Result<Vec<String>, NoAffineText> {
    let mut found: Vec<String> = Vec::new();
    while !reader.eat(close) {
        if !found.is_empty() {
            reader.expect(",")?;
        }
        let name = reader.name().ok_or(NoAffineText::Expected("the name of a variable"))?;
        if found.len() == MAX_LIST {
            return Err(NoAffineText::TooMany("variables"));
        }
        // The map of a vector may fix a dimension to 0: `d0 = 0`.
        if reader.eat("=") {
            _ = reader.number();
        }
        found.push(name.to_owned());
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use indexing_map::{PrintStyle, print_map};

    use super::*;

    fn check(text: &str, expect: &str) {
        let shown = match AffineMap::parse(text) {
            Ok(map) => {
                print_map(&map.unbounded(), PrintStyle::Floordiv).split(", domain").next().unwrap().to_owned()
            }
            Err(error) => error.to_string(),
        };
        assert_eq!(shown, expect, "{text}");
    }

    #[test]
    fn maps_are_read() {
        check("affine_map<(d0, d1) -> (d1, d0)>", "(d0, d1) -> (d1, d0)");
        check(
            "affine_map<(i)[n] -> (-i * 3 + n floordiv 2 mod 4 - 1, n ceildiv 3)>",
            "(i){n} -> (i * -3 + (n floordiv 2) mod 4 - 1, n ceildiv 3)",
        );
        check("affine_map<() -> (0)>", "() -> (0)");
        check("(d0) -> ()", "(d0) -> ()");
        check("affine_map<(d0) -> ((d0 + 1) * 2)>", "(d0) -> ((d0 + 1) * 2)");
    }

    #[test]
    fn what_is_wrong_is_said() {
        check("affine_map<(d0) -> (d1)>", "d1 is none of its variables");
        check("affine_map<(d0) -> (d0 +)>", "a number, a name or ( is expected");
        check("affine_map<(d0) -> (d0>", "`,` is expected");
        check("affine_map<(d0 d1) -> (d0)>", "`,` is expected");
        let deep = format!("affine_map<(d0) -> ({}d0)>", "(".repeat(5000));
        check(&deep, "the expression is nested too deeply");
    }

    #[test]
    fn sets_are_read() {
        let set = AffineSet::parse("affine_set<(i)[n] : (i - 3 >= 0, n - i >= 1, i mod 2 == 0)>").unwrap();
        let map = set.unbounded();
        assert!(map.contains(&[4, 9]));
        assert!(!map.contains(&[3, 9]) && !map.contains(&[2, 9]) && !map.contains(&[4, 4]));
    }
}
