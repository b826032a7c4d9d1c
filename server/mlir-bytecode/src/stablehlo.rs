//! An op of VHLO as the op of StableHLO: its name without a version, attributes that VHLO splits, and no defaults.
//!
//! Source: StableHLO's `VhloLegalizeToStablehlo.cpp`.

use crate::Result;
use crate::attribute_text::write_name;
use crate::dimension_numbers::{
    DOT, DOT_ALGORITHM, GATHER, Part, SCATTER, Side, channel, convolution, named_parts,
};
use crate::entries::{Attribute, Entries, Enum, Type};
use crate::ops::Op;

/// An op in StableHLO or another dialect: its name, and the texts of the attributes that it defines.
pub(crate) struct Converted {
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
}

/// The attributes that are `array<i64: …>`, and lists of elements in VHLO.
const ARRAYS: &[(&str, &[&str])] = &[
    ("broadcast", &["broadcast_sizes"]),
    ("broadcast_in_dim", &["broadcast_dimensions"]),
    ("convolution", &["lhs_dilation", "rhs_dilation", "window_strides", "window_reversal"]),
    (
        "dynamic_broadcast_in_dim",
        &["broadcast_dimensions", "known_expanding_dimensions", "known_nonexpanding_dimensions"],
    ),
    ("dynamic_conv", &["lhs_dilation", "rhs_dilation", "window_strides", "window_reversal"]),
    ("dynamic_slice", &["slice_sizes"]),
    ("fft", &["fft_length"]),
    ("gather", &["slice_sizes"]),
    ("map", &["dimensions"]),
    ("pad", &["edge_padding_low", "edge_padding_high", "interior_padding"]),
    ("reduce", &["dimensions"]),
    ("reduce_window", &["window_dimensions", "window_strides", "base_dilations", "window_dilations"]),
    ("reverse", &["dimensions"]),
    ("select_and_scatter", &["window_dimensions", "window_strides"]),
    ("slice", &["start_indices", "limit_indices", "strides"]),
    ("transpose", &["permutation"]),
];

/// The parts of the dimension numbers of a convolution, which VHLO has as attributes of the op.
const CONVOLUTION: &[&str] = &[
    "input_batch_dimension",
    "input_feature_dimension",
    "input_spatial_dimensions",
    "kernel_input_feature_dimension",
    "kernel_output_feature_dimension",
    "kernel_spatial_dimensions",
    "output_batch_dimension",
    "output_feature_dimension",
    "output_spatial_dimensions",
];

/// An op in the terms of StableHLO. `is_in_function`: a `return` is that of a function.
pub(crate) fn convert(entries: &Entries<'_>, op: &Op, is_in_function: bool) -> Result<Converted> {
    let Some(versioned) = op.name.strip_prefix("vhlo.") else {
        let texts = op
            .properties
            .iter()
            .map(|(name, index)| Ok(((*name).to_owned(), entries.attribute_text(*index)?)));
        return Ok(Converted { name: op.name.clone(), attributes: texts.collect::<Result<_>>()? });
    };
    let name = unversioned(versioned);
    let vhlo = Vhlo { entries, op, name };
    let full = match (name, is_in_function) {
        ("return", true) => "func.return".to_owned(),
        ("call", _) => "func.call".to_owned(),
        _ => format!("stablehlo.{name}"),
    };
    Ok(Converted { name: full, attributes: vhlo.attributes()? })
}

/// `add_v1` without its version.
pub(crate) fn unversioned(name: &str) -> &str {
    match name.rsplit_once("_v") {
        Some((name, version)) if !version.is_empty() && version.bytes().all(|c| c.is_ascii_digit()) => name,
        _ => name,
    }
}

struct Vhlo<'e, 'a> {
    entries: &'e Entries<'a>,
    op: &'e Op,
    name: &'e str,
}

impl Vhlo<'_, '_> {
    fn index(&self, name: &str) -> Option<u32> {
        self.op.properties.iter().find(|(known, _)| *known == name).map(|(_, index)| *index)
    }

    fn numbers_of(&self, index: u32) -> Result<Option<Vec<i64>>> {
        match &*self.entries.attribute(index)? {
            Attribute::Dense { ty, bytes } => self.entries.numbers(*ty, bytes),
            _ => Ok(None),
        }
    }

    /// A list of integers; empty if an older version does not have it.
    fn numbers(&self, name: &str) -> Result<Vec<i64>> {
        let Some(index) = self.index(name) else { return Ok(Vec::new()) };
        match self.numbers_of(index)? {
            Some(numbers) => Ok(numbers),
            None => self.op.error(format!("{name} is no list of integers: the file is damaged")),
        }
    }

    fn integer_of(&self, index: u32) -> Result<Option<i64>> {
        Ok(match &*self.entries.attribute(index)? {
            Attribute::Integer { bits, .. } => Some(*bits as i64),
            _ => None,
        })
    }

    fn integer(&self, name: &str) -> Result<i64> {
        let found = self.index(name).map(|index| self.integer_of(index)).transpose()?.flatten();
        match found {
            Some(integer) => Ok(integer),
            None => self.op.error(format!("{name} is no integer: the file is damaged")),
        }
    }

    fn attributes(&self) -> Result<Vec<(String, String)>> {
        let mut out = Vec::new();
        let mut combined: &[&str] = &[];
        match self.name {
            "gather" | "dynamic_gather" => {
                combined = GATHER;
                out.push(("dimension_numbers".to_owned(), self.dimensions("gather", GATHER)?));
            }
            "scatter" => {
                combined = SCATTER;
                out.push(("scatter_dimension_numbers".to_owned(), self.dimensions("scatter", SCATTER)?));
            }
            "dot_general" => {
                combined = DOT;
                out.push(("dot_dimension_numbers".to_owned(), self.dimensions("dot", DOT)?));
                if let Some(algorithm) = self.algorithm()? {
                    out.push(("algorithm".to_owned(), algorithm));
                }
            }
            "convolution" | "dynamic_conv" => {
                combined = CONVOLUTION;
                out.push(("dimension_numbers".to_owned(), self.convolution()?));
            }
            "send" | "recv" => {
                combined = &["channel_id", "channel_type"];
                let (id, kind) = (self.integer("channel_id")?, self.integer("channel_type")?);
                out.push(("channel_handle".to_owned(), channel(id, kind)));
            }
            _ => {}
        }
        let arrays = ARRAYS.iter().find(|(op, _)| *op == self.name).map_or(&[][..], |(_, arrays)| arrays);
        for &(name, index) in &self.op.properties {
            let is_combined =
                combined.contains(&name) || self.name == "dot_general" && DOT_ALGORITHM.contains(&name);
            if is_combined || self.is_default(name, index)? {
                continue;
            }
            out.push(match name {
                "channel_id" => ("channel_handle".to_owned(), channel(self.integer(name)?, 0)),
                "use_global_device_ids" | "has_dynamic_root" => (name.to_owned(), "unit".to_owned()),
                "callee" | "decomposition" => (name.to_owned(), self.symbol(index)?),
                "called_computations" => {
                    let Attribute::Array(symbols) = &*self.entries.attribute(index)? else {
                        return self.op.error("called_computations is no list: the file is damaged");
                    };
                    let symbols: Vec<String> =
                        symbols.iter().map(|symbol| self.symbol(*symbol)).collect::<Result<_>>()?;
                    (name.to_owned(), format!("[{}]", symbols.join(", ")))
                }
                _ if arrays.contains(&name) => {
                    let numbers = self.numbers(name)?;
                    let is_bool = name == "window_reversal";
                    let text = |number: &i64| match is_bool {
                        true => (*number != 0).to_string(),
                        false => number.to_string(),
                    };
                    let list: Vec<String> = numbers.iter().map(text).collect();
                    let element = if is_bool { "i1" } else { "i64" };
                    let colon = if list.is_empty() { "" } else { ": " };
                    (name.to_owned(), format!("array<{element}{colon}{}>", list.join(", ")))
                }
                _ => (name.to_owned(), self.entries.attribute_text(index)?),
            });
        }
        out.sort();
        Ok(out)
    }

    /// Whether StableHLO leaves an attribute of this value out.
    fn is_default(&self, name: &str, index: u32) -> Result<bool> {
        let attribute = self.entries.attribute(index)?;
        let is_splat = |value: i64| -> Result<bool> {
            let numbers = self.numbers_of(index)?.unwrap_or_default();
            Ok(!numbers.is_empty() && numbers.iter().all(|number| *number == value))
        };
        let is_empty = match &*attribute {
            Attribute::Array(elements) => elements.is_empty(),
            Attribute::Dictionary(members) => members.is_empty(),
            Attribute::String(string) => string.is_empty(),
            Attribute::Dense { bytes, .. } => bytes.is_empty(),
            _ => false,
        };
        let is_false = *attribute == Attribute::Bool(false);
        Ok(match (self.name, name) {
            (_, "use_global_device_ids" | "has_dynamic_root") => is_false,
            ("send" | "recv", "is_host_transfer") => is_false,
            ("cholesky", "lower") | ("sort", "is_stable") | ("custom_call", "has_side_effect") => is_false,
            ("gather" | "dynamic_gather" | "scatter", "indices_are_sorted")
            | ("scatter", "unique_indices") => is_false,
            (_, "channel_id") => self.integer(name)? == 0,
            ("compare", "compare_type") => {
                matches!(&*attribute, Attribute::Enum { of: Enum::ComparisonType, number: 0 })
            }
            ("composite", "version") => self.integer(name)? == 0,
            ("composite", "composite_attributes") | ("send" | "recv", "source_target_pairs") => is_empty,
            ("convolution" | "dynamic_conv", "window_strides" | "lhs_dilation" | "rhs_dilation")
            | ("reduce_window", "window_strides" | "base_dilations" | "window_dilations")
            | ("select_and_scatter", "window_strides") => is_splat(1)?,
            ("convolution" | "dynamic_conv", "window_reversal")
            | ("convolution" | "reduce_window" | "select_and_scatter", "padding") => is_splat(0)?,
            ("convolution" | "dynamic_conv" | "dot_general" | "dot", "precision_config") => {
                let Attribute::Array(precisions) = &*attribute else { return Ok(false) };
                let mut are_default = true;
                for precision in precisions {
                    let precision = self.entries.attribute(*precision)?;
                    are_default &= matches!(&*precision, Attribute::Enum { of: Enum::Precision, number: 0 });
                }
                are_default
            }
            ("custom_call", "api_version") => matches!(&*attribute, Attribute::Enum { number: 1, .. }),
            (
                "custom_call",
                "backend_config" | "called_computations" | "output_operand_aliases" | "result_tilings",
            )
            | ("dynamic_broadcast_in_dim", "known_expanding_dimensions" | "known_nonexpanding_dimensions")
            | ("infeed", "infeed_config" | "layout")
            | ("outfeed", "outfeed_config") => is_empty,
            ("custom_call", "operand_layouts" | "result_layouts") => {
                let mut are_empty = true;
                for name in ["operand_layouts", "result_layouts"] {
                    let layouts = self.index(name).map(|index| self.entries.attribute(index)).transpose()?;
                    are_empty &= layouts.is_none_or(|layouts| *layouts == Attribute::Array(Vec::new()));
                }
                are_empty
            }
            ("sort", "dimension") => self.integer(name)? == -1,
            (_, "result_accuracy") => match &*attribute {
                Attribute::Accuracy { atol, rtol, ulps: 0, mode } if *atol == 0.0 && *rtol == 0.0 => {
                    let mode = self.entries.attribute(*mode)?;
                    matches!(&*mode, Attribute::Enum { of: Enum::AccuracyMode, number: 0 })
                }
                _ => false,
            },
            _ => false,
        })
    }

    fn symbol(&self, index: u32) -> Result<String> {
        let mut out = "@".to_owned();
        write_name(self.entries.string(index)?, &mut out);
        Ok(out)
    }

    /// `#stablehlo.gather<offset_dims = [0], …>`
    fn dimensions(&self, attribute: &str, names: &[&str]) -> Result<String> {
        let part = |name: &&str| match *name {
            "index_vector_dim" => Ok(Part::Number(self.integer(name)?).text()),
            _ => Ok(Part::List(self.numbers(name)?).text()),
        };
        let texts: Vec<String> = names.iter().map(part).collect::<Result<_>>()?;
        Ok(named_parts(attribute, names, &texts))
    }

    /// `#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>`
    fn convolution(&self) -> Result<String> {
        let side = |first: &str, second: &str, spatial: &str| -> Result<Side> {
            let (first, second) = (self.integer(first)?, self.integer(second)?);
            Ok(Side { first, second, spatial: self.numbers(spatial)? })
        };
        let sides = [
            side("input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions")?,
            side(
                "kernel_input_feature_dimension",
                "kernel_output_feature_dimension",
                "kernel_spatial_dimensions",
            )?,
            side("output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions")?,
        ];
        convolution(&sides).or_else(|place| {
            self.op.error(format!("dimension {place} does not exist or has two roles: the file is damaged"))
        })
    }

    /// `#stablehlo.dot_algorithm<…>`; `None` if none is set, which VHLO writes as the type `none`.
    fn algorithm(&self) -> Result<Option<String>> {
        let Some(first) = self.index(DOT_ALGORITHM[0]) else { return Ok(None) };
        if let Attribute::Type(ty) = &*self.entries.attribute(first)?
            && *self.entries.ty(*ty)? == Type::Name("none")
        {
            return Ok(None);
        }
        let mut texts = Vec::new();
        for part in DOT_ALGORITHM {
            let Some(index) = self.index(part) else { return self.op.error(format!("{part} is missing")) };
            texts.push(match self.integer_of(index)? {
                Some(integer) => integer.to_string(),
                None => self.entries.attribute_text(index)?,
            });
        }
        Ok(Some(named_parts("dot_algorithm", DOT_ALGORITHM, &texts)))
    }
}
