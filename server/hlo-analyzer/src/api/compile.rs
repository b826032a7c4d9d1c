//! `lineage` and `blame` of texts: where the instructions of the last stage come from. Of folders: `folders.rs`.

use matching::{Blame, Lineage, Matching, Program, Reasons, Unreadable, match_programs};
use ropey::Rope;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::error::{Answer, ApiError, ErrorKind};
use super::request::params;
use crate::limits;

#[derive(Deserialize)]
struct CompileParams<'a> {
    #[serde(borrow)]
    stages: Vec<Stage<'a>>,
}

#[derive(Deserialize)]
struct Stage<'a> {
    name: &'a str,
    hlo: &'a str,
}

/// `{"instructions": {instruction of the last stage: [instructions of the first stage]}}`. A fusion comes from all that its
/// members come from. A name that several computations use is `computation/name`.
pub fn lineage(value: &Value) -> Answer {
    let stages = stages(value)?;
    let first = read(&stages[0])?;
    let step = |lineage: &mut Lineage, _: &Program, _: &Program, matching: &Matching| lineage.step(matching);
    let (lineage, last) = compile(&stages, Lineage::new, step)?;
    let origins = (0..last.instructions.len() as u32).map(|id| {
        let sources = lineage.sources(&last, id);
        let names: Value = sources.into_iter().map(|source| first.unique_name(source)).collect();
        (last.unique_name(id), names)
    });
    Ok(json!({"instructions": origins.collect::<Map<_, _>>()}))
}

/// `{"introduced": {instruction of the last stage: name of the stage that introduced it}, "reasons": {instruction: sentence}}`.
/// Reasons are of copies, transposes, bitcasts, conversions, paddings, collectives and fusions that a pass introduced.
pub fn blame(value: &Value) -> Answer {
    let stages = stages(value)?;
    let start = |first: &Program| (Blame::new(first), Reasons::new(first));
    let step =
        |(blame, reasons): &mut (Blame, Reasons), before: &Program, after: &Program, matching: &Matching| {
            blame.step(matching);
            reasons.step(before, after, matching);
        };
    let ((blame, reasons), last) = compile(&stages, start, step)?;
    let (mut introduced, mut sentences) = (Map::new(), Map::new());
    let stage_name = |stage: u32| stages[stage as usize].name.to_owned();
    for id in 0..last.instructions.len() as u32 {
        let (name, stage) = (last.unique_name(id), blame.introduced(id));
        if let Some(sentence) = reasons.sentence(id, stage, stage_name) {
            sentences.insert(name.clone(), json!(sentence));
        }
        introduced.insert(name, json!(stage_name(stage)));
    }
    Ok(json!({"introduced": introduced, "reasons": sentences}))
}

fn stages(value: &Value) -> Result<Vec<Stage<'_>>, ApiError> {
    let CompileParams { stages } = params(value)?;
    if stages.is_empty() {
        return Err(ApiError::new(
            ErrorKind::InvalidParams,
            "\"stages\" is empty: a compile has at least one",
        ));
    }
    let texts = stages.iter().map(|stage| stage.hlo);
    limits::check_texts(texts).map_err(|why| ApiError::new(ErrorKind::Limit, why))?;
    Ok(stages)
}

/// Takes `state` from the first stage to the last, whose program is returned too. Only two programs are in memory at a time.
fn compile<'a, T>(
    stages: &[Stage<'a>],
    start: impl Fn(&Program<'a>) -> T,
    step: impl Fn(&mut T, &Program<'a>, &Program<'a>, &Matching),
) -> Result<(T, Program<'a>), ApiError> {
    let mut before = read(&stages[0])?;
    let mut state = start(&before);
    for stage in &stages[1..] {
        let after = read(stage)?;
        step(&mut state, &before, &after, &match_programs(&before, &after));
        before = after;
    }
    Ok((state, before))
}

fn read<'a>(stage: &Stage<'a>) -> Result<Program<'a>, ApiError> {
    Program::read(stage.hlo).map_err(|Unreadable { message, offset }| {
        ApiError::in_text(&Rope::from_str(stage.hlo), offset, format!("stage {}: {message}", stage.name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A call is inlined, an addition of zero removed, a layout assigned, everything renamed, and the rest fused.
    const STAGES: &[(&str, &str)] = &[
        (
            "before_optimizations",
            "HloModule m

double {
  x = f32[8,4] parameter(0)
  ROOT sum.1 = f32[8,4] add(x, x), metadata={op_name=\"sum\"}
}

ENTRY main {
  p.1 = f32[8,4] parameter(0)
  zero.1 = f32[] constant(0)
  zeros.1 = f32[8,4] broadcast(zero.1), dimensions={}
  add.1 = f32[8,4] add(p.1, zeros.1), metadata={op_name=\"add\"}
  call.1 = f32[8,4] call(add.1), to_apply=double
  ROOT exp.1 = f32[8,4] exponential(call.1), metadata={op_name=\"exp\"}
}
",
        ),
        (
            "call-inliner",
            "HloModule m

ENTRY main {
  p.1 = f32[8,4] parameter(0)
  zero.1 = f32[] constant(0)
  zeros.1 = f32[8,4] broadcast(zero.1), dimensions={}
  add.1 = f32[8,4] add(p.1, zeros.1), metadata={op_name=\"add\"}
  sum.2 = f32[8,4] add(add.1, add.1), metadata={op_name=\"sum\"}
  ROOT exp.1 = f32[8,4] exponential(sum.2), metadata={op_name=\"exp\"}
}
",
        ),
        (
            "algsimp",
            "HloModule m

ENTRY main {
  p.1 = f32[8,4] parameter(0)
  sum.2 = f32[8,4] add(p.1, p.1), metadata={op_name=\"sum\"}
  ROOT exp.1 = f32[8,4] exponential(sum.2), metadata={op_name=\"exp\"}
}
",
        ),
        (
            "layout-assignment",
            "HloModule m

ENTRY main {
  p.1 = f32[8,4]{1,0} parameter(0)
  copy.1 = f32[8,4]{0,1} copy(p.1)
  sum.2 = f32[8,4]{0,1} add(copy.1, copy.1), metadata={op_name=\"sum\"}
  ROOT exp.1 = f32[8,4]{0,1} exponential(sum.2), metadata={op_name=\"exp\"}
}
",
        ),
        (
            "rename-instructions",
            "HloModule m

ENTRY main {
  param.0 = f32[8,4]{1,0} parameter(0)
  copy.0 = f32[8,4]{0,1} copy(param.0)
  add.0 = f32[8,4]{0,1} add(copy.0, copy.0), metadata={op_name=\"sum\"}
  ROOT exponential.0 = f32[8,4]{0,1} exponential(add.0), metadata={op_name=\"exp\"}
}
",
        ),
        (
            "priority-fusion",
            "HloModule m

fused_exponential {
  param_0 = f32[8,4]{0,1} parameter(0)
  add.0.1 = f32[8,4]{0,1} add(param_0, param_0), metadata={op_name=\"sum\"}
  ROOT exponential.0.1 = f32[8,4]{0,1} exponential(add.0.1), metadata={op_name=\"exp\"}
}

ENTRY main {
  param.0 = f32[8,4]{1,0} parameter(0)
  copy.0 = f32[8,4]{0,1} copy(param.0)
  ROOT loop_exponential_fusion = f32[8,4]{0,1} fusion(copy.0), kind=kLoop, calls=fused_exponential
}
",
        ),
    ];

    fn request(stages: &[(&str, &str)]) -> Value {
        let stages: Value = stages.iter().map(|(name, hlo)| json!({"name": name, "hlo": hlo})).collect();
        json!({"stages": stages})
    }

    #[test]
    fn a_fusion_comes_from_what_it_fuses() {
        let answer = lineage(&request(STAGES)).expect("the stages are modules");
        let of = |name: &str| answer["instructions"][name].clone();
        assert_eq!(of("loop_exponential_fusion"), json!(["sum.1", "exp.1"]));
        assert_eq!(of("add.0.1"), json!(["sum.1"]));
        assert_eq!(of("exponential.0.1"), json!(["exp.1"]));
        assert_eq!(of("param.0"), json!(["p.1"]));
    }

    #[test]
    fn renaming_does_not_introduce_an_instruction() {
        let answer = blame(&request(STAGES)).expect("the stages are modules");
        let of = |name: &str| answer["introduced"][name].clone();
        assert_eq!(of("param.0"), "before_optimizations");
        assert_eq!(of("copy.0"), "layout-assignment");
        assert_eq!(of("loop_exponential_fusion"), "priority-fusion");
        let reason = |name: &str| answer["reasons"][name].clone();
        assert_eq!(
            reason("copy.0"),
            "it makes operand 0 of `%sum.2` and one more use column-major: the module's parameter `%p.1` is row-major"
        );
        assert_eq!(reason("loop_exponential_fusion"), "it joins `%add.0` and `%exponential.0`");
        assert_eq!(reason("param.0"), Value::Null);
        let answer = blame(&request(&STAGES[..5])).expect("the stages are modules");
        assert_eq!(answer["introduced"]["add.0"], "call-inliner");
        assert_eq!(answer["introduced"]["exponential.0"], "before_optimizations");
    }

    #[test]
    fn a_name_in_two_computations_is_qualified() {
        let text = "HloModule m

f {
  x = f32[] parameter(0)
  ROOT y = f32[] negate(x)
}

ENTRY main {
  x = f32[] parameter(0)
  ROOT z = f32[] call(x), to_apply=f
}
";
        let answer = lineage(&request(&[("one", text), ("two", text)])).expect("it is a module");
        assert_eq!(answer["instructions"]["main/x"], json!(["main/x"]));
        assert_eq!(answer["instructions"]["f/x"], json!(["f/x"]));
        assert_eq!(answer["instructions"]["z"], json!(["y", "z"]));
    }

    #[test]
    fn bad_stages_are_named() {
        let (_, good) = STAGES[0];
        let truncated = &good[..good.len() - 30];
        let colliding = good.replace("zeros.1 = ", "zero.1 = ");
        let undefined = good.replace("to_apply=double", "to_apply=triple");
        let cases: [(&str, &str, (usize, usize)); 5] = [
            ("def f():\n  return 1\n", "no module of HLO: expects '=' in instruction", (1, 5)),
            ("", "no module of HLO: the text has no instructions", (1, 1)),
            (truncated, "expects ')' at the end of operands", (14, 42)),
            (&colliding, "a second instruction named zero.1 in one computation", (11, 3)),
            (&undefined, "no computation named triple", (13, 43)),
        ];
        for (text, message, (line, column)) in cases {
            for method in [lineage, blame] {
                let error =
                    method(&request(&[("first", good), ("second", text)])).expect_err("it is no module");
                assert_eq!(error.kind, ErrorKind::Parse);
                assert_eq!(error.message, format!("stage second: {message}"));
                assert_eq!((error.line, error.column), (Some(line), Some(column)), "{message}");
            }
        }
    }

    #[test]
    fn requests_without_stages_are_refused() {
        for request in [json!({}), json!({"stages": []}), json!({"stages": [{"name": "one"}]})] {
            assert_eq!(lineage(&request).expect_err("nothing is asked").kind, ErrorKind::InvalidParams);
            assert_eq!(blame(&request).expect_err("nothing is asked").kind, ErrorKind::InvalidParams);
        }
        let text = " ".repeat((64 << 20) + 1);
        assert_eq!(blame(&request(&[("one", &text)])).expect_err("it is too long").kind, ErrorKind::Limit);
    }
}
