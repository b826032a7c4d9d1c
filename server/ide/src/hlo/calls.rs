//! The calls between computations.

use ir::SegmentRef;

use crate::TextRange;
use crate::call_hierarchy::{CallDirection, CallItem, Calls};
use crate::file_context::FileContext;
use crate::hlo::Hlo;
use crate::semantics::Names;
use crate::symbol::{Function, Symbol};

impl Calls for Hlo {
    fn function_named(&self, context: &FileContext<'_>, symbol: &Symbol) -> Option<Function> {
        match *symbol {
            Symbol::Computation(index) => function_of(context, index),
            _ => None,
        }
    }

    fn function_around(&self, context: &FileContext<'_>, offset: usize) -> Option<Function> {
        match Hlo.name_at(context, offset)?.symbol {
            Symbol::Instruction(at) => function_of(context, context.enclosing_computation(at)?),
            _ => None,
        }
    }

    fn call_item(&self, context: &FileContext<'_>, function: Function) -> Option<CallItem> {
        let index = index_of(context, function)?;
        let module = context.module();
        let first = *module.computations[index].segments.first()?;
        let range = context.computation_range(index)?;
        let name = context.range(first.piece, context.computation(first).name);
        let shape = context.result_of(index).and_then(|root| context.shape(root)).map(ToString::to_string);
        Some(CallItem {
            name: module.computations[index].name.to_string(),
            detail: shape.unwrap_or_default(),
            is_entry: module.is_entry(index),
            selection_range: if name.is_empty() { range.start..range.start } else { name },
            range,
        })
    }

    fn calls(
        &self,
        context: &FileContext<'_>,
        function: Function,
        direction: CallDirection,
    ) -> Vec<(Function, TextRange)> {
        let Some(index) = index_of(context, function) else { return Vec::new() };
        let graph = db::call_graph(context.db, context.view.file);
        let sites = match direction {
            CallDirection::Incoming => graph.incoming(index),
            CallDirection::Outgoing => graph.outgoing(index),
        };
        let mut found = Vec::new();
        for of_piece in sites.chunk_by(|a, b| a.piece == b.piece) {
            let piece = of_piece[0].piece;
            let spans: Vec<_> = context.block(piece).callees().map(|(_, span)| span).collect();
            for site in of_piece {
                let other = match direction {
                    CallDirection::Incoming => site.caller,
                    CallDirection::Outgoing => site.callee,
                };
                if let (Some(other), Some(&span)) =
                    (function_of(context, other), spans.get(site.nth as usize))
                {
                    found.push((other, context.range(piece, span)));
                }
            }
        }
        found
    }
}

fn function_of(context: &FileContext<'_>, index: usize) -> Option<Function> {
    let first = context.module().computations.get(index)?.segments.first()?;
    Some(Function { piece: first.piece, id: first.computation })
}

fn index_of(context: &FileContext<'_>, function: Function) -> Option<usize> {
    context.module().computation_of(SegmentRef { piece: function.piece, computation: function.id })
}
