//! Attributes that any op may have: shardings, and those of frontends.

use std::rc::Rc;

use ir::{AttributeKey as K, AttributeValue, Attributes};
use mlir::OpId;
use mlir::lists::dictionary;

use super::Writer;
use crate::environment::Environment;
use crate::not_in_hlo::NotInHlo;
use crate::op_row::{Form, OpRow};
use crate::sharding_messages::sharding_of_message;
use crate::shardy::{hlo_sharding, unknown_meshes};
use crate::strings::hlo_string;

/// The inside of `metadata={…}`, if there is any.
#[derive(Debug, Clone, Default)]
pub(super) struct Location(pub Option<Rc<str>>);

impl Location {
    pub fn add_to(&self, attributes: &mut Attributes) {
        if let Some(fields) = &self.0 {
            attributes.push(K::Metadata, AttributeValue::Text(format!("{{{fields}}}")));
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Annotations {
    sharding: String,
    replication: String,
    frontend: Vec<String>,
    config: String,
    /// Where the op comes from.
    location: Location,
    /// Meshes that shardings name and the module does not have.
    unknown: Vec<String>,
}

impl Annotations {
    /// Whether the attribute is one of these.
    pub fn add(&mut self, name: &str, value: &str, environment: &Environment) -> bool {
        let value = environment.resolved(value);
        match name {
            "mhlo.sharding" => {
                let Some(text) = written_sharding(value.trim_matches('"')) else { return false };
                self.sharding = text;
            }
            "mhlo.frontend_attributes" => {
                for (key, value) in dictionary(value) {
                    let value = value.trim_matches('"');
                    match value.starts_with('{') {
                        true => self.frontend.push(format!("{key}={value}")),
                        false => self.frontend.push(format!("{key}=\"{}\"", hlo_string(value))),
                    }
                }
            }
            "mhlo.parameter_replication" => {
                let Some(list) = value.strip_prefix('[').and_then(|l| l.strip_suffix(']')) else {
                    return false;
                };
                self.replication = list.replace(' ', "");
            }
            "mhlo.backend_config" => {
                let text = value.trim_matches('"');
                self.config = match text.starts_with('{') {
                    true => text.replace("\\22", "\"").replace("\\\\", "\\"),
                    false => format!("\"{}\"", hlo_string(text)),
                };
            }
            // As XLA carries them through HLO.
            "sdy.sharding" | "sdy.sharding_rule" => {
                if let Some(sharding) =
                    hlo_sharding(value, environment.meshes()).filter(|_| name == "sdy.sharding")
                {
                    self.sharding = sharding;
                }
                self.unknown.extend(unknown_meshes(value, environment.meshes()));
                let text = value.replace('\\', "\\\\").replace('"', "\\\"");
                self.frontend.push(format!("xla.{name}=\"{text}\""));
            }
            // What JAX calls its arguments and results concerns nobody else.
            _ => return name.starts_with("jax.") && name != "jax.buffer_donor",
        }
        true
    }

    /// Of what a loop carries beside its `count` own values: it has a sharding for each, or none.
    pub fn add_shardings(&mut self, count: usize, added: &[String]) {
        if self.sharding.is_empty() || added.is_empty() {
            return;
        }
        let each = self.sharding.strip_prefix('{').and_then(|s| s.strip_suffix('}'));
        let mut all: Vec<&str> = match each.filter(|each| each.is_empty() || each.starts_with('{')) {
            Some(each) => mlir::lists::split(each),
            // One that is stated once is that of all.
            None => vec![&self.sharding; count],
        };
        all.extend(added.iter().map(String::as_str));
        self.sharding = format!("{{{}}}", all.join(", "));
    }

    /// What HLO does not say although its attribute is one of these.
    pub fn unsaid(&self) -> impl Iterator<Item = String> {
        self.unknown.iter().map(|mesh| format!("a sharding over {mesh}, which is no mesh of the module"))
    }

    /// Adds the annotations of another op that becomes part of the same instruction. Where both have one, this one stays.
    fn add_all(&mut self, other: Annotations) {
        let Annotations { sharding, replication, frontend, config, location, unknown } = other;
        if self.location.0.is_none() {
            self.location = location;
        }
        let own = [
            (&mut self.sharding, sharding),
            (&mut self.replication, replication),
            (&mut self.config, config),
        ];
        own.into_iter().filter(|(own, _)| own.is_empty()).for_each(|(own, other)| *own = other);
        let key = |entry: &str| entry.split('=').next().unwrap_or_default().to_owned();
        for entry in frontend {
            if !self.frontend.iter().any(|own| key(own) == key(&entry)) {
                self.frontend.push(entry);
            }
        }
        self.unknown.extend(unknown);
    }

    /// As HLO says it; nothing where there is none.
    pub fn sharding(&self) -> &str {
        &self.sharding
    }

    pub fn add_frontend(&mut self, entry: String) {
        self.frontend.push(entry);
    }

    pub fn set_location(&mut self, location: Location) {
        self.location = location;
    }

    /// Adds all of these after the attributes of the op itself.
    pub fn add_to(self, attributes: &mut Attributes) {
        let Annotations { sharding, replication, mut frontend, config, location, .. } = self;
        let mut push = |key: K, text: String| {
            if !text.is_empty() {
                attributes.push(key, AttributeValue::Text(text));
            }
        };
        push(K::Sharding, sharding);
        if !replication.is_empty() {
            push(K::ParameterReplication, format!("{{{replication}}}"));
        }
        if !frontend.is_empty() {
            frontend.sort_unstable();
            push(K::FrontendAttributes, format!("{{{}}}", frontend.join(",")));
        }
        push(K::BackendConfig, config);
        location.add_to(attributes);
    }
}

impl Writer<'_> {
    /// The annotations of an op and its place in the source. What neither its row nor this knows is reported.
    pub(super) fn annotations(&mut self, id: OpId, known: &[&str]) -> Annotations {
        let (parse, text) = (self.parse(), self.text());
        let mut annotations = Annotations::default();
        if self.is_bare {
            return annotations;
        }
        for attribute in parse.attributes_of(id) {
            let name = attribute.name.of(text).trim_matches('"');
            if known.contains(&name) || is_about_layout(name) {
                continue;
            }
            if !annotations.add(name, attribute.value.of(text), self.environment) {
                self.report(id, format!("attribute {name}"));
            }
        }
        for what in annotations.unsaid() {
            self.report(id, what);
        }
        annotations.location = self.location(id);
        match &mut self.held {
            Some((op, held)) if *op == id => std::mem::replace(held, annotations),
            _ => annotations,
        }
    }

    /// Writes an op that becomes part of the instruction of another one, without its annotations.
    pub(super) fn without_annotations(&mut self, id: OpId) -> Result<Annotations, NotInHlo> {
        let outer = self.held.replace((id, Annotations::default()));
        let written = self.try_op(id);
        let held = std::mem::replace(&mut self.held, outer);
        written.map(|()| held.map(|(_, held)| held).unwrap_or_default())
    }

    /// The annotations of an op, and those of one that becomes part of the same instruction.
    pub(super) fn merged(&mut self, id: OpId, inner: Annotations) -> Annotations {
        let mut annotations = self.annotations(id, &[]);
        annotations.add_all(inner);
        annotations
    }
}

/// A sharding as HLO has it, of the inside of a string: a text, or a message of XLA's.
pub(super) fn written_sharding(value: &str) -> Option<String> {
    match value.starts_with('{') {
        true => Some(value.replace("\\22", "\"").replace("\\27", "'")),
        false => sharding_of_message(value),
    }
}

/// Attributes that are read where shapes are.
fn is_about_layout(name: &str) -> bool {
    matches!(
        name,
        "xla_shape" | "result_layout" | "source_layout" | "operandSegmentSizes" | "resultSegmentSizes"
    )
}

/// The attributes that a row reads.
pub(super) fn known_attributes(row: &OpRow) -> Vec<&'static str> {
    let mut known = Vec::new();
    for attribute in row.attributes {
        known.extend(attribute.names());
        known.extend(beside(attribute.form));
    }
    known
}

/// Attributes that are read with another one.
fn beside(form: Form) -> &'static [&'static str] {
    match form {
        Form::Slice => &["limit_indices", "strides"],
        Form::Padding => &["edge_padding_high", "interior_padding", "high", "interior"],
        Form::Window => &["window_strides", "base_dilations", "window_dilations", "padding"],
        Form::ConvolutionWindow => &[
            "stride",
            "pad",
            "lhs_dilate",
            "rhs_dilate",
            "reverse",
            "lhs_dilation",
            "rhs_dilation",
            "padding",
            "window_reversal",
        ],
        Form::DotNumbers => &["batching_dims", "contracting_dims"],
        Form::Domain => &["entry_metadata", "exit_metadata"],
        Form::Float2 => &["mantissa_bits"],
        _ => &[],
    }
}
