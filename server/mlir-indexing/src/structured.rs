//! Structured ops, which are loops over their operands: `linalg.generic` and all others with indexing maps.
//!
//! Source: mlir.llvm.org/docs/Dialects/Linalg, "property 2: a reversible mapping between control and data
//! structures".

use indexing_map::Expr;
use mlir::ArrayType;
use mlir_ops::{AffineMap, NoMap, OpText, Operand};

use crate::access::{OpMaps, Role, Space};
use crate::map_builder::MapBuilder;
use crate::vector_masks::Mask;

/// An operand with the index that an iteration accesses.
pub(crate) struct StructuredOperand {
    pub(crate) operand: Operand,
    /// Empty for a scalar.
    pub(crate) extents: Vec<Option<Expr>>,
    pub(crate) map: AffineMap,
    /// Whether the computation uses its elements.
    pub(crate) is_read: bool,
}

/// An op as loops, numbered as the dimensions of all its maps.
pub(crate) struct Structured<'m> {
    /// The names of the loops; empty for a loop without one.
    pub(crate) loops: Vec<String>,
    pub(crate) inputs: Vec<StructuredOperand>,
    pub(crate) outputs: Vec<StructuredOperand>,
    /// The mask of the iterations, if the op is masked.
    pub(crate) mask: Option<&'m Mask>,
}

impl Structured<'_> {
    /// The operand with its extents. `text` is the op that uses it.
    pub(crate) fn operand(
        builder: &mut MapBuilder<'_>,
        text: &OpText<'_>,
        operand: Operand,
        map: AffineMap,
        is_read: bool,
    ) -> Result<StructuredOperand, NoMap> {
        let extents = match text.is_scalar(&operand) {
            true => Vec::new(),
            false => {
                let ty: ArrayType = text.array_of(&operand)?;
                builder.extents(&operand, &ty).into_iter().map(Some).collect()
            }
        };
        if map.results.len() != extents.len() {
            return Err(NoMap::MapResults {
                operand: operand.name.into(),
                has: map.results.len(),
                rank: extents.len(),
            });
        }
        Ok(StructuredOperand { operand, extents, map, is_read })
    }

    /// The maps from the elements of an output if they determine their iterations, else from the loops.
    /// `has_results` says whether outputs are results of the op, or buffers that it writes.
    pub(crate) fn maps(
        &self,
        mut builder: MapBuilder<'_>,
        output: usize,
        has_results: bool,
    ) -> Result<OpMaps, NoMap> {
        let written = self.outputs.get(output).ok_or(NoMap::Without("such result"))?;
        let extents = self.loop_extents()?;
        let name = |l: usize| Some(self.loops[l].as_str()).filter(|name| !name.is_empty());
        let mut loops = vec![Expr::ZERO; self.loops.len()];
        let order = written.map.projected_permutation();
        let space = match &order {
            Some(order) => {
                for &l in order {
                    loops[l] = match name(l) {
                        Some(name) => builder.named_dimension(name, &extents[l]),
                        None => builder.dimension(&extents[l]),
                    };
                }
                for l in (0..loops.len()).filter(|l| !order.contains(l)) {
                    loops[l] = builder.range(name(l), &extents[l]);
                }
                match has_results {
                    true => Space::Result(output),
                    false => Space::Written(written.operand.name.clone()),
                }
            }
            None => {
                for l in 0..loops.len() {
                    loops[l] = match name(l) {
                        Some(name) => builder.named_dimension(name, &extents[l]),
                        None => builder.dimension(&extents[l]),
                    };
                }
                Space::Loops
            }
        };
        let is_of_loops = space == Space::Loops;
        let access = |o: &StructuredOperand, role: Role| {
            let index = o.map.apply(&loops, &[]).ok_or(NoMap::OtherLoops)?;
            Ok::<_, NoMap>(builder.access(&o.operand, role, index, Vec::new()))
        };
        let inputs = self.inputs.iter().filter(|o| o.is_read).map(|o| access(o, Role::Read));
        let mut accesses = inputs.collect::<Result<Vec<_>, _>>()?;
        if let Some(mask) = self.mask {
            let element = written.map.apply(&loops, &[]).unwrap_or_default();
            mask.add(&builder, &mut accesses, loops.clone(), element);
        }
        match is_of_loops {
            true => accesses.push(access(written, Role::Write)?),
            false if written.is_read => accesses.push(access(written, Role::Read)?),
            false => {}
        }
        Ok(OpMaps { space, accesses })
    }

    /// The extent of each loop: that of an operand dimension indexed by the loop alone, a static one if
    /// possible.
    pub(crate) fn loop_extents(&self) -> Result<Vec<Expr>, NoMap> {
        let mut found: Vec<Option<Expr>> = vec![None; self.loops.len()];
        for o in self.inputs.iter().chain(&self.outputs) {
            if o.map.dims.len() != self.loops.len() {
                return Err(NoMap::OtherLoops);
            }
            for (result, extent) in o.map.results.iter().zip(&o.extents) {
                let (Some(l), Some(extent)) = (result.as_var(), extent) else { continue };
                let Some(known) = found.get_mut(l as usize) else { continue };
                if known.as_ref().is_none_or(|e| e.as_const().is_none() && extent.as_const().is_some()) {
                    *known = Some(extent.clone());
                }
            }
        }
        found.into_iter().enumerate().map(|(l, e)| e.ok_or(NoMap::UnknownLoop(l))).collect()
    }
}
