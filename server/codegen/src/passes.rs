//! The passes of XLA's pipeline before lowering, each from kernel to kernel.
//!
//! Order, names and rules are those of `CreateOptimizationPipeline` and related functions in
//! `backends/gpu/codegen/emitters/mlir_kernel_emitter.cc`, for the passes that change something here. Passes
//! that run several times there do so here.

mod canonicalize;
mod copy;
mod cse;
mod erase;
mod flatten;
mod inline;
mod invariant;
mod loops;
mod ops;
mod peel;
mod simplify;
#[cfg(test)]
mod tests;
mod unroll;
mod unswitch;

use crate::kernel::Kernel;
use crate::{KernelText, mlir};
pub(crate) use ops::{indices, operands};

/// A pass from kernel to kernel.
#[derive(Debug, Clone, Copy)]
pub struct Pass {
    /// The name in XLA: `PeelLoopsPass`.
    pub name: &'static str,
    /// The name in a pipeline: `xla-gpu-peel-loops`.
    pub flag: &'static str,
    run: fn(&mut Kernel),
}

const fn pass(name: &'static str, flag: &'static str, run: fn(&mut Kernel)) -> Pass {
    Pass { name, flag, run }
}

const CANONICALIZE: Pass = pass("CanonicalizerPass", "canonicalize", canonicalize::run);
const CSE: Pass = pass("CSEPass", "cse", cse::run);
const INVARIANT: Pass = pass("LoopInvariantCodeMotionPass", "loop-invariant-code-motion", invariant::run);

/// The passes in the order in which they run.
pub const PIPELINE: &[Pass] = &[
    CANONICALIZE,
    CSE,
    pass("EraseDeadFunctionsPass", "xla-erase-dead-functions", erase::run),
    CSE,
    pass("InlinerPass", "inline", inline::run),
    CANONICALIZE,
    CSE,
    pass("PeelLoopsPass", "xla-gpu-peel-loops", peel::run),
    pass("LowerXlaLoopsToScfPass", "xla-lower-xla-loops-to-scf", loops::run),
    pass("FlattenTensorsPass", "xla-flatten-tensors", flatten::run),
    INVARIANT,
    pass("UnswitchLoopsPass", "xla-unswitch-loops", unswitch::run),
    INVARIANT,
    pass("OptimizeLoopsPass", "xla-gpu-optimize-loops", unroll::run),
    CANONICALIZE,
    CSE,
    pass("SimplifyAffinePass", "xla-simplify-affine", simplify::run),
    INVARIANT,
    CSE,
];

impl Pass {
    /// Runs the pass on the kernel and on those that run after it.
    pub fn run(&self, kernel: &mut Kernel) {
        cancel::check();
        (self.run)(kernel);
        kernel.then.iter_mut().for_each(|then| self.run(then));
    }

    /// Whether `asked` names this pass: by its name, with or without `Pass`, or by its flag.
    pub fn is_called(&self, asked: &str) -> bool {
        asked == self.flag
            || asked.trim_end_matches("Pass").eq_ignore_ascii_case(self.name.trim_end_matches("Pass"))
    }
}

/// The kernel after each pass, in order. Each is computed on demand.
pub fn after_each(kernel: &Kernel) -> impl Iterator<Item = (&'static Pass, Kernel)> + use<> {
    let mut kernel = kernel.clone();
    PIPELINE.iter().map(move |pass| {
        pass.run(&mut kernel);
        (pass, kernel.clone())
    })
}

/// The MLIR text after each pass that `asked` names, or after `all` of them, each below a header as MLIR's
/// tools print it; `None` if there is no such pass.
pub fn mlir_after(kernel: &Kernel, asked: &str) -> Option<KernelText> {
    recursion::with_stack(crate::STACK, || written_after(kernel, asked))
}

fn written_after(kernel: &Kernel, asked: &str) -> Option<KernelText> {
    let is_asked = |pass: &Pass| asked == "all" || pass.is_called(asked);
    if !PIPELINE.iter().any(is_asked) {
        return None;
    }
    let mut all = KernelText {
        missing: kernel.missing.clone(),
        shared_bytes: kernel.launch.shared_bytes,
        ..KernelText::default()
    };
    for (pass, after) in after_each(kernel).filter(|(pass, _)| is_asked(pass)) {
        if !all.lines.is_empty() {
            all.text.push('\n');
            all.lines.push(None);
        }
        let Pass { name, flag, .. } = pass;
        all.text += &format!("// -----// IR Dump After {name} ({flag}) //----- //\n");
        all.lines.push(None);
        let own = mlir(&after);
        let first = all.lines.len();
        all.accesses.extend(own.accesses.into_iter().map(|(line, argument)| (first + line, argument)));
        all.text += &own.text;
        all.lines.extend(own.lines);
    }
    Some(all)
}

/// The values that select passes: `all`, and the flags, each once.
pub fn known() -> Vec<&'static str> {
    let mut known = vec!["all"];
    for pass in PIPELINE {
        if !known.contains(&pass.flag) {
            known.push(pass.flag);
        }
    }
    known
}
