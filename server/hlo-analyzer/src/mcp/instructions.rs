//! `instruction`, `map` and `why_not_fused`: what is known of one instruction.

use ide::RichText;
use serde_json::Value;

use super::answer::{Answer, Window};
use super::arguments::Arguments;
use super::source::{Asked, definition, line};
use crate::api::{ApiError, ErrorKind, Session};

/// Spaces in front of code in plain text.
const INDENT: &str = "  ";

/// The hover of an instruction.
pub(super) fn instruction(
    session: &mut Session,
    arguments: &Arguments,
    window: &Window,
) -> Result<Answer, ApiError> {
    let (asked, name) = (Asked::of(session, arguments)?, arguments.instruction()?);
    let at = asked.find(session, &name)?;
    let (line, text) = asked.ask(session, |analysis, file| {
        Ok((line(analysis.text(file), at), analysis.hover(file, at)?.map(|hover| hover.text)))
    })?;
    let nothing = || ApiError::new(ErrorKind::NotFound, format!("nothing is known of %{name}"));
    let text: RichText = text.ok_or_else(nothing)?;
    // Empty lines cost tokens and say nothing.
    let text = text.plain_text(INDENT);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let head = vec![format!("{}:{line}", asked.path)];
    Ok(Answer::new(head, window.page(&lines, "line", |line| (*line).to_owned())))
}

/// Maps by XLA's rules, and the exact ones where they differ.
pub(super) fn map(session: &mut Session, arguments: &Arguments, window: &Window) -> Result<Answer, ApiError> {
    let (asked, name) = (Asked::of(session, arguments)?, arguments.instruction()?);
    let at = asked.find(session, &name)?;
    let names = ["instruction", "computation", "direction", "index"];
    let found = asked.call(session, "indexing", arguments, &names)?;
    let is_reverse = arguments.text("direction") == Some("input_to_output");
    let mut items = Vec::new();
    for (title, maps) in [("", &found["operands"]), ("exact, ", &found["exact"])] {
        let maps = maps.as_array().map(Vec::as_slice).unwrap_or_default();
        for (number, accesses) in maps.iter().enumerate() {
            let what = match is_reverse {
                true => format!("{title}operand → output {number}"),
                false => format!("{title}output → operand {number}"),
            };
            let accesses = accesses.as_array().map(Vec::as_slice).unwrap_or_default();
            items.extend(accesses.iter().map(|one| format!("{what}: {}", access(one))));
        }
    }
    asked.ask(session, |analysis, file| {
        let rope = analysis.text(file);
        let head = vec![format!("{}:{}", asked.path, line(rope, at)), definition(rope, &(at..at))];
        Ok(Answer::new(head, window.page(&items, "map", String::clone)))
    })
}

/// A map with what its runtime variables are.
fn access(access: &Value) -> String {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut text = word(&access["map"]);
    for variable in access["runtime_variables"].as_array().into_iter().flatten() {
        let [name, source, map] = ["name", "source", "map"].map(|key| word(&variable[key]));
        text += &format!("\n  {name}: {source}, {map}");
    }
    if let Some(note) = access["note"].as_str() {
        text += &format!("\n  {note}");
    }
    text
}

pub(super) fn why_not_fused(
    session: &mut Session,
    arguments: &Arguments,
    window: &Window,
) -> Result<Answer, ApiError> {
    let (asked, name) = (Asked::of(session, arguments)?, arguments.instruction()?);
    let at = asked.find(session, &name)?;
    let (line, definition, text) = asked.ask(session, |analysis, file| {
        let rope = analysis.text(file);
        let text = analysis.why_not_fused(file, at)?.plain_text(INDENT);
        Ok((line(rope, at), definition(rope, &(at..at)), text))
    })?;
    let text = match text.trim() {
        "" => format!(
            "XLA does not consider fusing %{name}: it is inside a fusion, nothing uses it, or the module is not optimised"
        ),
        text => text.to_owned(),
    };
    let head = vec![format!("{}:{line}", asked.path), definition];
    Ok(Answer::new(head, window.lines(&text)))
}
