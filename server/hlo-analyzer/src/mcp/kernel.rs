//! `kernel`, `kernel_code`, `access_pattern` and `tilings`: one kernel, from its figures to its code.

use ide::{CoalescingConfig, ConfigChange};
use serde_json::{Value, json};

use super::answer::{Answer, Link, Window};
use super::arguments::{Arguments, invalid};
use super::findings::item;
use super::source::{Asked, definition, line};
use super::{kernels, resources};
use crate::api::{ApiError, Session};

/// The launch and the figures of a kernel, and of each array what its requests move.
pub(super) fn kernel(
    session: &mut Session,
    arguments: &Arguments,
    window: &Window,
) -> Result<Answer, ApiError> {
    let (asked, name) = (Asked::of(session, arguments)?, arguments.instruction()?);
    let at = asked.find(session, &name)?;
    let names = ["instruction", "computation"];
    // A library's kernel has no emitter and no arrays, but a time.
    let launched = asked.call(session, "fusion", arguments, &names);
    let arrays = asked.call(session, "coalescing", arguments, &names);
    let mut items = Vec::new();
    if let Ok(arrays) = &arrays {
        for (verb, key) in [("reads", "operands"), ("writes", "results")] {
            items.extend(arrays[key].as_array().into_iter().flatten().map(|one| array(verb, one)));
        }
    }
    let threshold = CoalescingConfig::default().threshold;
    let mut head = asked.ask(session, |analysis, file| {
        let rope = analysis.text(file);
        let mut head = vec![format!("{}:{}", asked.path, line(rope, at)), definition(rope, &(at..at))];
        let heaviest = analysis.heaviest_kernels(file, usize::MAX)?;
        let kernel = heaviest.kernels.iter().find(|one| one.range.contains(&at) || one.range.start == at);
        head.extend(kernel.map(|kernel| kernels::row(rope, kernel)));
        Ok(head)
    })?;
    match (&launched, head.len()) {
        (Ok(launched), _) => head.push(launch(launched)),
        (Err(error), 3) => head.push(error.message.clone()),
        (Err(error), _) => return Err(error.clone()),
    }
    let wanted = crate::findings::Wanted { limit: 1000, hints: false, coalescing_threshold: threshold };
    let warnings = asked.ask(session, |analysis, file| {
        let rope = analysis.text(file);
        let row = rope.byte_to_line(at.min(rope.len_bytes()));
        let found = crate::findings::findings(analysis, file, &wanted).diagnostics.shown;
        let here = found.iter().filter(|one| rope.byte_to_line(one.range.start.min(rope.len_bytes())) == row);
        Ok(here.map(|one| item(rope, one, "line ")).collect::<Vec<_>>())
    })?;
    // The definition is in the head.
    items.extend(
        warnings.iter().map(|text| text.rsplit_once('\n').map_or(&**text, |(front, _)| front).to_owned()),
    );
    Ok(Answer::new(head, window.page(&items, "line", String::clone)))
}

/// `triton · grid 512 × 64 threads · hero %dot.1 · shared memory 768 B`
fn launch(found: &Value) -> String {
    let mut parts = vec![found["emitter"].as_str().unwrap_or_default().to_owned()];
    let product = |key: &str| {
        let sizes = found["launch"][key].as_array()?;
        Some(sizes.iter().filter_map(Value::as_u64).fold(1u64, u64::saturating_mul))
    };
    if let (Some(grid), Some(block)) = (product("grid"), product("block")) {
        parts.push(format!("grid {grid} × {block} threads"));
    }
    if let Some(hero) = found["hero"].as_str() {
        parts.push(format!("hero %{hero}"));
    }
    if let Some(bytes) = found["launch"]["shared_bytes"].as_u64() {
        parts.push(format!("shared memory {}", ide::bytes(bytes)));
    }
    if let Some(launches) = found["launches"].as_array() {
        parts.push(format!("{} launches", launches.len()));
    }
    parts.extend(found["note"].as_str().map(str::to_owned));
    parts.join(" · ")
}

/// `reads %y: strided by 64, 32 sectors per request (ideal 4), 2.1 MB moved for 262 kB used`
fn array(verb: &str, found: &Value) -> String {
    let name = found["name"].as_str().unwrap_or_default();
    if let Some(why) = found["unknown"].as_str() {
        return format!("{verb} %{name}: requests not known: {why}");
    }
    let judged = if found["judged"].is_object() { &found["judged"] } else { found };
    let number = |key: &str| judged[key].as_f64().unwrap_or_default();
    let amount = |key: &str| ide::bytes(judged[key].as_u64().unwrap_or_default());
    let pattern = found["pattern"].as_str().map_or_else(String::new, |pattern| format!("{pattern}, "));
    let predicted = found["predicted"].as_str().map_or_else(String::new, |words| format!("; {words}"));
    let rounded = |value: f64| {
        let text = format!("{value:.2}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    let sectors = rounded(number("sectors_per_request"));
    let word = if sectors == "1" { "sector" } else { "sectors" };
    format!(
        "{verb} %{name}: {pattern}{sectors} {word} per request (ideal {}), {} moved for {} used{predicted}",
        rounded(number("ideal_sectors_per_request")),
        amount("bytes_moved"),
        amount("bytes_used"),
    )
}

/// The code, with the instruction that lines come from in the head of each run of lines.
pub(super) fn code(
    session: &mut Session,
    arguments: &Arguments,
    window: &Window,
) -> Result<Answer, ApiError> {
    let (asked, name) = (Asked::of(session, arguments)?, arguments.instruction()?);
    asked.find(session, &name)?;
    let found = asked.call(session, "kernel", arguments, &["instruction", "computation", "emit"])?;
    let emit = arguments.text("emit").unwrap_or("ptx");
    let mut head = vec![format!("{emit} of %{name} in {}", asked.path)];
    if let Some(who) = found["elsewhere"].as_str() {
        head.push(format!("no code: {who}; what is known of it:"));
    }
    if let Some(comparison) = found["comparison"].as_object() {
        let arrays = comparison["arrays"].as_array().into_iter().flatten().map(|one| {
            let name = one["name"].as_str().unwrap_or_default();
            format!("%{name} {} / {}", one["sectors_per_request"], one["ours"])
        });
        let arrays = arrays.collect::<Vec<_>>().join(", ");
        head.push(format!("sectors per request, XLA's code / ours: {arrays}"));
    }
    for missing in found["missing"].as_array().into_iter().flatten() {
        let [name, reason] = ["instruction", "reason"].map(|key| missing[key].as_str().unwrap_or_default());
        head.push(format!("not generated: %{name}: {reason}"));
    }
    let text = found["text"].as_str().unwrap_or_default();
    let mut answer = Answer::new(head, window.lines(text));
    answer.links.push(Link {
        uri: resources::uri("kernel_code", arguments),
        name: format!("{emit} of %{name}, all of it"),
        mime_type: "text/plain",
    });
    Ok(answer)
}

pub(super) fn access_pattern(
    session: &mut Session,
    arguments: &Arguments,
    window: &Window,
) -> Result<Answer, ApiError> {
    let (found, path) = pattern(session, arguments)?;
    let word = |key: &str| found[key].as_str().unwrap_or_default();
    let arrays = found["arrays"].as_array().into_iter().flatten().enumerate();
    let arrays = arrays.map(|(at, name)| format!("{at} {}", name.as_str().unwrap_or_default()));
    let head = vec![
        path,
        format!(
            "\"array\" {} of {}; \"block\", \"warp\" and \"iteration\" count from 0",
            found["array"],
            arrays.collect::<Vec<_>>().join(", ")
        ),
    ];
    let mut answer = Answer::new(head, window.lines(word("text")));
    answer.links.push(Link {
        uri: resources::uri("access_pattern.svg", arguments),
        name: format!("{}, as a picture", word("title")),
        mime_type: resources::SVG,
    });
    Ok(answer)
}

/// What `query` answers to `access_pattern`, and the path of the module.
pub(super) fn pattern(session: &mut Session, arguments: &Arguments) -> Result<(Value, String), ApiError> {
    let (asked, name) = (Asked::of(session, arguments)?, arguments.instruction()?);
    asked.find(session, &name)?;
    let names = ["instruction", "array", "block", "warp", "iteration"];
    let found = asked.call(session, "access_pattern", arguments, &names)?;
    Ok((found, asked.path))
}

pub(super) fn tilings(
    session: &mut Session,
    arguments: &Arguments,
    window: &Window,
) -> Result<Answer, ApiError> {
    let (asked, name) = (Asked::of(session, arguments)?, arguments.instruction()?);
    asked.find(session, &name)?;
    let mut params = arguments.only(&["instruction", "computation", "warps", "stages"]);
    if let Some(tiles) = arguments.text("tiles") {
        params["tiles"] =
            json!(ConfigChange::parse_tiles(tiles).map_err(|why| invalid(format!("tiles: {why}")))?);
    }
    params["path"] = asked.source["path"].clone();
    let found = session.call("tilings", &params)?;
    let head = vec![format!("%{name} in {}", asked.path)];
    Ok(Answer::new(head, window.lines(found["text"].as_str().unwrap_or_default())))
}
