//! A fast path for ops in their usual form: the parse and a few characters prove that the op has no errors,
//! without tokens or maps.
//!
//! Any other form, and anything that may be wrong, falls back to the full check.

use std::cell::RefCell;

use indexing_map::Interval;
use mlir::{Form, OpId, Use, ValueId};
use mlir_ops::{Source, leading_number};
use rustc_hash::FxHashMap;

use crate::map_builder::MapBuilder;

/// The ranges of index values. Memoised: a pass over all ops asks for each loop's variable many times.
pub(crate) struct Ranges<'a> {
    pub(crate) source: &'a Source<'a>,
    known: RefCell<FxHashMap<(ValueId, u32), Interval>>,
}

impl<'a> Ranges<'a> {
    pub(crate) fn new(source: &'a Source<'a>) -> Ranges<'a> {
        Ranges { source, known: RefCell::default() }
    }

    /// The range of an index value, however it is computed.
    fn of_use(&self, found: &Use) -> Interval {
        let Some(key) = self.source.key(found) else { return Interval::ALL };
        if let Some(known) = self.known.borrow().get(&key) {
            return *known;
        }
        let mut builder = MapBuilder::new(self.source);
        let value = builder.index_value(&self.source.operand(found));
        let range = builder.range_of(&value);
        self.known.borrow_mut().insert(key, range);
        range
    }
}

/// `%m[%i, %j]`: whether each subscript is a lone value that is always in bounds. `nth` is the accessed
/// operand.
pub(crate) fn is_inside(ranges: &Ranges<'_>, id: OpId, nth: usize) -> bool {
    all_inside(ranges, id, nth).is_some()
}

fn all_inside(ranges: &Ranges<'_>, id: OpId, nth: usize) -> Option<()> {
    let source = ranges.source;
    let (parse, text) = (source.parse, source.text);
    let op = parse.op(id);
    let uses = parse.uses_of(id);
    let array = uses.get(nth).filter(|_| uses[..=nth].iter().all(|u| u.is_operand))?;
    let before = text.get(op.name.end as usize..array.span.start as usize)?;
    let is_plain = op.form == Form::Custom && !before.contains(['[', '(', '<', '{', ':', '=', '"', '/']);
    let (value, index) = source.key(array).filter(|_| is_plain)?;
    let ty = parse.type_of(value, index as usize, text)?;
    let mut extents = ty.strip_prefix("tensor<").or_else(|| ty.strip_prefix("memref<"))?;
    let mut at = array.span.end as usize;
    let mut sign = b'[';
    for used in &uses[nth + 1..] {
        let is_next = text.as_bytes().get(at) == Some(&sign)
            && text.get(at + 1..used.span.start as usize)?.bytes().all(|b| b == b' ');
        let (extent, behind) = leading_number(extents).filter(|_| is_next)?;
        if !Interval::from_size(extent).contains_interval(ranges.of_use(used)) {
            return None;
        }
        extents = behind.strip_prefix('x')?;
        at = used.span.end as usize;
        sign = b',';
        if text.as_bytes().get(at) == Some(&b']') {
            // The rest is the element type, not another extent.
            return extents.starts_with(|c: char| c.is_ascii_alphabetic() || c == '!').then_some(());
        }
    }
    None
}

/// `affine_map<(d0, d1) -> (d0 + d1)>(%i, %j)`: whether the numbers of arguments and results match.
pub(crate) fn has_its_arguments(source: &Source<'_>, id: OpId) -> bool {
    let op = source.parse.op(id);
    let counts = || {
        let written = source.text.get(op.name.end as usize..op.head.end as usize)?;
        let (dims, rest) = parts(written.trim_start_matches(' ').strip_prefix("affine_map<(")?)?;
        let (results, rest) = parts(rest.strip_prefix(" -> (")?)?;
        let (given, rest) = parts(rest.strip_prefix(">(")?)?;
        rest.trim_end().is_empty().then_some((dims, results, given))
    };
    let Some((dims, results, given)) = counts() else { return false };
    op.form == Form::Custom && dims == given && results == source.result_count(id)
}

/// The number of comma-separated parts up to the closing parenthesis, and the text after it. `None` if a part
/// is empty, or contains anything but names, numbers and arithmetic operators.
fn parts(text: &str) -> Option<(usize, &str)> {
    let (mut depth, mut count, mut has_part) = (0usize, 1, false);
    for (at, b) in text.bytes().enumerate() {
        match b {
            b' ' => {}
            b',' if depth == 0 && has_part => (count, has_part) = (count + 1, false),
            b')' if depth == 0 && has_part => return Some((count, &text[at + 1..])),
            b')' if depth == 0 && count == 1 => return Some((0, &text[at + 1..])),
            b'(' => depth += 1,
            b')' if depth > 0 => depth -= 1,
            b'%' | b'#' | b'_' | b'+' | b'-' | b'*' => has_part = true,
            _ if b.is_ascii_alphanumeric() => has_part = true,
            _ => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use mlir::{PieceState, parse};

    use super::*;
    use crate::checks::check_all;

    const BOUNDS: [&str; 12] =
        ["0", "1", "5", "7", "%c0", "%c1", "%c5", "%c9", "%n", "-1", "0x4", "99999999999999999999"];

    fn module(body: &str) -> String {
        format!(
            r#"func.func @f(%n: index, %m: memref<5x7xf32>, %t: tensor<5x?xf32>, %u: tensor<7x5x!q.u<i8>>) {{
%c0 = arith.constant 0 : index
%c1 = arith.constant 1: index
%c5 = index.constant 5
%c9 = "arith.constant"() {{value = 9 : index}} : () -> index
{body}return
}}
"#
        )
    }

    /// The fast path agrees with the full check: ops that it accepts have no findings.
    #[test]
    fn what_is_plain_is_what_all_of_it_says() {
        let (mut inside, mut agreeing) = (0, 0);
        let mut check = |body: &str| {
            let text = module(body);
            let parsed = parse(&text, PieceState::default());
            let source = Source::alone(&parsed, &text);
            let known = Ranges::new(&source);
            for id in 0..parsed.ops.len() as OpId {
                let name = parsed.name(id, &text);
                let nth = usize::from(name.ends_with("store") || name.ends_with("insert"));
                let is_point = ["load", "store", "extract", "insert"].iter().any(|n| name.ends_with(n));
                let is_plain = match name {
                    "affine.apply" => has_its_arguments(&source, id),
                    _ => is_point && is_inside(&known, id, nth),
                };
                if is_plain {
                    assert_eq!(check_all(&source, id), [], "{text}");
                    *(if is_point { &mut inside } else { &mut agreeing }) += 1;
                }
            }
        };
        let accesses = [
            "%x = affine.load %m[%i, %j] : memref<5x7xf32>\n",
            "%x = memref.load %m[%i,%j] : memref<5x7xf32>\n",
            "%x = memref.load %m [%i, %j] : memref<5x7xf32>\n",
            "%x = memref.load %m[%j, %i] : memref<5x7xf32>\n",
            "%x = memref.load %m[%i] : memref<5x7xf32>\n",
            "%x = memref.load %m[%i, %j, %i] : memref<5x7xf32>\n",
            "%x = tensor.extract %t[%i, %j] : tensor<5x?xf32>\n",
            "%x = tensor.extract %u[%j, %i] : tensor<7x5x!q.u<i8>>\n",
            "%x = affine.load %m[%i + 1, %j] : memref<5x7xf32>\n",
            "%f = arith.constant 1.0 : f32 memref.store %f, %m[%i, %j] : memref<5x7xf32>\n",
            "%x = \"memref.load\"(%m, %i, %j) : (memref<5x7xf32>, index, index) -> f32\n",
            "%x = affine.apply affine_map<(a, b) -> (a * (b + 2))>(%i, %j)\n",
            "%x = affine.apply affine_map<(a, b) -> (a, b)>(%i, %j)\n",
            "%x = affine.apply affine_map<(a)[b] -> (a)>(%i)[%j]\n",
            "%x = affine.apply affine_map<(a,) -> (a)>(%i)\n",
            "%x:2 = affine.apply affine_map<(a, b) -> (a mod 2, b)>(%i, %j)\n",
            "%x = affine.apply affine_map<(a) -> (a)>(%i, %j)\n",
            "%x = affine.apply affine_map<() -> (3)>()\n",
        ];
        for lower in BOUNDS {
            for upper in BOUNDS {
                for tail in [
                    "{",
                    "step 1 {",
                    "step %c1 {",
                    "step 2 {",
                    "step %n {",
                    "step 0x1 {",
                    "// c\n step 2 {",
                    "x {",
                ] {
                    let inner: String = accesses.concat();
                    check(&format!(
                        "\
affine.for %i = {lower} to {upper} {tail}
scf.for %j = %c0 to {upper} {tail}
{inner}}}
}}
"
                    ));
                }
            }
        }
        assert!(inside > 100 && agreeing > 1000, "{inside} {agreeing}");
    }
}
