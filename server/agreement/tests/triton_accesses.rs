//! The memory accesses that Triton's layout rules predict, compared with those of Triton's PTX when it is executed.
//!
//! A sample; `HLO_ANALYZER_KERNELS=all` compares all kernels, `HLO_ANALYZER_KERNELS=<part of a name>` those that match.

#![allow(clippy::print_stdout, reason = "the figures are what a run over all kernels is for")]

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use agreement::{Effort, Flavour, Kernel, check};
use gpu::{Buffer, CodeTraffic, Device, Fused, FusionAnalysis};
use ir::AttributeKey;

/// The accesses of one argument.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Accesses {
    requests: u64,
    /// The sectors of all requests, at least and at most.
    sectors: [u64; 2],
    /// The bytes that one thread moves with one instruction.
    widths: BTreeSet<u64>,
}

impl Accesses {
    /// Whether the traced ones have as many sectors per request. Blocks that are run may not be average ones.
    fn agree_with(&self, traced: &Accesses) -> bool {
        let per_request = |sectors: u64, of: &Accesses| sectors as f64 / of.requests.max(1) as f64;
        let [least, most] = self.sectors.map(|sectors| per_request(sectors, self));
        let traced = per_request(traced.sectors[0], traced);
        least * 0.98 <= traced && traced <= most * 1.02 && self.requests > 0
    }
}

/// The predicted accesses of each argument of the kernel of the fusion that is the root of a module's entry.
fn predicted(hlo: &str) -> Result<Vec<Accesses>, String> {
    let graphs = agreement::Graphs::new(hlo);
    let entry = graphs.entry().ok_or("no fusion in the text")?;
    let fusion = &entry.ops[entry.root as usize];
    let callee = |name: &str| graphs.get(name);
    let called =
        fusion.attributes.computation(AttributeKey::Calls).and_then(callee).ok_or("it calls nothing")?;
    let fused = Fused::of_fusion(fusion, &called, &callee).map_err(|why| why.to_string())?;
    let device = Device::find("h100-sxm").map_err(|_| "no such device")?;
    let analysis = FusionAnalysis::new(fused, device).map_err(|why| why.to_string())?;
    let code = |analysis: &FusionAnalysis| {
        let program = xtile::emit("tiles", analysis, &callee)?;
        xtile::accesses(&xtile::lower(&program)?, analysis)
    };
    let buffers = analysis.coalescing_of(&code);
    let operands = buffers.iter().filter(|buffer| matches!(buffer.buffer, Buffer::Operand(_))).count();
    let mut arguments = vec![Accesses::default(); operands + 1];
    for buffer in buffers {
        let number = match buffer.buffer {
            Buffer::Operand(number) => number as usize,
            Buffer::Result(_) => operands,
        };
        let argument = arguments.get_mut(number).ok_or("no such argument")?;
        if let Some(why) = buffer.unknown {
            return Err(why.into_owned());
        }
        for CodeTraffic { access, traffic, .. } in buffer.code.iter().flatten() {
            argument.requests += traffic.best.requests;
            argument.sectors[0] += traffic.best.sectors;
            argument.sectors[1] += traffic.worst.sectors;
            argument.widths.insert(access.bytes as u64);
        }
    }
    Ok(arguments)
}

/// The accesses of `arguments` arguments when the kernel is executed, with at most so many threads.
fn traced(hlo: &str, kernel: &Kernel, arguments: usize, threads: u64) -> Result<Vec<Accesses>, String> {
    let effort = Effort { seed: 1, flavour: Flavour::Plain, threads, elements: 0, traces: true };
    let outcome = check(hlo, std::slice::from_ref(kernel), effort).map_err(|why| why.into_owned())?;
    let mut traced = vec![Accesses::default(); arguments];
    for traffic in outcome.reports.iter().flat_map(|report| &report.traffic) {
        let argument = traced.get_mut(traffic.buffer).ok_or("an access to no argument")?;
        argument.requests += traffic.requests;
        argument.sectors = argument.sectors.map(|sectors| sectors + traffic.sectors);
        argument.widths.insert(traffic.bytes);
    }
    Ok(traced)
}

/// Threads of the blocks that are run first, and of those that are run where these differ.
const FEW_THREADS: u64 = 1 << 10;
const MANY_THREADS: u64 = 1 << 22;

/// What a comparison of the arguments of one kernel found.
#[derive(Debug, Default)]
struct Comparison {
    arguments: usize,
    /// Those whose sectors per request are the traced ones, and those whose instructions are as wide.
    sectors: usize,
    widths: usize,
    differences: Vec<String>,
}

fn compare(hlo: &str, kernel: &Kernel) -> Result<Comparison, String> {
    let predicted = predicted(hlo)?;
    let mut run = traced(hlo, kernel, predicted.len(), FEW_THREADS)?;
    if predicted.iter().zip(&run).any(|(own, traced)| !own.agree_with(traced)) {
        run = traced(hlo, kernel, predicted.len(), MANY_THREADS)?;
    }
    let mut found = Comparison { arguments: predicted.len(), ..Comparison::default() };
    for (number, (own, traced)) in predicted.iter().zip(&run).enumerate() {
        let same = [own.agree_with(traced), own.widths == traced.widths];
        found.sectors += usize::from(same[0]);
        found.widths += usize::from(same[1]);
        if same != [true; 2] {
            found.differences.push(format!("argument {number}: predicted {own:?}, traced {traced:?}"));
        }
    }
    Ok(found)
}

macro_rules! pair {
    ($name:literal, $grid:literal, $threads:literal) => {{
        let ptx = include_str!(concat!("../../test-files/triton/", $name, ".ptx"));
        let hlo = include_str!(concat!("../../test-files/triton/", $name, ".hlo"));
        (hlo, Kernel { ptx: ptx.to_owned(), grid: [$grid, 1, 1], threads: [$threads, 1, 1] })
    }};
}

/// Modules and the kernels that XLA's compiler wrote for them with Triton.
fn small_pairs() -> [(&'static str, Kernel); 3] {
    [
        pair!("gemm_bf16_bf16_small", 16, 32),
        pair!("gemm_f32_f32_small", 16, 32),
        pair!("gemm_bf16_nt", 24, 128),
    ]
}

#[test]
fn products_of_matrices_move_what_is_predicted() {
    for (hlo, kernel) in small_pairs() {
        let found = compare(hlo, &kernel).expect(hlo);
        assert_eq!((found.arguments, found.sectors, found.widths), (3, 3, 3), "{:?}", found.differences);
    }
}

/// With another configuration the prediction is another one.
#[test]
fn other_tiles_are_found_out() {
    let (hlo, kernel) = &small_pairs()[0];
    for (from, to) in [
        ("\"sizes\":[\"16\",\"16\"]", "\"sizes\":[\"16\",\"8\"]"),
        ("\"num_warps\":\"1\"", "\"num_warps\":\"4\""),
    ] {
        assert!(hlo.contains(from), "{from} is not in\n{hlo}");
        let found = compare(&hlo.replace(from, to), kernel).expect(to);
        assert!(found.widths < 3, "{to}: {found:?}");
    }
}

mod needs_shared {
    use super::*;

    /// One of this many kernels is compared.
    const SAMPLE: u64 = 8;

    /// Kernels that differ, with the class of the difference. They must differ, else the list is out of date.
    ///
    /// Both operands of the first are one array in its module, so that XLA's kernel reads its first argument for both.
    const DIFFERENT: [&str; 1] = ["linalg/gemm_fusion_dot.1"];

    /// Kernels that are not executed or not predicted, with the reason.
    const NOT_COMPARED: [(&str, &str); 1] =
        [("gemm_tma_f8e4m3fn", "the instruction cvta of this space is not run")];

    #[derive(Default)]
    struct Tally {
        kernels: usize,
        arguments: usize,
        sectors: usize,
        widths: usize,
        wrong: Vec<String>,
    }

    struct Pair {
        id: String,
        hlo: String,
        kernel: Kernel,
    }

    fn pairs() -> Vec<Pair> {
        let which = std::env::var("HLO_ANALYZER_KERNELS").unwrap_or_default();
        let is_chosen = |name: &str| match which.as_str() {
            "" => agreement::xla_kernels::hash(name).is_multiple_of(SAMPLE),
            "all" => true,
            part => name.contains(part),
        };
        let mut pairs = Vec::new();
        for set in ["pairs", "sweep"] {
            let path = test_files::needs::shared(&format!("conformance/triton/dev/{set}.jsonl.gz"));
            for line in test_files::gzip_lines(&path).expect("the file is there") {
                let record: serde_json::Value = serde_json::from_str(&line).expect("a record");
                let text = |key: &str| record[key].as_str().unwrap_or_default().to_owned();
                let sizes = |key: &str| {
                    [0, 1, 2].map(|i| record["launch"][key][i].as_u64().map_or(1, |size| size as u32))
                };
                if is_chosen(&text("id")) {
                    let kernel = Kernel { ptx: text("ptx"), grid: sizes("grid"), threads: sizes("block") };
                    pairs.push(Pair { id: text("id"), hlo: text("hlo"), kernel });
                }
            }
        }
        pairs
    }

    #[test]
    #[ignore = "needs the shared data beside the checkout: cargo xtask test"]
    fn triton_kernels_move_what_is_predicted() {
        let (pairs, next, tally) = (pairs(), AtomicUsize::new(0), Mutex::new(Tally::default()));
        let run = || {
            while let Some(pair) = pairs.get(next.fetch_add(1, Ordering::Relaxed)) {
                let found = compare(&pair.hlo, &pair.kernel);
                let mut tally = tally.lock().expect("no panic elsewhere");
                tally.kernels += 1;
                let is_known = DIFFERENT.contains(&pair.id.as_str());
                match found {
                    Ok(found) => {
                        tally.arguments += found.arguments;
                        tally.sectors += found.sectors;
                        tally.widths += found.widths;
                        if is_known == found.differences.is_empty() {
                            tally.wrong.push(format!("{}: {}", pair.id, found.differences.join("; ")));
                        }
                    }
                    Err(why) => {
                        let known =
                            NOT_COMPARED.iter().any(|(id, part)| *id == pair.id && why.contains(part));
                        if !known {
                            tally.wrong.push(format!("{}: {why}", pair.id));
                        }
                        println!("not compared: {}: {why}", pair.id);
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..2 {
                let thread = std::thread::Builder::new().stack_size(64 << 20);
                thread.spawn_scoped(scope, run).expect("a thread");
            }
        });
        let tally = tally.into_inner().expect("no panic elsewhere");
        println!(
            "{} kernels, {} arguments: of {} the sectors per request are the traced ones, of {} the widths",
            tally.kernels, tally.arguments, tally.sectors, tally.widths
        );
        tally.wrong.iter().for_each(|wrong| println!("differs: {wrong}"));
        assert!(tally.wrong.is_empty(), "{} kernels differ", tally.wrong.len());
        assert!(tally.sectors * 100 >= tally.arguments * 95, "{} of {}", tally.sectors, tally.arguments);
    }
}
