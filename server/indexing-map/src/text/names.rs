//! Maps with descriptive variable names: `batch`, `k`, `row`.

use std::sync::Arc;

use crate::map::{IndexingMap, Variable};
use crate::text::parse::{is_default_of_any_kind, is_name};
use crate::text::{PrintStyle, domain_short, print_map};

impl IndexingMap {
    /// Returns the map with its variables named, by flat id. A name is not used if it is empty, is not a name
    /// in the text form (`[a-zA-Z_][a-zA-Z0-9_]*`, not an operator), looks like a default name (`d0`, `s1`,
    /// `rt2`) or occurs twice. Such a variable, and those past the end of the list, keep their names, or get
    /// default names where those would be ambiguous. So the printed text parses back to the same map.
    #[must_use]
    pub fn with_names(&self, names: &[&str]) -> IndexingMap {
        let mut map = self.clone();
        for (v, name) in map.variables.iter_mut().zip(names) {
            let unique = names.iter().filter(|n| *n == name).count() == 1;
            if unique && is_name(name) && !is_default_of_any_kind(name) {
                v.name = Some(Arc::from(*name));
            }
        }
        // A previous name of one variable may be the new name of another.
        let given = |v: &Variable, id: usize| v.name.as_deref() == names.get(id).copied();
        for id in 0..map.variables.len() {
            let clash = !given(&map.variables[id], id)
                && map.variables[id].name.is_some()
                && map.variables.iter().enumerate().any(|(j, w)| j != id && w.name == map.variables[id].name);
            if clash {
                map.variables[id].name = None;
            }
        }
        map
    }
}

/// Prints the map like [`print_map`], with these variable names by flat id ([`IndexingMap::with_names`]).
pub fn print_named(map: &IndexingMap, names: &[&str], style: PrintStyle) -> String {
    print_map(&map.with_names(names), style)
}

/// Prints the domain like [`domain_short`], with these variable names by flat id
/// ([`IndexingMap::with_names`]).
pub fn domain_short_named(map: &IndexingMap, names: &[&str], style: PrintStyle) -> String {
    domain_short(&map.with_names(names), style)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{parse_map, wrap};

    const MAP: &str = "(d0, d1)[s0] -> (d0, s0 floordiv 2), domain: d0 in [0, 3], d1 in [0, 7], s0 in [0, 15], d1 + s0 in [0, 20]";

    #[track_caller]
    fn check(names: &[&str], expect: &str) {
        let map = parse_map(MAP).unwrap();
        let text = print_named(&map, names, PrintStyle::Floordiv);
        assert_eq!(text, expect);
        assert_eq!(parse_map(&text).unwrap(), map);
    }

    #[test]
    fn variables_are_called_what_they_are() {
        check(
            &["batch", "row", "k"],
            "(batch, row)[k] -> (batch, k floordiv 2), domain: batch in [0, 3], row in [0, 7], k in [0, 15], row + k in [0, 20]",
        );
        let map = parse_map(MAP).unwrap();
        assert_eq!(
            domain_short_named(&map, &["batch", "", "k"], PrintStyle::Floordiv),
            "batch ≤ 3, d1 ≤ 7, k ≤ 15, d1 + k ≤ 20"
        );
        let text = print_named(&map, &["batch", "row", "k"], PrintStyle::Symbolic);
        assert_eq!(
            wrap(&text, 50),
            "(batch, row)[k] -> (batch, k / 2),\n  domain: batch in [0, 3], row in [0, 7],\n  k in [0, 15], row + k in [0, 20]"
        );
    }

    #[test]
    fn names_that_would_mislead_are_not_used() {
        let same = parse_map(MAP).unwrap().to_string();
        check(&["k", "k"], &same);
        check(&["mod", "min", "4x"], &same);
        check(&["s0", "d5", "a b"], &same);
        check(&["", "", "", "beyond"], &same);
    }

    /// Whatever the names were and are, the printed map is the same map, with each new name that is a name and unique.
    #[test]
    fn named_maps_parse_back() {
        let names = ["", "i", "j", "row", "row", "d0", "s0", "mod", "4x", "_k"];
        let mut random = random::Rng::new(2);
        for _ in 0..2000 {
            let mut map = parse_map(MAP).unwrap();
            let olds = random.permutation(4);
            (0..3).for_each(|id| map.rename(id, [None, Some("i"), Some("j"), Some("row")][olds[id]]));
            let given: Vec<&str> = (0..random.range(0, 4)).map(|_| *random.pick(&names)).collect();
            let named = map.with_names(&given);
            let text = named.to_string();
            assert_eq!(parse_map(&text).as_ref(), Ok(&map), "{text}");
            for (id, name) in given.iter().enumerate().take(3) {
                let is_used = ["i", "j", "row", "_k"].contains(name)
                    && given.iter().filter(|other| *other == name).count() == 1;
                let before = map.variables()[id].name.as_deref();
                let after = named.variables()[id].name.as_deref();
                assert!(is_used == (after == Some(name)) || !is_used && after == before, "{given:?} {text}");
            }
            let old = |id: usize| map.variables()[id].name.as_deref();
            for id in given.len()..3 {
                if old(id).is_some_and(|name| !given.contains(&name)) {
                    assert_eq!(named.variables()[id].name.as_deref(), old(id), "{given:?} {text}");
                }
            }
        }
    }

    #[test]
    fn new_names_win_over_old_ones() {
        let map = parse_map("(x, y) -> (x - y), domain: x in [0, 3], y in [0, 4]").unwrap();
        assert_eq!(
            print_named(&map, &["y"], PrintStyle::Floordiv),
            "(y, d1) -> (y - d1), domain: y in [0, 3], d1 in [0, 4]"
        );
    }
}
