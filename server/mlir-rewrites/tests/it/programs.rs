//! Random programs: a slice of a reshape, with everything about it drawn, in text.

use crate::interpreter::{Tensor, Value};
use crate::random::Random;

#[derive(Debug, Clone)]
pub struct Program {
    pub text: String,
    pub arguments: Vec<Value>,
}

/// What is taken along a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    All,
    Any,
    One,
    Strided,
    /// Within one row of a dimension that was collapsed, whole rows behind it.
    Box,
    /// A tile per iteration of a loop around.
    Tile,
    /// Many rows.
    Rows,
}

/// Some more often than others, so that every form of new code comes up.
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

pub const ELEMENTS: [&str; 5] = ["f32", "i8", "complex<f32>", "index", "bf16"];

/// The function around a slice.
pub struct Builder<'r> {
    pub random: &'r mut Random,
    pub parameters: Vec<String>,
    pub arguments: Vec<Value>,
    pub lines: Vec<String>,
    /// The loop around the slice: the number behind the last, and the step.
    counted: Option<(i64, i64)>,
}

impl<'r> Builder<'r> {
    pub fn new(random: &'r mut Random) -> Builder<'r> {
        Builder { random, parameters: Vec::new(), arguments: Vec::new(), lines: Vec::new(), counted: None }
    }

    pub fn tensor(&mut self, name: &str, ty: &str, shape: &[i64]) {
        self.parameters.push(format!("{name}: {ty}"));
        self.arguments.push(Value::Tensor(Tensor::of_indices(shape)));
    }

    fn parameter(&mut self, number: i64) -> String {
        let name = format!("%n{}", self.parameters.len());
        self.parameters.push(format!("{name}: index"));
        self.arguments.push(Value::Index(number));
        name
    }

    fn line(&mut self, code: String) -> String {
        let name = format!("%v{}", self.lines.len());
        self.lines.push(format!("{name} = {code}"));
        name
    }

    /// An entry of offsets or strides.
    pub fn number(&mut self, n: i64) -> String {
        match self.random.between(0, 9) {
            0 => self.parameter(n),
            1 => self.line(format!("arith.constant {n} : index")),
            2 if n > 1 => {
                let unit = (1..=n).rev().find(|d| n % d == 0 && self.random.one_in(2)).unwrap_or(1);
                let count = self.parameter(n / unit);
                self.line(format!("affine.apply affine_map<(d0) -> (d0 * {unit})>({count})"))
            }
            _ => n.to_string(),
        }
    }

    fn size(&mut self, n: i64) -> String {
        match self.random.between(0, 11) {
            0 => self.parameter(n),
            1 => self.line(format!("arith.constant {n} : index")),
            2 => {
                let more = self.random.between(0, 3);
                let other = self.parameter(n + more);
                self.line(format!("affine.min affine_map<(d0) -> (d0, {n})>({other})"))
            }
            _ => n.to_string(),
        }
    }

    pub fn program(self, aliases: &str) -> Program {
        let mut text = format!("{aliases}func.func @f({}) {{\n", self.parameters.join(", "));
        if let Some((end, step)) = self.counted {
            for (name, n) in [("%from", 0), ("%to", end), ("%by", step)] {
                text += &format!("  {name} = arith.constant {n} : index\n");
            }
            text += "  scf.for %tile = %from to %to step %by {\n";
        }
        let margin = if self.counted.is_some() { "    " } else { "  " };
        for line in &self.lines {
            text += &format!("{margin}{line}\n");
        }
        if self.counted.is_some() {
            text += "  }\n";
        }
        text += "  return\n}\n";
        Program { text, arguments: self.arguments }
    }
}

pub fn ty(shape: &[Option<i64>], element: &str, encoding: &str) -> String {
    let extents: String = shape.iter().map(|e| e.map_or("?x".into(), |e| format!("{e}x"))).collect();
    format!("tensor<{extents}{element}{encoding}>")
}

/// Groups of extents, of which the product is not large.
pub fn groups(random: &mut Random) -> Vec<Vec<i64>> {
    loop {
        let with_ones = random.one_in(3);
        let rank = *random.pick(&[1, 1, 2, 2, 3]);
        let mut found: Vec<Vec<i64>> = Vec::new();
        for _ in 0..rank {
            let len = *random.pick(&[1, 2, 2, 3, 3, 4]);
            let extent = |random: &mut Random| if random.one_in(8) { 1 } else { random.between(2, 7) };
            let mut group: Vec<i64> = (0..len).map(|_| extent(random)).collect();
            if with_ones {
                let large = random.between(0, len - 1);
                (0..len).filter(|&k| k != large).for_each(|k| group[k as usize] = 1);
            }
            found.push(group);
        }
        if found.concat().iter().product::<i64>() <= 1500 {
            return found;
        }
    }
}

fn divisor_of(random: &mut Random, n: i64) -> i64 {
    let all: Vec<i64> = (1..=n).filter(|d| n % d == 0).collect();
    *random.pick(&all)
}

/// Offset, size and stride along a dimension that was collapsed from these extents.
fn taken(random: &mut Random, kind: Kind, group: &[i64]) -> (i64, i64, i64) {
    let all: i64 = group.iter().product();
    let k = random.between(0, group.len() as i64 - 1) as usize;
    let inner: i64 = group[k + 1..].iter().product();
    match kind {
        Kind::All => (0, all, 1),
        Kind::Any | Kind::Tile => {
            let offset = random.between(0, all - 1);
            (offset, random.between(1, all - offset), 1)
        }
        Kind::One => (random.between(0, all - 1), 1, random.between(1, 2)),
        Kind::Strided => {
            let stride = *random.pick(&[1, 2, 3, inner, 2 * inner]);
            let offset = random.between(0, all - 1);
            (offset, random.between(1, (all - 1 - offset) / stride + 1), stride)
        }
        Kind::Box => {
            let row = random.between(0, all / inner / group[k] - 1);
            let first = random.between(0, group[k] - 1);
            let count = random.between(1, group[k] - first);
            ((row * group[k] + first) * inner, count * inner, 1)
        }
        Kind::Rows => {
            let unit = inner * divisor_of(random, group[k]);
            let first = random.between(0, all / unit - 1);
            (first * unit, random.between(1, all / unit - first) * unit, 1)
        }
    }
}

/// `extract_slice(collapse_shape(x))`
pub fn slice_of_collapse(random: &mut Random) -> Program {
    let groups = groups(random);
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
    builder.tensor("%x", &x_written, &shape);
    builder.lines.push(format!("%y = {}", collapse_text(&axes, &x_written, &y_type, generic)));
    if used_twice {
        builder.lines.push(format!("\"test.use\"(%y) : ({y_type}) -> ()"));
    }
    let (mut offsets, mut sizes, mut strides) = (Vec::new(), Vec::new(), Vec::new());
    let mut z_shape = Vec::new();
    for (dim, group) in groups.iter().enumerate() {
        let kind = match builder.random.between(0, 9) {
            0..=5 => usual,
            6 | 7 => Kind::All,
            _ => *builder.random.pick(&KINDS),
        };
        let all: i64 = group.iter().product();
        let (offset, size, stride);
        if kind == Kind::Tile && builder.counted.is_none() {
            let k = builder.random.between(0, group.len() as i64 - 1) as usize;
            let inner: i64 = group[k + 1..].iter().product();
            let tile = inner * divisor_of(builder.random, group[k]);
            if builder.random.one_in(2) {
                builder.counted = Some((all, tile));
                offset = "%tile".to_owned();
            } else {
                builder.counted = Some((all / tile, 1));
                offset = builder.line(format!("affine.apply affine_map<(d0) -> (d0 * {tile})>(%tile)"));
            }
            (size, stride) = (tile.to_string(), "1".to_owned());
        } else {
            let (o, t, s) = taken(builder.random, kind, group);
            offset = match kind {
                Kind::Rows if builder.random.one_in(2) => {
                    let row = (1..=t).rev().find(|row| o % row == 0 && t % row == 0).unwrap_or(1);
                    let first = builder.parameter(o / row);
                    builder.line(format!("affine.apply affine_map<(d0) -> (d0 * {row})>({first})"))
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
        }
        let is_one = size == "1";
        if !(is_one && builder.random.one_in(2)) {
            z_shape.push(size.parse().ok());
        }
        offsets.push(offset);
        sizes.push(size);
        strides.push(stride);
    }
    let z_type = ty(&z_shape, element, encoding);
    let slice = extract_text("%y", [&offsets, &sizes, &strides], &y_type, &z_type, generic);
    builder.lines.push(format!("%z = {slice}"));
    builder.lines.push(format!("\"test.use\"(%z) : ({z_type}) -> ()"));
    builder.program(&aliases)
}

fn groups_text(axes: &[Vec<usize>]) -> String {
    let group = |axes: &Vec<usize>| axes.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    axes.iter().map(|axes| format!("[{}]", group(axes))).collect::<Vec<_>>().join(", ")
}

pub fn collapse_text(axes: &[Vec<usize>], from: &str, to: &str, generic: bool) -> String {
    let groups = groups_text(axes);
    match generic {
        true => format!("\"tensor.collapse_shape\"(%x) <{{reassociation = [{groups}]}}> : ({from}) -> {to}"),
        false => format!("tensor.collapse_shape %x [{groups}] : {from} into {to}"),
    }
}

pub fn extract_text(of: &str, lists: [&Vec<String>; 3], from: &str, to: &str, generic: bool) -> String {
    if !generic {
        let [offsets, sizes, strides] = lists.map(|list| list.join(", "));
        return format!("tensor.extract_slice {of}[{offsets}] [{sizes}] [{strides}] : {from} to {to}");
    }
    let mut operands = vec![of.to_owned()];
    let mut segments = vec!["1".to_owned()];
    let mut attributes = Vec::new();
    for (name, list) in ["static_offsets", "static_sizes", "static_strides"].iter().zip(lists) {
        let (values, numbers): (Vec<&String>, Vec<&String>) = list.iter().partition(|e| e.starts_with('%'));
        let dynamic = i64::MIN.to_string();
        let entry = |e: &String| if e.starts_with('%') { dynamic.clone() } else { e.clone() };
        let entries: Vec<String> = list.iter().map(entry).collect();
        attributes.push(format!("{name} = array<i64: {}>", entries.join(", ")));
        segments.push(values.len().to_string());
        _ = numbers;
        operands.extend(values.into_iter().cloned());
    }
    let types = vec!["index"; operands.len() - 1];
    let types: String = types.iter().map(|t| format!(", {t}")).collect();
    format!(
        "\"tensor.extract_slice\"({}) <{{operandSegmentSizes = array<i32: {}>, {}}}> : ({from}{types}) -> {to}",
        operands.join(", "),
        segments.join(", "),
        attributes.join(", ")
    )
}
