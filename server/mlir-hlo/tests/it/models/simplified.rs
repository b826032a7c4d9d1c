//! What XLA leaves out of a module while it reads it.

use std::collections::HashMap;
use std::fmt;

use ir::{AttributeKey, ElementType, Opcode};

use super::program::{Node, Program};

/// Why an op has no instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Absent {
    /// It depends on constants alone: XLA has a constant of the same values in its place.
    Folded,
    /// It returns one of its operands as it is.
    Neutral,
    /// XLA has several instructions in its place, which read what it reads.
    Expanded,
    /// A branch that a constant chooses stands in its place.
    Chosen,
    /// What the module returns does not depend on it.
    Dead,
    /// Only such ops read it as XLA does not have.
    WithOthers,
}

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Absent::Folded => "folded into a constant of the same values",
            Absent::Neutral => "answered their operand as it is",
            Absent::Expanded => "expanded into several instructions",
            Absent::Chosen => "replaced by the branch that a constant chooses",
            Absent::Dead => "read by nothing",
            Absent::WithOthers => "read by ops that are left out, or in a branch of one",
        })
    }
}

impl Program {
    /// What stands in the place of an op whose value is known to be that of another one.
    pub fn replaced(&self, node: Node) -> Option<(Absent, Node)> {
        use Opcode::*;
        let op = self.op(node);
        let operands = self.operands(node);
        let is = |at: usize, number: f64| operands.get(at).is_some_and(|&of| self.number(of) == Some(number));
        let is_pred = op.shape.element() == Some(ElementType::Pred);
        let all_ones = if is_pred { 1.0 } else { -1.0 };
        let kept = match op.opcode {
            Add | Or | Xor if is(1, 0.0) => operands[0],
            Add | Or | Xor if is(0, 0.0) => operands[1],
            Subtract | ShiftLeft | ShiftRightLogical | ShiftRightArithmetic if is(1, 0.0) => operands[0],
            Multiply | Divide | Power if is(1, 1.0) => operands[0],
            Multiply if is(0, 1.0) => operands[1],
            And if is(1, all_ones) => operands[0],
            And if is(0, all_ones) => operands[1],
            Compare if op.attributes.text(AttributeKey::Direction) == Some("NE") && is(1, 0.0) => {
                Some(operands[0]).filter(|&of| self.op(of).shape.element() == Some(ElementType::Pred))?
            }
            Convert if self.op(operands[0]).shape == op.shape => operands[0],
            Concatenate => {
                let is_empty = |&&of: &&Node| self.op(of).shape.dims().contains(&0);
                let mut some = operands.iter().filter(|of| !is_empty(of));
                match (some.next(), some.next()) {
                    (Some(&only), None) => only,
                    _ => return None,
                }
            }
            GetTupleElement => self.invariant(node)?,
            Conditional => return Some((Absent::Chosen, self.root(self.chosen(node)?))),
            _ => return None,
        };
        Some((Absent::Neutral, kept))
    }

    /// What a loop starts with, of an element that it gives on as it is.
    fn invariant(&self, node: Node) -> Option<Node> {
        let index = self.op(node).attributes.int(AttributeKey::Index)?;
        let parameter = self.operands(node)[0];
        let is_given = |of: Node| {
            let op = self.op(of);
            op.opcode == Opcode::GetTupleElement
                && op.attributes.int(AttributeKey::Index) == Some(index)
                && self.op(self.operands(of)[0]).opcode == Opcode::Parameter
        };
        let element = |tuple: Node| {
            let elements = Some(tuple).filter(|&of| self.op(of).opcode == Opcode::Tuple);
            self.operands(elements?).get(usize::try_from(index).ok()?).copied()
        };
        let around = *self.loops.get(&parameter.0).filter(|_| is_given(node))?;
        let body = self.computation(self.op(around).attributes.computation(AttributeKey::Body)?)?;
        element(self.root(body)).filter(|&last| is_given(last))?;
        element(self.operands(around)[0])
    }

    /// The branch that a constant chooses.
    pub fn chosen(&self, node: Node) -> Option<usize> {
        let index = self.operands(node)[0];
        let bits = *self.known(index)?.first()?;
        let branches = self.called(node);
        let at = match self.op(index).shape.element()? {
            ElementType::Pred => usize::from(bits == 0),
            // What is not a branch is the last one.
            _ => usize::try_from(bits).ok().filter(|&at| at < branches.len()).unwrap_or(branches.len() - 1),
        };
        branches.get(at).copied()
    }

    /// The instructions that stand in the place of an op whose first is `node`: all are named after it. The answer is what they
    /// read, constants aside.
    pub fn expansion(&self, node: Node) -> (usize, Vec<Node>) {
        let name = |node: Node| {
            let metadata = self.op(node).attributes.text(AttributeKey::Metadata).unwrap_or_default();
            metadata.split_once("op_name=\"").and_then(|(_, rest)| rest.split_once('"')).map(|(name, _)| name)
        };
        let own = name(node);
        let (mut inside, mut read) = (vec![node], Vec::new());
        let mut at = 0;
        while at < inside.len() {
            for of in self.operands(inside[at]) {
                let is_own = own.is_some() && name(of) == own;
                let list = if is_own { &mut inside } else { &mut read };
                if !list.contains(&of) && self.op(of).opcode != Opcode::Constant {
                    list.push(of);
                }
            }
            at += 1;
        }
        (inside.len(), read)
    }

    /// Adds those ops that only such ops read as are in `absent`, and those that nothing reads.
    pub fn spread(&self, matched: &dyn Fn(Node) -> bool, absent: &mut HashMap<Node, Absent>) {
        let mut users: HashMap<Node, Vec<Node>> = HashMap::new();
        let mut callers: HashMap<usize, Vec<Node>> = HashMap::new();
        for node in self.nodes() {
            self.operands(node).into_iter().for_each(|of| users.entry(of).or_default().push(node));
            self.called(node).into_iter().for_each(|called| callers.entry(called).or_default().push(node));
        }
        for (computation, callers) in callers {
            users.entry(self.root(computation)).or_default().extend(callers);
        }
        loop {
            let before = absent.len();
            for node in self.nodes().rev() {
                if absent.contains_key(&node) || matched(node) || node == self.root(self.entry) {
                    continue;
                }
                let reasons = users.get(&node).into_iter().flatten().map(|user| absent.get(user).copied());
                let Some(reasons) = reasons.collect::<Option<Vec<_>>>() else { continue };
                let is_dead = reasons.iter().all(|&reason| reason == Absent::Dead);
                absent.insert(node, if is_dead { Absent::Dead } else { Absent::WithOthers });
            }
            if absent.len() == before {
                return;
            }
        }
    }
}
