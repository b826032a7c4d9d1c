//! `optimize`: the module after passes of XLA's optimizer.

use ide::{Applied, Language, NotOptimized, OptimizeRequest, Stop, Verdict};
use ropey::Rope;
use serde::Deserialize;
use serde_json::{Value, json};

use super::error::{Answer, ApiError, ErrorKind};
use super::request::params;
use super::session::Session;
use crate::limits;

#[derive(Deserialize)]
struct OptimizeParams {
    hlo: String,
    passes: Vec<String>,
    #[serde(default)]
    pipeline: String,
    until: Option<String>,
    #[serde(default)]
    check: bool,
}

/// `{"hlo", "applied": [{"pass", "changed", "changes": [{"computation", "instruction", "what"}]}]}`, and where it is asked for
/// `check`; see [`check`].
pub fn optimize(session: &mut Session, value: &Value) -> Answer {
    let OptimizeParams { hlo, passes, pipeline, until, check: is_checked } = params(value)?;
    limits::check_texts([hlo.as_str()]).map_err(|why| ApiError::new(ErrorKind::Limit, why))?;
    session.use_device(value)?;
    let file = session.open(Language::Hlo, hlo);
    let request = OptimizeRequest { passes, pipeline, until, check: is_checked };
    let optimized = session.ask(|analysis| {
        let optimized = analysis.optimize(file, &request)?;
        Ok(optimized.map_err(|reason| refusal(&reason, analysis.text(file))))
    })??;
    let mut answer = json!({"hlo": optimized.text, "applied": changes(&optimized.applied)});
    if let Some(verdict) = &optimized.verdict {
        answer["check"] = check(verdict);
    }
    Ok(answer)
}

/// Whether the module computes the same: `{"equal", "instructions", "elements", "open": [{"instruction", "reason"}], "differences":
/// [{"before", "after", "array", "position", "was", "is"}]}`. `instructions` and `elements` are what was compared.
pub fn check(verdict: &Verdict) -> Value {
    let open =
        verdict.open.iter().map(|open| json!({"instruction": open.instruction, "reason": open.reason}));
    let differences = verdict.differences.iter().map(|found| {
        json!({
            "before": found.before, "after": found.after, "array": found.leaf, "position": found.position,
            "was": found.was, "is": found.is,
        })
    });
    json!({
        "equal": verdict.is_equal(),
        "instructions": verdict.compared,
        "elements": verdict.elements,
        "open": open.collect::<Value>(),
        "differences": differences.collect::<Value>(),
    })
}

/// What passes did, as JSON; see [`optimize`].
pub fn changes(applied: &[Applied]) -> Value {
    let applied = applied.iter().map(|applied| {
        let changes = applied.changes.iter().map(|change| {
            json!({"computation": change.computation, "instruction": change.instruction, "what": change.what})
        });
        json!({
            "pass": applied.pass,
            "changed": !applied.changes.is_empty(),
            "changes": changes.collect::<Value>(),
        })
    });
    applied.collect()
}

/// Why a text is not optimized, as an error of the interface.
pub fn refusal(reason: &NotOptimized, text: &Rope) -> ApiError {
    let message = reason.to_string();
    match reason {
        NotOptimized::Invalid { offset, .. } => ApiError::in_text(text, *offset, message),
        NotOptimized::NoEntry => ApiError::in_text(text, 0, message),
        NotOptimized::NotConverted { offset: Some(offset), .. } => ApiError::in_text(text, *offset, message),
        NotOptimized::NotConverted { .. }
        | NotOptimized::Stopped(Stop::Unknown(_) | Stop::Unsupported(_)) => {
            ApiError::new(ErrorKind::Unsupported, message)
        }
        NotOptimized::TooLarge(_) => ApiError::new(ErrorKind::Limit, message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
HloModule m

ENTRY e {
  p = f32[4] parameter(0)
  a = f32[4] add(p, p)
  b = f32[4] add(p, p)
  unused = f32[4] negate(p)
  ROOT c = f32[4] multiply(a, b)
}
";

    fn answer(value: Value) -> Answer {
        optimize(&mut Session::default(), &value)
    }

    #[test]
    fn passes_run_in_order_and_say_what_they_did() {
        let answer = answer(json!({"hlo": TEXT, "passes": ["cse", "dce", "dce"]})).expect("it is optimized");
        let text = answer["hlo"].as_str().unwrap_or_default();
        assert!(text.contains("ROOT %c = f32[4]{0} multiply(%a, %a)") && !text.contains("negate"), "{text}");
        let expected = json!([
            {"pass": "cse", "changed": true, "changes": [
                {"computation": "e", "instruction": "b", "what": "merged into %a, which is equal"},
            ]},
            {"pass": "dce", "changed": true, "changes": [
                {"computation": "e", "instruction": "unused", "what": "removed: nothing uses it"},
            ]},
            {"pass": "dce", "changed": false, "changes": []},
        ]);
        assert_eq!(answer["applied"], expected);
    }

    #[test]
    fn values_are_compared_where_it_is_asked_for() {
        let answer =
            answer(json!({"hlo": TEXT, "passes": ["cse", "dce"], "check": true})).expect("it is optimized");
        let expected =
            json!({"equal": true, "instructions": 0, "elements": 0, "open": [], "differences": []});
        assert_eq!(answer["check"], expected);
    }

    #[test]
    fn refusals_say_why() {
        let refused = |hlo: &str, passes: &[&str]| {
            answer(json!({"hlo": hlo, "passes": passes})).expect_err("it is refused")
        };
        let error = refused(TEXT, &["dce", "no-such-pass"]);
        assert_eq!(
            (error.kind, error.message.as_str()),
            (ErrorKind::Unsupported, "unknown pass: no-such-pass")
        );
        let error = refused(&TEXT.replace("multiply(a, b)", "multiply(a, x)"), &["dce"]);
        assert_eq!((error.kind, error.line), (ErrorKind::Parse, Some(8)));
        assert!(error.message.starts_with("a module with errors is not rewritten: "), "{}", error.message);
        assert_eq!(refused("", &["dce"]).message, "the text has no entry computation");
        assert_eq!(refused(&" ".repeat((64 << 20) + 1), &[]).kind, ErrorKind::Limit);
    }
}
