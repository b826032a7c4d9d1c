//! The attributes of an op, from those of an instruction.

use ir::{AttributeKey, Op, Opcode};
use mlir::lists::dictionary;
use syntax::hlo::AttributeKey as K;

use super::matrices::matrix;
use crate::dimension_lists::{DOT_LISTS, GATHER_LISTS, SCATTER_LISTS};
use crate::dot_algorithms;
use crate::floats::with_point;
use crate::lists::{array_attribute, joined};
use crate::not_in_stablehlo::{NotInStablehlo, Outcome};
use crate::op_row::{AttributeRow, Form, Need, OpRow};
use crate::strings::mlir_string;

/// The attributes of an op, as text.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// Names and values in the generic form; a unit attribute has no value.
    properties: Vec<(String, String)>,
    /// The same in the custom form.
    pub clauses: Vec<(String, String)>,
    /// Of the properties those that the custom form has in its dictionary.
    beside: Vec<(String, String)>,
    /// Attributes that any op may have.
    pub extra: Vec<(String, String)>,
    /// The attributes of the instruction that are written.
    pub keys: Vec<AttributeKey>,
}

fn entries(list: &[&[(String, String)]]) -> String {
    let entry = |(name, value): &(String, String)| match value.is_empty() {
        true => name.clone(),
        false => format!("{name} = {value}"),
    };
    list.iter().flat_map(|part| part.iter().map(entry)).collect::<Vec<_>>().join(", ")
}

impl Written {
    /// The attributes of a row. The error names what is missing or has no counterpart.
    pub fn of(row: &OpRow, op: &Op) -> Result<Written, NotInStablehlo> {
        let mut written = Written::default();
        written.add_row(row, op)?;
        Ok(written)
    }

    /// Adds the attributes of a row after the others.
    pub fn add_row(&mut self, row: &OpRow, op: &Op) -> Outcome {
        row.attributes.iter().try_for_each(|attribute| self.add(row, attribute, op))
    }

    /// ` <{…}>`, or nothing.
    pub fn properties(&self) -> String {
        match self.properties.is_empty() {
            true => String::new(),
            false => format!(" <{{{}}}>", entries(&[&self.properties])),
        }
    }

    /// ` {…}` of the generic form, or nothing.
    pub fn dictionary(&self) -> String {
        match self.extra.is_empty() {
            true => String::new(),
            false => format!(" {{{}}}", entries(&[&self.extra])),
        }
    }

    /// ` {…}` of the custom form, or nothing.
    pub fn custom_dictionary(&self) -> String {
        match self.extra.is_empty() && self.beside.is_empty() {
            true => String::new(),
            false => format!(" {{{}}}", entries(&[&self.beside, &self.extra])),
        }
    }

    pub fn clause(&self, key: &str) -> Option<&str> {
        self.clauses.iter().find(|(own, _)| own == key).map(|(_, value)| value.as_str())
    }

    pub fn property(&mut self, name: &str, value: impl Into<String>) {
        self.properties.push((name.to_owned(), value.into()));
    }

    /// A value in both forms.
    pub(super) fn both(&mut self, row: &AttributeRow, generic: String, custom: String) {
        match row.clause.is_empty() {
            true => self.beside.push((row.name.to_owned(), generic.clone())),
            false => self.clauses.push((row.clause.to_owned(), custom)),
        }
        self.property(row.name, generic);
    }

    fn list(&mut self, name: &str, clause: &str, values: &[i64]) {
        self.property(name, array_attribute(values));
        if !clause.is_empty() {
            self.clauses.push((clause.to_owned(), format!("[{}]", joined(values, ", "))));
        }
    }

    fn add(&mut self, row: &OpRow, attribute: &AttributeRow, op: &Op) -> Outcome {
        let key = attribute.key;
        let attributes = &op.attributes;
        let view = attributes.view();
        self.keys.push(key);
        self.keys.extend(said_with(attribute.form));
        let absent = || match attribute.need {
            Need::Always => Err(NotInStablehlo::missing_name(key.name())),
            _ => Ok(()),
        };
        let dialect = row.dialect.name();
        match attribute.form {
            Form::Ints if row.opcode == Opcode::Map && !view.has(key) => {
                let rank = op.shape.dims().len() as i64;
                self.both(attribute, array_attribute(&(0..rank).collect::<Vec<_>>()), String::new());
            }
            Form::Ints => {
                let values = attributes.ints(key);
                self.both(attribute, array_attribute(values), format!("[{}]", joined(values, ", ")));
            }
            Form::OneInt => match attributes.ints(key) {
                [value] => self.both(attribute, format!("{value} : i64"), value.to_string()),
                _ => return absent(),
            },
            Form::Int => match attributes.int(key).or(attribute.need.usual()) {
                Some(value) => self.both(attribute, format!("{value} : i64"), value.to_string()),
                None => return absent(),
            },
            Form::Bool => {
                let value = attributes.bool(key).unwrap_or(false);
                self.both(attribute, value.to_string(), value.to_string());
            }
            Form::Flag => {
                if attributes.bool(key).unwrap_or(false) {
                    self.both(attribute, String::new(), String::new());
                }
            }
            Form::Float => match attributes.text(key) {
                Some(text) => {
                    self.both(attribute, format!("{} : f32", with_point(text.trim())), String::new())
                }
                None => return absent(),
            },
            // `order=TOTAL` is this kind of comparison, too.
            Form::Word(kind @ "comparison_type") if is_total_float(op) => {
                self.enumerated(attribute, dialect, kind, "TOTALORDER");
            }
            Form::Word(kind) => match attributes.text(key) {
                Some(word) => self.enumerated(attribute, dialect, kind, word),
                None if key == K::TransposeA => self.enumerated(attribute, dialect, kind, "NO_TRANSPOSE"),
                None => return absent(),
            },
            Form::LowerWord(kind, prefix) => match attributes.text(key) {
                Some(word) => {
                    let word = word.strip_prefix(prefix).unwrap_or(word).to_ascii_uppercase();
                    self.enumerated(attribute, dialect, kind, &word);
                }
                None => return absent(),
            },
            Form::Text => {
                let text = mlir_string(attributes.text(key).unwrap_or_default());
                self.both(attribute, format!("\"{text}\""), String::new());
            }
            Form::Slice => self.slice(attributes.triples(key)),
            Form::Padding => {
                let of = |nth: usize| attributes.triples(key).iter().map(|t| t[nth]).collect::<Vec<_>>();
                self.list("edge_padding_low", "low", &of(0));
                self.list("edge_padding_high", "high", &of(1));
                self.list("interior_padding", "interior", &of(2));
            }
            Form::Window => {
                let rank = op.operand_shapes.first().map_or(0, |s| s.dims().len());
                self.window(attributes.window(), rank, row.opcode == Opcode::ReduceWindow);
            }
            Form::ConvolutionWindow => {
                let rank = attributes.convolution_dims().map_or(0, |dims| dims.input_spatial.len());
                self.convolution_window(attributes.window(), rank);
            }
            Form::ConvolutionNumbers => self.convolution_numbers(attribute, dialect, op)?,
            Form::DotNumbers => self.dot_numbers(attribute, dialect, op),
            Form::GatherNumbers | Form::ScatterNumbers => self.index_numbers(attribute, dialect, op),
            Form::RaggedNumbers => self.ragged_numbers(attribute, dialect, op),
            Form::Precision => {
                let words: Vec<String> =
                    attributes.computations(key).iter().map(|word| word.to_ascii_uppercase()).collect();
                // With an algorithm the usual one must be stated.
                let words = match words.is_empty() && view.has(K::Algorithm) {
                    true => vec!["DEFAULT".to_owned(); 2],
                    false => words,
                };
                if !words.is_empty() {
                    let each: Vec<_> =
                        words.iter().map(|word| format!("#{dialect}<precision {word}>")).collect();
                    self.both(attribute, format!("[{}]", each.join(", ")), format!("[{}]", words.join(", ")));
                }
            }
            Form::DotAlgorithm => {
                if let Some(name) = attributes.text(key).filter(|name| *name != "dot_unset") {
                    let fields = dot_algorithms::fields(name).ok_or_else(|| {
                        NotInStablehlo::Malformed(format!("StableHLO has no algorithm {name}").into())
                    })?;
                    self.both(
                        attribute,
                        format!("#{dialect}.dot_algorithm<{fields}>"),
                        format!("<{fields}>"),
                    );
                }
            }
            Form::Groups => {
                let groups = attributes.replica_groups().ok_or_else(|| {
                    let text = attributes.text(key).unwrap_or_default();
                    NotInStablehlo::Malformed(format!("replica groups {text}").into())
                })?;
                self.both(attribute, matrix(&groups), String::new());
            }
            Form::Pairs => {
                let pairs = attributes.source_target_pairs().ok_or("source_target_pairs are not read")?;
                let rows: Vec<Vec<i64>> = pairs.into_iter().map(|(from, to)| vec![from, to]).collect();
                let text =
                    if rows.is_empty() { "dense<> : tensor<0x2xi64>".to_owned() } else { matrix(&rows) };
                self.both(attribute, text, String::new());
            }
            Form::Channel => {
                let usual = attribute.need.usual();
                if let Some(handle) = attributes.int(key).or(usual) {
                    let kind = channel_kind(op);
                    let text = format!("#{dialect}.channel_handle<handle = {handle}, type = {kind}>");
                    self.both(attribute, text, String::new());
                }
            }
            Form::Accuracy => {
                if let Some(text) = attributes.text(key).and_then(accuracy) {
                    self.both(attribute, text, String::new());
                }
            }
            Form::Domain => {
                let entries = dictionary(attributes.text(key).ok_or(NotInStablehlo::missing("its domain"))?);
                let side = |name: &str| entries.iter().find(|(own, _)| *own == name).map(|&(_, value)| value);
                let kind = side("kind").map(|kind| kind.trim_matches('"')).ok_or("its kind is not read")?;
                self.both(attribute, format!("#{dialect}<kind {kind}>"), String::new());
                for name in ["entry", "exit"] {
                    let sharding = side(name).ok_or("its shardings are not read")?;
                    self.property(&format!("{name}_metadata"), format!("\"{}\"", mlir_string(sharding)));
                }
            }
            Form::Float2 => {
                let number = |key| attributes.int(key).ok_or(NotInStablehlo::missing("the format"));
                let (exponent, mantissa) = (number(K::ExponentBits)?, number(K::MantissaBits)?);
                self.property("exponent_bits", format!("{exponent} : i32"));
                self.property("mantissa_bits", format!("{mantissa} : i32"));
                self.clauses.push(("format".to_owned(), format!("e{exponent}m{mantissa}")));
            }
        }
        Ok(())
    }

    fn enumerated(&mut self, attribute: &AttributeRow, dialect: &str, kind: &str, word: &str) {
        let generic = format!("#{dialect}<{kind} {word}>");
        if matches!(kind, "comparison_direction" | "comparison_type") {
            self.clauses.push((attribute.name.to_owned(), word.to_owned()));
            return self.property(attribute.name, generic);
        }
        self.both(attribute, generic, word.to_owned());
    }
}

/// Attributes of HLO that are part of another one in MLIR.
fn said_with(form: Form) -> Vec<AttributeKey> {
    let keys = |lists: &[(&str, K)], others: &[K]| -> Vec<AttributeKey> {
        lists.iter().map(|&(_, key)| key).chain(others.iter().copied()).collect()
    };
    match form {
        Form::DotNumbers => keys(&DOT_LISTS, &[]),
        Form::RaggedNumbers => keys(&DOT_LISTS, &[K::LhsRaggedDims, K::RhsGroupDims]),
        Form::GatherNumbers => keys(&GATHER_LISTS, &[K::IndexVectorDim]),
        Form::ScatterNumbers => keys(&SCATTER_LISTS, &[K::IndexVectorDim]),
        Form::Word("comparison_type") => vec![K::Order],
        Form::Float2 => vec![K::MantissaBits],
        _ => Vec::new(),
    }
}

/// Whether NaN and both zeros have a place in the order of a comparison.
fn is_total_float(op: &Op) -> bool {
    let element = op.operand_shapes.first().and_then(ir::Shape::element);
    op.attributes.is_total_order() && element.is_some_and(ir::ElementTypeExt::is_floating)
}

/// Who is at the ends of a channel. Source: `xla_data.proto` ChannelHandle.
fn channel_kind(op: &Op) -> u8 {
    let is_host = op.attributes.bool(K::IsHostTransfer) == Some(true);
    match op.opcode {
        Opcode::Send if is_host => 2,
        Opcode::Recv if is_host => 3,
        _ => 1,
    }
}

/// `#stablehlo.result_accuracy<…>` of `{mode=highest}` or of a tolerance.
fn accuracy(text: &str) -> Option<String> {
    let number = |key: &str| {
        let rest = text.split_once(key)?.1;
        let end = rest.find([',', '}', ' ']).unwrap_or(rest.len());
        Some(rest[..end].to_owned())
    };
    if text.contains("tolerance") {
        let decimal = |key: &str| with_point(&number(key).unwrap_or_else(|| "0".to_owned()));
        return Some(format!(
            "#stablehlo.result_accuracy<atol = {}, rtol = {}, ulps = {}, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>",
            decimal("atol="),
            decimal("rtol="),
            number("ulps=").unwrap_or_else(|| "0".to_owned())
        ));
    }
    let mode = number("mode=")?.to_ascii_uppercase();
    Some(format!("#stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<{mode}>>"))
}
