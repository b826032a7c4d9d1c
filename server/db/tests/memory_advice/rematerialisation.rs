//! Values that are computed again behind the peak.

use memory::{Action, Advice, Rematerialisation};

use crate::{PEAK, keeps_its_promises, scheduled};

/// Each as `instructions before instruction`, and what it costs: FLOP, transcendentals, bytes.
fn again(advice: &[Advice]) -> Vec<(String, [u64; 3])> {
    let again = advice.iter().filter_map(|one| match &one.action {
        Action::Rematerialise(Rematerialisation { names, before, cost, .. }) => {
            let costs = [cost.flops, cost.transcendentals, cost.bytes];
            Some((format!("{} before {before}", names.join(" ")), costs))
        }
        _ => None,
    });
    again.collect()
}

/// `mask`, which `exponential` computes of `wide_p`, is read in front of the peak and behind it.
fn mask(wide_p: &str, mask: &str) -> String {
    scheduled(&format!(
        "
  p = f32[1024]{{0}} parameter(0)
  {wide_p}
  {mask}
  first = f32[16]{{0}} custom-call(mask), custom_call_target=\"first\"{PEAK}
  narrow = f32[64,64]{{1,0}} custom-call(wider, first), custom_call_target=\"narrow\"
  flat = f32[64,64]{{1,0}} bitcast(mask)
  ROOT r = f32[64,64]{{1,0}} custom-call(narrow, flat), custom_call_target=\"masked\""
    ))
}

const BROADCAST: &str = "wide_p = f32[4096]{0} broadcast(p), dimensions={}";
const EXPONENTIAL: &str = "mask = f32[4096]{0} exponential(wide_p)";

#[test]
fn what_is_read_on_both_sides_of_the_peak_is_computed_twice() {
    let found = again(&keeps_its_promises(&mask(BROADCAST, EXPONENTIAL)));
    let bytes = (1024 + 4096) * 4 + 2 * 4096 * 4;
    assert_eq!(found, [("wide_p mask before flat".to_owned(), [0, 4096, bytes])]);
}

#[test]
fn bitcasts_in_front_of_the_peak_are_repeated_with_it() {
    let flat = "  flat = f32[64,64]{1,0} bitcast(mask)\n";
    let text = mask(BROADCAST, EXPONENTIAL).replace(flat, "").replace("  first", &format!("{flat}  first"));
    let found = again(&keeps_its_promises(&text));
    assert_eq!(found.first().map(|(what, _)| what.as_str()), Some("wide_p mask flat before r"));
}

#[test]
fn what_is_slow_to_compute_is_kept() {
    let call = "mask = f32[4096]{0} custom-call(wide_p), custom_call_target=\"f\"";
    assert_eq!(again(&keeps_its_promises(&mask(BROADCAST, call))), []);
    let copy = "mask = f32[4096]{0} copy(wide_p)";
    assert_eq!(again(&keeps_its_promises(&mask(BROADCAST, copy))), [], "it keeps two values apart");
    // The operand would be alive as long, and is as large.
    let operand =
        BROADCAST.replace("broadcast(p), dimensions={}", "custom-call(p), custom_call_target=\"f\"");
    assert_eq!(again(&keeps_its_promises(&mask(&operand, EXPONENTIAL))), []);
}

#[test]
fn a_fusion_runs_again_if_all_in_it_may() {
    let fusion = "mask = f32[4096]{0} fusion(wide_p), kind=kLoop, calls=fused";
    let with = |lines: &str| {
        let body = format!("fused {{\n  q = f32[4096]{{0}} parameter(0)\n  {lines}\n}}\n\nENTRY");
        again(&keeps_its_promises(&mask(BROADCAST, fusion).replace("ENTRY", &body)))
    };
    let quick = with("ROOT n = f32[4096]{0} negate(q)");
    assert_eq!(quick, [("wide_p mask before flat".to_owned(), [4096, 0, 53248])]);
    assert_eq!(with("ROOT n = f32[4096]{0} cholesky(q)"), []);
}

#[test]
fn what_the_module_returns_is_computed_late() {
    let text = mask(BROADCAST, EXPONENTIAL).replace("  flat = f32[64,64]{1,0} bitcast(mask)\n", "").replace(
        "f32[64,64]{1,0} custom-call(narrow, flat), custom_call_target=\"masked\"",
        "(f32[64,64]{1,0}, f32[4096]{0}) tuple(narrow, mask)",
    );
    let found = again(&keeps_its_promises(&text));
    assert_eq!(found.first().map(|(what, _)| what.as_str()), Some("wide_p mask before r"));
}
