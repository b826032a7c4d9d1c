//! Tests of the model against XLA's figures.
//!
//! `testdata/kernel_costs_*.hlo.gz` hold modules of real models after XLA's GPU pipeline, concatenated, with
//! the results of its pass `gpu_cost_model_stats_collection` for that device in each fusion: in
//! `reification_cost`, the entry without a name is the analytical model, and `indexing-cost-model` is the
//! model for block-level fusions.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::Read;
use std::sync::Arc;

use ir::{AttributeKey, Graph, Opcode};

use super::{Estimate, estimate};
use crate::{Device, Fused, FusionAnalysis};

/// XLA's figures of one fusion, in microseconds.
struct Figures {
    exec: f64,
    compute: f64,
    memory: f64,
    is_tiled: bool,
}

/// The entry of `reification_cost` that XLA uses.
fn figures(config: &str) -> Option<Figures> {
    let plain: String = config.chars().filter(|c| !"\\\" ".contains(*c)).collect();
    let (_, list) = plain.split_once("reification_cost:[{")?;
    let entries: Vec<&str> = list.split("}]").next()?.split("},{").collect();
    let named = |name: &str| entries.iter().find(|entry| entry.ends_with(&format!("name:{name}")));
    let tiled = named("indexing-cost-model");
    let entry = tiled.or_else(|| named(""))?;
    let number = |key: &str| entry.split_once(&format!("{key}:"))?.1.split([',', '}']).next()?.parse().ok();
    Some(Figures {
        exec: number("exec_time_us")?,
        compute: number("compute_time_us")?,
        memory: number("memory_access_time_us")?,
        is_tiled: tiled.is_some(),
    })
}

fn unpacked(packed: &[u8]) -> String {
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).expect("a gzip file");
    text
}

fn estimate_of(graphs: &BTreeMap<String, Arc<Graph>>, op: &ir::Op, device: &str) -> Option<Estimate> {
    let callee = |name: &str| graphs.get(name.trim_start_matches('%')).cloned();
    let called = callee(op.attributes.computation(AttributeKey::Calls)?)?;
    let fused = Fused::of_fusion(op, &called, &callee).ok()?;
    let analysis = FusionAnalysis::new(fused, Device::find(device).ok()?).ok()?;
    Some(estimate(&analysis, &callee))
}

/// Whether the two agree within 5 %, or a quarter of a nanosecond, which is the resolution of XLA's figures.
fn is_close(ours: f64, theirs: f64) -> bool {
    (ours - theirs).abs() <= (theirs * 0.05).max(0.000_25 + 1e-9)
}

#[test]
fn kernels_of_real_models() {
    let h100 = include_bytes!("../../testdata/kernel_costs_h100.hlo.gz");
    check(&unpacked(h100), "h100-sxm", [174, 14]);
}

/// Devices with other caches, another bandwidth, and other tables of ops.
#[test]
fn kernels_of_other_devices() {
    let a100 = include_bytes!("../../testdata/kernel_costs_a100.hlo.gz");
    check(&unpacked(a100), "a100-sxm-80", [60, 8]);
    let b200 = include_bytes!("../../testdata/kernel_costs_b200.hlo.gz");
    check(&unpacked(b200), "b200", [60, 8]);
}

/// Checks that there are at least `least` fusions of the analytical and of the tiled model, and that their
/// times are XLA's.
#[track_caller]
fn check(modules: &str, device: &str, least: [usize; 2]) {
    let mut report = String::new();
    // Per model: the number of fusions, and of those with close total, computing and memory times.
    let mut counts: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
    let mut unmodelled = 0;
    for module in modules.split("HloModule ").skip(1) {
        let name = module.lines().next().unwrap_or_default().to_owned();
        let graphs: BTreeMap<_, _> = ir::graphs_of_text(&format!("HloModule {module}")).into_iter().collect();
        for graph in graphs.values() {
            for (op, instruction) in graph.ops.iter().zip(&graph.names) {
                let config = op.attributes.text(AttributeKey::BackendConfig);
                let Some(theirs) = config.filter(|_| op.opcode == Opcode::Fusion).and_then(figures) else {
                    continue;
                };
                let estimate = estimate_of(&graphs, op, device);
                let reason = estimate.as_ref().and_then(|estimate| estimate.not_modelled);
                let Some(ours) = estimate.and_then(|estimate| estimate.xla) else {
                    _ = writeln!(report, "{name} {instruction}: {reason:?}");
                    unmodelled += 1;
                    continue;
                };
                let model = if theirs.is_tiled { "block-level" } else { "analytical" };
                let memory = ours.read_us + ours.write_us;
                let close = [
                    true,
                    is_close(ours.exec_us, theirs.exec),
                    is_close(ours.compute_us, theirs.compute),
                    is_close(memory, theirs.memory),
                ];
                let count = counts.entry(model).or_default();
                count.iter_mut().zip(close).for_each(|(n, close)| *n += usize::from(close));
                if close.contains(&false) {
                    _ = writeln!(
                        report,
                        "{name} {instruction}: exec {:.5} of {}, compute {:.5} of {}, memory {memory:.5} of {}",
                        ours.exec_us, theirs.exec, ours.compute_us, theirs.compute, theirs.memory
                    );
                }
            }
        }
    }
    for (model, [all, exec, compute, memory]) in &counts {
        eprintln!("{device}, {model}: of {all} within 5 %: exec {exec}, compute {compute}, memory {memory}");
    }
    eprintln!("not modelled: {unmodelled}\n{report}");
    for (model, least) in ["analytical", "block-level"].into_iter().zip(least) {
        let [all, exec, compute, memory] = counts[model];
        assert!(all >= least, "{all} kernels");
        assert!(exec.min(compute).min(memory) * 100 >= all * 98, "{model}: {exec} of {all}");
    }
}
