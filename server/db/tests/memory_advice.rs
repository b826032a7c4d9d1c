//! What would lower the peak of a module: small modules with one answer each, and what holds of random ones.

mod memory_modules;

use db::{Database, Documents, Language};
use memory::{Action, Advice, Donation, Memory, Move, sum};
use memory_modules::{planned, random_module};
use random::Rng;

fn advised(text: &str) -> Vec<Advice> {
    let (mut db, mut documents) = (Database::default(), Documents::default());
    let file = documents.open(&mut db, Language::Hlo, text);
    let file = documents.view(file).expect("it is open").file;
    db::memory_advice(&db, file).expect("there is a plan")
}

fn peak(memory: &Memory) -> u64 {
    sum(&memory.usage.at_peak())
}

fn path(index: &[i64]) -> String {
    let parts: Vec<String> = index.iter().map(i64::to_string).collect();
    format!("{{{}}}", parts.join(","))
}

/// The text after a change.
fn changed(text: &str, action: &Action) -> String {
    match action {
        Action::Donate(donations) => {
            let entry = |donation: &Donation| {
                let Donation { parameter, index, output, .. } = donation;
                format!("{}: ({parameter}, {}, may-alias)", path(output), path(index))
            };
            let entries: Vec<String> = donations.iter().map(entry).collect();
            let scheduled = "is_scheduled=true";
            let aliases = format!("{scheduled}, input_output_alias={{ {} }}", entries.join(", "));
            text.replacen(scheduled, &aliases, 1)
        }
        Action::Move(Move { names, before, .. }) => {
            let defines = |line: &str, name: &str| {
                line.trim_start().trim_start_matches("ROOT ").starts_with(&format!("{name} ="))
            };
            let is_moved = |line: &&str| names.iter().any(|name| defines(line, name));
            let moved: Vec<&str> = text.lines().filter(is_moved).collect();
            let mut lines = Vec::new();
            for line in text.lines().filter(|line| !is_moved(line)) {
                if defines(line, before) {
                    lines.extend(&moved);
                }
                lines.push(line);
            }
            assert_eq!(
                (moved.len(), lines.len()),
                (names.len(), text.lines().count()),
                "{names:?} before {before}"
            );
            lines.join("\n")
        }
    }
}

/// The peak and the total that are promised are those of the changed text.
#[track_caller]
fn keeps_its_promises(text: &str) -> Vec<Advice> {
    let before = peak(&planned(text));
    let advice = advised(text);
    for one in &advice {
        let changed = changed(text, &one.action);
        let after = planned(&changed);
        assert_eq!((one.peak, one.total), (peak(&after), after.total), "{:?}\n{changed}", one.action);
        assert!(one.peak < before, "{:?}\n{changed}", one.action);
    }
    assert!(advice.is_sorted_by_key(|one| one.peak), "the largest saving is first");
    advice
}

fn names(advice: &[Advice]) -> Vec<Vec<&str>> {
    let names = advice.iter().filter_map(|one| match &one.action {
        Action::Donate(donations) => Some(donations.iter().map(|donation| donation.name.as_str()).collect()),
        _ => None,
    });
    names.collect()
}

const STEP: &str = "
HloModule step, is_scheduled=true

ENTRY e {
  weights = f32[1024]{0} parameter(0)
  moments = f32[512]{0} parameter(1)
  batch = f32[1024]{0} parameter(2)
  gradient = f32[1024]{0} custom-call(weights, batch), custom_call_target=\"backward\"
  half = f32[512]{0} custom-call(gradient), custom_call_target=\"half\"
  new_moments = f32[512]{0} add(moments, half)
  new_weights = f32[1024]{0} add(weights, gradient)
  both = f32[1024]{0} custom-call(new_weights, new_moments), custom_call_target=\"loss\"
  ROOT r = (f32[1024]{0}, f32[512]{0}, f32[1024]{0}) tuple(new_weights, new_moments, both)
}
";

#[test]
fn parameters_that_results_replace_are_donated() {
    let advice = keeps_its_promises(STEP);
    let together: &[&str] = &["weights{}", "batch{}", "moments{}"];
    assert_eq!(names(&advice)[0], together);
    let alone: Vec<_> = names(&advice)[1..].iter().map(|names| names[0]).collect();
    assert_eq!(alone, ["weights{}", "batch{}", "moments{}"]);
}

#[test]
fn a_parameter_that_is_read_after_its_result_is_not_donated() {
    let late =
        STEP.replace("custom-call(new_weights, new_moments)", "custom-call(new_weights, weights, moments)");
    assert!(
        !names(&keeps_its_promises(&late))
            .concat()
            .iter()
            .any(|name| ["weights{}", "moments{}"].contains(name))
    );
}

#[test]
fn a_result_that_cannot_be_written_over_its_operand_takes_no_parameter() {
    let reversed = "
HloModule m, is_scheduled=true

ENTRY e {
  p = f32[1024]{0} parameter(0)
  ROOT r = f32[1024]{0} reverse(p), dimensions={0}
}
";
    assert_eq!(keeps_its_promises(reversed), []);
    let negated = reversed.replace("reverse(p), dimensions={0}", "negate(p)");
    assert_eq!(names(&keeps_its_promises(&negated)), [["p{}"]]);
    let donated = negated
        .replace("is_scheduled=true", "is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }");
    assert_eq!(keeps_its_promises(&donated), []);
    let other = negated.replace("r = f32[1024]", "r = f32[32,32]").replace("{0} negate", "{1,0} custom-call");
    assert_eq!(keeps_its_promises(&other), [], "a result of another shape");
}

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

const EARLY_MASK: &str = "
HloModule m, is_scheduled=true

ENTRY e {
  p = f32[1024]{0} parameter(0)
  mask = f32[4096]{0} broadcast(p), dimensions={}
  flat = f32[64,64]{1,0} bitcast(mask)
  wide = f32[8192]{0} custom-call(p), custom_call_target=\"widen\"
  wider = f32[8192]{0} custom-call(wide), custom_call_target=\"work\"
  narrow = f32[64,64]{1,0} custom-call(wider), custom_call_target=\"narrow\"
  ROOT r = f32[64,64]{1,0} custom-call(narrow, flat), custom_call_target=\"masked\"
}
";

#[test]
fn what_is_used_behind_the_peak_moves_there() {
    assert_eq!(moves(&keeps_its_promises(EARLY_MASK)), ["mask flat later before r"]);
    let waiting = EARLY_MASK.replace("\"work\"", "\"work\", control-predecessors={mask}");
    assert_eq!(moves(&keeps_its_promises(&waiting)), [""; 0], "an instruction must run after it");
    let text = EARLY_MASK.replace(", is_scheduled=true", "");
    assert_eq!(moves(&advised(&text)), [""; 0], "the order is not stated");
}

const LATE_SUM: &str = "
HloModule m, is_scheduled=true

ENTRY e {
  p = f32[16]{0} parameter(0)
  zero = f32[] constant(0)
  large = f32[4096]{0} custom-call(p), custom_call_target=\"large\"
  wide = f32[8192]{0} custom-call(p), custom_call_target=\"widen\"
  wider = f32[8192]{0} custom-call(wide), custom_call_target=\"work\"
  narrow = f32[16]{0} custom-call(wider), custom_call_target=\"narrow\"
  little = f32[16]{0} slice(large), slice={[0:16]}
  ROOT r = f32[16]{0} add(narrow, little)
}
";

#[test]
fn the_last_use_of_a_large_value_moves_in_front_of_the_peak() {
    assert_eq!(moves(&keeps_its_promises(LATE_SUM)), ["little earlier before wide"]);
    let two = LATE_SUM
        .replace("add(narrow, little)", "custom-call(narrow, little, large), custom_call_target=\"all\"");
    assert_eq!(moves(&keeps_its_promises(&two)), [""; 0], "something else reads it behind the peak");
}

#[test]
fn nothing_moves_across_an_update_of_what_it_reads() {
    let text = EARLY_MASK
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

#[test]
fn random_modules_have_the_peak_that_is_promised() {
    let found: usize =
        (0..200).map(|seed| keeps_its_promises(&random_module(&mut Rng::new(seed))).len()).sum();
    assert!(found > 20, "{found}");
}
