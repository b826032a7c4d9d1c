//! Parameters whose memory results could take.

use memory::{Action, Advice};

use crate::{keeps_its_promises, scheduled};

fn names(advice: &[Advice]) -> Vec<Vec<&str>> {
    let names = advice.iter().filter_map(|one| match &one.action {
        Action::Donate(donations) => Some(donations.iter().map(|donation| donation.name.as_str()).collect()),
        _ => None,
    });
    names.collect()
}

const STEP: &str = "
  weights = f32[1024]{0} parameter(0)
  moments = f32[512]{0} parameter(1)
  batch = f32[1024]{0} parameter(2)
  gradient = f32[1024]{0} custom-call(weights, batch), custom_call_target=\"backward\"
  half = f32[512]{0} custom-call(gradient), custom_call_target=\"half\"
  new_moments = f32[512]{0} add(moments, half)
  new_weights = f32[1024]{0} add(weights, gradient)
  both = f32[1024]{0} custom-call(new_weights, new_moments), custom_call_target=\"loss\"
  ROOT r = (f32[1024]{0}, f32[512]{0}, f32[1024]{0}) tuple(new_weights, new_moments, both)";

#[test]
fn parameters_that_results_replace_are_donated() {
    let advice = keeps_its_promises(&scheduled(STEP));
    let together: &[&str] = &["weights{}", "batch{}", "moments{}"];
    assert_eq!(names(&advice)[0], together);
    let alone: Vec<_> = names(&advice)[1..].iter().map(|names| names[0]).collect();
    assert_eq!(alone, ["weights{}", "batch{}", "moments{}"]);
}

#[test]
fn a_parameter_that_is_read_after_its_result_is_not_donated() {
    let late = scheduled(STEP)
        .replace("custom-call(new_weights, new_moments)", "custom-call(new_weights, weights, moments)");
    assert!(
        !names(&keeps_its_promises(&late))
            .concat()
            .iter()
            .any(|name| ["weights{}", "moments{}"].contains(name))
    );
}

#[test]
fn a_result_that_cannot_be_written_over_its_operand_takes_no_parameter() {
    let reversed = scheduled(
        "
  p = f32[1024]{0} parameter(0)
  ROOT r = f32[1024]{0} reverse(p), dimensions={0}",
    );
    assert_eq!(keeps_its_promises(&reversed), []);
    let negated = reversed.replace("reverse(p), dimensions={0}", "negate(p)");
    assert_eq!(names(&keeps_its_promises(&negated)), [["p{}"]]);
    let donated = negated
        .replace("is_scheduled=true", "is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }");
    assert_eq!(keeps_its_promises(&donated), []);
    let other = negated.replace("r = f32[1024]", "r = f32[32,32]").replace("{0} negate", "{1,0} custom-call");
    assert_eq!(keeps_its_promises(&other), [], "a result of another shape");
}
