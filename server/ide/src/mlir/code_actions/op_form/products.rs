//! The dimension numbers and precision of `stablehlo.dot_general`.

use mlir::{TokenKind, field, integers};

use super::body::Body;
use super::by_format::{Said, list_items};

impl Said {
    /// The dimension numbers and precision of `stablehlo.dot_general` in the custom form.
    pub(super) fn products(&self) -> Option<String> {
        let numbers = self.attribute("dot_dimension_numbers")?;
        numbers.trim().starts_with("#stablehlo.dot<").then_some(())?;
        let pair = |kind: &str| -> Option<[Vec<i64>; 2]> {
            let side = |side: &str| match field(numbers, &format!("{side}_{kind}_dimensions")) {
                Some(list) => integers(list),
                None => Some(Vec::new()),
            };
            Some([side("lhs")?, side("rhs")?])
        };
        let [left, right] = pair("batching")?;
        let mut text = String::new();
        if !left.is_empty() || !right.is_empty() {
            text += &format!("batching_dims = {left:?} x {right:?}, ");
        }
        let [left, right] = pair("contracting")?;
        text += &format!("contracting_dims = {left:?} x {right:?}");
        if let Some(config) = self.attribute("precision_config") {
            let config = config.trim().strip_prefix('[')?.strip_suffix(']')?;
            let words: Option<Vec<&str>> = list_items(config)
                .into_iter()
                .map(|item| Some(item.strip_prefix("#stablehlo<precision")?.strip_suffix('>')?.trim()))
                .collect();
            text += &format!(", precision = [{}]", words?.join(", "));
        }
        if let Some(algorithm) = self.attribute("algorithm") {
            text += &format!(", algorithm = {}", algorithm.trim().strip_prefix("#stablehlo.dot_algorithm")?);
        }
        Some(text)
    }
}

/// `batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT], algorithm = <…>`
pub(super) fn products(body: &mut Body<'_>) -> Option<Vec<(&'static str, String)>> {
    let pair = |body: &mut Body<'_>| -> Option<[Vec<i64>; 2]> {
        let left = integers(body.group()?)?;
        (body.eat(TokenKind::Word)? == "x").then_some(())?;
        Some([left, integers(body.group()?)?])
    };
    let mut fields = Vec::new();
    let mut note = |kind: &str, [left, right]: [Vec<i64>; 2]| {
        for (side, list) in [("lhs", left), ("rhs", right)] {
            if !list.is_empty() {
                fields.push((format!("{side}_{kind}_dimensions"), list));
            }
        }
    };
    if body.word() == "batching_dims" {
        body.clause("batching_dims")?;
        note("batching", pair(body)?);
        body.eat(TokenKind::Comma)?;
    }
    body.clause("contracting_dims")?;
    note("contracting", pair(body)?);
    let fields: Vec<String> = fields.iter().map(|(name, list)| format!("{name} = {list:?}")).collect();
    let mut found = vec![("dot_dimension_numbers", format!("#stablehlo.dot<{}>", fields.join(", ")))];
    while body.eat(TokenKind::Comma).is_some() {
        match body.word() {
            "precision" => {
                body.clause("precision")?;
                let inside = body.group()?.strip_prefix('[')?.strip_suffix(']')?;
                let words = inside.split(',').map(|word| format!("#stablehlo<precision {}>", word.trim()));
                found.push(("precision_config", format!("[{}]", words.collect::<Vec<_>>().join(", "))));
            }
            "algorithm" => {
                body.clause("algorithm")?;
                let inside = body.group().filter(|group| group.starts_with('<'))?;
                found.push(("algorithm", format!("#stablehlo.dot_algorithm{inside}")));
            }
            _ => return None,
        }
    }
    Some(found)
}
