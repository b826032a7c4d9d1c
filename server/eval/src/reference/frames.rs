//! Activations of computations: what their parameters stand for, and what is known of their ops.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use ir::{Graph, OpId};

use super::column::Column;
use super::evaluator::Evaluator;
use super::known::Known;
use crate::case::Checked;

/// What a parameter of a graph stands for.
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
    /// Elements of costly ops that are known: per op, where each position is in the columns of its leaves.
    pub(crate) known: HashMap<OpId, Known>,
    /// Frames of the computations that ops call, by op and number.
    pub(super) calls: HashMap<(OpId, usize), usize>,
    /// Results of the present batch.
    pub(super) recent: HashMap<(OpId, usize, u64), Rc<Column>>,
}

/// Stands for the first argument of calls that are no call of the text.
const EXPANSION: usize = usize::MAX;

impl<'a> Evaluator<'a> {
    /// The computation of a name.
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

    /// The frame of a computation that an op calls, made when first asked for.
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

    /// The frame of the computation that an op stands for.
    pub(crate) fn expansion(&self, frame: usize, op: OpId) -> Option<usize> {
        self.frames.get(frame)?.calls.get(&(op, EXPANSION)).copied()
    }

    pub(crate) fn expand(&mut self, frame: usize, op: OpId, expansion: usize) {
        if let Some(frame) = self.frames.get_mut(frame) {
            frame.calls.insert((op, EXPANSION), expansion);
        }
    }

    /// Forgets what belongs to the turn of a loop that is over: all frames from `before` on. Nothing points into them; those of
    /// the loop's surroundings stay.
    pub(crate) fn end_turn(&mut self, before: usize) {
        self.arrivals.retain(|&(frame, _), _| frame < before);
        self.wholes.retain(|&(frame, _), _| frame < before);
        self.scans.retain(|&(frame, _), _| frame < before);
        if self.frames.len() > before + 64 {
            self.frames.truncate(before);
        }
    }
}
