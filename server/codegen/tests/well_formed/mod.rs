//! MLIR text whose names are defined before they are used, and whose maps can be read.

use std::collections::HashSet;

/// The names in a piece of text, without the number of a result.
fn names(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for part in text.split('%').skip(1) {
        let end = part.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(part.len());
        found.push(&part[..end]);
    }
    found
}

/// What a line defines: before the first `=`, as arguments of functions and blocks, and by loops.
fn defined(line: &str) -> Vec<&str> {
    if let Some(args) = line.strip_prefix("func.func").or(line.strip_prefix("^bb0")) {
        return names(args);
    }
    let mut found = match line.split_once(" = ") {
        Some((left, _)) if left.starts_with('%') => names(left),
        _ => Vec::new(),
    };
    if let Some((_, carried)) = line.split_once("iter_args(") {
        let carried = carried.split_once(") ->").map_or(carried, |(carried, _)| carried);
        found
            .extend(carried.split(", ").filter_map(|pair| names(pair.split_once(" = ")?.0).first().copied()));
    }
    if let Some((_, rest)) = line.split_once("= scf.for ") {
        found.extend(names(rest.split_once(" = ").map_or("", |(counter, _)| counter)));
    }
    if let Some((_, rest)) = line.split_once("= xla.loop (") {
        let ranges = rest.split_once(")[").and_then(|(_, rest)| rest.split_once(" in #"));
        found.extend(names(ranges.map_or("", |(ranges, _)| ranges)));
    }
    found
}

/// Panics with the line that is wrong.
#[track_caller]
pub fn check_mlir(text: &str, pass: &str) {
    let mut open: Vec<HashSet<&str>> = vec![HashSet::new()];
    let mut maps = HashSet::new();
    for line in text.lines() {
        let line = line.trim();
        if let Some((name, map)) = line.split_once(" = #xla.indexing_map<\"") {
            let map = map.trim_end_matches("\">");
            let read = indexing_map::parse_map(map);
            assert!(read.is_ok(), "after {pass}: {map}: {:?}", read.err());
            maps.insert(name);
            continue;
        }
        if line.starts_with("//") {
            continue;
        }
        if line.starts_with('}') {
            open.pop();
        }
        if line.starts_with("module @") {
            maps.extend(["#xla"]);
        }
        let own = defined(line);
        for name in names(line) {
            let is_known = own.contains(&name) || open.iter().any(|scope| scope.contains(name));
            assert!(is_known, "after {pass}: %{name} in `{line}`\n{text}");
        }
        if let Some((_, map)) = line.split_once("#indexing_map") {
            let end = map.find(|c: char| !c.is_ascii_digit()).unwrap_or(map.len());
            let name = format!("#indexing_map{}", &map[..end]);
            assert!(maps.contains(name.as_str()), "after {pass}: {name}\n{text}");
        }
        let opens = line.ends_with('{') || line.starts_with("^bb0");
        if line.ends_with('{') {
            // Results of the op itself are seen behind it; what its regions begin with is seen inside.
            let results: HashSet<&str> = own.iter().copied().collect();
            if let (Some(scope), true) = (open.last_mut(), line.starts_with('%')) {
                scope.extend(results.iter().copied());
            }
            open.push(results);
        } else if let Some(scope) = open.last_mut() {
            scope.extend(own);
        }
        debug_assert!(opens || !line.ends_with('{'));
    }
}
