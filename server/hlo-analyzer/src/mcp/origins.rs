//! `blame` and `lineage`: which pass introduced an instruction, what it was and what it became.

use serde_json::{Value, json};

use super::answer::{Answer, Window};
use super::arguments::Arguments;
use crate::api::{ApiError, Session};

fn params(arguments: &Arguments) -> Result<Value, ApiError> {
    let mut params = arguments.only(&["compile", "stage", "instruction"]);
    params["folder"] = json!(arguments.required("path")?);
    Ok(params)
}

fn words(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// `%a, %b and 3 more`
fn named<'a>(names: impl Iterator<Item = &'a str>, most: usize) -> String {
    let names: Vec<String> = names.map(|name| format!("%{name}")).collect();
    let more = names.len().saturating_sub(most);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    names.iter().take(most).map(String::as_str).collect::<Vec<_>>().join(", ") + &more
}

pub(super) fn blame(
    session: &mut Session,
    arguments: &Arguments,
    window: &Window,
) -> Result<Answer, ApiError> {
    let found = session.call("blame", &params(arguments)?)?;
    let stage = found["stage"].as_str().unwrap_or_default();
    let introduced = found["introduced"].as_object();
    let pass = arguments.text("pass").unwrap_or_default();
    // What the program itself has is blamed on no pass.
    let is_of_pass = |at: &str| match pass {
        "" => !at.ends_with("before_optimizations") || arguments.text("instruction").is_some(),
        pass => at.contains(pass),
    };
    let mut rows: Vec<(&String, &str)> = introduced
        .into_iter()
        .flatten()
        .filter_map(|(name, at)| Some((name, at.as_str()?)))
        .filter(|(_, at)| is_of_pass(at))
        .collect();
    // Where the reason is known there is more to say.
    rows.sort_by_key(|(name, _)| !found["reasons"][name.as_str()].is_string());
    let page = window.page(&rows, "instruction", |(name, at)| {
        let gap = found["gaps"][name.as_str()].as_str();
        let by = match gap {
            Some(before) => format!("between {before} and {at} (passes between were not dumped)"),
            None if at.ends_with("before_optimizations") => "there from the start".to_owned(),
            None => format!("by {at}"),
        };
        let reason = found["reasons"][name.as_str()].as_str().unwrap_or_default().replace('`', "");
        let reason = if reason.is_empty() { reason } else { format!(": {reason}") };
        format!("%{name} {by}{reason}")
    });
    let all = introduced.map_or(0, serde_json::Map::len);
    let head = match arguments.text("instruction") {
        Some(_) => format!("in {stage}"),
        None => format!("{} of {all} instructions of {stage}", rows.len()),
    };
    let mut answer = Answer::new(vec![head], page);
    answer.notes = words(&found["problems"]).map(str::to_owned).collect();
    Ok(answer)
}

pub(super) fn lineage(
    session: &mut Session,
    arguments: &Arguments,
    window: &Window,
) -> Result<Answer, ApiError> {
    let name = arguments.instruction()?;
    let found = session.call("lineage", &params(arguments)?)?;
    let word = |key: &str| found[key].as_str().unwrap_or_default();
    let mut head = vec![format!("%{name} in {}", word("stage"))];
    if let Some(op_name) = found["op_name"].as_str() {
        head.push(format!("framework: {op_name}"));
    }
    if let Some(stack) = stack(&found["frames"]) {
        head.push(format!("source: {stack}"));
    }
    let sources = found["instructions"].as_object().into_iter().flatten().flat_map(|(_, of)| words(of));
    head.push(format!("before optimisations ({}): {}", word("first"), or_nothing(named(sources, 12))));
    let became = found["became"].as_array().into_iter().flatten();
    let became = became.filter_map(|one| one["instruction"].as_str());
    let became = match found["removed"].as_str() {
        Some(removed) => format!("removed {removed}"),
        None => or_nothing(named(became, 12)),
    };
    head.push(format!("after optimisations ({}): {became}", word("last")));
    let mut items = Vec::new();
    for step in found["history"].as_array().into_iter().flatten() {
        let [title, instruction, what] =
            ["title", "instruction", "what"].map(|key| step[key].as_str().unwrap_or_default());
        items.push(format!("{title}: %{instruction}: {what}"));
    }
    for origin in found["origins"].as_array().into_iter().flatten() {
        let name = origin["instruction"].as_str().unwrap_or_default();
        if let Some(stack) = stack(&origin["frames"]) {
            items.push(format!("%{name} is from {stack}"));
        }
    }
    let mut answer = Answer::new(head, window.page(&items, "line", String::clone));
    answer.notes = words(&found["problems"]).map(str::to_owned).collect();
    Ok(answer)
}

fn or_nothing(text: String) -> String {
    if text.is_empty() { "nothing".to_owned() } else { text }
}

/// `layer.py:5 in scores, layer.py:9 in step`, innermost first.
fn stack(frames: &Value) -> Option<String> {
    let frame = |frame: &Value| {
        let file = frame["file"].as_str().unwrap_or_default();
        let line = frame["line"].as_u64().map_or_else(String::new, |line| format!(":{line}"));
        let function = frame["function"].as_str().filter(|function| !function.is_empty());
        let function = function.map_or_else(String::new, |function| format!(" in {function}"));
        format!("{file}{line}{function}")
    };
    let frames: Vec<String> = frames.as_array()?.iter().take(6).map(frame).collect();
    (!frames.is_empty()).then(|| frames.join(", "))
}
