//! A value in another layout: its definition writes it so, and its users read it so or through a copy.

use std::sync::Arc;

use ir::{ArrayShape, Layout, Opcode, Shape, preserves_layout};
use syntax::hlo::AttributeKey;

use super::{ComputationId, InstructionId, Module, NewOp};
use crate::shapes::of_element;

/// How a kernel comes to write its result in another layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrittenBy {
    /// The instruction that computes it.
    Itself,
    /// A copy behind that instruction, in the same fusion.
    CopyInFusion,
}

/// A value to store in another layout.
#[derive(Debug, Clone)]
pub struct Relayout<'a> {
    pub value: InstructionId,
    pub minor_to_major: &'a [i64],
    pub by: WrittenBy,
    /// Users that read a copy in the old layout although they could read the new one.
    pub copied_for: &'a [InstructionId],
    /// Whether the caller of the module takes a result in the new layout.
    pub changes_results: bool,
}

/// What [`Module::relayout`] did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Relaid {
    /// The instruction that computes the value; `None` of a parameter.
    pub writer: Option<InstructionId>,
    /// Users that read the new layout.
    pub readers: Vec<InstructionId>,
    /// Copies into the new layout, which are not needed any more.
    pub removed: Vec<InstructionId>,
    /// The kernel that copies the value to another layout, and the users of the copy.
    pub copy: Option<(InstructionId, Vec<InstructionId>)>,
}

impl Module {
    /// Stores a value in another layout. `None` where its definition or the caller cannot; the module may then be changed in part.
    pub fn relayout(&mut self, change: &Relayout<'_>) -> Option<Relaid> {
        let old = self[change.value].shape().clone();
        let new = in_layout(&old, change.minor_to_major)?;
        let (writer, values) = self.write_in(change, &new)?;
        let mut relaid = Relaid { writer, ..Relaid::default() };
        let mut through_copy: Vec<(InstructionId, InstructionId)> = Vec::new();
        let mut is_root_copied = None;
        for value in values {
            let is_root = self.is_root(value);
            for user in self[value].users().to_vec() {
                cancel::tick();
                let reads = !change.copied_for.contains(&user) && self.read_in(user, value, &old, &new);
                let is_passed = !reads && change.changes_results && self.is_result_tuple(user);
                match (reads, is_passed) {
                    (true, _) if self[user].is_removed() => relaid.removed.push(user),
                    (true, _) if relaid.readers.contains(&user) => {}
                    (true, _) => relaid.readers.push(user),
                    (_, true) => self.return_in(value, user)?,
                    _ => through_copy.push((value, user)),
                }
            }
            if is_root {
                match change.changes_results && self[value].parent() == self.entry() {
                    true => self.return_alone(&new)?,
                    false => is_root_copied = Some(value),
                }
            }
        }
        let first = through_copy.first().map(|(value, _)| *value).or(is_root_copied);
        if let Some(first) = first {
            let (kernel, copy) = self.add_in_layout(first, &old);
            for &(value, user) in &through_copy {
                self.replace_use(value, user, copy);
            }
            if is_root_copied.is_some() {
                self.set_root(self[first].parent(), copy);
            }
            relaid.copy = Some((kernel, through_copy.into_iter().map(|(_, user)| user).collect()));
        }
        Some(relaid)
    }

    /// Gives one user a copy of a value in another layout, and returns the kernel that copies. `None` if that user cannot read it.
    pub fn relayout_for(
        &mut self,
        value: InstructionId,
        user: InstructionId,
        minor_to_major: &[i64],
    ) -> Option<InstructionId> {
        let old = self[value].shape().clone();
        let new = in_layout(&old, minor_to_major)?;
        let (kernel, copy) = self.add_in_layout(value, &new);
        self.replace_use(value, user, copy);
        self.read_in(user, copy, &old, &new).then_some(kernel)
    }

    /// Adds a copy of an array in another layout: the transpose that moves its elements, and the copy, which may be the transpose.
    /// XLA's emitters know no copies that change the layout. Source: `LayoutNormalizationVisitor::HandleCopy`.
    fn add_in_layout(&mut self, value: InstructionId, new: &Shape) -> (InstructionId, InstructionId) {
        let computation = self[value].parent();
        let (from, to) = (major_to_minor(self[value].shape()), major_to_minor(new));
        let dims = self[value].dims().to_vec();
        let bitcast =
            |module: &mut Module, of: InstructionId, shape: Shape| match *module[of].shape() == shape {
                true => of,
                false => module.add(computation, NewOp::new(Opcode::Bitcast, shape, &[of])),
            };
        let in_order = |order: &[i64]| {
            let dims: Vec<i64> = order.iter().filter_map(|&dim| dims.get(dim as usize).copied()).collect();
            of_element(new, &dims).unwrap_or_else(|| new.clone())
        };
        let source = bitcast(self, value, in_order(&from));
        let places = to.iter().filter_map(|dim| from.iter().position(|other| other == dim));
        let places: Vec<i64> = places.map(|place| place as i64).collect();
        let transpose = NewOp::new(Opcode::Transpose, in_order(&to), &[source]).dimensions(&places);
        let transpose = self.add(computation, transpose);
        self.inherit_metadata(transpose, value);
        (transpose, bitcast(self, transpose, new.clone()))
    }

    /// Makes the definition of the value write the new layout. Returns the kernel, and all instructions that are the value.
    fn write_in(
        &mut self,
        change: &Relayout<'_>,
        new: &Shape,
    ) -> Option<(Option<InstructionId>, Vec<InstructionId>)> {
        let value = change.value;
        match self[value].opcode() {
            Opcode::Parameter => {
                self.take_in(value, new)?;
                Some((None, vec![value]))
            }
            Opcode::Fusion => {
                self.compute_in(value, None, new, change.by)?;
                self.set_shape(value, new.clone());
                Some((Some(value), vec![value]))
            }
            Opcode::GetTupleElement => {
                let fusion = self.operand(value, 0);
                let index = self[value].attributes().int(AttributeKey::Index)?;
                let users = self[fusion].users().to_vec();
                let is_element = |id: &InstructionId| self[*id].opcode() == Opcode::GetTupleElement;
                if self.is_root(fusion) || !users.iter().all(is_element) {
                    return None;
                }
                self.compute_in(fusion, Some(index), new, change.by)?;
                let tuple = with_element(self[fusion].shape(), index, new)?;
                self.set_shape(fusion, tuple);
                let same =
                    |id: &InstructionId| self[*id].attributes().int(AttributeKey::Index) == Some(index);
                let values: Vec<InstructionId> = users.into_iter().filter(same).collect();
                values.iter().for_each(|&value| self.set_shape(value, new.clone()));
                Some((Some(fusion), values))
            }
            opcode if chooses_layout(opcode) && change.by == WrittenBy::Itself => {
                self.set_shape(value, new.clone());
                Some((Some(value), vec![value]))
            }
            _ => None,
        }
    }

    /// Makes the caller pass a parameter of the entry in another layout. `None` where a result shares its memory.
    fn take_in(&mut self, parameter: InstructionId, new: &Shape) -> Option<()> {
        let number = self[parameter].parameter_number()?;
        let is_shared = self.header.aliases.iter().any(|alias| alias.parameter == i64::from(number));
        if self[parameter].parent() != self.entry() || is_shared {
            return None;
        }
        if let Some((parameters, _)) = &mut self.header.entry_layout {
            *parameters.get_mut(number as usize)? = new.clone();
        }
        self.set_shape(parameter, new.clone());
        Some(())
    }

    /// Makes a fusion compute its result, or an element of it, in another layout.
    fn compute_in(
        &mut self,
        fusion: InstructionId,
        element: Option<i64>,
        new: &Shape,
        by: WrittenBy,
    ) -> Option<()> {
        let body = self.own_body(fusion)?;
        let root = self.root(body);
        let result = match element {
            None => root,
            Some(index) if self[root].opcode() == Opcode::Tuple => {
                *self[root].operands().get(usize::try_from(index).ok()?)?
            }
            Some(_) => return None,
        };
        match by {
            WrittenBy::Itself => {
                let uses = self[result].users().len() + usize::from(element.is_none());
                let places = self[root].operands().iter().filter(|&&operand| operand == result).count();
                if !chooses_layout(self[result].opcode()) || uses != 1 || places > 1 {
                    return None;
                }
                self.set_shape(result, new.clone());
            }
            WrittenBy::CopyInFusion => {
                let (_, copy) = self.add_in_layout(result, new);
                match element {
                    None => self.set_root(body, copy),
                    Some(index) => self.set_operand(root, index as usize, copy),
                }
            }
        }
        if let Some(index) = element {
            let tuple = with_element(self[root].shape(), index, new)?;
            self.set_shape(root, tuple);
        }
        Some(())
    }

    /// The computation of a fusion for XLA's emitters, which no other instruction calls any more.
    fn own_body(&mut self, fusion: InstructionId) -> Option<ComputationId> {
        let kind = self[fusion].attributes().text(AttributeKey::Kind);
        let body = self.fused_computation(fusion).filter(|_| kind != Some("kCustom"))?;
        if self.callers().get(&body).is_some_and(|callers| callers.len() > 1) {
            let own = self.copy_computation(body);
            self.set_calls(fusion, AttributeKey::Calls, &[own]);
            return Some(own);
        }
        Some(body)
    }

    /// Makes a kernel read an operand that is in a new layout. False, and nothing is changed, if it cannot.
    fn read_in(&mut self, user: InstructionId, value: InstructionId, old: &Shape, new: &Shape) -> bool {
        match self[user].opcode() {
            Opcode::Fusion => self.fusion_reads_in(user, value, old, new).is_some(),
            Opcode::Copy => {
                if self[user].shape() == new && !self[user].has_control_dependencies() {
                    self.replace(user, value);
                }
                true
            }
            Opcode::Transpose | Opcode::Broadcast | Opcode::Reduce => true,
            _ => false,
        }
    }

    fn fusion_reads_in(
        &mut self,
        fusion: InstructionId,
        value: InstructionId,
        old: &Shape,
        new: &Shape,
    ) -> Option<()> {
        let body = self.own_body(fusion)?;
        let parameters = self.parameters(body);
        let operands = self[fusion].operands().to_vec();
        let read = parameters.into_iter().zip(operands).filter(|(_, operand)| *operand == value);
        for (parameter, _) in read {
            self.set_shape(parameter, new.clone());
            let users = self[parameter].users().to_vec();
            let takes = |user: &InstructionId| {
                let opcode = self[*user].opcode();
                let has_layout = layout_of(self[*user].shape()) == layout_of(new);
                chooses_layout(opcode) || preserves_layout(opcode) && has_layout
            };
            let others: Vec<InstructionId> = users.iter().copied().filter(|user| !takes(user)).collect();
            if !others.is_empty() || self.is_root(parameter) {
                let (_, copy) = self.add_in_layout(parameter, old);
                others.iter().for_each(|&user| self.replace_use(parameter, user, copy));
                if self.is_root(parameter) {
                    self.set_root(body, copy);
                }
            }
            // A copy between equal layouts moves nothing.
            for user in users {
                let is_idle = self[user].opcode() == Opcode::Copy && self[user].shape() == new;
                if is_idle && !self.is_root(user) {
                    self.replace(user, parameter);
                }
            }
        }
        Some(())
    }

    /// Whether an instruction is the tuple that the entry returns.
    fn is_result_tuple(&self, id: InstructionId) -> bool {
        self[id].opcode() == Opcode::Tuple && id == self.root(self.entry()) && self[id].users().is_empty()
    }

    /// Returns a value, which has a new layout already, in the tuple of results.
    fn return_in(&mut self, value: InstructionId, tuple: InstructionId) -> Option<()> {
        let new = self[value].shape().clone();
        for index in 0..self[tuple].operands().len() {
            if self.operand(tuple, index) == value {
                let index = index as i64;
                let is_shared = self.header.aliases.iter().any(|alias| alias.output.first() == Some(&index));
                if is_shared {
                    return None;
                }
                let shape = with_element(self[tuple].shape(), index, &new)?;
                self.set_shape(tuple, shape);
                if let Some((_, result)) = &mut self.header.entry_layout {
                    *result = with_element(result, index, &new)?;
                }
            }
        }
        Some(())
    }

    /// Returns the only result in a new layout.
    fn return_alone(&mut self, new: &Shape) -> Option<()> {
        if !self.header.aliases.is_empty() {
            return None;
        }
        if let Some((_, result)) = &mut self.header.entry_layout {
            *result = new.clone();
        }
        Some(())
    }
}

/// Whether an op reads and writes any layouts, and is computed by XLA's emitters from the elements at their places.
fn chooses_layout(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(opcode, Copy | Transpose | Broadcast | Reduce | Iota | Gather)
}

fn layout_of(shape: &Shape) -> Option<Vec<usize>> {
    shape.as_array().map(ArrayShape::minor_to_major)
}

fn major_to_minor(shape: &Shape) -> Vec<i64> {
    layout_of(shape).unwrap_or_default().into_iter().rev().map(|dim| dim as i64).collect()
}

/// An array in another layout; `None` of what is no array, and of tiled and dynamic ones.
fn in_layout(shape: &Shape, minor_to_major: &[i64]) -> Option<Shape> {
    let array = shape.as_array()?;
    let own = array.layout.clone().unwrap_or_else(|| Layout::row_major(array.rank()));
    if !own.tiles.is_empty() || own.split.is_some() || !array.dynamic.is_empty() {
        return None;
    }
    let layout = Layout { minor_to_major: minor_to_major.to_vec(), ..own };
    let array = ArrayShape { layout: Some(layout), ..array.clone() };
    Some(Shape::Array(Arc::new(array)).without_default_layouts())
}

/// A tuple with another element.
fn with_element(tuple: &Shape, index: i64, new: &Shape) -> Option<Shape> {
    let mut elements = tuple.tuple_elements()?.to_vec();
    *elements.get_mut(usize::try_from(index).ok()?)? = new.clone();
    Some(Shape::tuple(elements))
}
