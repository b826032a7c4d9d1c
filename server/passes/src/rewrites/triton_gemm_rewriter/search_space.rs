//! All that Triton can compute around a dot, in a module of its own, in which bitcasts move away from the dot.

use gpu::reshape_is_bitcast;
use ir::{ArrayShape, Layout, Shape, is_elementwise};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use syntax::hlo::Opcode;

use super::dot_support::is_included;
use crate::module::{InstructionId, Module, NewOp};
use crate::rewrites::moved_bitcasts::{
    Moved, bitcast_of_broadcast, bitcast_of_transpose, broadcast_of_bitcast, transpose_of_bitcast,
};
use crate::shapes::of_element;

/// More instructions are not searched.
const MAX_SIZE: usize = 4096;

/// Copies of instructions around a dot.
#[derive(Clone)]
pub(super) struct Space {
    pub(super) module: Module,
    /// Per copy, the instruction that it is a copy of, or takes the place of.
    originals: FxHashMap<InstructionId, InstructionId>,
    /// The copy of the dot.
    pub(super) dot: InstructionId,
}

impl Space {
    /// Copies the users of a dot as long as there is one that Triton can compute, and all that those read and Triton can compute.
    pub(super) fn around(of: &Module, dot: InstructionId) -> Option<Space> {
        let mut root = dot;
        while let &[user] = of[root].users()
            && is_included(of, user)
        {
            root = user;
        }
        let mut space = Space { module: Module::empty("search_space"), originals: FxHashMap::default(), dot };
        let mut copies = FxHashMap::default();
        let mut inputs = 0;
        let entry = space.module.entry();
        let mut stack = vec![(root, false)];
        while let Some((id, has_operands)) = stack.pop() {
            cancel::tick();
            if copies.contains_key(&id) {
                continue;
            }
            if copies.len() >= MAX_SIZE {
                return None;
            }
            let copy = if id != dot && !is_included(of, id) {
                let name = format!("parameter_{inputs}");
                let new = NewOp::parameter(of[id].shape().clone(), inputs);
                inputs += 1;
                space.module.add_named(entry, new, &name)
            } else if has_operands {
                let operands: Vec<InstructionId> = of[id].operands().iter().map(|of| copies[of]).collect();
                space.module.add_copy_from(entry, of, id, &operands)
            } else {
                stack.push((id, true));
                stack.extend(of[id].operands().iter().rev().map(|&operand| (operand, false)));
                continue;
            };
            copies.insert(id, copy);
            space.originals.insert(copy, id);
        }
        space.dot = copies[&dot];
        space.module.set_root(entry, copies[&root]);
        Some(space)
    }

    /// The instruction that a copy stands for; itself, in the other module, where there is none.
    pub(super) fn original_of(&self, copy: InstructionId) -> Option<InstructionId> {
        self.originals.get(&copy).copied()
    }

    /// The instruction of the module that an operand of the fusion stands for, as an array of this shape. Adds bitcasts where bitcasts
    /// moved out of the search space.
    pub(super) fn original(
        &mut self,
        module: &mut Module,
        operand: InstructionId,
        shape: &Shape,
    ) -> Option<InstructionId> {
        if let Some(original) = self.original_of(operand) {
            return Some(match module[original].shape() == shape {
                true => original,
                false => add_bitcast(module, original, shape),
            });
        }
        if self.module[operand].opcode() != Opcode::Bitcast {
            return None;
        }
        let inner = self.module.operand(operand, 0);
        let inner = recursion::grow(|| self.original(module, inner, shape))?;
        let bitcast = add_bitcast(module, inner, shape);
        self.originals.insert(operand, bitcast);
        Some(bitcast)
    }

    fn take_over(&mut self, from: InstructionId, to: InstructionId) {
        if let Some(&original) = self.originals.get(&from) {
            self.originals.insert(to, original);
        }
    }

    fn bitcast_like(&mut self, id: InstructionId, shape: &Shape) -> InstructionId {
        let shape = with_element_of(shape, self.module[id].shape());
        add_bitcast(&mut self.module, id, &shape)
    }

    fn with_dims(&mut self, of: InstructionId, opcode: Opcode, shape: &Shape, dims: &[i64]) -> InstructionId {
        let parent = self.module[of].parent();
        self.module.add(parent, NewOp::new(opcode, shape.clone(), &[of]).dimensions(dims))
    }

    /// Moves a bitcast above what it reads, joined with the bitcasts there. Returns what took its place; the bitcast itself if it
    /// cannot move. Source: `FusionSearchSpace::HoistBitcast`.
    pub(super) fn hoist(&mut self, id: InstructionId) -> InstructionId {
        let (Some(&operand), shape) = (self.module[id].operands().first(), self.module[id].shape().clone())
        else {
            return id;
        };
        if shape.element() != self.module[operand].shape().element() {
            return id;
        }
        let new = match self.module[operand].opcode() {
            Opcode::Parameter => return self.hoist_into_parameter(id, operand, &shape),
            Opcode::Reshape | Opcode::Bitcast => {
                let from = self.module.operand(operand, 0);
                let is_reshape = self.module[operand].opcode() == Opcode::Reshape;
                if is_reshape && !reshape_is_bitcast(self.module[from].shape(), self.module[operand].shape())
                {
                    return id;
                }
                let new = add_bitcast(&mut self.module, from, &shape);
                self.take_over(operand, new);
                self.replace(id, new);
                return recursion::grow(|| self.hoist(new));
            }
            Opcode::Constant => self.reshaped_constant(operand, &shape),
            Opcode::Broadcast | Opcode::Transpose => {
                let from = self.module.operand(operand, 0);
                let op = &self.module[operand];
                let moved = match op.opcode() {
                    Opcode::Broadcast => bitcast_of_broadcast(op.shape(), op.dimensions(), &shape),
                    _ => {
                        let of_from = self.module[from].shape();
                        bitcast_of_transpose(of_from, op.shape(), op.dimensions(), &shape)
                    }
                };
                moved.map(|Moved { shape: of_operand, dims }| {
                    let opcode = self.module[operand].opcode();
                    let bitcast = self.bitcast_like(from, &of_operand);
                    self.with_dims(bitcast, opcode, &shape, &dims)
                })
            }
            opcode if is_elementwise(opcode) => {
                let operands = self.module[operand].operands().to_vec();
                let operands: Vec<InstructionId> =
                    operands.into_iter().map(|of| self.bitcast_like(of, &shape)).collect();
                let parent = self.module[id].parent();
                let new = self.module.add_copy(parent, operand, &operands);
                self.module.set_shape(new, shape.clone());
                Some(new)
            }
            _ => None,
        };
        let Some(new) = new else { return id };
        self.take_over(operand, new);
        self.replace(id, new);
        new
    }

    /// Gives a parameter the shape of the bitcasts that read it, if those are all that does.
    fn hoist_into_parameter(
        &mut self,
        id: InstructionId,
        parameter: InstructionId,
        shape: &Shape,
    ) -> InstructionId {
        let users = self.module[parameter].users().to_vec();
        let may_replace = users.iter().all(|&user| {
            let user = &self.module[user];
            let is_bitcast = match user.opcode() {
                Opcode::Bitcast => true,
                Opcode::Reshape => reshape_is_bitcast(self.module[parameter].shape(), user.shape()),
                _ => false,
            };
            is_bitcast && user.shape() == shape
        });
        if !may_replace {
            return id;
        }
        let shape = with_element_of(shape, self.module[parameter].shape());
        self.module.set_shape(parameter, shape);
        for user in users {
            self.replace(user, parameter);
        }
        parameter
    }

    fn reshaped_constant(&mut self, constant: InstructionId, shape: &Shape) -> Option<InstructionId> {
        if self.module[constant].dims().iter().any(|&size| size != 1) {
            return None;
        }
        let literal = self.module[constant].literal()?;
        let number = literal.trim_matches(|c: char| c.is_whitespace() || "{}".contains(c)).to_owned();
        let rank = shape.dims().len();
        let literal = match rank {
            0 => number,
            _ => format!("{} {number} {}", "{".repeat(rank), "}".repeat(rank)),
        };
        let shape = of_element(shape, shape.dims())?;
        let parent = self.module[constant].parent();
        Some(self.module.add(parent, NewOp::constant(shape, literal)))
    }

    /// Moves a bitcast below its only user, joined with the bitcasts there. Returns what took the place of the user; the bitcast itself
    /// if it cannot move, and nothing if it was the result of the search space. Source: `FusionSearchSpace::SinkBitcast`.
    pub(super) fn sink(&mut self, id: InstructionId) -> Option<InstructionId> {
        let operand = self.module.operand(id, 0);
        if self.module[id].shape().element() != self.module[operand].shape().element() {
            return Some(id);
        }
        if self.module.is_root(id) {
            let computation = self.module[id].parent();
            self.module.set_root(computation, operand);
            self.module.remove_with_operands(id);
            return None;
        }
        let &[user] = self.module[id].users() else { return Some(id) };
        let of_operand = self.module[operand].shape().clone();
        let (of_bitcast, of_user) = (self.module[id].shape().clone(), self.module[user].shape().clone());
        let dims = self.module[user].dimensions().to_vec();
        let new = match self.module[user].opcode() {
            opcode @ (Opcode::Transpose | Opcode::Broadcast) => {
                let moved = match opcode {
                    Opcode::Transpose => transpose_of_bitcast(&of_bitcast, &of_user, &dims, &of_operand),
                    _ => broadcast_of_bitcast(&of_bitcast, &dims, &of_user, &of_operand),
                };
                let Some(Moved { shape, dims }) = moved else { return Some(id) };
                self.with_dims(operand, opcode, &shape, &dims)
            }
            opcode @ (Opcode::Reshape | Opcode::Bitcast) => {
                if opcode == Opcode::Reshape && !reshape_is_bitcast(&of_bitcast, &of_user) {
                    return Some(id);
                }
                let joined = add_bitcast(&mut self.module, operand, &of_user);
                self.take_over(user, joined);
                self.replace(user, joined);
                return recursion::grow(|| self.sink(joined));
            }
            opcode if is_elementwise(opcode) => {
                let operands = self.module[user].operands().to_vec();
                let operands: Vec<InstructionId> = operands
                    .into_iter()
                    .map(|of| if of == id { operand } else { self.bitcast_like(of, &of_operand) })
                    .collect();
                let parent = self.module[id].parent();
                let new = self.module.add_copy(parent, user, &operands);
                self.module.set_shape(new, with_element_of(&of_operand, &of_user));
                new
            }
            _ => return Some(id),
        };
        let bitcast = add_bitcast(&mut self.module, new, &of_user);
        self.take_over(user, new);
        self.take_over(user, bitcast);
        self.replace(user, bitcast);
        if self.module.is_root(bitcast) {
            let computation = self.module[bitcast].parent();
            self.module.set_root(computation, new);
            self.module.remove_with_operands(bitcast);
        }
        Some(new)
    }

    fn replace(&mut self, old: InstructionId, new: InstructionId) {
        self.module.replace_all_uses(old, new);
        self.module.remove_with_operands(old);
    }
}

fn add_bitcast(module: &mut Module, of: InstructionId, shape: &Shape) -> InstructionId {
    module.add(module[of].parent(), NewOp::new(Opcode::Bitcast, shape.clone(), &[of]))
}

/// A shape with the element type of another one, and its size in memory.
fn with_element_of(shape: &Shape, other: &Shape) -> Shape {
    let (Some(array), Some(other)) = (shape.as_array(), other.as_array()) else { return shape.clone() };
    let mut array: ArrayShape = array.clone();
    array.element = other.element;
    let bits = |array: &ArrayShape| array.layout.as_ref().map_or(0, |layout| layout.element_bits);
    if bits(&array) != bits(other) {
        let order = array.minor_to_major().into_iter().map(|dim| dim as i64).collect();
        let layout = array.layout.get_or_insert_with(|| Layout::row_major(0));
        layout.minor_to_major = order;
        layout.element_bits = bits(other);
    }
    Shape::Array(Arc::new(array)).without_default_layouts()
}
