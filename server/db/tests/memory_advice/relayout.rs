//! Tiled layouts of which less is padding.

use memory::{Action, Advice, Relayout};

use crate::{keeps_its_promises, scheduled};

/// Each as `instructions as order: bytes now -> bytes then`.
fn layouts(advice: &[Advice]) -> Vec<String> {
    let layouts = advice.iter().filter_map(|one| match &one.action {
        Action::Relayout(Relayout { names, minor_to_major, bytes_then, .. }) => {
            Some(format!("{} as {minor_to_major:?}: {} -> {bytes_then}", names.join(" "), one.bytes))
        }
        _ => None,
    });
    layouts.collect()
}

/// Three columns in tiles of 128.
const POINTS: &str = "
  p = f32[8192]{0:T(1024)} parameter(0)
  zero = f32[] constant(0)
  wide = f32[8192,3]{1,0:T(8,128)} broadcast(p), dimensions={0}
  moved = bf16[8192,3]{1,0:T(8,128)(2,1)} convert(wide)
  tail = bf16[4096,3]{1,0:T(8,128)(2,1)} slice(moved), slice={[0:4096], [0:3]}
  ROOT r = bf16[4096]{0:T(1024)} reduce(tail, zero), dimensions={1}, to_apply=add";

#[test]
fn the_order_that_pads_least_is_that_of_all_that_are_connected() {
    let layouts = layouts(&keeps_its_promises(&scheduled(POINTS)));
    // Three rows in tiles of eight.
    let expected = format!("wide moved tail as [0, 1]: {} -> {}", 4 * 8192 * 128, 4 * 8192 * 8);
    assert_eq!(layouts, [expected]);
}

#[test]
fn parameters_have_the_layout_that_is_asked_for_unless_they_are_donated() {
    let text = scheduled(POINTS)
        .replace("p = f32[8192]{0:T(1024)}", "p = f32[8192,3]{1,0:T(8,128)}")
        .replace("broadcast(p), dimensions={0}", "negate(p)");
    let found = layouts(&keeps_its_promises(&text));
    assert!(found.len() == 1 && found[0].starts_with("p wide moved tail as [0, 1]: "), "{found:?}");
    let wide = "f32[8192,3]{1,0:T(8,128)}";
    let both = format!(
        "dimensions={{1}}, to_apply=add\n  other = {wide} broadcast(zero), dimensions={{}}\n  \
         ROOT both = (bf16[4096]{{0:T(1024)}}, {wide}) tuple(r, other)"
    );
    let both = text.replace("  ROOT r", "  r").replace("dimensions={1}, to_apply=add", &both);
    assert_eq!(layouts(&keeps_its_promises(&both)).len(), 1);
    let donated = both
        .replace("is_scheduled=true", "is_scheduled=true, input_output_alias={ {1}: (0, {}, may-alias) }");
    assert_eq!(layouts(&keeps_its_promises(&donated)), [""; 0]);
}

#[test]
fn layouts_that_others_decide_stay() {
    let call = scheduled(POINTS)
        .replace("slice(moved), slice={[0:4096], [0:3]}", "custom-call(moved), custom_call_target=\"f\"");
    assert_eq!(layouts(&keeps_its_promises(&call)), [""; 0], "a library");
    let result = scheduled(POINTS).replace("  ROOT r", "  r").replace("  tail", "  ROOT tail");
    assert_eq!(layouts(&keeps_its_promises(&result)), [""; 0], "the caller");
    let plain = scheduled(POINTS).replace(":T(8,128)(2,1)", "").replace(":T(8,128)", "");
    assert_eq!(layouts(&keeps_its_promises(&plain)), [""; 0], "nothing is padded");
}
