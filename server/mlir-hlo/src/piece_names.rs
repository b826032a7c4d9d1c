//! What a piece of a text adds to what all of it may refer to.

use std::sync::Arc;

use mlir::{Form, OpId, is_module_like};

use crate::environment::Slice;
use crate::shardy::Mesh;

/// The aliases, resources and functions of a piece, and the first module that starts in it. Equal after edits inside of functions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PieceNames {
    pub(crate) aliases: Vec<(Box<str>, Box<str>)>,
    pub(crate) resources: Vec<(Box<str>, Arc<str>)>,
    /// Of Shardy, by their symbols.
    pub(crate) meshes: Vec<(Box<str>, Mesh)>,
    pub(crate) module: Option<PieceModule>,
    /// In the order of the text.
    pub(crate) functions: Vec<PieceFunction>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PieceModule {
    /// Empty where it has no symbol.
    pub(crate) name: Box<str>,
    /// Names and values.
    pub(crate) attributes: Vec<(Box<str>, Box<str>)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PieceFunction {
    pub(crate) symbol: Box<str>,
    /// It has a body.
    pub(crate) is_defined: bool,
    pub(crate) is_public: bool,
}

impl PieceNames {
    pub fn of(slice: Slice<'_>) -> PieceNames {
        let Slice { parse, text, .. } = slice;
        let mut names = PieceNames { aliases: owned(aliases(slice)).collect(), ..PieceNames::default() };
        for (id, op) in parse.ops.iter().enumerate().filter(|(_, op)| slice.holds(op.span.start)) {
            let name = parse.name(id as OpId, text);
            match op.form {
                Form::Custom | Form::Generic if name == "sdy.mesh" => {
                    let symbol = slice.symbol(id as OpId).unwrap_or_default();
                    names.meshes.extend(Mesh::of(op.span.of(text)).map(|mesh| (symbol.into(), mesh)));
                }
                Form::Resources => names.resources.extend(resources(op.span.of(text))),
                Form::Custom | Form::Generic if names.module.is_none() && is_module_like(name) => {
                    let name = slice.symbol(id as OpId).unwrap_or_default().into();
                    let attributes = parse.attributes_of(id as OpId).iter();
                    let attributes = attributes
                        .map(|a| (a.name.of(text).trim_matches('"').into(), a.value.of(text).into()))
                        .collect();
                    names.module = Some(PieceModule { name, attributes });
                }
                _ => {}
            }
        }
        for id in slice.functions() {
            let Some(symbol) = slice.symbol(id) else { continue };
            let head = parse.op(id).head.of(text);
            let is_private = head.split('@').next().is_some_and(|front| front.contains("private"))
                || parse.attribute(id, "sym_visibility", text) == Some("\"private\"");
            // The ops of a function that is cut may all be in other pieces.
            let has_ops = parse.is_cut_function(id)
                || parse.regions_of(id).any(|r| parse.blocks_of(r).any(|b| parse.ops_of(b).next().is_some()));
            names.functions.push(PieceFunction {
                symbol: symbol.into(),
                is_defined: has_ops,
                is_public: !is_private,
            });
        }
        names
    }
}

/// The aliases that a slice defines, with their definitions.
pub(crate) fn aliases<'t>(slice: Slice<'t>) -> impl Iterator<Item = (&'t str, &'t str)> {
    let Slice { parse, text, .. } = slice;
    let here = parse.aliases.iter().filter(move |a| a.is_definition && slice.holds(a.span.start));
    here.map(|alias| {
        let value = parse.op(alias.op).span.of(text).split_once('=').map_or("", |(_, value)| value.trim());
        (alias.span.of(text), value)
    })
}

/// Names and values that outlive their text.
pub(crate) fn owned<'t>(
    aliases: impl Iterator<Item = (&'t str, &'t str)>,
) -> impl Iterator<Item = (Box<str>, Box<str>)> {
    aliases.map(|(name, value)| (name.into(), value.into()))
}

/// `key: "0x…"`, anywhere in the section.
fn resources(section: &str) -> Vec<(Box<str>, Arc<str>)> {
    let mut resources = Vec::new();
    let mut rest = section;
    while let Some(at) = rest.find("\"0x") {
        let key = rest[..at].trim_end().strip_suffix(':').unwrap_or("");
        let start = key.rfind([' ', '\n', '{', ',', '\t']).map_or(0, |n| n + 1);
        let payload = &rest[at + 3..];
        let end = payload.find('"').unwrap_or(payload.len());
        resources.push((key[start..].trim_matches('"').into(), payload[..end].into()));
        rest = &payload[end..];
    }
    resources
}
