//! Memory addresses of accesses to buffers.

use indexing_map::{Expr, Interval, RangeContext, Simplifier, SimplifyMode, linearized};
use mlir::{ArrayKind, ArrayType};
use mlir_ops::{Layout, Operand};

use crate::access::{Access, Address, SymbolSource};
use crate::map_builder::MapBuilder;

impl Access {
    /// Adds the address of an access to a buffer at `index`, if its layout is known. `inner` holds the
    /// variables of the access from slowest to fastest; the stride is that of the last one with more than one
    /// value.
    pub(crate) fn locate(
        &mut self,
        builder: &mut MapBuilder<'_>,
        buffer: &Operand,
        ty: &ArrayType,
        index: &[Expr],
        inner: &[Expr],
    ) {
        if ty.kind != ArrayKind::Memref || !self.map.is_mapped() || index.len() != ty.rank() {
            return;
        }
        // The address has its own map: it may need variables that the access's map does not have.
        let Some(address) = builder.address(buffer, ty, index) else { return };
        let finished = builder.finish(vec![address.clone()], Vec::new());
        let mut located = Access {
            operand: self.operand.clone(),
            value: self.value,
            role: self.role,
            map: finished.map.clone().simplified(SimplifyMode::Replace),
            symbols: finished.symbols,
            address: None,
            note: None,
        };
        let stride = builder.stride(&address, inner);
        located.remove_unused(&[]);
        if located.map.is_mapped() && located.map.results().len() == 1 {
            self.address = Some(Address { map: located.map, symbols: located.symbols, stride });
        }
    }
}

impl MapBuilder<'_> {
    /// The distance of an element from the start of its buffer.
    pub(crate) fn address(&mut self, buffer: &Operand, ty: &ArrayType, index: &[Expr]) -> Option<Expr> {
        let values = &self.source.parse.values;
        let defined = buffer.value.and_then(|value| values.get(value as usize));
        let at = defined.map_or(0, |value| value.name.start);
        match &Layout::of(self.source, ty, at) {
            Layout::Identity => {
                let extents = self.extents(buffer, ty);
                Some(linearized(index, &extents))
            }
            Layout::MinorToMajor(order) => {
                let extents = self.extents(buffer, ty);
                let major_first =
                    |list: &[Expr]| -> Vec<Expr> { order.iter().rev().map(|&k| list[k].clone()).collect() };
                Some(linearized(&major_first(index), &major_first(&extents)))
            }
            Layout::Strided { strides, offset } => {
                let mut symbol = |dimension: Option<usize>, bounds: Interval| {
                    let source =
                        SymbolSource::Layout { of: buffer.key(), name: buffer.name.clone(), dimension };
                    self.symbol(source, bounds)
                };
                let mut address = match offset {
                    Some(offset) => Expr::Const(*offset),
                    None => symbol(None, Interval::new(0, i64::MAX)),
                };
                for (k, (stride, index)) in strides.iter().zip(index).enumerate() {
                    let stride = match stride {
                        Some(stride) => Expr::Const(*stride),
                        None => symbol(Some(k), Interval::ALL),
                    };
                    address = address + index.clone() * stride;
                }
                Some(address)
            }
            Layout::Affine(map) => {
                let symbols: Vec<Expr> = (0..map.symbols.len())
                    .map(|k| {
                        let dimension = Some(k);
                        let source =
                            SymbolSource::Layout { of: buffer.key(), name: buffer.name.clone(), dimension };
                        self.symbol(source, Interval::ALL)
                    })
                    .collect();
                let results = map.apply(index, &symbols)?;
                match results.as_slice() {
                    [one] => Some(one.clone()),
                    // The map gives indices of an array whose extents are not written anywhere.
                    _ => None,
                }
            }
            Layout::Unknown => None,
        }
    }

    /// The innermost variable with more than one value, and the growth of the expression from one of its
    /// values to the next.
    fn stride(&self, e: &Expr, inner: &[Expr]) -> Option<(String, i64)> {
        let loops = self.loops_by_place();
        let order: Vec<Expr> = loops.into_iter().chain(inner.iter().cloned()).collect();
        for variable in order.iter().rev() {
            let id = variable.as_var()?;
            if self.is_single(variable) {
                continue;
            }
            // The innermost loop counts even if the address does not depend on it.
            let step = self.step_of(variable);
            let next = e.substitute(&mut |v| (v == id).then(|| variable.clone() + step));
            let finished = self.finish(vec![next - e.clone()], Vec::new()).map;
            let context = RangeContext::new(finished.variables(), finished.constraints());
            let mut simplifier = Simplifier::new(context, SimplifyMode::Replace);
            let grown = simplifier.simplify(&finished.results().first()?.canonicalize()).as_const()?;
            return Some((self.variable_name(variable), grown));
        }
        None
    }
}
