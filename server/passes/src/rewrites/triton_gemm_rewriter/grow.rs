//! Grows the fusion of a dot in its search space.

use std::collections::VecDeque;

use gpu::{Device, Fused};
use ir::{AttributeValue, is_elementwise};
use syntax::hlo::{AttributeKey, Opcode};

use super::moves::Moves;
use super::search_space::Space;
use super::worth::{is_binary_of_broadcast, is_input_worth_fusing, is_output_worth_fusing, is_plain_user};
use crate::module::{InstructionId, Module};
use crate::rewrites::backend_config::of_tile;

/// A fusion may read so many arrays. Source: `TritonFusionAnalysis::kMaxParameterPerDotOperand`, for both operands.
const MAX_OPERANDS: usize = 8;

/// The sides of the tiles with which a fusion must be possible.
const SMALL_TILE: i64 = 16;

/// A grown fusion.
pub(super) struct Grown {
    pub(super) space: Space,
    /// In the search space.
    pub(super) fusion: InstructionId,
    /// The instruction of the module whose value the fusion computes.
    pub(super) output: InstructionId,
}

/// What may be fused next, and where its dimensions are in an operand of the dot, if that is known.
type Candidate = (InstructionId, Option<(Moves, usize)>);

/// Source: `CreateTileableFusion`, `gemm_fusion.cc`.
pub(super) fn grow(module: &Module, dot: InstructionId, device: &Device) -> Option<Grown> {
    let mut space = Space::around(module, dot)?;
    let fused_dot = space.dot;
    let fusion = space.module.add_fusion(fused_dot, "kCustom");
    let mut queue = VecDeque::new();
    for (side, &operand) in space.module[fused_dot].operands().iter().enumerate() {
        let moves = Moves::none(space.module[operand].dims());
        queue.push_back((operand, Some((moves, side))));
    }
    space.module.replace(fused_dot, fusion);
    let mut growing = Growing { of: module, device, space, fusion };
    if !growing.is_tileable() {
        return None;
    }
    growing.fuse_operands(queue);
    let mut output = dot;
    while let Some(original) = growing.fuse_user() {
        output = original;
    }
    growing.move_bitcasts_out();
    let Growing { space, fusion, .. } = growing;
    Some(Grown { space, fusion, output })
}

struct Growing<'a> {
    /// The module around the dot.
    of: &'a Module,
    device: &'a Device,
    space: Space,
    fusion: InstructionId,
}

impl Growing<'_> {
    /// Whether the tile of the result decides the tiles of all ops of the fusion. Source: `CanTile`. That small tiles have fixed sizes
    /// was observed in XLA's output.
    fn is_tileable(&self) -> bool {
        let module = &self.space.module;
        let Some(called) = module.fused_computation(self.fusion) else { return false };
        let mut graph = module.graph(called).graph;
        for op in graph.ops.iter_mut().filter(|op| op.opcode == Opcode::Dot) {
            let tile = AttributeValue::Text(of_tile(&[SMALL_TILE]));
            op.attributes.set(AttributeKey::BackendConfig, tile);
        }
        let fused = Fused::of_fusion(&module.op(self.fusion), &graph, &|_| None);
        fused.is_ok_and(|fused| {
            let has_tile = |dot| xtile::tile_of_result(&fused, self.device, dot, [SMALL_TILE; 2]).is_ok();
            xtile::check_tileable(&fused).is_ok() && xtile::configs::dots(&fused).into_iter().all(has_tile)
        })
    }

    /// Fuses operands, then theirs, breadth first. Source: `FuseOperandsBFS`.
    fn fuse_operands(&mut self, mut queue: VecDeque<Candidate>) {
        while let Some((mut candidate, moves)) = queue.pop_front() {
            cancel::tick();
            if !self.reads(candidate) {
                continue;
            }
            if is_bitcast(&self.space.module, candidate) {
                candidate = self.space.hoist(candidate);
            }
            let is_worth = self.is_worth_fusing(candidate, moves.as_ref());
            if !is_worth || self.space.module[candidate].opcode() == Opcode::Parameter {
                continue;
            }
            let operands = self.space.module[candidate].operands().to_vec();
            let before = self.space.clone();
            if self.space.module.fuse_operand(self.fusion, candidate).is_none() || !self.is_tileable() {
                self.space = before;
                continue;
            }
            for operand in operands {
                let moves = moves.as_ref().and_then(|moves| self.moves_of(operand, candidate, moves));
                queue.push_back((operand, moves));
            }
        }
    }

    fn reads(&self, candidate: InstructionId) -> bool {
        self.space.module[self.fusion].operands().contains(&candidate)
    }

    /// Source: `ShouldFuseOperand`.
    fn is_worth_fusing(&self, candidate: InstructionId, moves: Option<&(Moves, usize)>) -> bool {
        let module = &self.space.module;
        let is_array = module[candidate].opcode() == Opcode::Parameter
            || module[candidate].opcode() == Opcode::Constant && !module[candidate].dims().is_empty();
        let operands = module[self.fusion].operands().len() + module[candidate].operands().len();
        if operands - usize::from(!is_array && operands > 0) > MAX_OPERANDS {
            return false;
        }
        // XLA judges the instruction that it was before bitcasts moved.
        let Some(original) = self.space.original_of(candidate) else {
            return is_binary_of_broadcast(module, candidate) || is_input_worth_fusing(module, candidate);
        };
        if self.of[original].opcode() == Opcode::Transpose {
            return moves.is_some_and(|moves| self.keeps_dimensions(candidate, moves));
        }
        is_binary_of_broadcast(self.of, original) || is_input_worth_fusing(self.of, original)
    }

    /// Whether the dimensions that the dot contracts, and those of its right operand that it keeps, are next to each other before a
    /// transpose. Source: `ShouldFuseTranspose`.
    fn keeps_dimensions(&self, transpose: InstructionId, (moves, side): &(Moves, usize)) -> bool {
        let module = &self.space.module;
        let Some(moves) = moves.through(module, transpose) else { return false };
        let body = module.fused_computation(self.fusion).map(|called| module.instructions(called));
        let dot = body.into_iter().flatten().find(|&id| module[id].opcode() == Opcode::Dot);
        let Some(dot) = dot else { return false };
        let (contracting, batch) = match side {
            0 => (AttributeKey::LhsContractingDims, AttributeKey::LhsBatchDims),
            _ => (AttributeKey::RhsContractingDims, AttributeKey::RhsBatchDims),
        };
        let [contracting, batch] = [contracting, batch].map(|key| module[dot].attributes().ints(key));
        let rank = module[module.operand(dot, *side)].dims().len() as i64;
        let free: Vec<i64> = (0..rank).filter(|d| !contracting.contains(d) && !batch.contains(d)).collect();
        // Of a batch, no dimension is split. Observed in XLA's output.
        let may_split = *side == 0 && batch.is_empty();
        moves.keeps_together(contracting)
            && moves.keeps_together(batch)
            && (may_split || moves.keeps_together(&free))
    }

    /// Source: `ComputeCandidateTracker`.
    fn moves_of(
        &self,
        operand: InstructionId,
        user: InstructionId,
        (moves, side): &(Moves, usize),
    ) -> Option<(Moves, usize)> {
        let module = &self.space.module;
        if let Some(moves) = moves.through(module, user) {
            return Some((moves, *side));
        }
        if is_elementwise(module[user].opcode()) {
            return Some((moves.clone(), *side));
        }
        let starts_again = matches!(module[user].opcode(), Opcode::Concatenate | Opcode::Slice);
        (moves.is_none() && starts_again).then(|| (Moves::none(module[operand].dims()), *side))
    }

    /// Fuses the user of the fusion and, if that reads more arrays, those too. Returns the instruction that the user was.
    /// Source: the loop of `CreateTileableFusion`, and `FuseUserAndOperands`.
    fn fuse_user(&mut self) -> Option<InstructionId> {
        if self.space.module.is_root(self.fusion) {
            return None;
        }
        let &[mut user] = self.space.module[self.fusion].users() else { return None };
        if is_bitcast(&self.space.module, user) {
            user = self.space.sink(user)?;
        }
        let original = self.space.original_of(user)?;
        let at = self.space.module[user].operands().iter().position(|&of| of == self.fusion)?;
        if !is_plain_user(&self.space.module, user, at) || !is_output_worth_fusing(self.of, original) {
            return None;
        }
        let (before, old) = (self.space.clone(), self.fusion);
        let count = self.space.module[old].operands().len();
        let new = self.space.module.add_fusion(user, "kCustom");
        self.space.module.replace(user, new);
        self.space.module.merge_fusion(new, old);
        if self.space.module.is_dead(old) {
            self.space.module.remove(old);
        }
        self.fusion = new;
        if !self.is_tileable() {
            (self.space, self.fusion) = (before, old);
            return None;
        }
        let operands = self.space.module[new].operands().to_vec();
        if operands.len() > count {
            self.fuse_operands(operands.into_iter().map(|operand| (operand, None)).collect());
        }
        Some(original)
    }

    /// Moves bitcasts of parameters and of the result out of the fusion. Source: `RemoveEdgeBitcasts`.
    fn move_bitcasts_out(&mut self) {
        let Some(called) = self.space.module.fused_computation(self.fusion) else { return };
        for parameter in self.space.module.parameters(called) {
            loop {
                let users = self.space.module[parameter].users().to_vec();
                let mut bitcasts = users.into_iter().filter(|&user| is_bitcast(&self.space.module, user));
                let bitcasts: Vec<InstructionId> = bitcasts.by_ref().collect();
                if !bitcasts.into_iter().any(|bitcast| self.space.hoist(bitcast) != bitcast) {
                    break;
                }
            }
        }
        while is_bitcast(&self.space.module, self.space.module.root(called)) {
            let root = self.space.module.root(called);
            if self.space.sink(root) == Some(root) {
                break;
            }
        }
    }
}

fn is_bitcast(module: &Module, id: InstructionId) -> bool {
    matches!(module[id].opcode(), Opcode::Bitcast | Opcode::Reshape)
}
