//! Converts between both forms of an op by its [`CustomForm`]: one form is parsed, and the other printed. This
//! file handles the generic form, which all ops have.

use mlir::{AttributePlace, OpId, Parse, TokenKind, tokens};
use mlir_hlo::CustomForm;

use super::body::Body;

/// The contents of an op, independent of its form.
pub(super) struct Said {
    pub(super) operands: Vec<String>,
    /// Attributes with a place of their own in the custom form, as in the generic form.
    pub(super) attributes: Vec<(&'static str, String)>,
    /// `{k = 1}`, or empty.
    pub(super) others: String,
    pub(super) operand_types: Vec<String>,
    pub(super) result_type: String,
}

impl Said {
    /// Parses the generic form of an op; `body` is the text after the name.
    pub(super) fn of_generic(
        mut body: Body<'_>,
        (parse, op): (&Parse, OpId),
        form: &CustomForm,
    ) -> Option<Said> {
        body.eat(TokenKind::OpenParen)?;
        let operands = body.values()?.into_iter().map(str::to_owned).collect();
        body.eat(TokenKind::CloseParen)?;
        if body.eat(TokenKind::OpenAngle).is_some() {
            body.dictionary()?;
            body.eat(TokenKind::CloseAngle)?;
        }
        let dictionary = body.dictionary()?;
        let (operand_types, result_type) = functional(body.types()?)?;
        let (mut attributes, mut others) = (Vec::new(), Vec::new());
        let names: Vec<&'static str> = form.attributes().collect();
        // The dictionary as it is written, line breaks included, unless an attribute changes its place.
        let mut is_kept = true;
        for attribute in parse.attributes_of(op) {
            let name = attribute.name.of(body.text);
            let value = attribute.value.of(body.text);
            let known = names.iter().find(|known| **known == name.trim_matches('"'));
            is_kept &= known.is_none() == (attribute.place == AttributePlace::Dictionary);
            match known {
                Some(known) => attributes.push((*known, value.to_owned())),
                None if attribute.place != AttributePlace::Dictionary
                    && !form.in_dictionary.contains(&name) =>
                {
                    return None;
                }
                None if value.is_empty() => others.push(name.to_owned()),
                None => others.push(format!("{name} = {value}")),
            }
        }
        let others = match others.is_empty() {
            _ if is_kept => dictionary.to_owned(),
            true => String::new(),
            false => format!("{{{}}}", others.join(", ")),
        };
        Said { operands, attributes, others, operand_types, result_type }.checked()
    }

    pub(super) fn checked(self) -> Option<Said> {
        (self.operands.len() == self.operand_types.len()).then_some(self)
    }

    /// `"stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4xi32>`
    pub(super) fn generic(&self, name: &str) -> String {
        let attributes: Vec<String> = self.attributes.iter().map(|(n, v)| format!("{n} = {v}")).collect();
        let properties = match attributes.is_empty() {
            true => String::new(),
            false => format!(" <{{{}}}>", attributes.join(", ")),
        };
        let blank = if self.others.is_empty() { "" } else { " " };
        let types = self.operand_types.join(", ");
        format!(
            "\"{name}\"({}){properties}{blank}{} : ({types}) -> {}",
            self.operands.join(", "),
            self.others,
            self.result_type
        )
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(n, _)| *n == name).map(|(_, value)| value.as_str())
    }
}

/// `(A, B) -> C`, with one result.
pub(super) fn functional(types: &str) -> Option<(Vec<String>, String)> {
    let (all, _) = tokens(types, 0, types.len(), false);
    let body = &mut Body { text: types, all: &all, at: 0 };
    let inside = body.group().filter(|group| group.starts_with('('))?;
    body.eat(TokenKind::Arrow)?;
    let result = (body.at < all.len()).then(|| body.between(body.at, all.len()))?;
    (!result.starts_with('(')).then(|| (list_of(&inside[1..inside.len() - 1]), result.to_owned()))
}

pub(super) fn list_of(types: &str) -> Vec<String> {
    list_items(types).into_iter().map(str::to_owned).collect()
}

/// The items between top-level commas.
pub(super) fn list_items(list: &str) -> Vec<&str> {
    let (all, _) = tokens(list, 0, list.len(), false);
    let mut body = Body { text: list, all: &all, at: 0 };
    let mut items = Vec::new();
    let mut start = 0;
    while let Some(kind) = body.kind() {
        if kind == TokenKind::Comma {
            let comma = all[body.at].span;
            items.push(list[start..comma.start as usize].trim());
            start = comma.end as usize;
        }
        if body.group().is_none() {
            body.at += 1;
        }
    }
    if !list[start..].trim().is_empty() {
        items.push(list[start..].trim());
    }
    items
}
