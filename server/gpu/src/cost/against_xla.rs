//! Tests of the models against XLA's figures.
//!
//! `testdata/*_costs_*.hlo.gz` hold modules, concatenated, with the results of XLA's pass
//! `gpu_cost_model_stats_collection` for that device in each fusion: in `reification_cost`, the entry without
//! a name is the analytical model, and `indexing-cost-model` is the model for block-level fusions.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::Read;
use std::sync::Arc;

use ir::{AttributeKey, Graph, Op, Opcode};

use super::{Estimate, estimate};
use crate::{Device, Fused, FusionAnalysis};

/// XLA's figures of one fusion, in microseconds; infinite if a tile does not fit the registers.
struct Figures {
    exec: f64,
    compute: f64,
    memory: f64,
    model: Model,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Model {
    /// Of kernels of XLA's own emitters.
    Analytical,
    /// Of block-level fusions without dots.
    BlockLevel,
    /// Of block-level fusions with dots. What XLA reports as their memory time is that of the dots alone; the
    /// total comes from the tiles of all operands, and only that is compared.
    WithDots,
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
        model: match tiled {
            None => Model::Analytical,
            Some(_) if plain.contains("kind:__triton_nested_gemm_fusion") => Model::WithDots,
            Some(_) => Model::BlockLevel,
        },
    })
}

fn unpacked(packed: &[u8]) -> String {
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).expect("a gzip file");
    text
}

fn estimate_of(graphs: &BTreeMap<String, Arc<Graph>>, op: &Op, device: &str) -> Option<Estimate> {
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

/// The comparison of many fusions.
#[derive(Default)]
struct Comparison {
    /// Per model: the number of fusions, and of those with close total, computing and memory times.
    counts: BTreeMap<Model, [usize; 4]>,
    /// Fusions for which only XLA has a finite time.
    one_sided: usize,
    report: String,
}

impl Comparison {
    fn add(&mut self, name: &str, ours: Option<Estimate>, theirs: &Figures) {
        let reason = ours.as_ref().and_then(|estimate| estimate.not_modelled);
        let Some(ours) = ours.and_then(|estimate| estimate.xla) else {
            // The analytical model also has figures for kernels that it does not describe.
            if theirs.exec.is_finite() && theirs.model != Model::Analytical {
                self.one_sided += 1;
                _ = writeln!(self.report, "{name}: {reason:?}, XLA {}", theirs.exec);
            }
            return;
        };
        let memory = ours.read_us + ours.write_us;
        let close = [
            true,
            is_close(ours.exec_us, theirs.exec),
            is_close(ours.compute_us, theirs.compute),
            theirs.model == Model::WithDots || is_close(memory, theirs.memory),
        ];
        let count = self.counts.entry(theirs.model).or_default();
        count.iter_mut().zip(close).for_each(|(n, close)| *n += usize::from(close));
        if close.contains(&false) {
            _ = writeln!(
                self.report,
                "{name}: exec {:.5} of {}, compute {:.5} of {}, memory {memory:.5} of {}",
                ours.exec_us, theirs.exec, ours.compute_us, theirs.compute, theirs.memory
            );
        }
    }

    /// Adds all fusions of these modules.
    fn of(modules: &str, device: &str) -> Comparison {
        let mut comparison = Comparison::default();
        for module in modules.split("HloModule ").skip(1) {
            let name = module.lines().next().unwrap_or_default();
            let graphs: BTreeMap<_, _> =
                ir::graphs_of_text(&format!("HloModule {module}")).into_iter().collect();
            for (op, instruction) in graphs.values().flat_map(|graph| graph.ops.iter().zip(&graph.names)) {
                let config = op.attributes.text(AttributeKey::BackendConfig);
                if let Some(theirs) = config.filter(|_| op.opcode == Opcode::Fusion).and_then(figures) {
                    comparison.add(
                        &format!("{name} {instruction}"),
                        estimate_of(&graphs, op, device),
                        &theirs,
                    );
                }
            }
        }
        comparison
    }

    /// Checks that there are at least so many fusions of each model, and that their times are XLA's.
    #[track_caller]
    fn check(&self, what: &str, least: &[(Model, usize)]) {
        for (model, [all, exec, compute, memory]) in &self.counts {
            eprintln!(
                "{what}, {model:?}: of {all} within 5 %: exec {exec}, compute {compute}, memory {memory}"
            );
        }
        eprintln!("{}", self.report);
        for (model, least) in least {
            let [all, exec, compute, memory] = self.counts[model];
            assert!(all >= *least, "{all} kernels of {model:?}");
            assert!(exec.min(compute).min(memory) * 100 >= all * 98, "{model:?}: {exec} of {all}");
        }
        let all: usize = self.counts.values().map(|[all, ..]| all).sum();
        assert!(self.one_sided * 100 <= all, "{} fusions have only XLA's times", self.one_sided);
    }
}

#[track_caller]
fn check_models(packed: &[u8], device: &str, [analytical, block_level, with_dots]: [usize; 3]) {
    use Model::{Analytical, BlockLevel, WithDots};
    let least = [(Analytical, analytical), (BlockLevel, block_level), (WithDots, with_dots)];
    Comparison::of(&unpacked(packed), device).check(device, &least);
}

#[test]
fn kernels_of_real_models() {
    let h100 = include_bytes!("../../testdata/kernel_costs_h100.hlo.gz");
    check_models(h100, "h100-sxm", [174, 14, 36]);
}

/// Devices with other caches, another bandwidth, and other tables of ops.
#[test]
fn kernels_of_other_devices() {
    let a100 = include_bytes!("../../testdata/kernel_costs_a100.hlo.gz");
    check_models(a100, "a100-sxm-80", [60, 8, 19]);
    let b200 = include_bytes!("../../testdata/kernel_costs_b200.hlo.gz");
    check_models(b200, "b200", [60, 8, 20]);
}

/// Dots of many sizes, types, tiles and launches, with what is fused into them, and other block-level fusions.
#[test]
fn triton_kernels() {
    let least = [(Model::BlockLevel, 10), (Model::WithDots, 46)];
    let h100 = include_bytes!("../../testdata/triton_costs_h100.hlo.gz");
    Comparison::of(&unpacked(h100), "h100-sxm").check("h100-sxm", &least);
    let a100 = include_bytes!("../../testdata/triton_costs_a100.hlo.gz");
    Comparison::of(&unpacked(a100), "a100-sxm-80").check("a100-sxm-80", &least);
    let b200 = include_bytes!("../../testdata/triton_costs_b200.hlo.gz");
    Comparison::of(&unpacked(b200), "b200").check("b200", &least);
}

/// The same of the Triton kernels beside the checkout, whose figures are in `testdata/triton_times_h100.txt`:
/// `ID EXEC COMPUTE MEMORY`, or `ID none` if XLA's model refuses the fusion.
#[test]
fn triton_kernels_of_models() {
    let mut records = Vec::new();
    for name in ["pairs", "sweep"] {
        let path = test_files::needs::find_shared(&format!("conformance/triton/dev/{name}.jsonl.gz"));
        let Some(lines) = path.and_then(|path| test_files::gzip_lines(&path)) else {
            return eprintln!("skipped: no shared/conformance/triton beside the checkout");
        };
        records.extend(lines);
    }
    let mut comparison = Comparison::default();
    let times: BTreeMap<&str, &str> = include_str!("../../testdata/triton_times_h100.txt")
        .lines()
        .filter_map(|line| line.split_once(' '))
        .collect();
    for record in &records {
        let record: serde_json::Value = serde_json::from_str(record).expect("JSON");
        let field = |name: &str| record[name].as_str().unwrap_or_default();
        let Some(times) = times.get(field("id")) else { continue };
        let graphs: BTreeMap<_, _> = ir::graphs_of_text(field("hlo")).into_iter().collect();
        let mut ops = graphs.values().flat_map(|graph| graph.ops.iter().zip(&graph.names));
        let (op, _) = ops.find(|(_, name)| *name == field("fusion")).expect("the fusion");
        let ours = estimate_of(&graphs, op, "h100-sxm");
        let numbers: Vec<f64> = times.split(' ').filter_map(|number| number.parse().ok()).collect();
        let model = if field("hlo").contains(" dot(") { Model::WithDots } else { Model::BlockLevel };
        match numbers[..] {
            [exec, compute, memory] => {
                comparison.add(field("id"), ours, &Figures { exec, compute, memory, model })
            }
            _ => assert!(ours.is_none_or(|estimate| estimate.xla.is_none()), "{}", field("id")),
        }
    }
    comparison.check("h100-sxm, beside the checkout", &[(Model::BlockLevel, 90), (Model::WithDots, 140)]);
}
