//! `reduce-window-rewriter`: computes running sums in two steps, and gives windows over lists a second dimension.
//!
//! Source: XLA `hlo/transforms/simplifiers/reduce_window_rewriter.cc`, `reduce_window_util.cc`.

use ir::Shape;
use syntax::hlo::{AttributeKey, Opcode};

use super::every::add;
use super::scans_as_trees::{BASE, Scan, in_two_steps, reduce_window, with_major};
use crate::driver::{MAX_ROUNDS, Run, Stop};
use crate::module::{InstructionId, Module, NewOp};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    for _ in 0..MAX_ROUNDS {
        let before = run.changes();
        for id in windows(run.module)? {
            match scan(run.module, id) {
                Some(scan) => {
                    let shape = run.module[id].shape().clone();
                    let new = in_two_steps(run, id, scan, &shape);
                    replace(run, id, new, "computes running sums of parts, then of their ends");
                }
                None => add_dimension(run, id),
            }
        }
        if run.changes() == before {
            break;
        }
    }
    Ok(())
}

/// `reduce-window-resizer`: gives windows over lists a second dimension.
///
/// Source: XLA `hlo/transforms/simplifiers/reduce_window_resizer.cc`.
pub(super) fn resize(run: &mut Run<'_>) -> Result<(), Stop> {
    for id in windows(run.module)? {
        add_dimension(run, id);
    }
    Ok(())
}

/// All reductions over windows, but for those of several arrays that no pass here changes.
fn windows(module: &Module) -> Result<Vec<InstructionId>, Stop> {
    let mut found = Vec::new();
    for computation in module.computations() {
        for id in module.post_order(computation) {
            cancel::tick();
            if module[id].opcode() != Opcode::ReduceWindow {
                continue;
            }
            if module[id].operands().len() != 2 {
                let is_list = module[id].attributes().window().len() == 1;
                if !is_list && scan(module, id).is_none() {
                    continue;
                }
                let name = module[id].name();
                return Err(Stop::Unsupported(format!(
                    "%{name} reduces several arrays; that is not implemented"
                )));
            }
            found.push(id);
        }
    }
    Ok(found)
}

/// Source: `TryOptimizeCumSumOrProd`.
fn scan(module: &Module, id: InstructionId) -> Option<Scan> {
    let operands = module[id].operands();
    let (&source, &init) = (operands.first()?, operands.get(operands.len() / 2)?);
    let window = module[id].attributes().window();
    let is_trivial = |dim: &ir::WindowDim| *dim == ir::WindowDim::of_size(1);
    let mut others = (0..window.len()).filter(|&dim| !is_trivial(&window[dim]));
    let (dim, None) = (others.next()?, others.next()) else { return None };
    let length = *module[source].dims().get(dim)?;
    let of = &window[dim];
    let is_scan = |near: i64, far: i64| (near == length - 1 || near == length) && far == 0;
    let (is_forward, is_reverse) = (is_scan(of.pad_low, of.pad_high), is_scan(of.pad_high, of.pad_low));
    let is_plain = of.stride == 1 && of.base_dilation == 1 && of.window_dilation == 1 && !of.is_reversed;
    if length <= BASE || of.size != length || !is_plain || !(is_forward || is_reverse) {
        return None;
    }
    let near = if is_forward { of.pad_low } else { of.pad_high };
    let reducer = module[id].callee(AttributeKey::ToApply)?;
    Some(Scan { source, init, reducer, dim, is_forward, is_exclusive: near == length })
}

/// Source: `Replace1DReduceWindowWithReshape`.
fn add_dimension(run: &mut Run<'_>, id: InstructionId) {
    let &[source, init] = run.module[id].operands() else { return };
    let Some(reducer) = run.module[id].callee(AttributeKey::ToApply) else { return };
    if run.module[source].dims().len() != 1 {
        return;
    }
    let mut window = run.module[id].attributes().window().to_vec();
    window.push(ir::WindowDim::of_size(1));
    let wide: [Shape; 2] = [source, id].map(|id| with_major(run.module[id].shape(), 1));
    let [wide_source, wide_result] = wide;
    let source = add(run, id, NewOp::new(Opcode::Reshape, wide_source, &[source]));
    let new = add(run, id, reduce_window(source, init, wide_result, window, reducer));
    let shape = run.module[id].shape().clone();
    let new = add(run, id, NewOp::new(Opcode::Reshape, shape, &[new]));
    replace(run, id, new, "computes windows over two dimensions instead of one");
}

fn replace(run: &mut Run<'_>, old: InstructionId, new: InstructionId, what: &str) {
    run.changed(old, what);
    run.module.replace_all_uses(old, new);
    if !run.module[old].has_control_dependencies() {
        run.module.remove(old);
    }
}
