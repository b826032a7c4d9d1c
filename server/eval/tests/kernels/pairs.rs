//! The kernels of XLA's GPU compiler with the fusions they came from, where the shared data is there.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use ir::{AttributeKey, Graph, Op, OpId, Opcode};
use serde_json::Value;
use syntax::hlo::{PieceState, parse};

/// One fusion and its kernel.
pub struct Pair {
    pub name: String,
    pub emitter: String,
    pub hlo: String,
    /// The launches of a sort, in order; else one.
    pub launches: Vec<KernelLaunch>,
}

#[derive(Clone)]
pub struct KernelLaunch {
    pub ptx: String,
    pub grid: [u32; 3],
    pub threads: [u32; 3],
    step: i64,
}

pub struct Loaded {
    pub pairs: Vec<Pair>,
    /// Written by other emitters than XLA's own (Triton, collectives), and fusions that use another one's kernel.
    pub custom: usize,
    pub reused: usize,
}

fn lines(path: &Path) -> Vec<Value> {
    let Ok(file) = std::fs::File::open(path) else { return Vec::new() };
    let mut text = String::new();
    let read = flate2::read::GzDecoder::new(file).read_to_string(&mut text);
    assert!(read.is_ok(), "{}", path.display());
    text.lines().map(|line| serde_json::from_str(line).expect("a record")).collect()
}

fn sizes(value: &Value) -> [u32; 3] {
    let of = |i: usize| value.get(i).and_then(Value::as_u64).map_or(1, |n| n as u32);
    [of(0), of(1), of(2)]
}

/// All pairs; nothing, said aloud, where the data is not there.
pub fn load() -> Option<Loaded> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance/data");
    if !folder.is_dir() {
        eprintln!("skipped: there is no ../shared beside this checkout");
        return None;
    }
    let mut loaded = Loaded { pairs: Vec::new(), custom: 0, reused: 0 };
    let mut steps: HashMap<(String, String), Vec<KernelLaunch>> = HashMap::new();
    let text = |record: &Value, key: &str| record[key].as_str().unwrap_or("").to_owned();
    let launch = |record: &Value| KernelLaunch {
        ptx: text(record, "ptx"),
        grid: sizes(&record["grid"]),
        threads: sizes(&record["threads"]),
        step: record["step"].as_i64().unwrap_or(0),
    };
    for record in lines(&folder.join("xla_gpu_sweep/sort_steps.jsonl.gz")) {
        let key = (text(&record, "fusion"), text(&record, "device"));
        steps.entry(key).or_default().push(launch(&record));
    }
    for set in ["xla_gpu/pairs", "xla_gpu_emitters/pairs", "xla_gpu_emitters/large", "xla_gpu_sweep/pairs"] {
        for record in lines(&folder.join(format!("{set}.jsonl.gz"))) {
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
            launches.sort_by_key(|launch| launch.step);
            loaded.pairs.push(Pair {
                name: format!(
                    "{}/{}@{}",
                    text(&record, "model"),
                    text(&record, "kernel"),
                    text(&record, "device")
                ),
                emitter: text(&record, "xla_emitter"),
                hlo: text(&record, "hlo"),
                launches,
            });
        }
    }
    Some(loaded)
}

/// The graphs of a module, by name.
pub struct Graphs(HashMap<String, Arc<Graph>>);

impl Graphs {
    pub fn new(text: &str) -> Graphs {
        let text: Arc<str> = Arc::from(text);
        let parse = Arc::new(parse(&text, PieceState::HEADER));
        let block = ir::lower(text.clone(), parse.clone());
        let named = parse.computations.iter().enumerate().filter_map(|(i, computation)| {
            let graph = Graph::build(&[(&block, i as u32)])?;
            Some((computation.name.of(&text).trim_start_matches('%').to_owned(), Arc::new(graph)))
        });
        Graphs(named.collect())
    }

    pub fn get(&self, name: &str) -> Option<Arc<Graph>> {
        self.0.get(name).cloned()
    }

    /// The computation around a fusion, its root.
    pub fn entry(&self) -> Option<Arc<Graph>> {
        let is_entry = |graph: &&Arc<Graph>| graph.ops[graph.root as usize].opcode == Opcode::Fusion;
        self.0.values().find(is_entry).cloned()
    }

    /// The operands of a fusion that are init values of its reductions: XLA wants neutral ones.
    pub fn init_parameters(&self, fusion: &Op) -> Vec<usize> {
        let callee = fusion.attributes.computation(AttributeKey::Calls).and_then(|name| self.get(name));
        let Some(graph) = callee else { return Vec::new() };
        let reductions = (0..graph.ops.len())
            .filter(|&i| matches!(graph.ops[i].opcode, Opcode::Reduce | Opcode::ReduceWindow));
        let inits = reductions.flat_map(|i| graph.operands[i][graph.operands[i].len() / 2..].to_vec());
        inits.filter_map(|id| Some(graph.ops[id as usize].parameter? as usize)).collect()
    }

    /// Per output of a fusion: the operand whose buffer it shares, and how it does.
    pub fn shared_buffers(&self, fusion: &Op) -> Vec<Option<(usize, Opcode)>> {
        let callee = fusion.attributes.computation(AttributeKey::Calls).and_then(|name| self.get(name));
        let Some(graph) = callee else { return Vec::new() };
        let roots: Vec<OpId> = match graph.ops[graph.root as usize].opcode {
            Opcode::Tuple => graph.operands[graph.root as usize].clone(),
            Opcode::Sort | Opcode::Scatter => {
                let outputs = eval::leaves(&fusion.shape).len();
                graph.operands[graph.root as usize].iter().copied().take(outputs).collect()
            }
            _ => vec![graph.root],
        };
        let root = graph.ops[graph.root as usize].opcode;
        let of = |mut op: OpId| {
            let mut how = matches!(root, Opcode::Sort | Opcode::Scatter).then_some(root);
            loop {
                let found = &graph.ops[op as usize];
                match found.opcode {
                    Opcode::Parameter => return Some((found.parameter? as usize, how?)),
                    Opcode::Bitcast | Opcode::Copy | Opcode::Reshape => (),
                    Opcode::GetTupleElement => how = how.or(Some(Opcode::Scatter)),
                    Opcode::DynamicUpdateSlice | Opcode::Scatter => how = Some(found.opcode),
                    _ => return None,
                }
                op = *graph.operands[op as usize].first()?;
            }
        };
        roots.into_iter().map(of).collect()
    }
}
