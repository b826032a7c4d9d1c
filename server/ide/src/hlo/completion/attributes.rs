//! Attribute names that an opcode accepts and does not have yet, and attribute values.

use ir::{AttributeKey, Opcode, op_info};

use crate::completion::{Completion, CompletionItem, CompletionKind};
use crate::hlo::completion::opcodes::value;
use crate::hlo::completion::{computations, operands};
use crate::hlo::reference::{self, Form};
use crate::hlo::scope::Scope;

/// Required attributes first, those that every opcode accepts last.
pub(super) fn names(scope: &Scope<'_>, needs_comma: bool) -> Vec<CompletionItem> {
    let Some(opcode) = scope.cursor.opcode else { return Vec::new() };
    let info = op_info(opcode);
    let mut items = Vec::new();
    for &key in AttributeKey::ALL {
        // The attribute under the cursor is the one to replace.
        let at_cursor = scope.cursor.word.of(&scope.block.text) == key.name();
        if !info.allows(key) || (scope.cursor.keys.contains(&key) && !at_cursor) {
            continue;
        }
        let rank = match () {
            () if info.required.contains(&key) => 0,
            () if info.optional.contains(&key) => 1,
            () => 2,
        };
        let Some(attribute) = reference::attribute(key) else { continue };
        let comma = match needs_comma && scope.cursor.word.is_empty() {
            true => ", ",
            false => "",
        };
        let name = key.name();
        let mut places = 0;
        let mut place = |text: &str| {
            places += 1;
            format!("${{{places}:{}}}", text.replace('}', "\\}"))
        };
        // The `=` may be there already.
        let has_value =
            at_cursor && scope.block.text.as_bytes().get(scope.cursor.word.end as usize) == Some(&b'=');
        let insert = if has_value { name.to_owned() } else { format!("{comma}{name}=") };
        let snippet =
            (!has_value).then(|| format!("{insert}{}$0", value(attribute.form, opcode, &mut place)));
        items.push(CompletionItem {
            detail: attribute.summary.to_owned(),
            insert,
            snippet,
            sort: format!("{rank}{name}"),
            documentation: Some(format!("attribute/{name}")),
            ..scope.item(name, CompletionKind::Attribute)
        });
    }
    items
}

pub(super) fn values(
    scope: &Scope<'_>,
    key: AttributeKey,
    depth: usize,
    in_string: bool,
    out: &mut Completion,
) {
    let Some(attribute) = reference::attribute(key) else { return };
    let opcode = scope.cursor.opcode.unwrap_or(Opcode::Parameter);
    match (attribute.form, depth) {
        (Form::Computation, 0) | (Form::Computations, 1) => computations::items(scope, key, out),
        (Form::Instructions, 1) => operands::names(scope, |_| true, out),
        (Form::Bool | Form::Words(_), 0) | (Form::WordList(_), 1) => {
            words(scope, attribute.form.words(opcode), out);
        }
        (Form::Text(known), 0) if in_string => words(scope, known, out),
        (Form::Text(known), 0) => {
            let quoted: Vec<String> =
                known.iter().filter(|w| !w.is_empty()).map(|w| format!("\"{w}\"")).collect();
            words(scope, &quoted.iter().map(String::as_str).collect::<Vec<_>>(), out);
        }
        (form, 0) => {
            let mut place = |text: &str| format!("${{1:{}}}", text.replace('}', "\\}"));
            let snippet = format!("{}$0", value(form, opcode, &mut place));
            let example = form.example();
            let item = scope.item(&example, CompletionKind::Value);
            out.items.push(CompletionItem {
                detail: attribute.summary.to_owned(),
                snippet: Some(snippet),
                documentation: Some(format!("attribute/{key}")),
                ..item
            });
        }
        _ => {}
    }
}

/// In table order: common words first.
fn words(scope: &Scope<'_>, words: &[&str], out: &mut Completion) {
    out.items.extend(words.iter().filter(|w| !w.is_empty()).enumerate().map(|(i, word)| CompletionItem {
        sort: format!("{i:03}"),
        ..scope.item(word, CompletionKind::Value)
    }));
}
