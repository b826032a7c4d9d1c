//! Windows of collapsed tensors.

use random::Rng;

use super::Program;
use super::builder::Builder;
use super::groups::{divisor_of, divisors, groups, large_groups};
use super::types::{ELEMENTS, partial as ty};
use super::windows::Window;

/// The elements taken along a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    All,
    Any,
    One,
    Strided,
    /// Within one row of a collapsed dimension, with whole rows after it.
    Box,
    /// A tile per iteration of an enclosing loop.
    Tile,
    /// Many rows.
    Rows,
}

/// The kinds of elements to take. Some are more frequent, so that every form of new code occurs.
const KINDS: [Kind; 9] = [
    Kind::All,
    Kind::Any,
    Kind::One,
    Kind::Strided,
    Kind::Box,
    Kind::Tile,
    Kind::Rows,
    Kind::Rows,
    Kind::Rows,
];

/// The offset, size and stride along a dimension that was collapsed from these extents.
fn taken(random: &mut Rng, kind: Kind, group: &[i64]) -> (i64, i64, i64) {
    let all: i64 = group.iter().product();
    let k = random.range(0, group.len() as i64 - 1) as usize;
    let inner: i64 = group[k + 1..].iter().product();
    match kind {
        Kind::All => (0, all, 1),
        Kind::Any | Kind::Tile => {
            let offset = random.range(0, all - 1);
            (offset, random.range(1, all - offset), 1)
        }
        Kind::One => (random.range(0, all - 1), 1, random.range(1, 2)),
        Kind::Strided => {
            let stride = *random.pick(&[1, 2, 3, inner, 2 * inner]);
            let offset = random.range(0, all - 1);
            (offset, random.range(1, (all - 1 - offset) / stride + 1), stride)
        }
        Kind::Box => {
            let row = random.range(0, all / inner / group[k] - 1);
            let first = random.range(0, group[k] - 1);
            let count = random.range(1, group[k] - first);
            ((row * group[k] + first) * inner, count * inner, 1)
        }
        Kind::Rows => {
            let unit = inner * divisor_of(random, group[k]);
            let first = random.range(0, all / unit - 1);
            (first * unit, random.range(1, all / unit - first) * unit, 1)
        }
    }
}

/// `extract_slice(collapse_shape(x))`
pub fn slice_of_collapse(random: &mut Rng) -> Program {
    of_collapse(random, false, false)
}

/// [`slice_of_collapse`] of tensors that are too large to run.
pub fn large_slice_of_collapse(random: &mut Rng) -> Program {
    of_collapse(random, false, true)
}

/// `insert_slice(s, collapse_shape(x))`
pub fn insertion_into_collapse(random: &mut Rng) -> Program {
    of_collapse(random, true, false)
}

fn of_collapse(random: &mut Rng, is_insert: bool, is_large: bool) -> Program {
    let groups = if is_large { large_groups(random) } else { groups(random) };
    let usual = *random.pick(&KINDS);
    let some_are_unknown = random.one_in(3);
    let unknown: Vec<bool> = groups.concat().iter().map(|_| some_are_unknown && random.one_in(3)).collect();
    let element = *random.pick(&ELEMENTS);
    let encoding = if random.one_in(8) { ", \"e\"" } else { "" };
    let (alias, generic, used_twice) = (random.one_in(8), random.one_in(5), random.one_in(4));

    let shape = groups.concat();
    let known: Vec<Option<i64>> = shape.iter().zip(&unknown).map(|(&e, &u)| (!u).then_some(e)).collect();
    let x_type = ty(&known, element, encoding);
    let (x_written, aliases) =
        if alias { ("!x".to_owned(), format!("!x = {x_type}\n")) } else { (x_type, String::new()) };
    let mut next = 0;
    let mut axes: Vec<Vec<usize>> = Vec::new();
    for group in &groups {
        axes.push((next..next + group.len()).collect());
        next += group.len();
    }
    let product = |axes: &Vec<usize>| axes.iter().try_fold(1, |n, &a| Some(n * known[a]?));
    let y_shape: Vec<Option<i64>> = axes.iter().map(product).collect();
    let y_type = ty(&y_shape, element, encoding);

    let mut builder = Builder::new(random);
    builder.is_large = is_large;
    builder.tensor("%x", &x_written, &shape);
    builder.lines.push(format!("%y = {}", collapse_text(&axes, &x_written, &y_type, generic)));
    if used_twice {
        builder.lines.push(format!("\"test.use\"(%y) : ({y_type}) -> ()"));
    }
    let mut window = Window::default();
    for (dim, group) in groups.iter().enumerate() {
        let kind = match builder.random.range(0, 9) {
            0..=5 => usual,
            6 | 7 => Kind::All,
            _ => *builder.random.pick(&KINDS),
        };
        let all: i64 = group.iter().product();
        let (offset, size, stride, extent);
        if kind == Kind::Tile && builder.counted.is_none() {
            let k = builder.random.range(0, group.len() as i64 - 1) as usize;
            let inner: i64 = group[k + 1..].iter().product();
            let tile = inner * divisor_of(builder.random, group[k]);
            if builder.random.one_in(2) {
                builder.counted = Some((all, tile));
                offset = "%tile".to_owned();
            } else {
                builder.counted = Some((all / tile, 1));
                offset = builder.line(format!("affine.apply affine_map<(d0) -> (d0 * {tile})>(%tile)"));
            }
            (size, stride, extent) = (tile.to_string(), "1".to_owned(), tile);
        } else {
            let (o, t, s) = taken(builder.random, kind, group);
            offset = match kind {
                Kind::Rows if builder.random.one_in(2) => {
                    let row = divisors(t).into_iter().rev().find(|row| o % row == 0).unwrap_or(1);
                    builder.multiple(o, row)
                }
                _ if (o, t) == (0, all) => o.to_string(),
                _ => builder.number(o),
            };
            size = match y_shape[dim] {
                None if (o, t) == (0, all) && builder.random.one_in(2) => {
                    let axis = builder.line(format!("arith.constant {dim} : index"));
                    builder.line(format!("tensor.dim %y, {axis} : {y_type}"))
                }
                _ => builder.size(t),
            };
            stride = builder.number(s);
            extent = t;
        }
        window.extents.push(extent);
        window.offsets.push(offset);
        window.sizes.push(size);
        window.strides.push(stride);
    }
    window.write(&mut builder, is_insert, &y_type, element, encoding, generic);
    builder.program(&aliases)
}

pub(super) fn groups_text(axes: &[Vec<usize>]) -> String {
    let group = |axes: &Vec<usize>| axes.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    axes.iter().map(|axes| format!("[{}]", group(axes))).collect::<Vec<_>>().join(", ")
}

fn collapse_text(axes: &[Vec<usize>], from: &str, to: &str, generic: bool) -> String {
    let groups = groups_text(axes);
    match generic {
        true => format!("\"tensor.collapse_shape\"(%x) <{{reassociation = [{groups}]}}> : ({from}) -> {to}"),
        false => format!("tensor.collapse_shape %x [{groups}] : {from} into {to}"),
    }
}
