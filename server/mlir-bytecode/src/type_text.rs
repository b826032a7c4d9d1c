//! Types as text.

use std::fmt::Write as _;

use crate::Result;
use crate::entries::{Entries, Type};

/// The deepest nesting of types and attributes.
pub(crate) const MAX_DEPTH: usize = 64;
/// The longest text of one type or attribute beside the elements of constants: nested ones refer to each other, and may repeat.
const MAX_TEXT: usize = 1 << 22;
/// The longest text of a byte of elements: eight truth values, each in brackets of its own.
const MAX_ELEMENTS: usize = 8 * "[[[false]]], ".len();

/// A dynamic extent.
const DYNAMIC: i64 = i64::MIN;

/// Where a type or an attribute is in the outermost one that it is part of.
#[derive(Clone, Copy)]
pub(crate) struct Nesting {
    depth: usize,
    /// The start of the outermost one in the text.
    start: usize,
}

impl Nesting {
    /// The outermost one.
    pub(crate) fn outermost(out: &str) -> Self {
        Self { depth: 0, start: out.len() }
    }

    /// The next level.
    pub(crate) fn inner(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }

    /// The same level, written to a text of its own.
    pub(crate) fn in_own_text(self) -> Self {
        Self { start: 0, ..self }
    }
}

impl Entries<'_> {
    pub(crate) fn write_type(&self, index: u32, out: &mut String) -> Result<()> {
        let outermost = Nesting::outermost(out);
        self.write_inner_type(index, out, outermost)
    }

    pub(crate) fn write_inner_type(&self, index: u32, out: &mut String, nesting: Nesting) -> Result<()> {
        self.check_nesting(out, nesting)?;
        let nesting = nesting.inner();
        let ty = self.ty(index)?;
        match &*ty {
            Type::Text(text) => out.push_str(text),
            Type::Name(name) => out.push_str(name),
            Type::Integer { width, sign } => _ = write!(out, "{sign}{width}"),
            Type::Function { inputs, results } => {
                out.push('(');
                self.write_inner_types(inputs, out, nesting)?;
                out.push_str(") -> ");
                match results.as_slice() {
                    [one] if !matches!(*self.ty(*one)?, Type::Function { .. }) => {
                        self.write_inner_type(*one, out, nesting)?
                    }
                    _ => {
                        out.push('(');
                        self.write_inner_types(results, out, nesting)?;
                        out.push(')');
                    }
                }
            }
            Type::Complex(element) => self.write_wrapped("complex<", *element, out, nesting)?,
            Type::Tensor { shape, element, encoding } => {
                out.push_str("tensor<");
                write_shape(shape, out);
                self.write_inner_type(*element, out, nesting)?;
                if let Some(encoding) = encoding {
                    out.push_str(", ");
                    self.write_inner_attribute(*encoding, out, nesting)?;
                }
                out.push('>');
            }
            Type::Unranked(element) => self.write_wrapped("tensor<*x", *element, out, nesting)?,
            Type::MemRef { shape, element, layout, space } => {
                out.push_str("memref<");
                match shape {
                    Some(shape) => write_shape(shape, out),
                    None => out.push_str("*x"),
                }
                self.write_inner_type(*element, out, nesting)?;
                if let Some(layout) = layout {
                    let mut text = String::new();
                    self.write_inner_attribute(*layout, &mut text, nesting.in_own_text())?;
                    // The identity is not written.
                    if !is_identity(&text) {
                        _ = write!(out, ", {text}");
                    }
                }
                if let Some(space) = space {
                    out.push_str(", ");
                    self.write_inner_attribute(*space, out, nesting)?;
                }
                out.push('>');
            }
            Type::Vector { shape, scalable, element } => {
                out.push_str("vector<");
                for (n, extent) in shape.iter().enumerate() {
                    match scalable.get(n) {
                        Some(true) => _ = write!(out, "[{extent}]x"),
                        _ => _ = write!(out, "{extent}x"),
                    }
                }
                self.write_inner_type(*element, out, nesting)?;
                out.push('>');
            }
            Type::Tuple(elements) => {
                out.push_str("tuple<");
                self.write_inner_types(elements, out, nesting)?;
                out.push('>');
            }
            Type::Future(elements) => {
                out.push_str("!stablehlo.future<");
                self.write_inner_types(elements, out, nesting)?;
                out.push('>');
            }
            Type::Quantized(quantized) => {
                out.push_str("!quant.uniform<");
                self.write_inner_type(quantized.storage, out, nesting)?;
                if !self.is_whole_range(quantized.storage, quantized.min, quantized.max)? {
                    _ = write!(out, "<{}:{}>", quantized.min, quantized.max);
                }
                out.push(':');
                self.write_inner_type(quantized.expressed, out, nesting)?;
                if let Some(dimension) = quantized.dimension {
                    _ = write!(out, ":{dimension}");
                }
                out.push_str(", ");
                let zero = |n: usize| quantized.zero_points.get(n).copied().unwrap_or(0);
                let one = |n: usize, scale: &f64| match zero(n) {
                    0 => crate::element_text::double(*scale),
                    zero => format!("{}:{zero}", crate::element_text::double(*scale)),
                };
                let scales: Vec<String> =
                    quantized.scales.iter().enumerate().map(|(n, scale)| one(n, scale)).collect();
                match quantized.dimension {
                    Some(_) => _ = write!(out, "{{{}}}", scales.join(", ")),
                    None => out.push_str(&scales.join(", ")),
                }
                out.push('>');
            }
        }
        Ok(())
    }

    fn write_wrapped(&self, start: &str, element: u32, out: &mut String, nesting: Nesting) -> Result<()> {
        out.push_str(start);
        self.write_inner_type(element, out, nesting)?;
        out.push('>');
        Ok(())
    }

    pub(crate) fn write_types(&self, types: &[u32], out: &mut String) -> Result<()> {
        let outermost = Nesting::outermost(out);
        self.write_inner_types(types, out, outermost)
    }

    fn write_inner_types(&self, types: &[u32], out: &mut String, nesting: Nesting) -> Result<()> {
        for (n, ty) in types.iter().enumerate() {
            if n > 0 {
                out.push_str(", ");
            }
            self.write_inner_type(*ty, out, nesting)?;
        }
        Ok(())
    }

    /// Whether a quantized type uses all values of its storage.
    fn is_whole_range(&self, storage: u32, min: i64, max: i64) -> Result<bool> {
        Ok(match *self.ty(storage)? {
            Type::Integer { width: width @ 1..=62, sign: "ui" } => min == 0 && max == (1 << width) - 1,
            Type::Integer { width: width @ 1..=62, .. } => {
                min == -(1 << (width - 1)) && max == (1 << (width - 1)) - 1
            }
            _ => false,
        })
    }

    pub(crate) fn check_nesting(&self, out: &str, nesting: Nesting) -> Result<()> {
        cancel::tick();
        let limit = MAX_ELEMENTS.saturating_mul(self.file.len).saturating_add(MAX_TEXT);
        let is_long = out.len().saturating_sub(nesting.start) > limit;
        let message = match (nesting.depth > MAX_DEPTH, is_long) {
            (true, _) => format!("types and attributes are nested more than {MAX_DEPTH} deep"),
            (_, true) => format!("a type or an attribute has a text of more than {} MB", limit >> 20),
            _ => return Ok(()),
        };
        Err(crate::Error { offset: 0, message })
    }
}

fn write_shape(shape: &[i64], out: &mut String) {
    for extent in shape {
        match *extent {
            DYNAMIC => out.push_str("?x"),
            extent => _ = write!(out, "{extent}x"),
        }
    }
}

/// Whether the text of a map is `affine_map<(d0, d1) -> (d0, d1)>`.
fn is_identity(map: &str) -> bool {
    let parts = map.strip_prefix("affine_map<").and_then(|map| map.strip_suffix('>')?.split_once(" -> "));
    parts.is_some_and(|(dimensions, results)| dimensions == results)
}
