//! Calls: a function is inlined once per index and arguments.

use indexing_map::Expr;

use super::frame::Frame;
use super::lower::Lowering;
use super::value::{ArrayPlace, Val};
use crate::kernel::ValueId;

impl<'k> Lowering<'k> {
    pub(super) fn call(
        &mut self,
        frame: &Frame<'k>,
        function: usize,
        args: &[ValueId],
        at: &[Expr],
    ) -> Vec<Val> {
        let at: Vec<Expr> = frame.indices(at).iter().map(|e| self.indices.simplify(e)).collect();
        let args: Vec<Val> = args.iter().map(|&value| frame.value(value)).collect();
        let places: Option<Vec<ArrayPlace>> = args
            .iter()
            .map(|arg| match arg {
                Val::Tensor(place) => Some(*place),
                _ => None,
            })
            .collect();
        let Some(places) = places else {
            let called = self.kernel.functions.get(function);
            return called.map_or_else(Vec::new, |called| self.function(called, args, at));
        };
        // In an unrolled loop the same expression has another value in each iteration.
        let here: Vec<Expr> = at.iter().map(|e| self.indices.here(e)).collect();
        let key = (function, here, places);
        if let Some(values) = self.calls.iter().rev().find_map(|region| region.get(&key)) {
            return values.clone();
        }
        let kernel = self.kernel;
        let Some(called) = kernel.functions.get(function) else { return Vec::new() };
        let values = self.function(called, args, at);
        if let Some(region) = self.calls.last_mut() {
            region.insert(key, values.clone());
        }
        values
    }

    /// The elements of a vector, and the position of an index in it.
    pub(super) fn element_of(
        &mut self,
        frame: &Frame<'k>,
        vector: ValueId,
        at: &Expr,
    ) -> (Vec<Val>, Option<usize>) {
        let elements = match frame.value(vector) {
            Val::Vector(number) => self.vectors[number as usize].clone(),
            _ => Vec::new(),
        };
        let at = self.indices.here(&frame.index(at)).as_const();
        (elements, at.and_then(|at| usize::try_from(at).ok()))
    }
}
