//! Instructions at another place of the schedule.

use memory::{Action, Advice, Move};

use crate::{PEAK, advised, keeps_its_promises, scheduled};

/// The moves, as `instructions before instruction`.
fn moves(advice: &[Advice]) -> Vec<String> {
    let moves = advice.iter().filter_map(|one| match &one.action {
        Action::Move(Move { names, before, is_later, .. }) => Some(format!(
            "{} {} before {before}",
            names.join(" "),
            if *is_later { "later" } else { "earlier" }
        )),
        _ => None,
    });
    moves.collect()
}

fn early_mask() -> String {
    scheduled(&format!(
        "
  p = f32[1024]{{0}} parameter(0)
  mask = f32[4096]{{0}} broadcast(p), dimensions={{}}
  flat = f32[64,64]{{1,0}} bitcast(mask){PEAK}
  narrow = f32[64,64]{{1,0}} custom-call(wider), custom_call_target=\"narrow\"
  ROOT r = f32[64,64]{{1,0}} custom-call(narrow, flat), custom_call_target=\"masked\""
    ))
}

#[test]
fn what_is_used_behind_the_peak_moves_there() {
    assert_eq!(moves(&keeps_its_promises(&early_mask())), ["mask flat later before r"]);
    let waiting = early_mask().replace("\"work\"", "\"work\", control-predecessors={mask}");
    assert_eq!(moves(&keeps_its_promises(&waiting)), [""; 0], "an instruction must run after it");
    let text = early_mask().replace(", is_scheduled=true", "");
    assert_eq!(moves(&advised(&text)), [""; 0], "the order is not stated");
}

fn late_sum() -> String {
    scheduled(&format!(
        "
  p = f32[16]{{0}} parameter(0)
  zero = f32[] constant(0)
  large = f32[4096]{{0}} custom-call(p), custom_call_target=\"large\"{PEAK}
  narrow = f32[16]{{0}} custom-call(wider), custom_call_target=\"narrow\"
  little = f32[16]{{0}} slice(large), slice={{[0:16]}}
  ROOT r = f32[16]{{0}} add(narrow, little)"
    ))
}

#[test]
fn the_last_use_of_a_large_value_moves_in_front_of_the_peak() {
    assert_eq!(moves(&keeps_its_promises(&late_sum())), ["little earlier before wide"]);
    let two = late_sum()
        .replace("add(narrow, little)", "custom-call(narrow, little, large), custom_call_target=\"all\"");
    assert_eq!(moves(&keeps_its_promises(&two)), [""; 0], "something else reads it behind the peak");
}

#[test]
fn nothing_moves_across_an_update_of_what_it_reads() {
    let text = early_mask()
        .replace("broadcast(p), dimensions={}", "reverse(old), dimensions={0}")
        .replace("  mask", "  old = f32[4096]{0} custom-call(p), custom_call_target=\"old\"\n  mask")
        .replace(
            "  narrow",
            "  i = s32[] constant(0)\n  new = f32[4096]{0} dynamic-update-slice(old, p, i)\n  narrow",
        )
        .replace("custom-call(wider)", "custom-call(wider, new)");
    assert_eq!(moves(&keeps_its_promises(&text)), [""; 0]);
    let apart =
        text.replace("dynamic-update-slice(old, p, i)", "custom-call(old, p, i), custom_call_target=\"new\"");
    assert_eq!(moves(&keeps_its_promises(&apart)), ["mask flat later before r"]);
}
