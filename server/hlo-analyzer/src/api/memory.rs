//! `memory`: how much memory a module takes, by value and by allocation.

mod advice;
mod dumped;

use ide::{
    AliveUntil, Category, DumpedAssignment, Language, Memory, MemoryReport, MemoryStep, MemoryTimeline,
    NoMemory, TextRange,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::error::{Answer, ApiError, ErrorKind};
use super::request::params;
use super::session::Session;
use super::source;
use crate::limits;

pub use advice::{advice, advice_at};
pub use dumped::comparison;

#[derive(Deserialize)]
struct MemoryParams {
    hlo: String,
    /// The text of XLA's `*-buffer-assignment.txt`, to compare with.
    buffer_assignment: Option<String>,
    /// The text of XLA's `*-live-range.txt`, which has its peak.
    live_range: Option<String>,
    /// Whether to look for what would lower the peak, which plans the module up to a few dozen times.
    #[serde(default)]
    advice: bool,
}

/// `{"total_bytes", "peak_bytes", "peak_position", "allocations": [{"size", "kind", "values": [{"name", "offset"}]}],
/// "values": [{"name", "size", "live": [start, end], "allocation"}], "problems"?, "dumped"?, "advice"?}`; see [`comparison`] and [`advice()`]
pub fn memory(session: &mut Session, value: &Value) -> Answer {
    let MemoryParams { hlo, buffer_assignment, live_range, advice: is_advice_wanted } = params(value)?;
    let texts = [Some(&hlo), buffer_assignment.as_ref(), live_range.as_ref()];
    let texts = texts.into_iter().flatten().map(String::as_str);
    limits::check_texts(texts).map_err(|why| ApiError::new(ErrorKind::Limit, why))?;
    let dumped = buffer_assignment.map(|text| {
        let read = DumpedAssignment::read(&text, live_range.as_deref());
        read.ok_or_else(|| ApiError::new(ErrorKind::Parse, "buffer_assignment has no line of an allocation"))
    });
    let dumped = dumped.transpose()?;
    session.use_device(value)?;
    let file = session.open(Language::Hlo, hlo);
    let (memory, advised) = session.ask(|analysis| {
        let memory = match analysis.module_memory(file)? {
            Ok(memory) if is_advice_wanted => {
                analysis.memory_advice(file)?.map(|advised| (memory, Some(advised)))
            }
            memory => memory.map(|memory| (memory, None)),
        };
        Ok(memory.map_err(|reason| match reason {
            NoMemory::Mlir => ApiError::new(ErrorKind::Unsupported, format!("the text {reason}")),
            NoMemory::Syntax { message, offset } => ApiError::in_text(analysis.text(file), offset, message),
            NoMemory::NoEntry => ApiError::in_text(analysis.text(file), 0, format!("the text {reason}")),
        }))
    })??;
    let mut answer = plan(&memory);
    if let Some(advised) = advised {
        answer["advice"] = advice(&advised);
    }
    if let Some(dumped) = dumped {
        answer["dumped"] = comparison(&dumped, &memory);
    }
    Ok(answer)
}

/// The plan as JSON; see [`memory`].
pub fn plan(memory: &Memory) -> Value {
    let allocations = memory.allocations.iter().map(|allocation| {
        let values = allocation
            .values
            .iter()
            .map(|&(value, offset)| json!({"name": memory.values[value as usize].name, "offset": offset}));
        json!({
            "size": allocation.size,
            "kind": category(allocation.category()),
            "values": values.collect::<Value>(),
        })
    });
    let values = memory.values.iter().map(|value| {
        json!({
            "name": value.name,
            "size": value.size,
            "live": [value.live.start, value.live.end],
            "allocation": value.allocation,
        })
    });
    let mut answer = json!({
        "total_bytes": memory.total,
        "peak_bytes": memory.peak.bytes,
        "peak_position": memory.peak.at,
        "allocations": allocations.collect::<Value>(),
        "values": values.collect::<Value>(),
    });
    if !memory.problems.is_empty() {
        answer["problems"] = json!(memory.problems);
    }
    answer
}

/// `{"position", "bytes", "fragmentation_bytes", "instruction", "values": [{"name", "bytes", "kind", "live", "until",
/// "allocation", "offset", "shares_with", "defined"}]}`, where a use or a definition is `{"name", "op_name", "source"}`: what is
/// alive when most bytes are in use, the largest first.
pub fn at_peak(report: &MemoryReport) -> Value {
    alive_at_peak(report, &step_json)
}

fn alive_at_peak(report: &MemoryReport, step: &dyn Fn(&MemoryStep) -> Value) -> Value {
    let usage = &report.memory.usage;
    let values = report.alive.iter().map(|value| {
        let until = match &value.until {
            AliveUntil::Use(user) => step(user),
            AliveUntil::Result => json!("result"),
            AliveUntil::Caller => json!("caller"),
        };
        json!({
            "name": value.name,
            "bytes": value.bytes,
            "kind": category(value.category),
            "live": value.live,
            "until": until,
            "allocation": value.place.map(|place| place.0),
            "offset": value.place.map(|place| place.1),
            "shares_with": value.shares_with,
            "defined": value.defined.as_ref().map(step),
        })
    });
    json!({
        "position": usage.peak,
        "bytes": ide::sum_of_bytes(&usage.at_peak()),
        "fragmentation_bytes": usage.fragmentation,
        "instruction": report.peak.as_ref().map(step),
        "values": values.collect::<Value>(),
    })
}

/// `{"module", "is_scheduled", "order", "total_bytes", "positions", "kinds", "allocated", "columns": [{"first", "position", "bytes",
/// "step"}], "at_peak", "omitted", "problems", "summary", "svg"}`: `allocated` and the `bytes` of a column are by `kinds`; a step has
/// also the `range` of its name.
pub fn timeline(timeline: &MemoryTimeline, range: &dyn Fn(&TextRange) -> Value) -> Value {
    let report = &timeline.report;
    let step = |step: &MemoryStep| step_at(step, range);
    let columns = timeline.columns.iter().map(|column| {
        json!({
            "first": column.first,
            "position": column.position,
            "bytes": column.bytes,
            "step": column.step.as_ref().map(step),
        })
    });
    json!({
        "module": report.module,
        "is_scheduled": report.is_scheduled,
        "order": report.order_in_words(),
        "total_bytes": report.memory.total,
        "positions": report.memory.positions(),
        "kinds": Category::ALL.map(category),
        "allocated": report.memory.usage.allocated,
        "columns": columns.collect::<Value>(),
        "at_peak": alive_at_peak(report, &step),
        "omitted": report.omitted,
        "problems": report.memory.problems,
        "summary": report.peak_in_words(),
        "svg": ide::memory_picture(report),
    })
}

/// A step with the `range` of its name.
fn step_at(step: &MemoryStep, range: &dyn Fn(&TextRange) -> Value) -> Value {
    let mut value = step_json(step);
    value["range"] = range(&step.range);
    value
}

fn step_json(step: &MemoryStep) -> Value {
    json!({"name": step.name, "op_name": step.op_name, "source": source(step.source.as_ref())})
}

/// `{"partitions", "replicas", "is_partitioned", "collective_bytes", "collectives", "per_device"?}`: the values of collectives that are
/// alive at the peak, and of a module that is not partitioned `{"parameter_bytes", "in_use": [low, high]}`.
pub fn devices(report: &MemoryReport) -> Value {
    let devices = &report.devices;
    let mut value = json!({
        "partitions": devices.partitions,
        "replicas": devices.replicas,
        "is_partitioned": devices.is_partitioned,
        "collective_bytes": report.collectives.bytes,
        "collectives": report.collectives.values,
    });
    if let Some(needed) = devices.per_device(&report.memory) {
        value["per_device"] = json!({"parameter_bytes": needed.parameters, "in_use": needed.in_use});
    }
    value
}

/// The name of a kind of memory.
pub fn category(category: Category) -> &'static str {
    match category {
        Category::Parameter => "parameter",
        Category::Constant => "constant",
        Category::Output => "output",
        Category::Temporary => "temp",
        Category::ThreadLocal => "thread-local",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEGATION: &str = "\
HloModule m, is_scheduled=true

ENTRY e {
  p = f32[64] parameter(0)
  ROOT n = f32[64] negate(p)
}
";

    fn answer(value: Value) -> Answer {
        memory(&mut Session::default(), &value)
    }

    #[test]
    fn bytes_are_told_by_allocation_and_by_value() {
        let answer = answer(json!({"hlo": NEGATION})).expect("it is a module");
        assert_eq!((&answer["total_bytes"], &answer["peak_bytes"]), (&json!(512), &json!(512)));
        assert_eq!(
            answer["allocations"][0],
            json!({"size": 256, "kind": "output", "values": [{"name": "n{}", "offset": 0}]})
        );
        assert_eq!(answer["values"][0], json!({"name": "p{}", "size": 256, "live": [0, 2], "allocation": 1}));
    }

    #[test]
    fn what_lowers_the_peak_is_answered_where_it_is_asked_for() {
        let expected = json!([{
            "action": "donate", "text": "donate parameter 0 (%p, 256 B): peak 512 → 256 B",
            "bytes": 256, "peak_bytes": 256, "total_bytes": 256, "in_jax": "donate_argnums",
            "changed": {"name": "p", "op_name": null, "source": null},
            "donations": [{"name": "p{}", "parameter": 0, "index": [], "output": []}],
        }]);
        assert_eq!(
            answer(json!({"hlo": NEGATION, "advice": true})).expect("it is a module")["advice"],
            expected
        );
        let plain = answer(json!({"hlo": NEGATION})).expect("it is a module");
        assert!(plain.get("advice").is_none());
    }

    #[test]
    fn xlas_own_assignment_is_compared() {
        let assignment = "allocation 0: size 256, parameter 0, shape |f32[64]| at ShapeIndex {}:\n \
            value: <0 p @0> (size=256,offset=0): f32[64]{0}\nallocation 1: size 512, maybe-live-out:\n \
            value: <1 n @0> (size=256,offset=256): f32[64]{0}\n";
        let ranges = "Live ranges at 1 (peak):\np{}: 256 bytes (cumulative: 256 bytes)\n";
        let asked = |assignment: &str| {
            answer(json!({"hlo": NEGATION, "buffer_assignment": assignment, "live_range": ranges}))
        };
        let dumped = asked(assignment).expect("it is a module")["dumped"].clone();
        let place = |offset: u64| json!({"size": 256, "kind": "output", "offset": offset});
        let expected = json!({
            "total_bytes": 768, "peak_bytes": 256, "peak_position": 1, "allocations": 2, "values": 2,
            "differences": [{"name": "n{}", "dumped": place(256), "planned": place(0)}],
        });
        assert_eq!(dumped, expected);
        assert_eq!(asked("").expect_err("no allocation").kind, ErrorKind::Parse);
    }

    #[test]
    fn bad_requests_say_why() {
        let refused = |value: Value| answer(value).expect_err("it is refused");
        let error = refused(json!({"hlo": "HloModule m\n\nENTRY e {\n  x = f32[\n}\n"}));
        assert_eq!((error.kind, error.line), (ErrorKind::Parse, Some(4)));
        assert_eq!(refused(json!({"hlo": ""})).message, "the text has no entry computation");
        assert_eq!(refused(json!({"hlo": "", "device": "toaster"})).kind, ErrorKind::InvalidParams);
        assert_eq!(refused(json!({"hlo": " ".repeat((64 << 20) + 1)})).kind, ErrorKind::Limit);
    }
}
