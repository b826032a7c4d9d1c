//! Every property holds on its seeds, and on random changes of them. `cargo xtask fuzz` goes on from there.

#![allow(clippy::print_stdout, reason = "how many inputs reached the property")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use fuzzing::{Input, TARGETS, Target};
use generators::{cases, on_all_cores, seed};
use random::Rng;

/// Seeds are cut to this many bytes before they are changed, so that a run takes seconds.
const MAX_BYTES: usize = 4096;

/// Runs a target and counts.
struct Tally<'a> {
    target: &'a Target,
    reached: AtomicU64,
    /// Where the inputs are that broke the property.
    failures: Mutex<Vec<String>>,
}

impl Tally<'_> {
    fn run(&self, name: &str, bytes: &[u8]) {
        match catch_unwind(AssertUnwindSafe(|| (self.target.run)(bytes))) {
            Ok(reached) => _ = self.reached.fetch_add(reached.into(), Ordering::Relaxed),
            Err(_) => {
                let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/fuzz/failures");
                let file = folder.join(format!("{}-{name}", self.target.name));
                std::fs::create_dir_all(folder).expect("the folder of build products can be written");
                std::fs::write(&file, bytes).expect("the folder of build products can be written");
                self.failures.lock().expect("no panic while it is held").push(file.display().to_string());
            }
        }
    }
}

#[test]
fn properties_hold_on_seeds_and_changes_of_them() {
    let mut failures = Vec::new();
    for target in TARGETS {
        let files = target.seeds();
        let read = |file: &PathBuf| std::fs::read(file).expect("it is readable");
        let seeds: Vec<Vec<u8>> = files.iter().map(read).collect();
        let tally = Tally { target, reached: AtomicU64::new(0), failures: Mutex::default() };
        on_all_cores(seeds.len() as u64, |i| {
            let name = files[i as usize].file_name().unwrap_or_default().to_string_lossy();
            tally.run(&name, &seeds[i as usize]);
        });
        let of_seeds = tally.reached.load(Ordering::Relaxed);
        let changed = cases(300);
        on_all_cores(changed, |i| {
            tally.run(&format!("case-{i}"), &input(target, &seeds, &mut Rng::new(seed(i))));
        });
        let (reached, all) = (tally.reached.into_inner(), seeds.len() as u64 + changed);
        println!("{}: {reached} of {all} inputs reached the property", target.name);
        match target.input {
            Input::Content => {
                assert!(of_seeds * 2 > seeds.len() as u64, "{of_seeds} of {} seeds", seeds.len())
            }
            Input::Decisions => assert!(reached * 20 > changed, "{reached} of {changed}"),
        }
        failures.extend(tally.failures.into_inner().expect("no panic while it is held"));
    }
    assert!(failures.is_empty(), "inputs that break properties: {failures:#?}");
}

/// A random input: a changed seed, or decisions.
fn input(target: &Target, seeds: &[Vec<u8>], rng: &mut Rng) -> Vec<u8> {
    if target.input == Input::Decisions {
        return (0..rng.index(200)).map(|_| rng.next_u64() as u8).collect();
    }
    let mut bytes = rng.pick(seeds).clone();
    bytes.truncate(MAX_BYTES);
    bytes.resize(bytes.len().max(4), 0);
    rng.damage(&mut bytes);
    bytes
}

#[test]
fn every_folder_of_seeds_is_of_a_target() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    for entry in std::fs::read_dir(folder).expect("it is there") {
        let name = entry.expect("it is readable").file_name();
        let name = name.to_string_lossy();
        assert!(fuzzing::target(&name).is_some(), "{name} is no target");
    }
}
