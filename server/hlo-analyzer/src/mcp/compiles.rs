//! `compiles`: what is in a dump folder, and what each pass changed.

use ide::counted;
use serde_json::{Value, json};

use super::answer::{Answer, Window};
use super::arguments::Arguments;
use crate::api::{ApiError, Session};

/// Flags that a head lists.
const FLAGS: usize = 12;

pub(super) fn compiles(
    session: &mut Session,
    arguments: &Arguments,
    window: &Window,
) -> Result<Answer, ApiError> {
    let path = arguments.required("path")?;
    let mut params = arguments.only(&["compile"]);
    params["folder"] = json!(path);
    params["changes"] = json!(false);
    let listed = session.call("compiles", &params)?;
    let all = listed["compiles"].as_array().map(Vec::as_slice).unwrap_or_default();
    let folder = listed["folder"].as_str().unwrap_or(path);
    let [one] = all else {
        let count = counted(all.len() as u64, "compile");
        let head = vec![format!("{count} in {folder}; \"compile\" is the number in front")];
        return Ok(Answer::new(head, window.page(all, "compile", row)));
    };
    params["changes"] = json!(true);
    params["compile"] = one["index"].clone();
    let changed = session.call("compiles", &params)?;
    let compile = &changed["compiles"][0];
    let mut head = vec![folder.to_owned(), row(compile)];
    head.extend(flags(compile));
    let pass = arguments.text("pass").unwrap_or_default();
    let is_meant = |stage: &&Value| {
        let is_changed = stage["changes"]["is_changed"].as_bool().unwrap_or(false);
        stage["title"].as_str().is_some_and(|title| title.contains(pass)) && (is_changed || !pass.is_empty())
    };
    let stages = compile["stages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let shown: Vec<&Value> = stages.iter().filter(is_meant).collect();
    let unchanged = stages.len() - shown.len();
    if unchanged > 0 && pass.is_empty() {
        head.push(format!("{} changed nothing", counted(unchanged as u64, "stage")));
    }
    let mut answer = Answer::new(head, window.page(&shown, "stage", |stage| stage_row(stage)));
    let problems = compile["problems"].as_array().into_iter().flatten();
    answer.notes = problems.filter_map(Value::as_str).map(str::to_owned).collect();
    Ok(answer)
}

/// `0 jit_step · h100-sxm · 8 stages · 3 kernels · optimised module module_0001….txt`
fn row(compile: &Value) -> String {
    let word = |key: &str| compile[key].as_str().unwrap_or_default();
    let stages = compile["stages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut parts = vec![format!("{} {}", compile["index"], word("title"))];
    parts.extend(compile["device"].as_str().map(str::to_owned));
    parts.push(counted(stages.len() as u64, "stage"));
    let thunks = compile["thunks"].as_array().map(Vec::as_slice).unwrap_or_default();
    let kernels = thunks.iter().filter(|thunk| thunk["kernel"].is_object()).count();
    if kernels > 0 {
        parts.push(counted(kernels as u64, "kernel"));
    }
    let is_last =
        |stage: &&Value| stage["name"].as_str().is_some_and(|name| name.ends_with("after_optimizations"));
    if let Some(last) = stages.iter().find(is_last) {
        parts.push(format!("optimised module {}", last["path"].as_str().unwrap_or_default()));
    }
    parts.join(" · ")
}

/// The flags that differ from XLA's defaults.
fn flags(compile: &Value) -> Option<String> {
    let changed = compile["flags"]["changed"].as_array().filter(|flags| !flags.is_empty())?;
    let flag = |flag: &Value| {
        let [name, value] = ["name", "value"].map(|key| flag[key].as_str().unwrap_or_default());
        format!("{name}={value}")
    };
    let shown = changed.iter().take(FLAGS).map(flag).collect::<Vec<_>>().join(" ");
    let more = changed.len().saturating_sub(FLAGS);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!("flags: {shown}{more}"))
}

/// `5 triton-gemm-rewriter (hlo_normalization): +1 instructions, 3 moved`
fn stage_row(stage: &Value) -> String {
    let word = |key: &str| stage[key].as_str().unwrap_or_default();
    let number = stage["index"].as_u64().unwrap_or_default().saturating_add(1);
    let pipeline = match word("pipeline") {
        "" => String::new(),
        pipeline => format!(" ({pipeline})"),
    };
    let changes = &stage["changes"];
    let summary = changes["summary"].as_str().unwrap_or_default();
    let problem = changes["problem"].as_str().map_or_else(String::new, |why| format!("; not read: {why}"));
    let gap = match changes["gap_after"].is_string() {
        true => "; with passes before it that were not dumped",
        false => "",
    };
    format!("{number} {}{pipeline}: {summary}{problem}{gap}", word("title"))
}
