//! The kernels of XLA's GPU compiler with their fusions, from the data beside the checkout.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::Kernel;

/// One fusion and its kernel.
pub struct Pair {
    pub name: String,
    /// The instruction.
    pub fusion: String,
    pub emitter: String,
    pub hlo: String,
    /// The launches of a sort, in order; else one.
    pub launches: Vec<Kernel>,
}

pub struct Loaded {
    pub pairs: Vec<Pair>,
    /// Kernels of emitters other than XLA's own (Triton, collectives), and fusions that reuse another kernel.
    pub custom: usize,
    pub reused: usize,
}

impl Loaded {
    /// All pairs for `all`, one of `every` for an empty text, else those whose names contain the text.
    pub fn chosen(&self, which: &str, every: u64) -> Vec<&Pair> {
        let is_chosen = |pair: &&Pair| match which {
            "" => hash(&pair.name).is_multiple_of(every),
            "all" => true,
            part => pair.name.contains(part),
        };
        self.pairs.iter().filter(is_chosen).collect()
    }
}

/// A number for the name of a pair, the same in every run.
pub fn hash(name: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, step) >> 20
}

/// Calls `work` with each pair, on two threads. Nested computations need their large stacks.
///
/// # Panics
///
/// If `work` does, or no thread starts.
pub fn for_each(pairs: &[&Pair], work: impl Fn(&Pair) + Sync) {
    let next = AtomicUsize::new(0);
    let run = || {
        while let Some(pair) = pairs.get(next.fetch_add(1, Ordering::Relaxed)) {
            work(pair);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let thread = std::thread::Builder::new().stack_size(64 << 20);
            thread.spawn_scoped(scope, run).expect("a thread");
        }
    });
}

fn records(path: &Path) -> Vec<Value> {
    let lines = test_files::gzip_lines(path).unwrap_or_else(|| panic!("no file {}", path.display()));
    lines.iter().map(|line| serde_json::from_str(line).expect("a record")).collect()
}

fn sizes(value: &Value) -> [u32; 3] {
    let of = |i: usize| value.get(i).and_then(Value::as_u64).map_or(1, |n| n as u32);
    [of(0), of(1), of(2)]
}

/// All pairs.
///
/// # Panics
///
/// If the data is missing.
pub fn load() -> Loaded {
    load_from(
        "data",
        &["xla_gpu/pairs", "xla_gpu_emitters/pairs", "xla_gpu_emitters/large", "xla_gpu_sweep/pairs"],
        &["xla_gpu_sweep/sort_steps"],
    )
}

/// [`load`] for randomly generated fusions.
pub fn load_random() -> Loaded {
    load_from("data-random", &["xla_gpu_sweep/pairs"], &[])
}

/// `sorts` name the further launches of sorts.
fn load_from(data: &str, sets: &[&str], sorts: &[&str]) -> Loaded {
    let folder = test_files::needs::shared(&format!("conformance/{data}"));
    let mut loaded = Loaded { pairs: Vec::new(), custom: 0, reused: 0 };
    let mut steps: HashMap<(String, String), Vec<(i64, Kernel)>> = HashMap::new();
    let text = |record: &Value, key: &str| record[key].as_str().unwrap_or("").to_owned();
    let launch = |record: &Value| {
        let kernel = Kernel {
            ptx: text(record, "ptx"),
            grid: sizes(&record["grid"]),
            threads: sizes(&record["threads"]),
        };
        (record["step"].as_i64().unwrap_or(0), kernel)
    };
    let read = |set: &&str| records(&folder.join(format!("{set}.jsonl.gz")));
    for record in sorts.iter().flat_map(read) {
        let key = (text(&record, "fusion"), text(&record, "device"));
        steps.entry(key).or_default().push(launch(&record));
    }
    for record in sets.iter().flat_map(read) {
        if record["kind"] == "kCustom" {
            loaded.custom += 1;
            continue;
        }
        if record["ptx"].as_str().is_none() {
            loaded.reused += 1;
            continue;
        }
        let mut launches = vec![launch(&record)];
        let key = (text(&record, "fusion"), text(&record, "device"));
        launches.extend(steps.get(&key).into_iter().flatten().cloned());
        launches.sort_by_key(|(step, _)| *step);
        loaded.pairs.push(Pair {
            name: format!(
                "{}/{}@{}",
                text(&record, "model"),
                text(&record, "kernel"),
                text(&record, "device")
            ),
            fusion: text(&record, "fusion"),
            emitter: text(&record, "xla_emitter"),
            hlo: text(&record, "hlo"),
            launches: launches.into_iter().map(|(_, kernel)| kernel).collect(),
        });
    }
    loaded
}
