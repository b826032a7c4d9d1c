//! The layouts of what computations are called with and return.
//!
//! Source: XLA `layout_assignment.cc`, `ComputationLayoutConstraint`, `LayoutAssignment::CalculateComputationLayout`.

use std::sync::Arc;

use ir::Layout;

use super::ROUNDS;
use super::constraints::{DEFAULT_PRIORITY, GIVEN_PRIORITY};
use super::layouts::{Layouts, in_device_memory, leaves};
use super::solver::Solver;
use crate::driver::Stop;
use crate::module::{ComputationId, InstructionId, Module};

/// The layouts of a computation's parameters and result.
#[derive(Debug, Clone)]
pub(super) struct Callable {
    pub(super) parameters: Vec<Layouts>,
    pub(super) result: Layouts,
    /// Whether the parameters must have these layouts.
    pub(super) has_parameters: bool,
    /// Whether the result must have these layouts.
    pub(super) has_result: bool,
    pub(super) priority: i64,
}

impl Callable {
    /// That of the entry computation, as the header of the module says.
    pub(super) fn entry(module: &Module) -> Result<Callable, Stop> {
        let (parameters, result) = match &module.header.entry_layout {
            Some((parameters, result)) => (parameters.clone(), result.clone()),
            None => {
                let parameters = module.parameters(module.entry());
                let shapes = parameters.iter().map(|&id| module[id].shape().clone());
                (shapes.collect(), module[module.root(module.entry())].shape().clone())
            }
        };
        let own = module.parameters(module.entry());
        let fits = |(&id, shape): (&InstructionId, &ir::Shape)| module[id].shape().is_compatible(shape);
        let root = module[module.root(module.entry())].shape();
        if own.len() != parameters.len()
            || !own.iter().zip(&parameters).all(fits)
            || !root.is_compatible(&result)
        {
            let what = "layout assignment: entry_computation_layout does not fit the entry computation";
            return Err(Stop::Unsupported(what.to_owned()));
        }
        Ok(Callable {
            parameters: parameters.iter().map(in_device_memory).collect(),
            result: in_device_memory(&result),
            has_parameters: true,
            has_result: true,
            priority: GIVEN_PRIORITY,
        })
    }

    /// That of a computation whose layouts are to be found.
    fn unknown(module: &Module, computation: ComputationId) -> Callable {
        let none = |id: InstructionId| leaves(module[id].shape()).iter().map(|_| None).collect();
        Callable {
            parameters: module.parameters(computation).into_iter().map(none).collect(),
            result: none(module.root(computation)),
            has_parameters: false,
            has_result: false,
            priority: DEFAULT_PRIORITY,
        }
    }

    /// Fixes the layouts.
    pub(super) fn reset(&mut self, priority: i64) {
        (self.has_parameters, self.has_result, self.priority) = (true, true, priority);
    }
}

impl Solver<'_> {
    pub(super) fn callable(&mut self, computation: ComputationId) -> &mut Callable {
        let module = self.module;
        self.callables.entry(computation).or_insert_with(|| Callable::unknown(module, computation))
    }

    /// The layouts that a computation's result must have.
    pub(super) fn result_of(&self, computation: ComputationId) -> Option<&Layouts> {
        let callable = self.callables.get(&computation)?;
        callable.has_result.then_some(&callable.result)
    }

    /// The layouts that were chosen for the arrays of an instruction's result.
    pub(super) fn chosen(&self, id: InstructionId) -> Layouts {
        let layout = |buffer: &super::buffers::BufferId| -> Option<Arc<Layout>> {
            Some(self.of_buffers[buffer.index()].as_ref()?.layout.clone())
        };
        self.buffers.of(id).iter().map(layout).collect()
    }

    /// Fixes the layouts of a computation as they were chosen in it.
    pub(super) fn record(&mut self, computation: ComputationId) {
        let is_mismatched = self.mismatched.contains_key(&computation);
        let priority = self.round + ROUNDS;
        let is_known = self.round > 0 || self.callable(computation).priority >= priority;
        if is_known && !is_mismatched {
            return;
        }
        let result = self.chosen(self.module.root(computation));
        let parameters: Vec<Layouts> =
            self.module.parameters(computation).into_iter().map(|id| self.chosen(id)).collect();
        let callable = self.callable(computation);
        if !is_mismatched {
            callable.result = result;
        }
        callable.parameters = parameters;
        callable.reset(priority);
    }
}
