//! Random programs as text: a slice of a reshape with random parameters.

use crate::interpreter::{Tensor, Value};
use random::Rng;

#[derive(Debug, Clone)]
pub struct Program {
    pub text: String,
    pub arguments: Vec<Value>,
}

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

pub const ELEMENTS: [&str; 5] = ["f32", "i8", "complex<f32>", "index", "bf16"];

/// The function around a slice.
pub struct Builder<'r> {
    pub random: &'r mut Rng,
    pub parameters: Vec<String>,
    pub arguments: Vec<Value>,
    pub lines: Vec<String>,
    /// The enclosing loop: its upper bound (exclusive), and the step.
    counted: Option<(i64, i64)>,
    /// Too large to run: arguments are omitted.
    is_large: bool,
}

impl<'r> Builder<'r> {
    pub fn new(random: &'r mut Rng) -> Builder<'r> {
        Builder {
            random,
            parameters: Vec::new(),
            arguments: Vec::new(),
            lines: Vec::new(),
            counted: None,
            is_large: false,
        }
    }

    pub fn tensor(&mut self, name: &str, ty: &str, shape: &[i64]) {
        self.parameters.push(format!("{name}: {ty}"));
        if !self.is_large {
            self.arguments.push(Value::Tensor(Tensor::of_indices(shape)));
        }
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
        match self.random.range(0, 9) {
            0 => self.parameter(n),
            1 => self.line(format!("arith.constant {n} : index")),
            2 if n > 1 => {
                let divisors = divisors(n);
                let unit = divisors.into_iter().rev().find(|_| self.random.one_in(2)).unwrap_or(1);
                self.multiple(n, unit)
            }
            _ => n.to_string(),
        }
    }

    /// A value equal to `n` that is provably a multiple of `unit`.
    fn multiple(&mut self, n: i64, unit: i64) -> String {
        let count = n / unit;
        let more = self.random.range(0, 9);
        match self.random.range(0, 5) {
            0 => {
                // A sum of multiples.
                let (a, b) = (self.random.range(1, 3), self.random.range(1, 5));
                let x = self.random.range(0, count / a);
                let y = self.random.range(0, (count - a * x) / b);
                let (first, second) = (self.parameter(x), self.parameter(y));
                let (a, b, c) = (a * unit, b * unit, (count - a * x - b * y) * unit);
                self.line(format!(
                    "affine.apply affine_map<(d0, d1) -> (d0 * {a} + d1 * {b} + {c})>({first}, {second})"
                ))
            }
            1 => {
                let by = self.random.range(2, 5);
                let x = self.parameter(count * by + more % by);
                self.line(format!("affine.apply affine_map<(d0) -> ((d0 floordiv {by}) * {unit})>({x})"))
            }
            2 => {
                let x = self.parameter(n + more % unit);
                self.line(format!("affine.apply affine_map<(d0) -> (d0 - d0 mod {unit})>({x})"))
            }
            _ => {
                let x = self.parameter(count);
                self.line(format!("affine.apply affine_map<(d0) -> (d0 * {unit})>({x})"))
            }
        }
    }

    fn size(&mut self, n: i64) -> String {
        match self.random.range(0, 11) {
            0 => self.parameter(n),
            1 => self.line(format!("arith.constant {n} : index")),
            2 => {
                let more = self.random.range(0, 3);
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

/// Groups of extents with a small product.
pub fn groups(random: &mut Rng) -> Vec<Vec<i64>> {
    groups_of(random, &|random| random.range(2, 7), 1500)
}

/// Groups of realistic extents: powers of two, and others.
fn large_groups(random: &mut Rng) -> Vec<Vec<i64>> {
    let extent = |random: &mut Rng| match random.range(0, 3) {
        0 => 1 << random.range(1, 12),
        1 => 3 << random.range(0, 8),
        _ => random.range(2, 2000),
    };
    groups_of(random, &extent, 1 << 36)
}

fn groups_of(random: &mut Rng, extent: &dyn Fn(&mut Rng) -> i64, most: i64) -> Vec<Vec<i64>> {
    loop {
        let with_ones = random.one_in(3);
        let rank = *random.pick(&[1, 1, 2, 2, 3]);
        let mut found: Vec<Vec<i64>> = Vec::new();
        for _ in 0..rank {
            let len = *random.pick(&[1, 2, 2, 3, 3, 4]);
            let mut group: Vec<i64> =
                (0..len).map(|_| if random.one_in(8) { 1 } else { extent(random) }).collect();
            if with_ones {
                let large = random.range(0, len - 1);
                (0..len).filter(|&k| k != large).for_each(|k| group[k as usize] = 1);
            }
            found.push(group);
        }
        let all = found.concat().iter().try_fold(1i64, |n, &e| n.checked_mul(e));
        if all.is_some_and(|all| all <= most) {
            return found;
        }
    }
}

/// The divisors, ascending.
fn divisors(n: i64) -> Vec<i64> {
    let small: Vec<i64> = (1..).take_while(|d| d * d <= n).filter(|d| n % d == 0).collect();
    let large = small.iter().rev().filter(|&d| d * d != n).map(|d| n / d);
    small.iter().copied().chain(large).collect()
}

fn divisor_of(random: &mut Rng, n: i64) -> i64 {
    *random.pick(&divisors(n))
}

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
    let (mut offsets, mut sizes, mut strides) = (Vec::new(), Vec::new(), Vec::new());
    let mut extents = Vec::new();
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
        extents.push(extent);
        offsets.push(offset);
        sizes.push(size);
        strides.push(stride);
    }
    let window = Window { offsets, sizes, strides, extents };
    window.write(&mut builder, is_insert, &y_type, element, encoding, generic);
    builder.program(&aliases)
}

/// A window of `%y`.
struct Window {
    offsets: Vec<String>,
    sizes: Vec<String>,
    strides: Vec<String>,
    /// The sizes as numbers.
    extents: Vec<i64>,
}

impl Window {
    fn write(
        &self,
        builder: &mut Builder<'_>,
        is_insert: bool,
        y_type: &str,
        element: &str,
        encoding: &str,
        generic: bool,
    ) {
        let (mut written, mut extents) = (Vec::new(), Vec::new());
        for (size, &extent) in self.sizes.iter().zip(&self.extents) {
            if !(size == "1" && builder.random.one_in(2)) {
                written.push(size.parse().ok());
                extents.push(extent);
            }
        }
        let z_type = ty(&written, element, encoding);
        let lists = [&self.offsets, &self.sizes, &self.strides];
        let mut z = z_type.as_str();
        if is_insert {
            let mut window = Tensor::of_indices(&extents);
            window.data.iter_mut().for_each(|n| *n += 1_000_000);
            builder.parameters.push(format!("%s: {z_type}"));
            builder.arguments.push(Value::Tensor(window));
            builder.lines.push(format!("%z = {}", insert_text(lists, &z_type, y_type, generic)));
            z = y_type;
        } else {
            builder.lines.push(format!("%z = {}", extract_text("%y", lists, y_type, &z_type, generic)));
        }
        builder.lines.push(format!("\"test.use\"(%z) : ({z}) -> ()"));
    }
}

/// `extract_slice(expand_shape(x))`
pub fn slice_of_expand(random: &mut Rng) -> Program {
    of_expand(random, false)
}

/// `insert_slice(s, expand_shape(x))`
pub fn insertion_into_expand(random: &mut Rng) -> Program {
    of_expand(random, true)
}

fn of_expand(random: &mut Rng, is_insert: bool) -> Program {
    let groups = groups(random);
    let element = *random.pick(&ELEMENTS);
    let encoding = if random.one_in(8) { ", \"e\"" } else { "" };
    let (generic, used_twice, some_are_unknown) = (random.one_in(5), random.one_in(4), random.one_in(3));
    let mut builder = Builder::new(random);
    let (mut y_known, mut output_shape, mut x_shape, mut x_known, mut axes) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for group in &groups {
        axes.push((y_known.len()..y_known.len() + group.len()).collect::<Vec<usize>>());
        let is_unknown = some_are_unknown && builder.random.one_in(2);
        let all: i64 = group.iter().product();
        for (nth, &extent) in group.iter().enumerate() {
            let is_unknown = is_unknown && nth == 0;
            output_shape.push(if is_unknown { builder.parameter(extent) } else { extent.to_string() });
            y_known.push((!is_unknown).then_some(extent));
        }
        x_shape.push(all);
        x_known.push((!is_unknown).then_some(all));
    }
    let (x_type, y_type) = (ty(&x_known, element, encoding), ty(&y_known, element, encoding));
    builder.tensor("%x", &x_type, &x_shape);
    builder.lines.push(format!(
        "%y = tensor.expand_shape %x [{}] output_shape [{}] : {x_type} into {y_type}",
        groups_text(&axes),
        output_shape.join(", ")
    ));
    if used_twice {
        builder.lines.push(format!("\"test.use\"(%y) : ({y_type}) -> ()"));
    }
    let mut window = Window { offsets: vec![], sizes: vec![], strides: vec![], extents: vec![] };
    for group in &groups {
        let first = builder.random.range(0, group.len() as i64 - 1) as usize;
        // Otherwise the elements are rarely evenly spaced.
        let is_row = !builder.random.one_in(8);
        for (nth, &extent) in group.iter().enumerate() {
            let (mut offset, mut size, mut stride) = (0, extent, 1);
            if !is_row || nth <= first {
                offset = builder.random.range(0, extent - 1);
                stride = if builder.random.one_in(4) { builder.random.range(1, 3) } else { 1 };
                size = builder.random.range(1, (extent - 1 - offset) / stride + 1);
            }
            if is_row && nth < first {
                size = 1;
            }
            let is_whole = (offset, size) == (0, extent);
            window.offsets.push(if is_whole { "0".to_owned() } else { builder.number(offset) });
            window.sizes.push(if is_row && nth != first { size.to_string() } else { builder.size(size) });
            window.strides.push(if is_whole { "1".to_owned() } else { builder.number(stride) });
            window.extents.push(size);
        }
    }
    window.write(&mut builder, is_insert, &y_type, element, encoding, generic);
    builder.program("")
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
    let [offsets, sizes, strides] = lists.map(|list| list.join(", "));
    match generic {
        true => generic_text("tensor.extract_slice", &[(of, from)], lists, to),
        false => format!("tensor.extract_slice {of}[{offsets}] [{sizes}] [{strides}] : {from} to {to}"),
    }
}

fn insert_text(lists: [&Vec<String>; 3], from: &str, into: &str, generic: bool) -> String {
    let [offsets, sizes, strides] = lists.map(|list| list.join(", "));
    match generic {
        true => generic_text("tensor.insert_slice", &[("%s", from), ("%y", into)], lists, into),
        false => {
            format!("tensor.insert_slice %s into %y[{offsets}] [{sizes}] [{strides}] : {from} into {into}")
        }
    }
}

fn generic_text(name: &str, tensors: &[(&str, &str)], lists: [&Vec<String>; 3], to: &str) -> String {
    let mut operands: Vec<String> = tensors.iter().map(|(name, _)| (*name).to_owned()).collect();
    let mut segments = vec!["1".to_owned(); tensors.len()];
    let mut attributes = Vec::new();
    for (name, list) in ["static_offsets", "static_sizes", "static_strides"].iter().zip(lists) {
        let is_value = |e: &&String| e.starts_with('%');
        let dynamic = i64::MIN.to_string();
        let entries: Vec<&str> = list.iter().map(|e| if is_value(&e) { &*dynamic } else { &**e }).collect();
        attributes.push(format!("{name} = array<i64: {}>", entries.join(", ")));
        segments.push(list.iter().filter(is_value).count().to_string());
        operands.extend(list.iter().filter(is_value).cloned());
    }
    let mut types: Vec<&str> = tensors.iter().map(|(_, ty)| *ty).collect();
    types.resize(operands.len(), "index");
    format!(
        "\"{name}\"({}) <{{operandSegmentSizes = array<i32: {}>, {}}}> : ({}) -> {to}",
        operands.join(", "),
        segments.join(", "),
        attributes.join(", "),
        types.join(", ")
    )
}

/// A `stablehlo.slice` of a `stablehlo.reshape`, or the reverse.
pub fn stablehlo(random: &mut Rng) -> Program {
    let groups = groups(random);
    let (is_slice_first, generic, used_twice) = (random.one_in(2), random.one_in(5), random.one_in(4));
    let fine = groups.concat();
    let coarse: Vec<i64> = groups.iter().map(|group| group.iter().product()).collect();
    let (from, to) = if random.one_in(2) { (fine, coarse) } else { (coarse, fine) };
    // If the slice comes first, the sizes are those of a group.
    let (whole, reshaped) = if is_slice_first { (&from, None) } else { (&to, Some(&to)) };
    let mut bounds = [Vec::new(), Vec::new(), Vec::new()];
    let mut sizes = Vec::new();
    let mut is_large = false;
    for &extent in whole {
        let start = random.range(0, extent - 1);
        let stride = if random.one_in(5) { random.range(1, 3) } else { 1 };
        let (start, size, stride) = match random.range(0, 5) {
            0..=2 => (0, extent, 1),
            3 if !is_large => (start, 1, 1),
            _ => (start, random.range(1, (extent - 1 - start) / stride + 1), stride),
        };
        is_large |= size > 1;
        sizes.push(size);
        bounds[0].push(start);
        bounds[1].push(start + (size - 1) * stride + 1);
        bounds[2].push(stride);
    }
    let known = |shape: &[i64]| ty(&shape.iter().copied().map(Some).collect::<Vec<_>>(), "f32", "");
    let slice = |of: &str, from: &str, to: &str| {
        if generic {
            let list = |n: usize| bounds[n].iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
            return format!(
                "\"stablehlo.slice\"({of}) <{{start_indices = array<i64: {}>, limit_indices = array<i64: {}>, strides = array<i64: {}>}}> : ({from}) -> {to}",
                list(0),
                list(1),
                list(2)
            );
        }
        let entry = |i: usize| match bounds[2][i] {
            1 => format!("{}:{}", bounds[0][i], bounds[1][i]),
            stride => format!("{}:{}:{stride}", bounds[0][i], bounds[1][i]),
        };
        let entries: Vec<String> = (0..sizes.len()).map(entry).collect();
        format!("stablehlo.slice {of} [{}] : ({from}) -> {to}", entries.join(", "))
    };
    let mut builder = Builder::new(random);
    builder.tensor("%x", &known(&from), &from);
    let (middle, result) = match reshaped {
        Some(reshaped) => (known(reshaped), known(&sizes)),
        None => {
            // The sizes with dimensions split in two or merged.
            let mut other: Vec<i64> = Vec::new();
            for &size in &sizes {
                let part = divisor_of(builder.random, size);
                match other.last_mut() {
                    Some(last) if builder.random.one_in(3) => *last *= size,
                    _ if builder.random.one_in(2) => other.extend([part, size / part]),
                    _ => other.push(size),
                }
            }
            (known(&sizes), known(&other))
        }
    };
    let reshape = |of: &str, from: &str, to: &str| format!("stablehlo.reshape {of} : ({from}) -> {to}");
    let from = known(&from);
    let (first, second) = match is_slice_first {
        true => (slice("%x", &from, &middle), reshape("%y", &middle, &result)),
        false => (reshape("%x", &from, &middle), slice("%y", &middle, &result)),
    };
    builder.lines.push(format!("%y = {first}"));
    if used_twice {
        builder.lines.push(format!("\"test.use\"(%y) : ({middle}) -> ()"));
    }
    builder.lines.push(format!("%z = {second}"));
    builder.lines.push(format!("\"test.use\"(%z) : ({result}) -> ()"));
    builder.program("")
}
