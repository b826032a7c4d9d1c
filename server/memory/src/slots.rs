//! The places of a program that hold a value: each instruction, and each element of one that is a tuple.

use ir::Shape;

use crate::program::{Id, Program};

/// Index of a place. Those of an instruction are in a row, a tuple before its elements.
pub type Slot = u32;

/// Size: 40 bytes per slot.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    /// Per instruction, its first slot; and the number of slots.
    first: Vec<Slot>,
    owner: Vec<Id>,
    shapes: Vec<Shape>,
    /// The elements of slot i are `children[first_child[i]..first_child[i + 1]]`.
    first_child: Vec<u32>,
    children: Vec<Slot>,
    /// Per slot, its tuple, or itself.
    parent: Vec<Slot>,
}

impl Slots {
    pub(crate) fn of(program: &Program) -> Slots {
        let mut slots = Slots::default();
        for (id, instruction) in program.instructions.iter().enumerate() {
            cancel::tick();
            slots.first.push(slots.owner.len() as Slot);
            slots.add(id as Id, &instruction.shape);
        }
        slots.first.push(slots.owner.len() as Slot);
        let count = slots.owner.len();
        let mut sizes = vec![0u32; count + 1];
        for slot in 0..count {
            if slots.parent[slot] != slot as Slot {
                sizes[slots.parent[slot] as usize + 1] += 1;
            }
        }
        for slot in 0..count {
            sizes[slot + 1] += sizes[slot];
        }
        let mut next = sizes.clone();
        slots.children = vec![0; sizes[count] as usize];
        for slot in 0..count {
            let parent = slots.parent[slot] as usize;
            if parent != slot {
                slots.children[next[parent] as usize] = slot as Slot;
                next[parent] += 1;
            }
        }
        slots.first_child = sizes;
        slots
    }

    /// Adds a shape and what is in it. The parser bounds the depth of a shape.
    fn add(&mut self, id: Id, shape: &Shape) {
        let mut open = vec![(shape, None)];
        while let Some((shape, parent)) = open.pop() {
            let slot = self.owner.len() as Slot;
            self.owner.push(id);
            self.shapes.push(shape.clone());
            self.parent.push(parent.unwrap_or(slot));
            if let Some(elements) = shape.tuple_elements() {
                open.extend(elements.iter().rev().map(|element| (element, Some(slot))));
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.owner.len()
    }

    /// The slot of the whole result.
    pub(crate) fn top(&self, id: Id) -> Slot {
        self.first[id as usize]
    }

    pub(crate) fn of_instruction(&self, id: Id) -> std::ops::Range<Slot> {
        self.first[id as usize]..self.first[id as usize + 1]
    }

    pub(crate) fn owner(&self, slot: Slot) -> Id {
        self.owner[slot as usize]
    }

    pub(crate) fn is_top(&self, slot: Slot) -> bool {
        self.parent[slot as usize] == slot
    }

    pub(crate) fn shape(&self, slot: Slot) -> &Shape {
        &self.shapes[slot as usize]
    }

    pub(crate) fn is_tuple(&self, slot: Slot) -> bool {
        matches!(self.shape(slot), Shape::Tuple(_))
    }

    pub(crate) fn children(&self, slot: Slot) -> &[Slot] {
        let at = slot as usize;
        &self.children[self.first_child[at] as usize..self.first_child[at + 1] as usize]
    }

    /// The number of slots of a tuple with all in it; 1 for an array.
    pub(crate) fn extent(&self, slot: Slot) -> u32 {
        let mut last = slot;
        while let Some(&child) = self.children(last).last() {
            last = child;
        }
        last - slot + 1
    }

    /// Follows a path from a slot.
    pub(crate) fn at(&self, slot: Slot, path: &[i64]) -> Option<Slot> {
        path.iter()
            .try_fold(slot, |slot, &index| self.children(slot).get(usize::try_from(index).ok()?).copied())
    }

    /// The path from the instruction's result to a slot.
    pub(crate) fn path(&self, mut slot: Slot) -> Vec<i64> {
        let mut path = Vec::new();
        while !self.is_top(slot) {
            let parent = self.parent[slot as usize];
            let index = self.children(parent).partition_point(|&child| child < slot);
            path.push(index as i64);
            slot = parent;
        }
        path.reverse();
        path
    }

    /// `name{0,1}` of a slot.
    pub(crate) fn name(&self, program: &Program, slot: Slot) -> String {
        let path: Vec<String> = self.path(slot).iter().map(i64::to_string).collect();
        format!("{}{{{}}}", program.instruction(self.owner(slot)).name, path.join(","))
    }
}
