//! The entry of the concatenate emitter: each thread copies its elements of each operand.
//! Source: `backends/gpu/codegen/emitters/concatenate.cc`.

use indexing_map::Expr;
use ir::AttributeKey;

use crate::Reason;
use crate::emit::Emission;
use crate::emit::elemental::first_array;
use crate::emit::entry::{Entry, results_of, through};
use crate::kernel::Kernel;

pub(super) fn emit(emission: &Emission<'_>, kernel: &mut Kernel) -> Result<(), Reason> {
    let analysis = emission.source.analysis;
    let fused = &analysis.fused;
    let hero = analysis.heroes[0];
    let op = fused.op(hero);
    let dim = op.attributes.ints(AttributeKey::Dimensions).first().map_or(0, |&dim| dim as usize);
    let maps = analysis.thread_to_input();
    let maps =
        maps.iter().find(|(found, _)| *found == hero).map(|(_, maps)| maps.clone()).unwrap_or_default();
    let own = results_of(emission);
    let mut entry = Entry::new(emission, kernel);
    entry.elements.body.origin = Some(hero);
    let mut start = 0i64;
    for (number, shape) in op.operand_shapes.iter().enumerate() {
        let map = maps.get(number).ok_or("an operand has no thread map")?;
        let tensors = entry.results.clone();
        entry.results = entry.each(map, shape.dims(), tensors, |entry, at, _, mut tensors| {
            let value = entry.operand(hero, number, at);
            entry.elements.given.insert(hero, vec![value]);
            let mut index: Vec<Expr> = at.to_vec();
            if let Some(along) = index.get_mut(dim) {
                *along = along.clone() + start;
            }
            for (&root, own) in fused.roots.iter().zip(&own) {
                let root_shape = first_array(&fused.op(root).shape).clone();
                let index = through(&entry.elements.body, &gpu::bitcast(&op.shape, &root_shape), &index);
                let values = entry.inside(root, |elements| elements.results(root, &index));
                entry.write(root, values, &index, &mut tensors[own.clone()]);
            }
            entry.elements.given.clear();
            tensors
        });
        let size = shape.dims().get(dim).copied().unwrap_or(0);
        start = start.checked_add(size).ok_or("its size is beyond 64 bits")?;
    }
    entry.finish(kernel);
    Ok(())
}
