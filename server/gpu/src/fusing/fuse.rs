//! How XLA moves an instruction into a fusion: the order of operands, parameters and results.
//!
//! Source: `HloCallableInstruction` and `HloFusionInstruction`, `hlo/ir/hlo_instructions.cc`.

use indexing::Callees;
use ir::{AttributeKey, AttributeValue, Attributes, Op, OpId, Opcode, Shape};

use super::computation::Computation;

/// How an op comes into a fusion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Appended {
    /// The op stays for its other users.
    Copy,
    /// The op is removed next.
    Moved,
    /// The fusion has its result too.
    Result,
}

impl Computation {
    /// Replaces an op by a fusion of it alone, and returns the fusion.
    pub(super) fn create_fusion(&mut self, consumer: OpId, kind: &str, callees: &Callees<'_>) -> OpId {
        let op = Op {
            opcode: Opcode::Fusion,
            attributes: Attributes::default().with(AttributeKey::Kind, AttributeValue::Word(kind.to_owned())),
            ..Op::leaf(self.op(consumer).shape.clone())
        };
        let origin = self.origins[consumer as usize].clone();
        let fusion = self.push(op, Vec::new(), "fusion".to_owned(), origin);
        let mut body = Computation::default();
        body.graph.is_complete = true;
        self.set_body(fusion, body);
        let clone = self.copy_into_body(fusion, consumer, false);
        if let Some(body) = self.body_mut(fusion) {
            body.graph.root = clone;
        }
        self.replace_all_uses(consumer, fusion, callees);
        if self.guesses_users(consumer) {
            self.guess_users(fusion);
        }
        self.remove(consumer);
        fusion
    }

    /// Moves `producer` into `fusion`, which uses it. It stays as it is for its other users. False if a
    /// computation is missing.
    pub(super) fn fuse(&mut self, producer: OpId, fusion: OpId, callees: &Callees<'_>) -> bool {
        if !self.open_body(fusion, callees) {
            return false;
        }
        match self.op(producer).opcode {
            Opcode::Fusion => self.merge(producer, fusion, callees),
            _ => {
                self.append(producer, fusion, Appended::Copy, callees);
                true
            }
        }
    }

    /// Moves `producer` into `fusion`, which then also has its results, and removes it. False if a
    /// computation is missing.
    pub(super) fn fuse_with_results(&mut self, producer: OpId, fusion: OpId, callees: &Callees<'_>) -> bool {
        if !self.open_body(fusion, callees) {
            return false;
        }
        if self.op(producer).opcode == Opcode::Fusion {
            return self.merge_with_results(producer, fusion, callees);
        }
        self.append(producer, fusion, Appended::Result, callees);
        self.remove(producer);
        true
    }

    /// Source: `CloneAndAppendInstructionIntoCalledComputation`.
    fn append(&mut self, instruction: OpId, fusion: OpId, how: Appended, callees: &Callees<'_>) {
        let clone = self.copy_into_body(fusion, instruction, how == Appended::Moved);
        let mut is_output = how == Appended::Result;
        if let Some(number) = self.operands(fusion).iter().position(|&o| o == instruction) {
            if let Some(body) = self.body_mut(fusion) {
                let parameter = body.parameters()[number];
                body.replace_all_uses(parameter, clone, callees);
                body.remove_parameter(number);
            }
            self.drop_operand(fusion, number);
            self.remove_user(instruction, fusion);
            is_output &= !self.users(instruction).is_empty();
        }
        if is_output {
            self.add_result(instruction, fusion, clone, callees);
        }
    }

    /// Adds an op to the body, or a copy of it; the fusion gets those of its operands that it does not have yet. An op that is moved
    /// loses what it is, and has to be removed.
    fn copy_into_body(&mut self, fusion: OpId, instruction: OpId, is_moved: bool) -> OpId {
        let number = self.number(instruction);
        let (op, name, origin) = match is_moved {
            true => self.take(instruction),
            false => (
                self.op(instruction).clone(),
                self.name(instruction).to_owned(),
                self.origins[instruction as usize].clone(),
            ),
        };
        let operands = self.operands(instruction).to_vec();
        let mut inner = Vec::with_capacity(operands.len());
        for &operand in &operands {
            let known = self.operands(fusion).iter().position(|&o| o == operand);
            let known = known.and_then(|at| self.body(fusion)?.parameters().get(at).copied());
            inner.push(match known {
                Some(parameter) => parameter,
                None => {
                    let shape = self.op(operand).shape.clone();
                    self.append_operand(fusion, operand);
                    self.body_mut(fusion).map_or(0, |body| body.add_parameter(shape))
                }
            });
        }
        let Some(body) = self.body_mut(fusion) else { return 0 };
        let clone = body.push(op, inner, name, origin);
        if let Some(number) = number {
            body.set_number(clone, number);
        }
        clone
    }

    /// Makes `clone`, which is `instruction` in the fusion, a result of the fusion, and uses it instead of
    /// `instruction`.
    fn add_result(&mut self, instruction: OpId, fusion: OpId, clone: OpId, callees: &Callees<'_>) {
        let shape = self.op(instruction).shape.clone();
        let Some(body) = self.body_mut(fusion) else { return };
        let root = body.root();
        let is_tuple = body.op(root).opcode == Opcode::Tuple;
        if is_tuple && let Some(index) = body.operands(root).iter().position(|&o| o == clone) {
            let element = self.add_element(fusion, index, shape);
            self.replace_all_uses(instruction, element, callees);
            return;
        }
        let mut results = match is_tuple {
            true => body.operands(root).to_vec(),
            false => vec![root],
        };
        results.push(clone);
        let index = results.len() - 1;
        let shapes: Vec<Shape> = results.iter().map(|&id| body.op(id).shape.clone()).collect();
        let whole = Shape::Tuple(shapes.clone().into());
        let tuple = Op { opcode: Opcode::Tuple, operand_shapes: shapes, ..Op::leaf(whole.clone()) };
        let old_shape = body.op(root).shape.clone();
        body.graph.root = body.push(tuple, results, "tuple".to_owned(), None);
        if is_tuple {
            body.remove(root);
        }
        self.set_shape(fusion, whole);
        if !is_tuple {
            let element = self.add_element(fusion, 0, old_shape);
            self.replace_all_uses(fusion, element, callees);
        }
        let element = self.add_element(fusion, index, shape);
        self.replace_all_uses(instruction, element, callees);
    }

    /// The ops of a fusion as ops of this computation, with the fusion's operands for its parameters: those that
    /// are new, operands first, and the one that is the root.
    fn unfuse(&mut self, fusion: OpId) -> Option<(OpId, Vec<OpId>)> {
        let body = self.body(fusion)?;
        let (graph, order) = body.to_graph();
        let origins: Vec<_> = order.iter().map(|&id| body.origins[id as usize].clone()).collect();
        let numbers: Vec<_> = order.iter().map(|&id| body.number(id)).collect();
        let operands = self.operands(fusion).to_vec();
        let (mut ids, mut new) = (Vec::with_capacity(order.len()), Vec::new());
        let ops = graph.ops.into_iter().zip(graph.operands).zip(graph.names).zip(origins).zip(numbers);
        for ((((op, inner), name), origin), number) in ops {
            if let Some(number) = op.parameter {
                ids.push(*operands.get(number as usize)?);
                continue;
            }
            let inner = inner.iter().map(|&o| ids[o as usize]).collect();
            let id = self.push(op, inner, name, origin);
            if let Some(number) = number {
                self.set_number(id, number);
            }
            ids.push(id);
            new.push(id);
        }
        Some((*ids.get(graph.root as usize)?, new))
    }

    /// Source: `MergeFusionInstruction`.
    fn merge(&mut self, producer: OpId, fusion: OpId, callees: &Callees<'_>) -> bool {
        if !self.open_body(producer, callees) {
            return false;
        }
        let first = self.graph.ops.len() as OpId;
        let Some((root, new)) = self.unfuse(producer) else { return false };
        self.replace_use(producer, fusion, root, callees);
        for &id in new.iter().rev() {
            self.append(id, fusion, Appended::Moved, callees);
            self.remove(id);
        }
        self.truncate(first);
        true
    }

    /// Source: `MergeFusionInstructionIntoMultiOutput`.
    fn merge_with_results(&mut self, producer: OpId, fusion: OpId, callees: &Callees<'_>) -> bool {
        if !self.open_body(producer, callees) {
            return false;
        }
        let Some((root, mut new)) = self.unfuse(producer) else { return false };
        let mut results = vec![root];
        if self.op(root).opcode == Opcode::Tuple && self.has_several_results(producer) {
            new.retain(|&id| id != root);
            results.clear();
            let elements = self.operands(root).to_vec();
            self.remove(root);
            for element in self.users(producer).to_vec() {
                let index = self.op(element).attributes.int(AttributeKey::Index).unwrap_or(0);
                let Some(&result) = usize::try_from(index).ok().and_then(|index| elements.get(index)) else {
                    continue;
                };
                let is_used_outside = self.users(element).iter().any(|&user| user != fusion);
                if is_used_outside || self.root() == element {
                    results.push(result);
                }
                self.replace_all_uses(element, result, callees);
                self.remove(element);
            }
        } else {
            self.replace_all_uses(producer, root, callees);
        }
        self.remove(producer);
        for &id in new.iter().rev() {
            let how = if results.contains(&id) { Appended::Result } else { Appended::Moved };
            self.append(id, fusion, how, callees);
            self.remove(id);
        }
        true
    }
}
