//! The attributes of an op, from those of an instruction.

use ir::{AttributeKey, Op};
use syntax::hlo::AttributeKey as K;

use super::groups::{groups, matrix};
use crate::dot_algorithms;
use crate::floats::with_point;
use crate::lists::{array_attribute, joined};
use crate::op_row::{AttributeRow, Dialect, Form, Need, OpRow};
use crate::strings::mlir_string;
use crate::to_hlo::DOT_LISTS;

/// What is written of an op beside its operands.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// Names and values in the generic form; a unit attribute has no value.
    properties: Vec<(String, String)>,
    /// The same in the custom form.
    pub clauses: Vec<(String, String)>,
    /// Of the properties those that the custom form has in its dictionary.
    beside: Vec<(String, String)>,
    /// What is no attribute of the op itself.
    pub extra: Vec<(String, String)>,
    /// What has been said of the instruction.
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
    /// The attributes of a row. The error says what is missing, or cannot be said.
    pub fn of(row: &OpRow, op: &Op) -> Result<Written, String> {
        let mut written = Written::default();
        for attribute in row.attributes {
            written.add(row, attribute, op)?;
        }
        Ok(written)
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

    fn property(&mut self, name: &str, value: impl Into<String>) {
        self.properties.push((name.to_owned(), value.into()));
    }

    /// A value in both forms.
    fn both(&mut self, row: &AttributeRow, generic: String, custom: String) {
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

    fn add(&mut self, row: &OpRow, attribute: &AttributeRow, op: &Op) -> Result<(), String> {
        let key = attribute.key;
        let attributes = &op.attributes;
        let view = attributes.view();
        self.keys.push(key);
        self.keys.extend(said_with(attribute.form));
        let absent = || match attribute.need {
            Need::Always => Err(format!("{} is not there", key.name())),
            _ => Ok(()),
        };
        let dialect = match row.dialect {
            Dialect::Stablehlo => "stablehlo",
            Dialect::Mhlo => "mhlo",
        };
        match attribute.form {
            Form::Ints if row.name == "map" && !view.has(key) => {
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
            Form::Int => {
                let usual = match attribute.need {
                    Need::Unless(usual) => Some(usual),
                    _ => None,
                };
                match attributes.int(key).or(usual) {
                    Some(value) => self.both(attribute, format!("{value} : i64"), value.to_string()),
                    None => return absent(),
                }
            }
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
                self.window(attributes.window(), rank, row.name == "reduce_window");
            }
            Form::ConvolutionWindow => {
                let rank = attributes.convolution_dims().map_or(0, |dims| dims.input_spatial.len());
                self.convolution_window(attributes.window(), rank);
            }
            Form::ConvolutionNumbers => {
                let labels = attributes.text(key).ok_or_else(|| format!("{} is not there", key.name()))?;
                let spaced = |side: &str| side.chars().map(String::from).collect::<Vec<_>>().join(", ");
                let (input, rest) = labels.split_once('_').ok_or("dim_labels are not read")?;
                let (kernel, output) = rest.split_once("->").ok_or("dim_labels are not read")?;
                let numbers = format!("[{}]x[{}]->[{}]", spaced(input), spaced(kernel), spaced(output));
                self.both(attribute, format!("#{dialect}.conv<{numbers}>"), numbers);
            }
            Form::DotNumbers => {
                let lists = DOT_LISTS
                    .map(|(name, key)| (name, K::from_name(key).map_or(&[][..], |key| attributes.ints(key))));
                let both = |left: &[i64], right: &[i64]| {
                    format!("[{}] x [{}]", joined(left, ", "), joined(right, ", "))
                };
                let [batch, contracting, right_batch, right_contracting] = lists.map(|(_, values)| values);
                if !batch.is_empty() {
                    self.clauses.push(("batching_dims".to_owned(), both(batch, right_batch)));
                }
                self.clauses.push(("contracting_dims".to_owned(), both(contracting, right_contracting)));
                self.property(attribute.name, format!("#{dialect}.dot<{}>", fields(&lists)));
            }
            Form::GatherNumbers | Form::ScatterNumbers => {
                let (kind, names): (_, &[&str]) = match attribute.form {
                    Form::GatherNumbers => ("gather", &GATHER_LISTS),
                    _ => ("scatter", &SCATTER_LISTS),
                };
                let list = |name: &&'static str| {
                    (*name, K::from_name(name).map_or(&[][..], |key| attributes.ints(key)))
                };
                let lists: Vec<_> = names.iter().map(list).collect();
                let index = attributes.int(K::IndexVectorDim).unwrap_or(0);
                let comma = if lists.iter().all(|(_, l)| l.is_empty()) { "" } else { ", " };
                let numbers = format!("{}{comma}index_vector_dim = {index}", fields(&lists));
                self.property(attribute.name, format!("#{dialect}.{kind}<{numbers}>"));
            }
            Form::RaggedNumbers => {
                let lists = DOT_LISTS
                    .map(|(name, key)| (name, K::from_name(key).map_or(&[][..], |key| attributes.ints(key))));
                let dot = format!("#{dialect}.dot<{}>", fields(&lists));
                let (ragged, groups) = (attributes.ints(K::LhsRaggedDims), attributes.ints(K::RhsGroupDims));
                self.property(
                    attribute.name,
                    format!(
                        "#{dialect}.ragged_dot<dot_dimension_numbers = {dot}, lhs_ragged_dimensions = [{}], rhs_group_dimensions = [{}]>",
                        joined(ragged, ", "),
                        joined(groups, ", ")
                    ),
                );
            }
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
                    let fields = dot_algorithms::fields(name)
                        .ok_or_else(|| format!("StableHLO has no algorithm {name}"))?;
                    self.both(
                        attribute,
                        format!("#{dialect}.dot_algorithm<{fields}>"),
                        format!("<{fields}>"),
                    );
                }
            }
            Form::Groups => {
                let text = attributes.text(key).unwrap_or("{}");
                let groups = groups(text).ok_or_else(|| format!("replica groups {text}"))?;
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
                if let Some(handle) = attributes.int(key) {
                    let text = format!("#{dialect}.channel_handle<handle = {handle}, type = 1>");
                    self.both(attribute, text, String::new());
                }
            }
            Form::Accuracy => {
                if let Some(text) = attributes.text(key).and_then(accuracy) {
                    self.both(attribute, text, String::new());
                }
            }
            Form::Float2 => {
                let number = |key| attributes.int(key).ok_or("the format is not there");
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

    fn slice(&mut self, triples: &[[i64; 3]]) {
        let of = |nth: usize| triples.iter().map(|t| t[nth]).collect::<Vec<_>>();
        self.property("start_indices", array_attribute(&of(0)));
        self.property("limit_indices", array_attribute(&of(1)));
        self.property("strides", array_attribute(&of(2)));
        let each: Vec<_> = triples
            .iter()
            .map(|[from, to, by]| if *by == 1 { format!("{from}:{to}") } else { format!("{from}:{to}:{by}") })
            .collect();
        self.clauses.push(("slice".to_owned(), each.join(", ")));
    }

    /// What slides over an operand of `rank` dimensions; one that is not stated is of one element.
    fn window(&mut self, window: &[ir::WindowDim], rank: usize, is_dilated: bool) {
        let of = |get: fn(&ir::WindowDim) -> i64| match window.is_empty() {
            true => vec![1; rank],
            false => window.iter().map(get).collect::<Vec<_>>(),
        };
        self.property("window_dimensions", array_attribute(&of(|d| d.size)));
        self.property("window_strides", array_attribute(&of(|d| d.stride)));
        if is_dilated {
            self.property("base_dilations", array_attribute(&of(|d| d.base_dilation)));
            self.property("window_dilations", array_attribute(&of(|d| d.window_dilation)));
        }
        self.property("padding", edges(window, rank));
    }

    fn convolution_window(&mut self, window: &[ir::WindowDim], rank: usize) {
        let of = |get: fn(&ir::WindowDim) -> i64| match window.is_empty() {
            true => vec![1; rank],
            false => window.iter().map(get).collect::<Vec<_>>(),
        };
        self.property("window_strides", array_attribute(&of(|d| d.stride)));
        self.property("padding", edges(window, rank));
        self.property("lhs_dilation", array_attribute(&of(|d| d.base_dilation)));
        self.property("rhs_dilation", array_attribute(&of(|d| d.window_dilation)));
        if window.iter().any(|d| d.is_reversed) {
            let flags: Vec<_> = window.iter().map(|d| d.is_reversed.to_string()).collect();
            self.property("window_reversal", format!("array<i1: {}>", flags.join(", ")));
        }
    }
}

const GATHER_LISTS: [&str; 5] = [
    "offset_dims",
    "collapsed_slice_dims",
    "operand_batching_dims",
    "start_indices_batching_dims",
    "start_index_map",
];
const SCATTER_LISTS: [&str; 5] = [
    "update_window_dims",
    "inserted_window_dims",
    "input_batching_dims",
    "scatter_indices_batching_dims",
    "scatter_dims_to_operand_dims",
];

/// Attributes of HLO that are said with another one.
fn said_with(form: Form) -> Vec<AttributeKey> {
    let keys = |names: &[&str]| names.iter().filter_map(|name| K::from_name(name)).collect();
    match form {
        Form::DotNumbers => keys(&DOT_LISTS.map(|(_, key)| key)),
        Form::RaggedNumbers => {
            let mut all: Vec<_> = keys(&DOT_LISTS.map(|(_, key)| key));
            all.extend([K::LhsRaggedDims, K::RhsGroupDims]);
            all
        }
        Form::GatherNumbers => [keys(&GATHER_LISTS), vec![K::IndexVectorDim]].concat(),
        Form::ScatterNumbers => [keys(&SCATTER_LISTS), vec![K::IndexVectorDim]].concat(),
        Form::Float2 => vec![K::MantissaBits],
        _ => Vec::new(),
    }
}

fn fields(lists: &[(&str, &[i64])]) -> String {
    let stated = lists.iter().filter(|(_, list)| !list.is_empty());
    stated.map(|(name, list)| format!("{name} = [{}]", joined(list, ", "))).collect::<Vec<_>>().join(", ")
}

fn edges(window: &[ir::WindowDim], rank: usize) -> String {
    if window.is_empty() {
        return match rank {
            0 => "dense<> : tensor<0x2xi64>".to_owned(),
            _ => format!("dense<0> : tensor<{rank}x2xi64>"),
        };
    }
    matrix(&window.iter().map(|d| vec![d.pad_low, d.pad_high]).collect::<Vec<_>>())
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
