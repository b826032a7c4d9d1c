//! For tests: functions of MLIR around one op, and the comparison of its maps with the elements that it reads.
//!
//! A test writes an op with some extents unknown ([`ty`], [`function`]), computes what the op reads on arrays of
//! known extents, and compares with the maps, evaluated at each index ([`check_reads`]).

use std::collections::BTreeMap;

pub use generators::mlir::{Value, expression, flags, indices, tensor, ty, vector, window};
use indexing_map::IndexingMap;
use mlir::{OpId, Parse, PieceState, parse};
use mlir_indexing::{Access, OpMaps, Role, SymbolSource, op_maps};
use mlir_ops::Source;
pub use random::Rng;

/// The elements read, by operand name and index, with the number of reads.
pub type Reads = BTreeMap<(String, Vec<i64>), usize>;

pub fn read(reads: &mut Reads, operand: &str, index: Vec<i64>) {
    *reads.entry((operand.to_owned(), index)).or_default() += 1;
}

/// The maps of a result of an op.
pub type MapsOf = fn(&Source<'_>, OpId, usize) -> Option<Result<OpMaps, String>>;

pub struct Read {
    pub text: String,
    pub parse: Parse,
    pub maps_of: MapsOf,
}

impl Read {
    /// Reads a text. Its op is the last one with a result, or the last one.
    pub fn of(text: String) -> Read {
        let parse = parse(&text, PieceState::default());
        assert_eq!(parse.errors, [], "{text}");
        let maps_of: MapsOf =
            |source, id, result| Some(op_maps(source, id, result)?.map_err(|e| e.to_string()));
        Read { text, parse, maps_of }
    }

    pub fn op(&self, name: &str) -> OpId {
        let is_it = |id: &OpId| self.parse.name(*id, &self.text) == name;
        (0..self.parse.ops.len() as OpId).rfind(is_it).expect("the op is there")
    }

    pub fn maps(&self, name: &str) -> OpMaps {
        self.result_maps(name, 0)
    }

    pub fn result_maps(&self, name: &str, result: usize) -> OpMaps {
        let source = Source::alone(&self.parse, &self.text);
        match (self.maps_of)(&source, self.op(name), result) {
            Some(Ok(maps)) => maps,
            other => panic!("{other:?} for\n{}", self.text),
        }
    }
}

/// A number for each symbol, by its description (`%n`, `dim(%a, 0)`) and, for array elements, their index.
pub type Values<'a> = dyn Fn(&str, &[i64]) -> Option<i64> + 'a;

/// The elements that an access reads or writes at a point of the space, over all values of the range
/// variables.
pub fn evaluated(access: &Access, point: &[i64], values: &Values<'_>) -> Vec<Vec<i64>> {
    let map = &access.map;
    assert!(!map.is_undefined(), "{access:?}");
    if map.is_known_empty() {
        return Vec::new();
    }
    assert_eq!(map.num_dims(), point.len(), "{map}");
    // A symbol's value may bound a range; unbounded ranges are tried up to the size of the tests' arrays.
    let ranges: Vec<Vec<i64>> = map
        .ranges()
        .iter()
        .map(|v| (v.bounds.lower..=v.bounds.upper.min(v.bounds.lower + 40)).collect())
        .collect();
    let mut found = Vec::new();
    let mut at = vec![0; ranges.len()];
    if ranges.iter().any(Vec::is_empty) {
        return found;
    }
    loop {
        let mut all = point.to_vec();
        all.extend(at.iter().zip(&ranges).map(|(&i, r)| r[i]));
        let symbols: Vec<i64> = access
            .symbols
            .iter()
            .map(|s| {
                let index: Vec<i64> = s.index.iter().map(|e| e.evaluate(&all).expect("a place")).collect();
                let name = match &s.source {
                    SymbolSource::Element { name, .. } => name.clone(),
                    _ => s.describe(map),
                };
                values(&name, &index).unwrap_or_else(|| panic!("a value for {name}"))
            })
            .collect();
        all.extend(symbols);
        found.extend(map.evaluate(&all));
        let Some(k) = (0..at.len()).rev().find(|&k| at[k] + 1 < ranges[k].len()) else { break };
        at[k] += 1;
        at[k + 1..].fill(0);
    }
    found
}

/// Every element of the result reads exactly what `expect` returns, with the same multiplicity.
pub fn check_reads(
    read: &Read,
    name: &str,
    result: &[i64],
    values: &Values<'_>,
    expect: &dyn Fn(&[i64]) -> Reads,
) {
    check(read, name, result, values, expect, |reads| reads);
}

/// [`check_reads`] without multiplicities.
pub fn check_places(
    read: &Read,
    name: &str,
    result: &[i64],
    values: &Values<'_>,
    expect: &dyn Fn(&[i64]) -> Reads,
) {
    check(read, name, result, values, expect, |reads| reads.into_keys().map(|key| (key, 1)).collect());
}

fn check(
    read: &Read,
    name: &str,
    result: &[i64],
    values: &Values<'_>,
    expect: &dyn Fn(&[i64]) -> Reads,
    counted: fn(Reads) -> Reads,
) {
    let maps = read.maps(name);
    for point in indices(result) {
        let mut found = Reads::new();
        let mut pending: Vec<&Access> = Vec::new();
        // For a scalar, only a note says that it is read where nothing else is.
        let is_rest = |a: &&Access| {
            let words = ["outside", "around"];
            a.map.results().is_empty()
                && a.note.as_deref().is_some_and(|n| words.iter().any(|w| n.starts_with(w)))
        };
        for access in &maps.accesses {
            assert_eq!(access.role, Role::Read);
            if is_rest(&access) {
                pending.push(access);
                continue;
            }
            for place in evaluated(access, &point, values) {
                self::read(&mut found, &access.operand, place);
            }
        }
        for access in pending {
            if found.is_empty() {
                for place in evaluated(access, &point, values) {
                    self::read(&mut found, &access.operand, place);
                }
            }
        }
        let shown: Vec<_> = maps.accesses.iter().map(|a| format!("{}: {}", a.operand, a.map)).collect();
        assert_eq!(
            counted(found),
            counted(expect(&point)),
            "{point:?} of\n{}\n{}",
            read.text,
            shown.join("\n")
        );
    }
}

/// A single read element.
pub fn one(operand: &str, index: Vec<i64>) -> Reads {
    let mut reads = Reads::new();
    read(&mut reads, operand, index);
    reads
}

/// The values for texts without symbols.
pub fn none(_: &str, _: &[i64]) -> Option<i64> {
    None
}

/// A function around one op.
pub fn function(arguments: &[String], op: &str) -> Read {
    Read::of(format!("func.func @f({}) {{\n  {op}\n  return\n}}\n", arguments.join(", ")))
}

/// The value of `dim(%a, 1)` for arrays with these shapes.
pub fn extent(name: &str, shapes: &[(&str, &[i64])]) -> Option<i64> {
    let (array, k) = name.strip_prefix("dim(")?.strip_suffix(')')?.split_once(", ")?;
    let (_, shape) = shapes.iter().find(|(n, _)| *n == array)?;
    shape.get(k.parse::<usize>().ok()?).copied()
}

/// The values of an access's variables by name: loops, then symbols.
pub fn point(access: &Access, map: &IndexingMap, values: &dyn Fn(&str) -> i64) -> Vec<i64> {
    let dims = map.dims().iter().map(|v| values(&format!("%{}", v.name.as_deref().expect("a name"))));
    let symbols = access.symbols.iter().map(|s| match &s.source {
        SymbolSource::Element { .. } => panic!("no elements here"),
        _ => values(&s.describe(map)),
    });
    dims.chain(symbols).collect()
}
