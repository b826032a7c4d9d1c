//! Ops of entries other than loops over elements: functions on scalars, vectors, and accesses by some threads
//! only.

use indexing_map::{Constraint, Expr, Variable};
use ir::{AttributeKey, OpId};

use crate::Reason;
use crate::emit::body::Body;
use crate::emit::elemental::{Elements, element_types};
use crate::emit::entry::Entry;
use crate::kernel::{Missing, OpKind, Type, ValueId};

impl<'a> Entry<'a> {
    /// The number of the function with which a reduction combines two elements. If no rule implements it, the
    /// function contains a missing op.
    pub fn reducer(&mut self, id: OpId) -> Result<usize, Reason> {
        let op = &self.emission.graph().ops[id as usize];
        let called = op.attributes.computation(AttributeKey::ToApply).ok_or("it calls no computation")?;
        let reason = match self.emission.computation(called) {
            Ok(number) => return Ok(number),
            Err(reason) => reason.into_owned(),
        };
        let instruction = self.emission.graph().names[id as usize].clone();
        self.elements.missing.push(Missing { op: id, instruction, reason });
        let mut body = Body::new(&super::kernel_name(called), None);
        let results = element_types(&op.shape);
        for &element in results.iter().chain(&results) {
            body.arg(Type::Scalar(element));
        }
        let results: Vec<ValueId> = results.into_iter().map(|element| body.scalar(element)).collect();
        body.push(OpKind::Missing, results.clone());
        Ok(self.emission.add(body.finish(results)))
    }

    /// The initial values of a reduction: the second half of its operands.
    pub fn inits(&mut self, op: OpId) -> Vec<ValueId> {
        let count = self.elements.operands(op).len();
        (count / 2..count).map(|operand| self.operand(op, operand, &[])).collect()
    }

    /// New values with the same types.
    pub fn like(&mut self, values: &[ValueId]) -> Vec<ValueId> {
        let body = &mut self.elements.body;
        let types: Vec<Type> = values.iter().map(|&value| body.function.ty(value).clone()).collect();
        types.into_iter().map(|ty| body.value(ty)).collect()
    }

    pub fn splat(&mut self, value: ValueId, size: i64) -> ValueId {
        let body = &mut self.elements.body;
        let element = body.function.element(value);
        let vector = body.value(Type::Vector { element, size });
        body.push(OpKind::Splat { value }, vec![vector]);
        vector
    }

    pub fn extract(&mut self, vector: ValueId, at: &Expr) -> ValueId {
        let body = &mut self.elements.body;
        let element = body.function.element(vector);
        body.compute_as(OpKind::Extract { vector, at: at.clone() }, element)
    }

    pub fn insert(&mut self, value: ValueId, vector: ValueId, at: &Expr) -> ValueId {
        let result = self.like(&[vector])[0];
        self.elements.body.push(OpKind::Insert { value, vector, at: at.clone() }, vec![result]);
        result
    }

    /// The results of a function on scalars: half as many as it has arguments.
    pub fn combine(&mut self, function: usize, args: Vec<ValueId>) -> Vec<ValueId> {
        let results = self.like(&args[..args.len() / 2]);
        self.elements.body.push(OpKind::Call { function, args, at: Vec::new() }, results.clone());
        results
    }

    /// Values reduced among the threads of a warp.
    pub fn shuffled(
        &mut self,
        combiner: usize,
        values: &[ValueId],
        distance: i64,
        origin: OpId,
    ) -> Vec<ValueId> {
        let results = self.like(values);
        let kind = OpKind::ShuffleReduce { values: values.to_vec(), distance, combiner };
        self.elements.body.push_of(Some(origin), kind, results.clone());
        results
    }

    pub fn read_if(
        &mut self,
        tensor: ValueId,
        at: Vec<Expr>,
        constraints: Vec<Constraint>,
        otherwise: ValueId,
    ) -> ValueId {
        let body = &mut self.elements.body;
        if constraints.is_empty() {
            return body.read(tensor, at);
        }
        let element = body.function.element(tensor);
        body.compute_as(OpKind::ReadIf { tensor, at, constraints, otherwise }, element)
    }

    pub fn write_if(
        &mut self,
        value: ValueId,
        tensor: ValueId,
        at: Vec<Expr>,
        constraints: Vec<Constraint>,
    ) -> ValueId {
        if constraints.is_empty() {
            return self.elements.body.write(value, tensor, at);
        }
        let result = self.like(&[tensor])[0];
        self.elements.body.push(OpKind::WriteIf { value, tensor, at, constraints }, vec![result]);
        result
    }

    /// Calls `write` for each of `count` columns. It gets the column's number if there are several, and the
    /// tensors, and returns the written tensors.
    pub fn each_column(
        &mut self,
        count: i64,
        carried: Vec<ValueId>,
        write: impl FnOnce(&mut Self, Option<&Expr>, Vec<ValueId>) -> Vec<ValueId>,
    ) -> Vec<ValueId> {
        if count <= 1 {
            return write(self, None, carried);
        }
        let var = self.elements.body.index_var(Variable::from_size(count));
        let inner = self.like(&carried);
        self.elements.enter(inner.clone());
        let yields = write(self, Some(&Expr::var(var as usize)), inner);
        let body = self.elements.leave(yields);
        let results = self.like(&carried);
        self.elements.body.push(OpKind::For { var, count, inits: carried, body }, results.clone());
        results
    }

    /// The values of roots, computed from values of heroes by an epilogue function. `indices` are the index
    /// of each root, over variables, and `place` are the values of these variables.
    pub fn epilogue(
        &mut self,
        roots: &[OpId],
        indices: &[Vec<Expr>],
        (variables, place): (&[Variable], &[Expr]),
        given: &[(OpId, Vec<ValueId>)],
    ) -> Vec<Vec<ValueId>> {
        let emission = self.emission;
        let names: Vec<String> =
            roots.iter().map(|&root| super::kernel_name(&emission.graph().names[root as usize])).collect();
        let name =
            format!("{}__epilogue__{}", super::kernel_name(emission.source.computation), names.join("_"));
        let mut elements = Elements::new(emission, u32::MAX, Body::new(&name, roots.first().copied()));
        let vars: Vec<Expr> =
            variables.iter().map(|variable| elements.body.index_arg(variable.clone())).collect();
        for (hero, values) in given {
            let types: Vec<Type> =
                values.iter().map(|&value| self.elements.body.function.ty(value).clone()).collect();
            let args = types.into_iter().map(|ty| elements.body.arg(ty)).collect();
            elements.given.insert(*hero, args);
        }
        let mut counts = Vec::new();
        let mut yields = Vec::new();
        for (&root, index) in roots.iter().zip(indices) {
            let index: Vec<Expr> = index
                .iter()
                .map(|expr| {
                    let expr = expr.substitute(&mut |v| vars.get(v as usize).cloned());
                    elements.body.simplify(&expr)
                })
                .collect();
            elements.number = emission.partition.function_of[root as usize];
            let values = elements.results(root, &index);
            counts.push(values.len());
            yields.extend(values);
        }
        self.elements.missing.append(&mut elements.missing);
        let types: Vec<Type> = yields.iter().map(|&value| elements.body.function.ty(value).clone()).collect();
        let function = emission.add(elements.body.finish(yields));
        let body = &mut self.elements.body;
        let results: Vec<ValueId> = types.into_iter().map(|ty| body.value(ty)).collect();
        let mut args = self.elements.tensors.clone();
        args.extend(given.iter().flat_map(|(_, values)| values.iter().copied()));
        body.push(OpKind::Call { function, args, at: place.to_vec() }, results.clone());
        let mut rest = results.as_slice();
        let mut answer = Vec::new();
        for count in counts {
            let (own, others) = rest.split_at(count);
            answer.push(own.to_vec());
            rest = others;
        }
        answer
    }
}
