//! What the tests share: random numbers, functions around one op, and maps against what an op reads.

#![allow(dead_code)]

use std::collections::BTreeMap;
use std::ops::Range;

use mlir::{OpId, Parse, PieceState, parse};
use mlir_indexing::{Access, OpMaps, Role, Source, SymbolSource, op_maps};

/// Numbers that look random and are the same in each run.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, range: Range<i64>) -> i64 {
        range.start + (self.next() % (range.end - range.start) as u64) as i64
    }

    pub fn flag(&mut self) -> bool {
        self.next().is_multiple_of(2)
    }

    pub fn shape(&mut self, rank: Range<i64>, extent: Range<i64>) -> Vec<i64> {
        (0..self.below(rank)).map(|_| self.below(extent.clone())).collect()
    }

    pub fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for k in (1..n).rev() {
            order.swap(k, self.below(0..k as i64 + 1) as usize);
        }
        order
    }
}

/// Some extents become `?`.
pub fn ty(kind: &str, shape: &[i64], element: &str, dynamic: &[bool]) -> String {
    let extents: String = shape
        .iter()
        .enumerate()
        .map(|(k, n)| if dynamic.get(k) == Some(&true) { "?x".to_owned() } else { format!("{n}x") })
        .collect();
    format!("{kind}<{extents}{element}>")
}

pub fn tensor(shape: &[i64]) -> String {
    ty("tensor", shape, "f32", &[])
}

/// All indices of an array, row by row.
pub fn indices(shape: &[i64]) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    for &n in shape {
        all = all.into_iter().flat_map(|i| (0..n).map(move |x| [i.clone(), vec![x]].concat())).collect();
    }
    all
}

/// What elements are read: the operand's name and the index, each as often as it is read.
pub type Reads = BTreeMap<(String, Vec<i64>), usize>;

pub fn read(reads: &mut Reads, operand: &str, index: Vec<i64>) {
    *reads.entry((operand.to_owned(), index)).or_default() += 1;
}

pub struct Read {
    pub text: String,
    pub parse: Parse,
}

impl Read {
    /// The op is the last one of its function that has a result, or the last one.
    pub fn of(text: String) -> Read {
        let parse = parse(&text, PieceState::default());
        assert_eq!(parse.errors, [], "{text}");
        Read { text, parse }
    }

    pub fn op(&self, name: &str) -> OpId {
        let is_it = |id: &OpId| self.parse.name(*id, &self.text) == name;
        (0..self.parse.ops.len() as OpId).rfind(is_it).expect("the op is there")
    }

    pub fn maps(&self, name: &str) -> OpMaps {
        let source = Source::alone(&self.parse, &self.text);
        match op_maps(&source, self.op(name), 0) {
            Some(Ok(maps)) => maps,
            other => panic!("{other:?} for\n{}", self.text),
        }
    }
}

/// A number for each symbol: by its description, `%n` or `dim(%a, 0)`; elements of arrays by their index.
pub type Values<'a> = dyn Fn(&str, &[i64]) -> Option<i64> + 'a;

/// What an access reads for a point of the space, or where it writes. Range variables go over all their values.
pub fn evaluated(access: &Access, point: &[i64], values: &Values<'_>) -> Vec<Vec<i64>> {
    let map = &access.map;
    assert!(!map.is_undefined(), "{access:?}");
    if map.is_known_empty() {
        return Vec::new();
    }
    assert_eq!(map.num_dims(), point.len(), "{map}");
    // A symbol's value may bound a range: those without a bound of their own are tried as far as the tests' arrays go.
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

/// Every element of the result reads what `expect` says, and nothing else.
pub fn check_reads(
    read: &Read,
    name: &str,
    result: &[i64],
    values: &Values<'_>,
    expect: &dyn Fn(&[i64]) -> Reads,
) {
    let maps = read.maps(name);
    for point in indices(result) {
        let mut found = Reads::new();
        let mut pending: Vec<&Access> = Vec::new();
        // Of a scalar only a note tells that it is read where nothing else is.
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
        assert_eq!(found, expect(&point), "{point:?} of\n{}\n{}", read.text, shown.join("\n"));
    }
}
