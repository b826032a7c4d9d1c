//! Activations of computations: the bindings of their parameters, and the cached values of their ops.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use ir::{Graph, OpId};

use super::column::Column;
use super::evaluator::Evaluator;
use super::known::Known;
use crate::checks::Checked;

/// The binding of a graph's parameter.
#[derive(Clone)]
pub(crate) enum Binding {
    Input(u32),
    /// An op of another frame.
    Outer(usize, OpId),
    /// Whole arrays, one per leaf.
    Held(Rc<Vec<Rc<Column>>>),
}

/// One activation of a graph.
pub(crate) struct Frame {
    pub(crate) graph: Arc<Graph>,
    pub(crate) parameters: Vec<Binding>,
    /// The computed elements of costly ops: for each op, the index of each position in the columns of its
    /// leaves.
    pub(crate) known: HashMap<OpId, Known>,
    /// The frames of called computations, by op and number.
    pub(super) calls: HashMap<(OpId, usize), usize>,
    /// The results of the current batch.
    pub(super) recent: HashMap<(OpId, usize, u64), Rc<Column>>,
}

/// The number for expansions, which are not calls in the text.
const EXPANSION: usize = usize::MAX;

impl<'a> Evaluator<'a> {
    /// The computation with this name.
    pub(crate) fn callee(&self, name: &str) -> Checked<Arc<Graph>> {
        let graph = self.expansions.get(name).cloned().or_else(|| (self.callees)(name));
        graph.ok_or_else(|| format!("the computation {name} is not at hand").into())
    }

    pub(crate) fn frame(&mut self, graph: Arc<Graph>, parameters: Vec<Binding>) -> usize {
        self.frames.push(Frame {
            graph,
            parameters,
            known: HashMap::new(),
            calls: HashMap::new(),
            recent: HashMap::new(),
        });
        self.frames.len() - 1
    }

    /// The frame of a computation that an op calls, created on first use.
    pub(crate) fn called(
        &mut self,
        frame: usize,
        op: OpId,
        name: &str,
        arguments: &[OpId],
    ) -> Checked<usize> {
        let number = arguments.first().map_or(0, |&a| a as usize);
        if let Some(&known) = self.frames[frame].calls.get(&(op, number)) {
            return Ok(known);
        }
        if self.frames.len() > 1 << 14 {
            return Err("too many calls".into());
        }
        let graph = self.callee(name)?;
        let parameters = arguments.iter().map(|&argument| Binding::Outer(frame, argument)).collect();
        let made = self.frame(graph, parameters);
        self.frames[frame].calls.insert((op, number), made);
        Ok(made)
    }

    /// The frame of an op's expansion.
    pub(crate) fn expansion(&self, frame: usize, op: OpId) -> Option<usize> {
        self.frames.get(frame)?.calls.get(&(op, EXPANSION)).copied()
    }

    pub(crate) fn expand(&mut self, frame: usize, op: OpId, expansion: usize) {
        if let Some(frame) = self.frames.get_mut(frame) {
            frame.calls.insert((op, EXPANSION), expansion);
        }
    }

    /// Discards the frames of a finished loop iteration: all from `before` on. Nothing refers to them; frames
    /// outside the loop stay.
    pub(crate) fn end_turn(&mut self, before: usize) {
        self.arrivals.retain(|&(frame, _), _| frame < before);
        self.wholes.retain(|&(frame, _), _| frame < before);
        self.scans.retain(|&(frame, _), _| frame < before);
        if self.frames.len() > before + 64 {
            self.frames.truncate(before);
        }
    }
}
