//! The kernels of XLA's GPU compiler with their fusions, from the data beside the checkout.

use std::collections::HashMap;
use std::path::Path;

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

fn records(path: &Path) -> Vec<Value> {
    let lines = test_files::gzip_lines(path).unwrap_or_default();
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
    )
}

/// [`load`] for randomly generated fusions.
pub fn load_random() -> Loaded {
    load_from("data-random", &["xla_gpu_sweep/pairs"])
}

fn load_from(data: &str, sets: &[&str]) -> Loaded {
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
    for record in records(&folder.join("xla_gpu_sweep/sort_steps.jsonl.gz")) {
        let key = (text(&record, "fusion"), text(&record, "device"));
        steps.entry(key).or_default().push(launch(&record));
    }
    for set in sets {
        for record in records(&folder.join(format!("{set}.jsonl.gz"))) {
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
    }
    loaded
}
