//! Instructions of two modules that are the same, found from the roots.

use std::collections::{HashMap, HashSet};

use indexing_map::{IndexingMap, SimplifyMode};
use ir::{AttributeKey, Opcode};

use super::program::{Node, Program, is_commutative, maps_of};
use super::simplified::Absent;
use crate::graphs::shown;

pub struct Pairs<'g> {
    ours: &'g Program,
    theirs: &'g Program,
    /// Instructions of ours whose maps are those of theirs.
    pub matched: HashSet<Node>,
    /// Instructions of ours that theirs has not.
    pub absent: HashMap<Node, Absent>,
    /// Instructions that are each other's, and read in another way.
    pub differing: Vec<String>,
    open: Vec<(Node, Node)>,
    seen: HashSet<(usize, usize)>,
    /// Branches that stand in the place of a conditional, and what their parameters are.
    inlined: HashMap<usize, Node>,
}

/// An instruction after those that only move what it makes, and where its elements go.
struct Moved {
    base: Node,
    through: Vec<Node>,
    map: Option<IndexingMap>,
}

impl Moved {
    fn text(&self, program: &Program) -> String {
        match &self.map {
            Some(map) => map.to_string(),
            None => IndexingMap::identity(program.op(self.base).shape.dims()).to_string(),
        }
    }
}

impl<'g> Pairs<'g> {
    pub fn of(ours: &'g Program, theirs: &'g Program) -> Pairs<'g> {
        let mut pairs = Pairs {
            ours,
            theirs,
            matched: HashSet::new(),
            absent: HashMap::new(),
            differing: Vec::new(),
            open: Vec::new(),
            seen: HashSet::new(),
            inlined: HashMap::new(),
        };
        pairs.computations(ours.entry, theirs.entry, None);
        let mut done = HashSet::new();
        while let Some(pair) = pairs.open.pop() {
            if done.insert(pair) {
                pairs.pair(pair.0, pair.1);
            }
        }
        let matched = std::mem::take(&mut pairs.matched);
        // What is left out in one place may be there in another.
        pairs.absent.retain(|node, _| !matched.contains(node));
        ours.spread(&|node| matched.contains(&node), &mut pairs.absent);
        pairs.matched = matched;
        pairs
    }

    /// Loops carry the same values in another order: which of theirs each of ours is.
    fn computations(&mut self, ours: usize, theirs: usize, order: Option<&[usize]>) {
        if !self.seen.insert((ours, theirs)) {
            return;
        }
        let roots = (self.ours.root(ours), self.theirs.root(theirs));
        match order {
            Some(order) => self.elements(roots.0, roots.1, order),
            None => self.open.push(roots),
        }
    }

    /// XLA writes a broadcast as several moves, and leaves out some: they are compared together.
    fn follow(&self, program: &Program, moved: &mut Moved) {
        loop {
            let op = program.op(moved.base);
            let operands = program.operands(moved.base);
            let base = match op.opcode {
                Opcode::Reshape | Opcode::Broadcast | Opcode::Transpose => {
                    let Some(step) =
                        maps_of(op).and_then(|maps| Some(maps.operands.first()?.first()?.map.clone()))
                    else {
                        return;
                    };
                    moved.map = Some(match moved.map.take() {
                        Some(map) => map.compose(&step).simplified(SimplifyMode::Replace),
                        None => step,
                    });
                    moved.through.push(moved.base);
                    operands[0]
                }
                Opcode::GetTupleElement if program.op(operands[0]).opcode == Opcode::Tuple => {
                    let index = op.attributes.int(AttributeKey::Index).unwrap_or_default();
                    program.operands(operands[0])[index as usize]
                }
                Opcode::Parameter if std::ptr::eq(program, self.ours) => {
                    match self.inlined.get(&moved.base.0) {
                        Some(&argument) => argument,
                        None => return,
                    }
                }
                _ => return,
            };
            moved.base = base;
        }
    }

    fn moved(&self, program: &Program, node: Node) -> Moved {
        let mut moved = Moved { base: node, through: Vec::new(), map: None };
        self.follow(program, &mut moved);
        moved
    }

    fn pair(&mut self, a: Node, b: Node) {
        let (mut left, right) = (self.moved(self.ours, a), self.moved(self.theirs, b));
        // What XLA leaves out of ours is passed over, unless theirs has it, too.
        while let Some((reason, next)) = self.ours.replaced(left.base) {
            let is_same = self.ours.op(left.base).opcode == self.theirs.op(right.base).opcode;
            let is_element = self.ours.op(left.base).opcode == Opcode::GetTupleElement;
            if is_same && (is_element || self.theirs.replaced(right.base).is_some()) {
                break;
            }
            if reason == Absent::Chosen
                && let Some(argument) = self.argument_of(left.base, next.0)
            {
                self.inlined.insert(next.0, argument);
            }
            self.absent.insert(left.base, reason);
            left.base = next;
            self.follow(self.ours, &mut left);
        }
        let (op, other) = (self.ours.op(left.base), self.theirs.op(right.base));
        let (own_moves, their_moves) = (left.text(self.ours), right.text(self.theirs));
        if op.opcode != other.opcode {
            return self.left_out(a, b, &left, &right);
        }
        // XLA makes one array of a constant, or of an iota, that is moved; both read nothing.
        let is_constant = matches!(op.opcode, Opcode::Constant | Opcode::Iota);
        if is_constant || own_moves == their_moves {
            self.matched.extend(left.through.iter().copied());
        } else {
            self.differing.push(format!("{}: {own_moves} is not {their_moves}", self.ours.name(left.base)));
        }
        let own = maps_of(op).map(|maps| shown(&maps));
        let mut their = maps_of(other).map(|maps| shown(&maps));
        let operands = self.ours.operands(left.base);
        let mut others = self.theirs.operands(right.base);
        if is_commutative(op.opcode) && self.is_turned(&operands, &others) {
            others.reverse();
            their.iter_mut().for_each(|maps| maps.reverse());
        }
        match own == their {
            true => _ = self.matched.insert(left.base),
            false => {
                self.differing.push(format!("{}: {own:?} is not {their:?}", self.ours.name(left.base)));
            }
        }
        if op.opcode == Opcode::While {
            return self.loops(left.base, right.base);
        }
        self.open.extend(operands.into_iter().zip(others));
        let called = self.ours.called(left.base).into_iter().zip(self.theirs.called(right.base));
        for (own, their) in called.collect::<Vec<_>>() {
            self.computations(own, their, None);
        }
    }

    /// What a branch of a conditional is given.
    fn argument_of(&self, conditional: Node, branch: usize) -> Option<Node> {
        let at = self.ours.called(conditional).iter().position(|&called| called == branch)?;
        self.ours.operands(conditional).get(at + 1).copied()
    }

    /// An op that is not an instruction of theirs: a value that is known, or something that several instructions compute.
    fn left_out(&mut self, a: Node, b: Node, left: &Moved, right: &Moved) {
        let (op, other) = (self.ours.op(left.base), self.theirs.op(right.base));
        let same = |a: Node, b: Node| {
            self.ours.known(a).is_some_and(|own| self.theirs.known(b).as_ref() == Some(&own))
        };
        let is_moved_alike = left.text(self.ours) == right.text(self.theirs);
        let is_constant = matches!(other.opcode, Opcode::Constant | Opcode::Iota);
        if is_constant && (same(a, b) || is_moved_alike && same(left.base, right.base)) {
            self.absent.insert(left.base, Absent::Folded);
            match is_moved_alike {
                true => self.matched.extend(left.through.iter().copied()),
                false => self.absent.extend(left.through.iter().map(|&node| (node, Absent::Folded))),
            }
            return;
        }
        let target = op.attributes.text(AttributeKey::CustomCallTarget).unwrap_or_default();
        if target.starts_with("chlo.") {
            let (count, read) = self.theirs.expansion(b);
            let operands = self.ours.operands(left.base);
            if count > 1 && read.len() == operands.len() {
                self.absent.insert(left.base, Absent::Expanded);
                self.open.extend(operands.into_iter().zip(read));
            }
        }
    }

    /// Whether the operands of theirs are ours in the other order.
    fn is_turned(&self, ours: &[Node], theirs: &[Node]) -> bool {
        let ([x, y], [u, v]) = (ours, theirs) else { return false };
        let likeness = |a: Node, b: Node| {
            let opcodes = self.ours.op(self.moved(self.ours, a).base).opcode
                == self.theirs.op(self.moved(self.theirs, b).base).opcode;
            2 * u32::from(self.ours.hash(a) == self.theirs.hash(b)) + u32::from(opcodes)
        };
        likeness(*x, *v) + likeness(*y, *u) > likeness(*x, *u) + likeness(*y, *v)
    }

    fn loops(&mut self, a: Node, b: Node) {
        let (from, to) = (self.ours.operands(a)[0], self.theirs.operands(b)[0]);
        let order = self.same_order(from, to);
        self.elements(from, to, &order);
        let called = |program: &Program, node: Node, key| {
            program.op(node).attributes.computation(key).and_then(|name| program.computation(name))
        };
        for (key, order) in [(AttributeKey::Condition, None), (AttributeKey::Body, Some(&order[..]))] {
            if let (Some(own), Some(their)) = (called(self.ours, a, key), called(self.theirs, b, key)) {
                self.computations(own, their, order);
            }
        }
    }

    /// Elements of two tuples, by which of theirs each of ours is.
    fn elements(&mut self, a: Node, b: Node, order: &[usize]) {
        if self.ours.op(a).opcode != Opcode::Tuple || self.theirs.op(b).opcode != Opcode::Tuple {
            return self.open.push((a, b));
        }
        let (a, b) = (self.ours.operands(a), self.theirs.operands(b));
        let both = order.iter().enumerate().filter_map(|(at, &other)| Some((*a.get(at)?, *b.get(other)?)));
        self.open.extend(both);
    }

    /// Which element of theirs is which of ours: of the same shape, and computed alike where that tells.
    fn same_order(&self, a: Node, b: Node) -> Vec<usize> {
        let (ours, theirs) = (self.ours.operands(a), self.theirs.operands(b));
        let mut free: Vec<usize> = (0..theirs.len()).collect();
        let mut order = vec![usize::MAX; ours.len()];
        for is_strict in [true, false] {
            for (at, &own) in ours.iter().enumerate().filter(|_| self.ours.op(a).opcode == Opcode::Tuple) {
                if order[at] != usize::MAX {
                    continue;
                }
                let fits = |&&other: &&usize| {
                    let their = theirs[other];
                    self.ours.op(own).shape.is_compatible(&self.theirs.op(their).shape)
                        && (!is_strict || self.ours.hash(own) == self.theirs.hash(their))
                };
                if let Some(&found) = free.iter().find(fits) {
                    order[at] = found;
                    free.retain(|&other| other != found);
                }
            }
        }
        order
    }
}
