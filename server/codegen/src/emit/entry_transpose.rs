//! The entry of the transpose emitter: tiles are read along the rows of the input, stored in shared memory,
//! and written along the rows of the output. Source: `backends/gpu/codegen/emitters/transpose.cc`.

use gpu::{PackedTransposeEmitter, TransposeEmitter};
use indexing_map::{Expr, IndexingMap};
use ir::{OpId, Shape};

use crate::Reason;
use crate::emit::Emission;
use crate::emit::elemental::{element, first_array};
use crate::emit::entry::{Entry, on_threads, results_of, through};
use crate::kernel::{Kernel, OpKind, SharedArray, Type, ValueId};

/// A transpose emitter; `is_input` in its methods: on the way into shared memory.
#[derive(Clone, Copy)]
pub(super) enum Tiles<'a> {
    Plain(&'a TransposeEmitter),
    Packed(&'a PackedTransposeEmitter),
}

impl Tiles<'_> {
    /// Maps threads to the elements of `shape` that they move.
    fn moved(self, is_input: bool, shape: &Shape) -> IndexingMap {
        match self {
            Tiles::Plain(emitter) => emitter.moved(is_input, shape),
            Tiles::Packed(emitter) => emitter.moved(is_input, shape),
        }
    }

    fn shared_dims(self) -> Vec<i64> {
        match self {
            Tiles::Plain(emitter) => emitter.shared_dims(),
            Tiles::Packed(emitter) => emitter.shared_dims(),
        }
    }

    /// Maps the variables of that map to an index into the shared array.
    fn shared_index(self, is_input: bool) -> Vec<Expr> {
        match self {
            Tiles::Plain(emitter) => emitter.shared_index(is_input),
            Tiles::Packed(emitter) => emitter.shared_index(is_input),
        }
    }
}

pub(super) fn emit(emission: &Emission<'_>, transpose: Tiles<'_>, kernel: &mut Kernel) -> Result<(), Reason> {
    let analysis = emission.source.analysis;
    let fused = &analysis.fused;
    let is_tiled = |hero: OpId| gpu::tiling(fused, hero).is_some();
    // Each transpose once, even if several results follow from it.
    let mut heroes: Vec<OpId> = Vec::new();
    for &hero in analysis.heroes.iter().filter(|&&hero| is_tiled(hero)) {
        if !heroes.contains(&hero) {
            heroes.push(hero);
        }
    }
    let &first = heroes.first().ok_or("no transpose goes through shared memory")?;
    let own = results_of(emission);
    let mut entry = Entry::new(emission, kernel);
    let mut shared: Vec<ValueId> = Vec::new();
    for &hero in &heroes {
        let ty =
            Type::Shared(SharedArray { element: element(fused.op(hero)), dims: transpose.shared_dims() });
        let body = &mut entry.elements.body;
        let array = body.value(ty);
        body.origin = Some(hero);
        body.push(OpKind::AllocateShared, vec![array]);
        shared.push(array);
    }
    // Reads the operands of the transposes into shared memory, and computes the other results at the same
    // indices.
    let input = fused.op(first).operand_shapes[0].clone();
    let read = transpose.moved(true, &input);
    let place = transpose.shared_index(true);
    let mut carried = shared.clone();
    carried.extend(&entry.results);
    let results = entry.results.len();
    let written = entry.each(&read, input.dims(), carried, |entry, at, ranges, mut tensors| {
        for (n, &hero) in heroes.iter().enumerate() {
            let shape = fused.op(hero).operand_shapes[0].clone();
            let index = through(&entry.elements.body, &gpu::bitcast(&input, &shape), at);
            let value = entry.operand(hero, 0, &index);
            let place = on_threads(entry, &place, ranges);
            tensors[n] = entry.elements.body.write(value, tensors[n], place);
        }
        for ((&root, &hero), own) in fused.roots.iter().zip(&analysis.heroes).zip(&own) {
            if is_tiled(hero) {
                continue;
            }
            let shape = first_array(&fused.op(root).shape).clone();
            let index = through(&entry.elements.body, &gpu::bitcast(&input, &shape), at);
            let values = entry.call(root, index.clone());
            let offset = heroes.len();
            entry.write(root, values, &index, &mut tensors[own.start + offset..own.end + offset]);
        }
        tensors
    });
    let (shared, results) = written.split_at(written.len() - results);
    let written = shared.to_vec();
    entry.results = results.to_vec();
    let body = &mut entry.elements.body;
    let types: Vec<Type> = written.iter().map(|&v| body.function.ty(v).clone()).collect();
    let shared: Vec<ValueId> = types.into_iter().map(|ty| body.value(ty)).collect();
    body.push(OpKind::Sync { tensors: written }, shared.clone());
    // Writes the epilogues of the transposes.
    let output = fused.op(first).shape.clone();
    let write = transpose.moved(false, &output);
    let place = transpose.shared_index(false);
    let results = entry.results.clone();
    entry.results = entry.each(&write, output.dims(), results, |entry, at, ranges, mut tensors| {
        let place = on_threads(entry, &place, ranges);
        let values: Vec<ValueId> =
            shared.iter().map(|&array| entry.elements.body.read(array, place.clone())).collect();
        for (&hero, &value) in heroes.iter().zip(&values) {
            entry.elements.given.insert(hero, vec![value]);
        }
        for ((&root, &hero), own) in fused.roots.iter().zip(&analysis.heroes).zip(&own) {
            if !is_tiled(hero) {
                continue;
            }
            let hero_shape = first_array(&fused.op(hero).shape).clone();
            let root_shape = first_array(&fused.op(root).shape).clone();
            // Between a hero and its root, elements keep their position in memory.
            let index = through(&entry.elements.body, &gpu::bitcast(&output, &hero_shape), at);
            let index = through(&entry.elements.body, &gpu::bitcast(&hero_shape, &root_shape), &index);
            let values = entry.inside(root, |elements| elements.results(root, &index));
            entry.write(root, values, &index, &mut tensors[own.clone()]);
        }
        entry.elements.given.clear();
        tensors
    });
    entry.finish(kernel);
    Ok(())
}
