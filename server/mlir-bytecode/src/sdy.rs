//! Attributes of Shardy, by its `bytecode.td`, and their text.

use std::fmt::Write as _;

use crate::Result;
use crate::attribute_text::write_string;
use crate::bytes::Reader;
use crate::entries::{Attribute, Entries, foreign};
use crate::type_text::Nesting;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sharding<'a> {
    ManualAxes(Vec<u32>),
    MeshAxis { name: &'a [u8], size: i64 },
    Mesh { axes: Vec<u32>, devices: Vec<i64> },
    SubAxis { pre: i64, size: i64 },
    Axis { name: &'a [u8], sub: Option<u32> },
    Dimension { axes: Vec<u32>, is_closed: bool, priority: Option<u64> },
    Tensor { mesh: u32, dimensions: Vec<u32>, replicated: Vec<u32>, unreduced: Vec<u32> },
    PerValue(Vec<u32>),
    DimensionMapping(Vec<i64>),
    TensorMapping(Vec<u32>),
    Rule(Box<Rule>),
}

/// How an op can be partitioned: factors by number, and where each of them is a part of a dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rule {
    sizes: Vec<i64>,
    operands: Vec<u32>,
    results: Vec<u32>,
    /// Of a kind each, in the order of [`FACTORS`].
    factors: [Vec<i64>; 4],
    is_custom: bool,
}

const FACTORS: [&str; 4] = ["reduction", "need_replication", "permutation", "blocked_propagation"];

pub(crate) fn attribute<'a>(entries: &Entries<'a>, reader: &mut Reader<'a>) -> Result<Attribute<'a>> {
    let at = *reader;
    let string = |reader: &mut Reader<'a>| {
        let index = reader.index()?;
        entries.file.string(index, reader)
    };
    let optional = |reader: &mut Reader<'a>| {
        let (number, is_present) = reader.flagged()?;
        Ok(is_present.then_some(number))
    };
    let read = match reader.number()? {
        0 => Sharding::ManualAxes(reader.indices()?),
        1 => Sharding::MeshAxis { name: string(reader)?, size: reader.signed()? },
        2 => Sharding::Mesh { axes: reader.indices()?, devices: reader.signed_list()? },
        3 => Sharding::SubAxis { pre: reader.signed()?, size: reader.signed()? },
        4 => {
            let name = string(reader)?;
            let sub = optional(reader)?.and_then(|index| u32::try_from(index).ok());
            Sharding::Axis { name, sub }
        }
        5 => {
            let axes = reader.indices()?;
            let is_closed = reader.byte()? != 0;
            Sharding::Dimension { axes, is_closed, priority: optional(reader)? }
        }
        code @ (6 | 15) => {
            let (mesh, dimensions, replicated) = (reader.index()?, reader.indices()?, reader.indices()?);
            let unreduced = if code == 15 { reader.indices()? } else { Vec::new() };
            Sharding::Tensor { mesh, dimensions, replicated, unreduced }
        }
        7 | 16 => Sharding::PerValue(reader.indices()?),
        8 => Sharding::DimensionMapping(reader.signed_list()?),
        9 => Sharding::TensorMapping(reader.indices()?),
        10 => {
            let (sizes, operands, results) = (reader.signed_list()?, reader.indices()?, reader.indices()?);
            let mut factors: [Vec<i64>; 4] = Default::default();
            for list in &mut factors {
                *list = reader.signed_list()?;
            }
            Sharding::Rule(Box::new(Rule {
                sizes,
                operands,
                results,
                factors,
                is_custom: reader.byte()? != 0,
            }))
        }
        _ => return at.error(foreign("an attribute", "sdy")),
    };
    Ok(Attribute::Sharding(read))
}

impl Entries<'_> {
    /// A whole attribute: `#sdy.sharding<@mesh, [{"x"}, {}]>`
    pub(crate) fn write_sharding(
        &self,
        sharding: &Sharding<'_>,
        out: &mut String,
        nesting: Nesting,
    ) -> Result<()> {
        let (start, end) = match sharding {
            Sharding::ManualAxes(_) => ("#sdy<manual_axes", ">"),
            Sharding::MeshAxis { .. } => ("#sdy<mesh_axis", ">"),
            Sharding::Mesh { .. } => ("#sdy.mesh", ""),
            Sharding::SubAxis { .. } => ("#sdy<sub_axis_info", ">"),
            Sharding::Axis { .. } => ("#sdy<axis_ref", ">"),
            Sharding::Dimension { .. } => ("#sdy<dimension_sharding", ">"),
            Sharding::Tensor { .. } => ("#sdy.sharding", ""),
            Sharding::PerValue(_) => ("#sdy.sharding_per_value", ""),
            Sharding::DimensionMapping(_) => ("#sdy<dim_mapping", ">"),
            Sharding::TensorMapping(_) => ("#sdy<tensor_mapping", ">"),
            Sharding::Rule(_) => ("#sdy.op_sharding_rule", ""),
        };
        out.push_str(start);
        self.write_part(sharding, out, nesting)?;
        out.push_str(end);
        Ok(())
    }

    /// The same inside another one of Shardy, without its name.
    fn write_part(&self, sharding: &Sharding<'_>, out: &mut String, nesting: Nesting) -> Result<()> {
        match sharding {
            Sharding::ManualAxes(axes) => {
                out.push('{');
                for (n, axis) in axes.iter().enumerate() {
                    out.push_str(if n == 0 { "" } else { ", " });
                    write_string(self.string(*axis)?, out);
                }
                out.push('}');
            }
            Sharding::MeshAxis { name, size } => {
                write_string(name, out);
                _ = write!(out, "={size}");
            }
            Sharding::Mesh { axes, devices } => {
                out.push_str("<[");
                self.write_parts(axes, out, nesting)?;
                out.push(']');
                if !devices.is_empty() {
                    _ = write!(out, ", device_ids={devices:?}");
                }
                out.push('>');
            }
            Sharding::SubAxis { pre, size } => _ = write!(out, "({pre}){size}"),
            Sharding::Axis { name, sub } => {
                write_string(name, out);
                if let Some(sub) = sub {
                    out.push(':');
                    self.write_parts(&[*sub], out, nesting)?;
                }
            }
            Sharding::Dimension { axes, is_closed, priority } => {
                out.push('{');
                self.write_parts(axes, out, nesting)?;
                if !is_closed {
                    out.push_str(if axes.is_empty() { "?" } else { ", ?" });
                }
                out.push('}');
                if let Some(priority) = priority {
                    _ = write!(out, "p{priority}");
                }
            }
            Sharding::Tensor { mesh, dimensions, replicated, unreduced } => {
                out.push('<');
                match &*self.attribute(*mesh)? {
                    Attribute::Sharding(mesh) => {
                        out.push_str("mesh");
                        self.check_nesting(out, nesting.inner())?;
                        self.write_part(mesh, out, nesting.inner())?;
                    }
                    _ => self.write_inner_attribute(*mesh, out, nesting.inner())?,
                }
                out.push_str(", [");
                self.write_parts(dimensions, out, nesting)?;
                out.push(']');
                for (name, axes) in [("replicated", replicated), ("unreduced", unreduced)] {
                    if !axes.is_empty() {
                        _ = write!(out, ", {name}={{");
                        self.write_parts(axes, out, nesting)?;
                        out.push('}');
                    }
                }
                out.push('>');
            }
            Sharding::DimensionMapping(factors) => {
                if factors.is_empty() {
                    out.push('1');
                }
                factors.iter().for_each(|factor| out.push_str(&factor_name(*factor)));
            }
            Sharding::TensorMapping(dimensions) => {
                out.push('[');
                self.write_parts(dimensions, out, nesting)?;
                out.push(']');
            }
            Sharding::Rule(rule) => {
                out.push_str("<(");
                self.write_parts(&rule.operands, out, nesting)?;
                out.push_str(")->(");
                self.write_parts(&rule.results, out, nesting)?;
                out.push_str(") {");
                for (n, size) in (0..).zip(&rule.sizes) {
                    _ = write!(out, "{}{}={size}", if n == 0 { "" } else { ", " }, factor_name(n));
                }
                out.push('}');
                for (kind, factors) in
                    FACTORS.iter().zip(&rule.factors).filter(|(_, factors)| !factors.is_empty())
                {
                    let names: Vec<String> = factors.iter().map(|factor| factor_name(*factor)).collect();
                    _ = write!(out, " {kind}={{{}}}", names.join(", "));
                }
                out.push_str(if rule.is_custom { ", custom>" } else { ">" });
            }
            Sharding::PerValue(shardings) => {
                out.push_str("<[");
                self.write_parts(shardings, out, nesting)?;
                out.push_str("]>");
            }
        }
        Ok(())
    }

    fn write_parts(&self, parts: &[u32], out: &mut String, nesting: Nesting) -> Result<()> {
        self.check_nesting(out, nesting)?;
        for (n, part) in parts.iter().enumerate() {
            out.push_str(if n == 0 { "" } else { ", " });
            match &*self.attribute(*part)? {
                Attribute::Sharding(sharding) => self.write_part(sharding, out, nesting.inner())?,
                _ => self.write_inner_attribute(*part, out, nesting.inner())?,
            }
        }
        Ok(())
    }
}

/// Factors are `i` to `z`, then `z_1`, `z_2` and so on.
fn factor_name(factor: i64) -> String {
    match u8::try_from(factor) {
        Ok(n @ 0..=17) => char::from(b'i' + n).to_string(),
        _ => format!("z_{}", factor.saturating_sub(17)),
    }
}
