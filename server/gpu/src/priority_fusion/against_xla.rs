//! Tests of the decisions against those in the log of XLA's pass.
//!
//! `testdata/priority_fusion_h100.txt.gz` holds modules before the pass, each with its log. The test replays
//! the log: it makes every fusion in it, and compares each verdict and each time on the computation at that
//! step.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::io::Read;
use std::sync::Arc;

use ir::{Graph, Op, OpId, Opcode};

use super::{Candidate, Pair, decide};
use crate::cost::best_tilings;
use crate::{Device, FusionAnalysis, fixture};

/// A module during the replay.
struct Replay {
    /// The computation of the current step, and the name of its root.
    graph: Graph,
    root: String,
    /// The other computations.
    rest: Vec<(Graph, String)>,
    /// Computations of the text, and those of new fusions, by the name of the fusion.
    called: RefCell<BTreeMap<String, Arc<Graph>>>,
    device: &'static Device,
}

impl Replay {
    fn of(hlo: &str) -> Replay {
        let graphs = ir::graphs_of_text(hlo);
        let with_root = |(_, graph): &(String, Arc<Graph>)| {
            (graph.as_ref().clone(), graph.names[graph.root as usize].clone())
        };
        let mut rest: Vec<_> = graphs.iter().map(with_root).collect();
        let (graph, root) = rest.pop().expect("a computation");
        let called = RefCell::new(graphs.into_iter().collect());
        Replay { graph, root, rest, called, device: Device::find("h100-sxm").unwrap() }
    }

    fn callee(&self, name: &str) -> Option<Arc<Graph>> {
        self.called.borrow().get(name.trim_start_matches('%')).cloned()
    }

    /// Switches to the computation with this instruction; names are unique in the module.
    fn turn_to(&mut self, instruction: &str) {
        if self.graph.find(instruction).is_none() {
            let at = self.rest.iter().position(|(graph, _)| graph.find(instruction).is_some());
            let other = &mut self.rest[at.expect(instruction)];
            std::mem::swap(&mut other.0, &mut self.graph);
            std::mem::swap(&mut other.1, &mut self.root);
        }
    }

    fn decide(&mut self, producer: &str) -> Option<super::Decision> {
        self.turn_to(producer);
        let producer = self.graph.find(producer)?;
        decide(&self.graph, self.graph.find(&self.root), producer, self.device, &|name| self.callee(name))
    }

    /// Fuses the two into `name`; removes the producer if it has no users left.
    fn fuse(&mut self, name: &str, producer: &str, consumer: &str) {
        self.turn_to(producer);
        let (Some(p), Some(c)) = (self.graph.find(producer), self.graph.find(consumer)) else {
            panic!("{producer} or {consumer} is not there");
        };
        let graph = &self.graph;
        let callees = |name: &str| self.callee(name);
        let (a, b) =
            (Candidate::of(graph, p, self.device, &callees), Candidate::of(graph, c, self.device, &callees));
        let (op, operands) = fused_op(
            graph,
            &a,
            &b,
            name,
            self.device,
            &|name, made| {
                self.called.borrow_mut().insert(name.to_owned(), Arc::new(made));
            },
            &callees,
        );
        if consumer == self.root {
            self.root = name.to_owned();
        }
        self.replace(c, op, operands, name);
        let p = self.graph.find(producer).expect("the producer");
        if !self.graph.operands.iter().any(|operands| operands.contains(&p)) && producer != self.root {
            self.remove(p);
        }
    }

    /// Replaces an op, keeping operands before users.
    fn replace(&mut self, id: OpId, op: Op, operands: Vec<OpId>, name: &str) {
        self.graph.ops[id as usize] = op;
        self.graph.operands[id as usize] = operands;
        self.graph.names[id as usize] = name.to_owned();
        let old = std::mem::take(&mut self.graph);
        let mut new_ids = vec![None; old.ops.len()];
        let mut graph = Graph { is_complete: true, ..Graph::default() };
        for id in 0..old.ops.len() as OpId {
            place(&old, id, &mut new_ids, &mut graph);
        }
        self.graph = graph;
    }

    fn remove(&mut self, id: OpId) {
        self.graph.ops.remove(id as usize);
        self.graph.operands.remove(id as usize);
        self.graph.names.remove(id as usize);
        for operand in self.graph.operands.iter_mut().flatten() {
            *operand -= u32::from(*operand > id);
        }
    }
}

fn place(old: &Graph, id: OpId, new_ids: &mut [Option<OpId>], graph: &mut Graph) -> OpId {
    if let Some(known) = new_ids[id as usize] {
        return known;
    }
    let operands = old.operands[id as usize].iter().map(|&o| place(old, o, new_ids, graph)).collect();
    let new = graph.push(old.ops[id as usize].clone(), operands, old.names[id as usize].clone());
    new_ids[id as usize] = Some(new);
    new
}

/// The fusion as an op; passes its computation to `made`.
fn fused_op(
    graph: &Graph,
    producer: &Candidate,
    consumer: &Candidate,
    name: &str,
    device: &'static Device,
    made: &dyn Fn(&str, Graph),
    callees: &indexing::Callees<'_>,
) -> (Op, Vec<OpId>) {
    let pair = Pair::of(graph, producer, consumer, device, callees);
    let mut op = consumer.op.clone();
    let is_triton = producer.is_triton() || consumer.is_triton();
    op.opcode = Opcode::Fusion;
    op.operand_shapes = pair.operands.iter().map(|&id| graph.ops[id as usize].shape.clone()).collect();
    let analysis = pair.analysis.expect("a fusion");
    let config = if is_triton { stated_tiling(&analysis, callees) } else { String::new() };
    made(name, analysis.fused.graph);
    op.attributes = fixture::attributes(&format!("kind=kLoop, calls=%{name}{config}"));
    (op, pair.operands)
}

/// The configuration with the tiling that XLA gives a fusion for Triton.
fn stated_tiling(analysis: &FusionAnalysis, callees: &indexing::Callees<'_>) -> String {
    let best = best_tilings(analysis, callees, 1).ok().and_then(|best| best.into_iter().next());
    let Some(best) = best else { return r#", backend_config={"kind":"__triton"}"#.to_owned() };
    let sizes: Vec<String> = best.tile.iter().map(|size| format!("\"{size}\"")).collect();
    let (sizes, warps) = (sizes.join(","), best.warps);
    let level = format!(r#"{{"num_warps":"{warps}","output_tiles":[{{"sizes":[{sizes}]}}]}}"#);
    let config = format!(r#"{{"kind":"__triton","block_level_fusion_config":{level}}}"#);
    format!(r#", backend_config={{"fusion_backend_config":{config}}}"#)
}

fn cases() -> String {
    let packed = include_bytes!("../../testdata/priority_fusion_h100.txt.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut text).expect("a gzip file");
    text
}

#[test]
fn decisions_of_real_models() {
    let mut report = String::new();
    // Per reason: how often XLA gives it, how often we give it too, and how often for any consumer. XLA gives
    // the reason for the consumer that first used the producer, which the text does not show after the
    // fusion.
    let mut reasons: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    let (mut rated, mut eligible, mut close) = (0, 0, 0);
    for case in cases().split("HloModule ").skip(1) {
        let mut parts = case.split("==\n");
        let (hlo, log) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let model = hlo.lines().next().unwrap_or_default().to_owned();
        let mut replay = Replay::of(&format!("HloModule {hlo}"));
        let mut seen: BTreeSet<String> = BTreeSet::new();
        for step in log.lines() {
            let words: Vec<&str> = step.split(' ').collect();
            match words[..] {
                ["fusion", name, producer, consumer] => replay.fuse(name, producer, consumer),
                ["ineligible", producer, ..] => {
                    let reason = step.splitn(3, ' ').nth(2).unwrap_or_default();
                    let count = reasons.entry(reason.to_owned()).or_default();
                    let Some(ours) = replay.decide(producer) else { panic!("{producer} is not asked") };
                    let is_same = ours.ineligible.as_deref() == Some(reason);
                    let is_any = ours.consumers.iter().any(|c| c.reason.as_deref() == Some(reason));
                    let hits = [true, is_same, is_same || is_any];
                    count.iter_mut().zip(hits).for_each(|(n, hit)| *n += usize::from(hit));
                    if !is_same {
                        _ = writeln!(report, "{model} {producer}: {:?} for {reason}", ours.consumers);
                    }
                }
                ["update", producer, fused, unfused, ref consumers @ ..] => {
                    // Later updates are relative to the first one.
                    if !seen.insert(producer.to_owned()) {
                        continue;
                    }
                    rated += 1;
                    let Some(ours) = replay.decide(producer) else { continue };
                    if let Some(reason) = ours.ineligible {
                        _ = writeln!(report, "{model} {producer}: {reason} for none, {consumers:?}");
                        continue;
                    }
                    eligible += 1;
                    let theirs: [f64; 2] = [fused, unfused].map(|n| n.parse().expect("a number"));
                    let ours = [ours.fused_us, ours.unfused_us].map(|us| us.unwrap_or(f64::NAN));
                    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= b.abs() * 0.05;
                    if ours.iter().zip(&theirs).all(near) {
                        close += 1;
                    } else {
                        _ = writeln!(report, "{model} {producer} → {consumers:?}: {ours:?} for {theirs:?}");
                    }
                }
                _ => {}
            }
        }
    }
    let [mut all, mut same, mut any] = [0; 3];
    for (reason, counts) in &reasons {
        eprintln!("{} of {}: {reason}", counts[1], counts[0]);
        [all, same, any] = [all + counts[0], same + counts[1], any + counts[2]];
    }
    eprintln!("{same} of {all} ineligible producers for the same reason, {any} with one of their consumers");
    eprintln!(
        "{eligible} of {rated} rated producers are eligible, {close} with both times within 5 %\n{report}"
    );
    assert!(all >= 220 && any == all && same * 100 >= all * 93, "{same} of {all}");
    assert!(eligible == rated && close * 100 >= rated * 99, "{close} of {eligible} of {rated}");
}
