//! Names for new values.

use rustc_hash::{FxHashMap, FxHashSet};

use mlir::{Definition, OpId};
use mlir_ops::{OpKind, Source, constant_integer};

/// Unused value names of a function, and its existing constants.
#[derive(Debug, Default)]
pub struct Names {
    taken: FxHashSet<String>,
    /// Values of type `index` that are visible at the op, by number.
    constants: FxHashMap<i64, String>,
}

/// The largest number of preceding ops that are searched for constants.
const MAX_LOOKED_AT: usize = 4096;

impl Names {
    /// The names for new code before `op`. All names of the function count as taken, because regions see only
    /// some of each other's names.
    pub fn around<'a>(source: &'a Source<'a>, op: OpId) -> Names {
        let (parse, text) = (source.parse, source.text);
        let mut names = Names::default();
        let without_index = |name: &str| name.split('#').next().unwrap_or_default().to_owned();
        let path = parse.path_to(op);
        let isolated = path.iter().rev().map(|&id| parse.op(id)).find(|op| op.is_isolated);
        let is_seen =
            |at: u32| isolated.is_none_or(|function| function.span.start <= at && at < function.span.end);
        let values = parse.values.iter().map(|v| v.name).filter(|name| is_seen(name.start));
        names.taken.extend(values.map(|name| name.of(text).to_owned()));
        let uses = parse.uses.iter().map(|u| u.span).filter(|name| is_seen(name.start));
        names.taken.extend(uses.map(|name| without_index(name.of(text))));
        let mut looked_at = 0;
        for &at in path.iter().rev() {
            let Some(block) = parse.op(at).block else { break };
            for before in parse.ops_of(block).take_while(|&id| id < at) {
                looked_at += 1;
                if looked_at > MAX_LOOKED_AT {
                    return names;
                }
                if let Some(number) = index_constant(source, before) {
                    let name = parse.values[parse.op(before).results.start as usize].name.of(text);
                    names.constants.entry(number).or_insert_with(|| name.to_owned());
                }
            }
            if parse.parent(at).is_none_or(|parent| parse.op(parent).is_isolated) {
                break;
            }
        }
        names
    }

    /// `%stem`, or `%stem_0` and so on if it is taken.
    pub fn fresh(&mut self, stem: &str) -> String {
        let mut name = format!("%{stem}");
        let mut n = 0;
        while !self.taken.insert(name.clone()) {
            name = format!("%{stem}_{n}");
            n += 1;
        }
        name
    }

    pub(crate) fn constant(&self, number: i64) -> Option<&str> {
        self.constants.get(&number).map(String::as_str)
    }

    pub(crate) fn note_constant(&mut self, number: i64, name: &str) {
        self.constants.insert(number, name.to_owned());
    }
}

/// The number of `%c4 = arith.constant 4 : index`.
pub(crate) fn index_constant<'a>(source: &'a Source<'a>, op: OpId) -> Option<i64> {
    let (parse, text) = (source.parse, source.text);
    let (kind, results) = (source.op(op), &parse.op(op).results);
    if !matches!(kind, OpKind::Constant | OpKind::IndexConstant) || results.len() != 1 {
        return None;
    }
    let value = &parse.values[results.start as usize];
    if value.count != 1 || !matches!(value.definition, Definition::Result(_)) {
        return None;
    }
    let is_index = kind == OpKind::IndexConstant || parse.type_of(results.start, 0, text)? == "index";
    constant_integer(parse, text, op).filter(|_| is_index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlir::{PieceState, parse};

    #[test]
    fn names_are_new_and_constants_are_found() {
        let text = r#"func.func @f(%c4: index) {
  %c0 = arith.constant 0 : index
  %k = "arith.constant"() <{value = 7 : index}> : () -> index
  %i = arith.constant 3 : i32
  scf.if %a {
    %z = arith.constant 1 : index
    x.y %b#1
  }
  %l = arith.constant 9 : index
}
"#;
        let parse = parse(text, PieceState::default());
        let source = Source::alone(&parse, text);
        let at = parse.ops.iter().position(|op| op.name.of(text) == "x.y").expect("it is there");
        let mut names = Names::around(&source, at as OpId);
        let found: Vec<_> = [0, 7, 3, 1, 9].map(|n| names.constant(n).map(str::to_owned)).into();
        assert_eq!(found, [Some("%c0".into()), Some("%k".into()), None, Some("%z".into()), None]);
        assert_eq!(
            ["c4", "c4", "b", "new"].map(|stem| names.fresh(stem)),
            ["%c4_0", "%c4_1", "%b_0", "%new"]
        );
    }
}
