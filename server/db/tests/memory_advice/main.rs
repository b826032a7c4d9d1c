//! What would lower the peak of a module: small modules with one answer each, and what holds of random ones.

mod donation;
#[path = "../memory_modules/mod.rs"]
mod memory_modules;
mod moving;
mod relayout;
mod rematerialisation;
mod rewritten;
mod second_copy;
mod sharding;

use db::{Database, Documents, Language};
use memory::{Action, Advice, Memory, sum};
use memory_modules::{planned, random_module};
use random::Rng;
use rewritten::rewritten;

fn advised(text: &str) -> Vec<Advice> {
    let (mut db, mut documents) = (Database::default(), Documents::default());
    let file = documents.open(&mut db, Language::Hlo, text);
    let file = documents.view(file).expect("it is open").file;
    db::memory_advice(&db, file).expect("there is a plan")
}

fn peak(memory: &Memory) -> u64 {
    sum(&memory.usage.at_peak())
}

/// The peak and the total that are promised are those of the changed text.
#[track_caller]
fn keeps_its_promises(text: &str) -> Vec<Advice> {
    let before = peak(&planned(text));
    let advice = advised(text);
    for one in &advice {
        let changed = rewritten(text, &one.action);
        let after = planned(&changed);
        assert_eq!((one.peak, one.total), (peak(&after), after.total), "{:?}\n{changed}", one.action);
        assert!(one.peak < before, "{:?}\n{changed}", one.action);
    }
    assert!(advice.is_sorted_by_key(|one| one.peak), "the largest saving is first");
    advice
}

/// The text of a scheduled module with these lines in its entry.
fn scheduled(lines: &str) -> String {
    format!("HloModule m, is_scheduled=true\n\nENTRY e {{\n{}\n}}\n", lines.trim_matches('\n'))
}

/// Instructions from `p` to `narrow`, in the middle of which most bytes are in use.
const PEAK: &str = "
  wide = f32[8192]{0} custom-call(p), custom_call_target=\"widen\"
  wider = f32[8192]{0} custom-call(wide), custom_call_target=\"work\"";

#[test]
fn random_modules_have_the_peak_that_is_promised() {
    let found = (0..200).flat_map(|seed| keeps_its_promises(&random_module(&mut Rng::new(seed))));
    let mut of_kind = [0; 6];
    for one in found {
        of_kind[match one.action {
            Action::Donate(_) => 0,
            Action::Move(_) => 1,
            Action::Rematerialise(_) => 2,
            Action::Relayout(_) => 3,
            Action::DropCopy(_) => 4,
            Action::Shard(_) => 5,
        }] += 1;
    }
    assert!(of_kind.iter().all(|&count| count >= 10), "{of_kind:?}");
}
