//! Loops and branches: what their regions see of the outside becomes operands.

use ir::{AttributeKey as K, AttributeValue as Value, Attributes, Opcode, Shape};
use mlir::{OpId, RegionId, ValueId};

use super::Writer;
use super::annotations::known_attributes;
use super::body::{Draft, Operand};
use crate::not_in_hlo::NotInHlo;
use crate::op_row::OpRow;
use crate::op_text::missing;

/// A value of the outside, and which result of its pack it is.
type Captured = (ValueId, u32);

impl Writer<'_> {
    pub(super) fn while_loop(&mut self, id: OpId) -> Result<(), NotInHlo> {
        let regions: Vec<RegionId> = self.parse().regions_of(id).collect();
        let [condition, body] = regions[..] else { return Err("it has no condition and no body".into()) };
        let mut operands = self.operands(id)?;
        let carried = operands.len();
        let captured = self.captured(id, &regions);
        for &(value, index) in &captured {
            operands.extend(self.value(value, index));
        }
        let shapes: Vec<Shape> = operands.iter().map(|o| o.shape.clone()).collect();
        let condition = self.loop_region(id, condition, &shapes, &captured, true)?;
        let body = self.loop_region(id, body, &shapes, &captured, false)?;
        let results = self.results(id)?;
        if results.len() != carried {
            return Err("its results are not as many as its operands".into());
        }
        let mut annotations = self.annotations(id, &[]);
        let added: Vec<String> =
            operands[carried..].iter().map(|operand| self.sharding_of(operand)).collect();
        annotations.add_shardings(carried, &added);
        let mut attributes = Attributes::default()
            .with(K::Condition, Value::Computation(condition))
            .with(K::Body, Value::Computation(body));
        annotations.add_to(&mut attributes);
        if operands.len() == 1 {
            self.define(id, Opcode::While, results, &operands, attributes);
            return Ok(());
        }
        let tuple = self.tuple(&operands, id);
        let wanted = match self.parse().op(id).results.is_empty() {
            true => Opcode::While.name().to_owned(),
            false => self.wanted_name(self.parse().op(id).results.start, Opcode::While.name()),
        };
        let draft = Draft::new(Opcode::While, tuple.shape.clone(), &[tuple], attributes);
        let whole = self.body().push(&wanted, draft, id);
        self.define_elements(id, &whole, &results, 0);
        Ok(())
    }

    /// What an instruction says of where it is.
    fn sharding_of(&mut self, operand: &Operand) -> String {
        let stated = self.body().op(operand).attributes.text(K::Sharding);
        stated.unwrap_or("{replicated}").to_owned()
    }

    /// The computation of a loop's region: its parameter is all that the loop carries.
    fn loop_region(
        &mut self,
        id: OpId,
        region: RegionId,
        shapes: &[Shape],
        captured: &[Captured],
        is_condition: bool,
    ) -> Result<String, NotInHlo> {
        let block = self.entry_of(region)?;
        let bound = self.binders(id);
        let mut names: Vec<ValueId> = match bound.is_empty() {
            true => self.parse().blocks[block as usize].arguments.clone().collect(),
            false => bound,
        };
        names.truncate(shapes.len() - captured.len());
        let seen = self.captured(id, &[region]);
        self.open_body()?;
        if let ([shape], true) = (shapes, captured.is_empty()) {
            let parameter = self.body().parameter("arg", shape.clone(), Attributes::default(), id);
            if let Some(&name) = names.first() {
                self.body().values.insert((name, 0), parameter);
            }
        } else {
            let whole = Shape::tuple(shapes.iter().cloned());
            let parameter = self.body().parameter("arg", whole, Attributes::default(), id);
            let keys = names.iter().map(|&name| (name, 0)).chain(captured.iter().copied());
            for (at, (key, shape)) in keys.zip(shapes).enumerate() {
                // The body gives each on, the condition reads some.
                let is_read = match at < names.len() {
                    true => self.is_used(key.0, 0),
                    false => !is_condition || seen.contains(&key),
                };
                if is_read {
                    let element = self.element(&parameter, at, shape.clone(), id);
                    self.body().values.insert(key, element);
                }
            }
        }
        let mut results = self.block(block);
        let root = if is_condition {
            results.into_iter().next().ok_or("its condition answers nothing")?
        } else {
            for &(value, index) in captured {
                results.extend(self.value(value, index));
            }
            self.root(results, id)
        };
        let name = self.region_name("region");
        self.finish_body(&name, &root);
        Ok(name)
    }

    /// `if` and `case`: each branch takes one value, a tuple where it sees several.
    pub(super) fn conditional(&mut self, id: OpId, is_if: bool) -> Result<(), NotInHlo> {
        let operands = self.operands(id)?;
        let index = operands.first().ok_or("it has no operand")?.clone();
        let regions: Vec<RegionId> = self.parse().regions_of(id).collect();
        if regions.is_empty() || is_if && regions.len() != 2 {
            return Err("its branches are not read".into());
        }
        let mut arguments = vec![index];
        let mut branches = Vec::new();
        for region in regions {
            let captured = self.captured(id, &[region]);
            let values: Vec<Operand> = captured.iter().filter_map(|&(v, i)| self.value(v, i)).collect();
            arguments.push(match values.as_slice() {
                [only] => only.clone(),
                several => self.tuple(several, id),
            });
            branches.push(self.branch(id, region, &captured, &values)?);
        }
        let attributes = match (is_if, branches.as_slice()) {
            (true, [yes, no]) => Attributes::default()
                .with(K::TrueComputation, Value::Computation(yes.clone()))
                .with(K::FalseComputation, Value::Computation(no.clone())),
            _ => Attributes::default().with(K::BranchComputations, Value::Names(branches)),
        };
        self.emit(id, Opcode::Conditional, &arguments, attributes, &[])
    }

    fn branch(
        &mut self,
        id: OpId,
        region: RegionId,
        captured: &[Captured],
        values: &[Operand],
    ) -> Result<String, NotInHlo> {
        let block = self.entry_of(region)?;
        self.open_body()?;
        match values {
            [only] => {
                let parameter = self.body().parameter("arg", only.shape.clone(), Attributes::default(), id);
                self.body().values.insert(captured[0], parameter);
            }
            several => {
                let whole = Shape::tuple(several.iter().map(|o| o.shape.clone()));
                let parameter = self.body().parameter("arg", whole, Attributes::default(), id);
                for (at, (&key, value)) in captured.iter().zip(several).enumerate() {
                    let element = self.element(&parameter, at, value.shape.clone(), id);
                    self.body().values.insert(key, element);
                }
            }
        }
        let results = self.block(block);
        let root = self.root(results, id);
        let name = self.region_name("region");
        self.finish_body(&name, &root);
        Ok(name)
    }

    /// Carried values come last among operands and results. HLO always returns a tuple.
    pub(super) fn scan(&mut self, id: OpId, row: &'static OpRow) -> Result<(), NotInHlo> {
        let op = &self.op_text(id);
        let operands = self.operands(id)?;
        let segments = op.list(&["operandSegmentSizes"]).filter(|s| s.len() == 2).map(|s| s[1]);
        let inits = || op.body().split_once("inits")?.1.split_once('(')?.1.split_once(')');
        let carried = segments.or_else(|| Some(inits()?.0.matches('%').count() as i64));
        let carried = carried.ok_or("what it carries is not read")?;
        let dimension = op.int(&["dimension"]).ok_or_else(|| missing("dimension"))?;
        let mut attributes = Attributes::default().with(K::Dimensions, vec![dimension]);
        for (flag, key) in [("is_reverse", K::IsReverse), ("is_associative", K::IsAssociative)] {
            if op.int(&[flag]).is_some_and(|value| value != 0) {
                attributes.push(key, true);
            }
        }
        let region = self.parse().regions_of(id).next().ok_or("it has no region")?;
        let computation = self.region(id, region)?;
        let shapes = self.results(id)?;
        attributes.push(K::NumCarries, carried);
        attributes.push(K::ToApply, Value::Computation(computation));
        self.annotations(id, &known_attributes(row)).add_to(&mut attributes);
        if self.is_bare && shapes.len() == 1 {
            self.define(id, Opcode::Scan, shapes, &operands, attributes);
            return Ok(());
        }
        let shape = Shape::tuple(shapes.iter().cloned());
        let whole = self.instruction(id, Opcode::Scan, shape, &operands, attributes);
        self.define_elements(id, &whole, &shapes, 0);
        Ok(())
    }
}
