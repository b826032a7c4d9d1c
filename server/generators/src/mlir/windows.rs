//! Windows of a tensor, extracted or inserted.

use random::Rng;

use super::Argument;
use super::builder::Builder;
use super::types::partial as ty;

/// Random offsets, sizes and strides of a window within an array. Strides are at most `stride`.
pub fn window(random: &mut Rng, shape: &[i64], stride: i64) -> [Vec<i64>; 3] {
    let mut window = [Vec::new(), Vec::new(), Vec::new()];
    for &n in shape {
        let (stride, offset) = (random.below(1..stride + 1), random.below(0..n));
        window[0].push(offset);
        window[1].push(random.below(1..(n - 1 - offset) / stride + 2));
        window[2].push(stride);
    }
    window
}

/// A window of `%y`.
#[derive(Default)]
pub(super) struct Window {
    pub offsets: Vec<String>,
    pub sizes: Vec<String>,
    pub strides: Vec<String>,
    /// The sizes as numbers.
    pub extents: Vec<i64>,
}

impl Window {
    pub fn write(
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
            builder.parameters.push(format!("%s: {z_type}"));
            builder.arguments.push(Argument::Tensor { shape: extents, first: 1_000_000 });
            builder.lines.push(format!("%z = {}", insert_text(lists, &z_type, y_type, generic)));
            z = y_type;
        } else {
            builder.lines.push(format!("%z = {}", extract_text("%y", lists, y_type, &z_type, generic)));
        }
        builder.lines.push(format!("\"test.use\"(%z) : ({z}) -> ()"));
    }
}

fn extract_text(of: &str, lists: [&Vec<String>; 3], from: &str, to: &str, generic: bool) -> String {
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
