//! Descriptions of maps: a transpose, a broadcast, a slice.

use indexing_map::{Expr, IndexingMap};

/// Describes the map, most specific first. `name` prints an expression.
pub fn words(map: &IndexingMap, name: &dyn Fn(&Expr) -> String) -> Vec<String> {
    if !map.is_mapped() {
        return Vec::new();
    }
    let results = map.results();
    if map.is_identity() {
        return vec!["identity".to_owned()];
    }
    let mut found = Vec::new();
    if !results.is_empty() && results.iter().all(|e| e.as_const().is_some()) {
        found.push("constant".to_owned());
        return found;
    }
    let plain: Vec<u32> = results.iter().filter_map(Expr::as_var).collect();
    let is_increasing = plain.windows(2).all(|w| w[0] < w[1]);
    if plain.len() == results.len() && !is_increasing {
        let order: Vec<String> = results.iter().map(name).collect();
        let mut distinct = plain.clone();
        distinct.sort_unstable();
        distinct.dedup();
        found.push(match distinct.len() == plain.len() {
            true => format!("transposes: order {}", order.join(", ")),
            false => "takes a diagonal".to_owned(),
        });
    }
    let (mut shifted, mut strided, mut reversed) = (Vec::new(), Vec::new(), Vec::new());
    let (mut fixed, mut splits, mut joins, mut windows) = (0, Vec::new(), Vec::new(), Vec::new());
    for e in results {
        let mut terms = e.summands();
        // Whether a term is the same for all points.
        let is_fixed = |t: &Expr| {
            let mut fixed = true;
            t.for_each_var(&mut |v| fixed &= v as usize >= map.num_dims() + map.num_ranges());
            fixed
        };
        let is_shifted = terms.iter().any(|t| is_fixed(t) && t.as_const() != Some(0));
        terms.retain(|t| !is_fixed(t));
        match terms.as_slice() {
            [] => fixed += 1,
            [term] => {
                let (x, c) = term.as_scaled().unwrap_or((term, 1));
                match (x.as_var(), c) {
                    (None, _) => splits.push(name(e)),
                    (Some(_), 1) if is_shifted => shifted.push(name(e)),
                    (Some(_), 1) => {}
                    (Some(_), c) if c < 0 => reversed.push(name(e)),
                    (Some(_), _) => strided.push(name(e)),
                }
            }
            terms => {
                let variable = |t: &&Expr| t.as_scaled().map_or(*t, |(x, _)| x).as_var();
                let is_linear = terms.iter().all(|t| variable(t).is_some());
                let in_ranges = |t: &&Expr| variable(t).is_some_and(|v| v as usize >= map.num_dims());
                match is_linear {
                    true if terms.iter().any(in_ranges) && !terms.iter().all(in_ranges) => {
                        windows.push(name(e))
                    }
                    true => joins.push(name(e)),
                    false => splits.push(name(e)),
                }
            }
        }
    }
    let mut say = |what: &str, list: Vec<String>| {
        if !list.is_empty() {
            found.push(format!("{what} {}", list.join(", ")));
        }
    };
    say("reverses:", reversed);
    say("takes every so many:", strided);
    say("starts further on:", shifted);
    say("splits and joins dimensions, as a reshape:", splits);
    say("joins dimensions:", joins);
    say("slides a window:", windows);
    if fixed > 0 {
        found.push(match fixed {
            1 => "fixes one result".to_owned(),
            n => format!("fixes {n} results"),
        });
    }
    let mut used = vec![false; map.variables().len()];
    results.iter().for_each(|e| e.for_each_var(&mut |v| used[v as usize] = true));
    let unused: Vec<String> = (0..map.num_dims())
        .filter(|&id| !used[id] && map.variables()[id].bounds.as_point().is_none())
        .map(|id| name(&Expr::var(id)))
        .collect();
    if !unused.is_empty() {
        found.push(format!("the same for every {}, as a broadcast", unused.join(", ")));
    }
    if found.is_empty() {
        found.push("a selection of the dimensions".to_owned());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::injectivity::{Injectivity, injectivity};
    use indexing_map::{PrintStyle, parse_map, print_expr};

    fn check(text: &str, expect: &[&str], is: Injectivity) {
        let map = parse_map(text).expect("it is a map");
        let name = |e: &Expr| print_expr(e, &map, PrintStyle::Floordiv);
        assert_eq!(words(&map, &name), expect, "{text}");
        assert_eq!(injectivity(&map), is, "{text}");
    }

    #[test]
    fn maps_in_words() {
        use Injectivity::*;
        check("(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 4]", &["identity"], Bijective);
        check(
            "(d0, d1) -> (d1, d0), domain: d0 in [0, 999], d1 in [0, 4000]",
            &["transposes: order d1, d0"],
            Bijective,
        );
        check(
            "(d0, d1) -> (d1), domain: d0 in [0, 3], d1 in [0, 4]",
            &["the same for every d0, as a broadcast"],
            Not,
        );
        check(
            "(d0) -> (d0 * 2 + 3), domain: d0 in [0, 99999]",
            &["takes every so many: d0 * 2 + 3"],
            Injective,
        );
        check("(d0) -> (d0, d0), domain: d0 in [0, 3]", &["takes a diagonal"], Injective);
        check(
            "(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 79999]",
            &["splits and joins dimensions, as a reshape: d0 floordiv 8, d0 mod 8"],
            Bijective,
        );
        check(
            "(d0, d1) -> (d0 * 100 + d1), domain: d0 in [0, 999], d1 in [0, 99]",
            &["joins dimensions: d0 * 100 + d1"],
            Bijective,
        );
        check(
            "(d0, d1) -> (d0 * 100 + d1), domain: d0 in [0, 999], d1 in [0, 100]",
            &["joins dimensions: d0 * 100 + d1"],
            Unknown,
        );
        check("(d0) -> (5), domain: d0 in [0, 3]", &["constant"], Not);
        check("(d0) -> (-d0 + 3), domain: d0 in [0, 3]", &["reverses: -d0 + 3"], Bijective);
        check(
            "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 3], s0 in [0, 2]",
            &["slides a window: d0 + s0"],
            Not,
        );
    }
}
