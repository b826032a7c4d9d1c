//! Attributes as text.

use std::fmt::Write as _;

use crate::Result;
use crate::entries::{Attribute, Entries, Enum, Location, Type};
use crate::type_text::Nesting;

impl Enum {
    fn dialect(self) -> &'static str {
        match self {
            Enum::ChloComparisonDirection | Enum::ChloComparisonType => "chlo",
            _ => "stablehlo",
        }
    }

    /// The attribute's name in its dialect and its cases from number 0 on.
    fn cases(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Enum::ComparisonDirection => ("comparison_direction", &["EQ", "NE", "GE", "GT", "LE", "LT"]),
            Enum::ComparisonType => {
                ("comparison_type", &["NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"])
            }
            Enum::ApiVersion => ("", &["0", "1", "2", "3", "4"]),
            Enum::FftType => ("fft_type", &["FFT", "IFFT", "RFFT", "IRFFT"]),
            Enum::Precision => ("precision", &["DEFAULT", "HIGH", "HIGHEST"]),
            Enum::RngAlgorithm => ("rng_algorithm", &["DEFAULT", "THREE_FRY", "PHILOX"]),
            Enum::RngDistribution => ("rng_distribution", &["", "UNIFORM", "NORMAL"]),
            Enum::Transpose => ("transpose", &["TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"]),
            Enum::AccuracyMode => ("result_accuracy_mode", &["DEFAULT", "HIGHEST", "TOLERANCE"]),
            Enum::ChloComparisonDirection => Enum::ComparisonDirection.cases(),
            Enum::ChloComparisonType => Enum::ComparisonType.cases(),
        }
    }
}

impl Entries<'_> {
    pub(crate) fn attribute_text(&self, index: u32) -> Result<String> {
        let mut out = String::new();
        self.write_attribute(index, &mut out)?;
        Ok(out)
    }

    pub(crate) fn write_attribute(&self, index: u32, out: &mut String) -> Result<()> {
        let outermost = Nesting::outermost(out);
        self.write_inner_attribute(index, out, outermost)
    }

    pub(crate) fn write_inner_attribute(&self, index: u32, out: &mut String, nesting: Nesting) -> Result<()> {
        self.check_nesting(out, nesting)?;
        let nesting = nesting.inner();
        let attribute = self.attribute(index)?;
        match &*attribute {
            Attribute::Text(text) => out.push_str(text),
            Attribute::Array(elements) => self.write_list(elements, out, nesting)?,
            Attribute::Dictionary(members) => self.write_members(members, out, nesting)?,
            Attribute::String(string) => write_string(string, out),
            Attribute::TypedString(string, ty) => {
                write_string(string, out);
                out.push_str(" : ");
                self.write_inner_type(*ty, out, nesting)?;
            }
            Attribute::Symbol(names) => {
                for (n, name) in names.iter().enumerate() {
                    out.push_str(if n == 0 { "@" } else { "::@" });
                    write_name(self.string(*name)?, out);
                }
            }
            Attribute::Type(ty) => self.write_inner_type(*ty, out, nesting)?,
            Attribute::Unit => out.push_str("unit"),
            Attribute::Bool(is_true) => out.push_str(if *is_true { "true" } else { "false" }),
            Attribute::Integer { ty, bits } => {
                let (width, sign) = match &*self.ty(*ty)? {
                    Type::Integer { width, sign } => (*width as u32, *sign),
                    _ => (64, "i"),
                };
                if (width, sign) == (1, "i") {
                    out.push_str(if *bits == 0 { "false" } else { "true" });
                } else {
                    let shift = 128 - width.clamp(1, 128);
                    match sign {
                        "ui" => _ = write!(out, "{bits}"),
                        _ => _ = write!(out, "{}", (bits << shift).cast_signed() >> shift),
                    }
                    out.push_str(" : ");
                    self.write_inner_type(*ty, out, nesting)?;
                }
            }
            Attribute::Float { ty, bits } => {
                let mut name = String::new();
                self.write_inner_type(*ty, &mut name, nesting.in_own_text())?;
                let width = crate::element_text::bit_width(&name).unwrap_or(64);
                _ = write!(out, "{} : {name}", crate::element_text::float(*bits, width, name == "bf16"));
            }
            Attribute::Location(location) => {
                out.push_str("loc(");
                self.write_location(location, out, nesting, &|index, out| {
                    self.check_nesting(out, nesting)?;
                    self.write_nested_location(index, out, nesting)
                })?;
                out.push(')');
            }
            Attribute::Dense { ty, bytes } => self.write_dense(*ty, bytes, out, nesting)?,
            Attribute::DenseStrings { ty, is_splat, strings } => {
                out.push_str("dense<");
                if !is_splat {
                    out.push('[');
                }
                for (n, string) in strings.iter().enumerate() {
                    if n > 0 {
                        out.push_str(", ");
                    }
                    write_string(string, out);
                }
                if !is_splat {
                    out.push(']');
                }
                out.push_str("> : ");
                self.write_inner_type(*ty, out, nesting)?;
            }
            Attribute::DenseArray { element, len, bytes } => self.write_array(*element, *len, bytes, out)?,
            Attribute::Enum { of, number } => {
                let (name, cases) = of.cases();
                let case = usize::try_from(*number).ok().and_then(|number| cases.get(number));
                match (case.filter(|case| !case.is_empty()), of) {
                    (Some(number), Enum::ApiVersion) => _ = write!(out, "{number} : i32"),
                    (Some(case), _) => _ = write!(out, "#{}<{name} {case}>", of.dialect()),
                    (None, _) => {
                        return self.attribute_error(
                            index,
                            format!("{of:?} has no case {number}: the file is newer or damaged"),
                        );
                    }
                }
            }
            Attribute::OutputAlias { output, operand, operand_tuple } => {
                _ = write!(
                    out,
                    "#stablehlo.output_operand_alias<output_tuple_indices = {output:?}, operand_index = {operand}, \
                     operand_tuple_indices = {operand_tuple:?}>"
                );
            }
            Attribute::Bounds(bounds) => {
                let bounds: Vec<String> = bounds
                    .iter()
                    .map(|bound| if *bound == i64::MIN { "?".to_owned() } else { bound.to_string() })
                    .collect();
                _ = write!(out, "#stablehlo.bounds<{}>", bounds.join(", "));
            }
            Attribute::Accuracy { atol, rtol, ulps, mode } => {
                let (atol, rtol) = (crate::element_text::double(*atol), crate::element_text::double(*rtol));
                _ = write!(
                    out,
                    "#stablehlo.result_accuracy<atol = {atol}, rtol = {rtol}, ulps = {ulps}, mode = "
                );
                // `#stablehlo.result_accuracy_mode<DEFAULT>`
                let mut mode_text = String::new();
                self.write_inner_attribute(*mode, &mut mode_text, nesting.in_own_text())?;
                out.push_str(
                    &mode_text
                        .replace("#stablehlo<result_accuracy_mode ", "#stablehlo.result_accuracy_mode<"),
                );
                out.push('>');
            }
            Attribute::Sharding(sharding) => self.write_sharding(sharding, out, nesting)?,
            Attribute::SubAxis { pre, size } => _ = write!(out, "#stablehlo.sub_axis_info<({pre}){size}>"),
            Attribute::Axis { name, sub } => self.write_axis(self.string(*name)?, *sub, out, nesting)?,
            Attribute::NamedAxis { name, sub } => self.write_axis(name, *sub, out, nesting)?,
            Attribute::MeshAxes { mesh, axes } => {
                self.write_mesh_of_axes(*mesh, out, nesting)?;
                self.write_inner_attribute(*axes, out, nesting)?;
                out.push('>');
            }
            Attribute::MeshAxisList { mesh, axes } => {
                self.write_mesh_of_axes(*mesh, out, nesting)?;
                self.write_list(axes, out, nesting)?;
                out.push('>');
            }
            Attribute::MeshAxis { name, size } => write_mesh_axis(self.string(*name)?, *size, out),
            Attribute::NamedMeshAxis { name, size } => write_mesh_axis(name, *size, out),
            Attribute::Mesh { axes, devices } => {
                out.push_str("#stablehlo.mesh<axes = ");
                self.write_inner_attribute(*axes, out, nesting)?;
                if let Some(devices) = devices {
                    out.push_str(", device_ids = ");
                    self.write_inner_attribute(*devices, out, nesting)?;
                }
                out.push('>');
            }
        }
        Ok(())
    }

    /// `{name = value, unit}`
    pub(crate) fn write_dictionary(&self, members: &[(u32, u32)], out: &mut String) -> Result<()> {
        let outermost = Nesting::outermost(out);
        self.write_members(members, out, outermost)
    }

    fn write_members(&self, members: &[(u32, u32)], out: &mut String, nesting: Nesting) -> Result<()> {
        out.push('{');
        for (n, (name, value)) in members.iter().enumerate() {
            out.push_str(if n == 0 { "" } else { ", " });
            write_name(self.string(*name)?, out);
            if *self.attribute(*value)? != Attribute::Unit {
                out.push_str(" = ");
                self.write_inner_attribute(*value, out, nesting)?;
            }
        }
        out.push('}');
        Ok(())
    }

    fn write_list(&self, elements: &[u32], out: &mut String, nesting: Nesting) -> Result<()> {
        out.push('[');
        for (n, element) in elements.iter().enumerate() {
            out.push_str(if n == 0 { "" } else { ", " });
            self.write_inner_attribute(*element, out, nesting)?;
        }
        out.push(']');
        Ok(())
    }

    fn write_axis(&self, name: &[u8], sub: Option<u32>, out: &mut String, nesting: Nesting) -> Result<()> {
        out.push_str("#stablehlo.axis_ref<name = ");
        write_string(name, out);
        if let Some(sub) = sub {
            out.push_str(", sub_axis_info = ");
            self.write_inner_attribute(sub, out, nesting)?;
        }
        out.push('>');
        Ok(())
    }

    /// `#stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = `
    fn write_mesh_of_axes(&self, mesh: u32, out: &mut String, nesting: Nesting) -> Result<()> {
        out.push_str("#stablehlo.replica_group_mesh_axes<mesh = ");
        match &*self.attribute(mesh)? {
            Attribute::String(name) => {
                out.push('@');
                write_name(name, out);
            }
            _ => self.write_inner_attribute(mesh, out, nesting)?,
        }
        out.push_str(", axes = ");
        Ok(())
    }

    /// A location without `loc(…)`. `nested` writes those that it is made of.
    pub(crate) fn write_location(
        &self,
        location: &Location,
        out: &mut String,
        nesting: Nesting,
        nested: &dyn Fn(u32, &mut String) -> Result<()>,
    ) -> Result<()> {
        match location {
            Location::Unknown => out.push_str("unknown"),
            Location::CallSite { callee, caller } => {
                out.push_str("callsite(");
                nested(*callee, out)?;
                out.push_str(" at ");
                nested(*caller, out)?;
                out.push(')');
            }
            Location::File { name, numbers } => {
                write_string(self.string(*name)?, out);
                let number = |n: usize| numbers.get(n).copied().unwrap_or(0);
                _ = write!(out, ":{}:{}", number(0), number(1));
                match numbers.as_slice() {
                    [_, _, end] => _ = write!(out, " to :{end}"),
                    [line, _, end, column] if line == end => _ = write!(out, " to :{column}"),
                    [_, _, line, column] => _ = write!(out, " to {line}:{column}"),
                    _ => {}
                }
            }
            Location::Fused { locations, metadata } => {
                out.push_str("fused");
                if let Some(metadata) = metadata {
                    out.push('<');
                    self.write_inner_attribute(*metadata, out, nesting)?;
                    out.push('>');
                }
                out.push('[');
                for (n, location) in locations.iter().enumerate() {
                    if n > 0 {
                        out.push_str(", ");
                    }
                    nested(*location, out)?;
                }
                out.push(']');
            }
            Location::Name { name, child } => {
                write_string(self.string(*name)?, out);
                if *self.attribute(*child)? != Attribute::Location(Location::Unknown) {
                    out.push('(');
                    nested(*child, out)?;
                    out.push(')');
                }
            }
        }
        Ok(())
    }

    fn write_nested_location(&self, index: u32, out: &mut String, nesting: Nesting) -> Result<()> {
        match &*self.attribute(index)? {
            Attribute::Location(location) => self.write_location(location, out, nesting, &|index, out| {
                self.check_nesting(out, nesting.inner())?;
                self.write_nested_location(index, out, nesting.inner())
            }),
            found => self.attribute_error(index, format!("a location is expected, not {found:?}")),
        }
    }
}

fn write_mesh_axis(name: &[u8], size: i64, out: &mut String) {
    out.push_str("#stablehlo.mesh_axis<name = ");
    write_string(name, out);
    _ = write!(out, ", size = {size}>");
}

/// A string with its quotes.
pub(crate) fn write_string(bytes: &[u8], out: &mut String) {
    out.push('"');
    let mut rest = bytes;
    while !rest.is_empty() {
        let (valid, invalid) = match std::str::from_utf8(rest) {
            Ok(text) => (text, 0),
            Err(error) => {
                let valid = std::str::from_utf8(&rest[..error.valid_up_to()]).unwrap_or_default();
                (valid, error.error_len().unwrap_or(rest.len() - error.valid_up_to()))
            }
        };
        for c in valid.chars() {
            match c {
                '"' => out.push_str("\\22"),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\0A"),
                c if (c as u32) < 0x20 || c as u32 == 0x7f => _ = write!(out, "\\{:02X}", c as u32),
                c => out.push(c),
            }
        }
        let end = valid.len() + invalid;
        for byte in &rest[valid.len()..end] {
            _ = write!(out, "\\{byte:02X}");
        }
        rest = &rest[end..];
    }
    out.push('"');
}

/// A name, in quotes if it is no word.
pub(crate) fn write_name(name: &[u8], out: &mut String) {
    let is_word = name.first().is_some_and(|&c| c.is_ascii_alphabetic() || c == b'_')
        && name.iter().all(|&c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'$' | b'.'));
    match std::str::from_utf8(name) {
        Ok(name) if is_word => out.push_str(name),
        _ => write_string(name, out),
    }
}
