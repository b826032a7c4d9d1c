//! Weights that are in memory twice.

use memory::{Action, Advice, SecondCopy};

use crate::{keeps_its_promises, scheduled};

/// Each as `source for copy without removed`, with the shape in which the source is stored.
fn copies(advice: &[Advice]) -> Vec<String> {
    let copies = advice.iter().filter_map(|one| match &one.action {
        Action::DropCopy(SecondCopy { source, copy, removed, stored_as, parameter }) => {
            let stored = stored_as.as_ref().map_or_else(String::new, |shape| format!(" as {shape}"));
            let number = parameter.map_or_else(String::new, |number| format!("{number} "));
            Some(format!("{number}{source}{stored} for {copy} without {}", removed.join(" ")))
        }
        _ => None,
    });
    copies.collect()
}

const WEIGHTS: &str = "
  x = f32[8,64]{1,0} parameter(0)
  weights = f32[64,512]{1,0} parameter(1)
  flat = f32[1,64,512]{2,1,0} bitcast(weights)
  turned = f32[512,64]{1,0} transpose(flat), dimensions={2,1}
  y = f32[8,512]{1,0} dot(x, turned), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  ROOT r = f32[8,512]{1,0} custom-call(y, turned), custom_call_target=\"f\"";

#[test]
fn weights_are_stored_as_they_are_read() {
    let stored = "1 weights as f32[512,64]{1,0} for turned without turned flat";
    assert_eq!(copies(&keeps_its_promises(&scheduled(WEIGHTS))), [stored]);
    let converted = scheduled(WEIGHTS)
        .replace("f32[512,64]{1,0} transpose(flat), dimensions={2,1}", "bf16[1,64,512]{2,1,0} convert(flat)");
    let stored = "1 weights as bf16[1,64,512]{2,1,0} for turned without turned flat";
    assert_eq!(copies(&keeps_its_promises(&converted)), [stored]);
    let constant = scheduled(WEIGHTS).replace("parameter(1)", "constant({...})");
    let stored = "weights as f32[512,64]{1,0} for turned without turned flat";
    assert_eq!(copies(&keeps_its_promises(&constant)), [stored]);
}

#[test]
fn weights_that_are_read_both_ways_are_read_by_other_dimension_numbers() {
    let both = scheduled(WEIGHTS).replace("custom-call(y, turned)", "custom-call(y, weights)");
    assert_eq!(copies(&keeps_its_promises(&both)), ["1 weights for turned without turned flat"]);
    let copied = scheduled(WEIGHTS).replace("custom-call(y, turned)", "custom-call(y, weights, turned)");
    assert_eq!(copies(&keeps_its_promises(&copied)), [""; 0], "a library reads the copy");
}

#[test]
fn a_fusion_that_only_moves_elements_makes_a_copy() {
    let with = |line: &str| {
        let body = format!("fused {{\n  q = f32[1,64,512]{{2,1,0}} parameter(0)\n  {line}\n}}\n\nENTRY");
        let fusion = "turned = f32[512,64]{1,0} fusion(flat), kind=kLoop, calls=fused";
        let plain = "turned = f32[512,64]{1,0} transpose(flat), dimensions={2,1}";
        copies(&keeps_its_promises(&scheduled(WEIGHTS).replace(plain, fusion).replace("ENTRY", &body)))
    };
    let moved = with("ROOT t = f32[512,64]{1,0} transpose(q), dimensions={2,1}");
    assert_eq!(moved, ["1 weights as f32[512,64]{1,0} for turned without turned flat"]);
    assert_eq!(with("ROOT t = f32[512,64]{1,0} cholesky(q)"), [""; 0]);
}

#[test]
fn copies_that_are_needed_stay() {
    let negated = scheduled(WEIGHTS)
        .replace("f32[512,64]{1,0} transpose(flat), dimensions={2,1}", "f32[1,64,512]{2,1,0} negate(flat)");
    assert_eq!(copies(&keeps_its_promises(&negated)), [""; 0], "it has other elements");
    let returned = scheduled(WEIGHTS).replace(
        "f32[8,512]{1,0} custom-call(y, turned), custom_call_target=\"f\"",
        "(f32[8,512]{1,0}, f32[512,64]{1,0}) tuple(y, turned)",
    );
    assert_eq!(copies(&keeps_its_promises(&returned)), [""; 0], "the caller gets it");
}
