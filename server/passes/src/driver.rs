//! Runs passes one after the other, and pipelines of them to a fixpoint.

use std::fmt;
use std::sync::Arc;

use crate::module::{InstructionId, Module};
use crate::rewrites::{GATES, PASSES};

mod pipelines;

pub(crate) use pipelines::MAX_ROUNDS;

/// How passes run.
#[derive(Debug, Clone)]
pub struct Options {
    /// The pipeline that the passes run in, by the name in XLA's dumps: what stands before `.after_`. Empty where it is not known.
    pub pipeline: String,
    pub device: &'static gpu::Device,
    /// The pass after whose first run everything stops.
    pub until: Option<String>,
    /// What earlier runs have computed about kernels: the same result, sooner.
    pub estimates: Arc<gpu::Estimates>,
}

impl Options {
    /// Of the first run, to the end. `pipeline` is empty where it is not known.
    pub fn new(pipeline: &str, device: &'static gpu::Device) -> Options {
        Options { pipeline: pipeline.to_owned(), device, until: None, estimates: Arc::default() }
    }
}

/// A pass of XLA.
pub struct Pass {
    /// As XLA names it in dumps: what follows `after_`.
    pub name: &'static str,
    pub run: Rewrite,
}

/// Rewrites the module and reports each change.
pub type Rewrite = fn(&mut Run<'_>) -> Result<(), Stop>;

impl Pass {
    /// What the pass would rewrite, if it is not written: a module with that is refused, and others stay as they are.
    pub fn refuses(&self) -> Option<&'static str> {
        crate::rewrites::subject(self.run)
    }
}

/// One pass at work on a module.
pub struct Run<'m> {
    pub module: &'m mut Module,
    pub options: &'m Options,
    changes: Vec<Change>,
}

/// What a pass did at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Names of the computation and the instruction, as they were when the change was made.
    pub computation: String,
    pub instruction: String,
    /// What happened to the instruction, without a full stop: `merged into %add.3`.
    pub what: String,
}

/// What one pass of a request did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    pub pass: String,
    pub changes: Vec<Change>,
}

/// Why passes did not run. The module may be in any state then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// No pass or pipeline of this crate has the name.
    Unknown(String),
    /// A pass meets something that it cannot rewrite as XLA would.
    Unsupported(String),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Unknown(name) => match crate::pass(name) {
                Some(_) => write!(f, "the pass {name} is not implemented"),
                None => write!(f, "unknown pass: {name}"),
            },
            Stop::Unsupported(what) => f.write_str(what),
        }
    }
}

impl<'m> Run<'m> {
    pub fn new(module: &'m mut Module, options: &'m Options) -> Run<'m> {
        Run { module, options, changes: Vec::new() }
    }

    /// Reports what happened to an instruction. Call it before the instruction is removed or renamed.
    pub fn changed(&mut self, id: InstructionId, what: impl Into<String>) {
        let instruction = &self.module[id];
        self.changes.push(Change {
            computation: self.module[instruction.parent()].name().to_owned(),
            instruction: instruction.name().to_owned(),
            what: what.into(),
        });
    }

    /// How many changes were reported.
    pub fn changes(&self) -> usize {
        self.changes.len()
    }

    /// Whether the pass runs in the second half of the pipeline, where layouts count.
    pub fn is_after_layout_assignment(&self) -> bool {
        pipelines::is_after_layout_assignment(&self.options.pipeline)
    }
}

/// Where passes stopped, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// The pass, or the name that is none.
    pub pass: String,
    pub why: Stop,
}

/// Runs passes and pipelines by their names, in order. What one of a pipeline did is listed under the name of the pass.
pub fn optimize(module: &mut Module, names: &[&str], options: &Options) -> Result<Vec<Applied>, Stop> {
    // An unknown name is found before anything is rewritten.
    for name in names {
        pipelines::find(name)?;
    }
    let mut progress = Progress::default();
    for name in names {
        let before = progress.applied.len();
        let flow = pipelines::find(name)?.run(module, options, &mut progress)?;
        let applied = &mut progress.applied;
        // A pipeline is one entry under its own name.
        if applied.len() != before + 1 || applied[before].pass != *name {
            let changes = applied.drain(before..).flat_map(|applied| applied.changes).collect();
            applied.push(Applied { pass: (*name).to_owned(), changes });
        }
        if flow.is_break() {
            break;
        }
    }
    Ok(progress.applied)
}

/// As [`optimize`], up to the pass that stops: returns the module before that pass, what each pass did, those of pipelines
/// too, and where it stopped.
pub fn optimize_until_stop(
    module: &Module,
    names: &[&str],
    options: &Options,
) -> (Module, Vec<Applied>, Option<Stopped>) {
    let run = |limit: usize| {
        let mut result = module.clone();
        let mut progress = Progress { limit: Some(limit), ..Progress::default() };
        let mut stopped = None;
        for name in names {
            progress.pass = name;
            let step = pipelines::find_step(name);
            match step.and_then(|step| step.run(&mut result, options, &mut progress)) {
                Ok(flow) if flow.is_continue() => {}
                Ok(_) => break,
                Err(why) => {
                    // Of a pipeline with a pass that is not written, the pass.
                    let pass = match &why {
                        Stop::Unknown(pass) => pass.clone(),
                        Stop::Unsupported(_) => progress.pass.to_owned(),
                    };
                    stopped = Some(Stopped { pass, why });
                    break;
                }
            }
        }
        (result, progress.applied, stopped)
    };
    match run(usize::MAX) {
        // The pass may have rewritten a part of the module before it stopped.
        (_, applied, stopped @ Some(_)) => {
            let (module, applied, _) = run(applied.len());
            (module, applied, stopped)
        }
        done => done,
    }
}

/// The pipelines that can be run by name.
pub fn pipelines() -> impl Iterator<Item = &'static str> {
    pipelines::names()
}

/// How far passes are.
#[derive(Debug, Default)]
struct Progress<'a> {
    applied: Vec<Applied>,
    /// How many passes run, at most.
    limit: Option<usize>,
    /// The pass that runs.
    pass: &'a str,
}

/// The pass of this name.
fn find(name: &str) -> Option<&'static Pass> {
    PASSES.iter().chain(GATES).find(|pass| pass.name == name)
}
