//! The entry of the loop emitter: each thread computes a few neighbouring elements of every result.
//! Source: `backends/gpu/codegen/emitters/loop.cc`, `codegen/emitters/loop_kernel_emitter.cc`.

use crate::Reason;
use crate::emit::Emission;
use crate::emit::elemental::first_array;
use crate::emit::entry::{Entry, results_of, through};
use crate::kernel::Kernel;

pub(super) fn emit(emission: &Emission<'_>, kernel: &mut Kernel) -> Result<(), Reason> {
    let analysis = emission.source.analysis;
    let mut entry = Entry::new(emission, kernel);
    let map = analysis.thread_to_output().first().cloned().flatten();
    let map = map.filter(|map| !map.is_undefined()).ok_or("no thread is known to write its result")?;
    let first = first_array(&analysis.fused.op(analysis.fused.roots[0]).shape).clone();
    let bitcasts: Vec<_> = analysis
        .fused
        .roots
        .iter()
        .map(|&root| gpu::bitcast(&first, first_array(&analysis.fused.op(root).shape)))
        .collect();
    if bitcasts.iter().any(indexing_map::IndexingMap::is_undefined) {
        return Err("a result has other elements than the first one".into());
    }
    let results = entry.results.clone();
    entry.elements.body.origin = Some(analysis.fused.roots[0]);
    let own = results_of(emission);
    entry.results = entry.each(&map, first.dims(), results, |entry, at, _, mut tensors| {
        for ((&root, bitcast), own) in analysis.fused.roots.iter().zip(&bitcasts).zip(own) {
            let index = through(&entry.elements.body, bitcast, at);
            let values = entry.call(root, index.clone());
            entry.write(root, values, &index, &mut tensors[own]);
        }
        tensors
    });
    entry.finish(kernel);
    Ok(())
}
