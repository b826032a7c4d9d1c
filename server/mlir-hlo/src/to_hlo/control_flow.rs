//! Loops and branches: what their regions see of the outside becomes operands.

use std::rc::Rc;

use mlir::lists::braced;
use mlir::{OpId, RegionId, ValueId};

use super::Writer;
use super::annotations::known_attributes;
use super::body::{Operand, list, tuple_shape};
use crate::op_row::OpRow;
use crate::op_text::missing;

/// A value of the outside, and which result of its pack it is.
type Captured = (ValueId, u32);

impl Writer<'_> {
    pub(super) fn while_loop(&mut self, id: OpId) -> Result<(), String> {
        let regions: Vec<RegionId> = self.parse().regions_of(id).collect();
        let [condition, body] = regions[..] else { return Err("it has no condition and no body".to_owned()) };
        let mut operands = self.operands(id)?;
        let carried = operands.len();
        let captured = self.captured(id, &regions);
        for &(value, index) in &captured {
            operands.extend(self.value(value, index));
        }
        let shapes: Vec<Rc<str>> = operands.iter().map(|o| o.shape.clone()).collect();
        let condition = self.loop_region(id, condition, &shapes, &captured, true)?;
        let body = self.loop_region(id, body, &shapes, &captured, false)?;
        let results = self.results(id)?;
        if results.len() != carried {
            return Err("its results are not as many as its operands".to_owned());
        }
        let (mut annotations, location) = self.annotations(id, &[]);
        let added: Vec<String> =
            operands[carried..].iter().map(|operand| self.sharding_of(operand)).collect();
        annotations.add_shardings(carried, &added);
        let behind = format!("condition={condition}, body={body}{annotations}{location}");
        if let [only] = operands.as_slice() {
            let rest = format!("while({}), {behind}", only.name);
            self.define(id, "while", results, &rest);
            return Ok(());
        }
        let tuple = self.tuple(&operands, id);
        let wanted = match self.parse().op(id).results.is_empty() {
            true => "while".to_owned(),
            false => self.wanted_name(self.parse().op(id).results.start, "while"),
        };
        let rest = format!("while({}), {behind}", tuple.name);
        let whole = self.body().push(&wanted, tuple.shape.clone(), &rest, id);
        self.define_elements(id, &whole, &results, 0);
        Ok(())
    }

    /// What an instruction says of where it is.
    fn sharding_of(&mut self, operand: &Operand) -> String {
        let line = self.body().lines.iter().rev().find(|line| line.name == operand.name);
        let stated = line.and_then(|line| braced(line.text.split_once(", sharding=")?.1));
        stated.unwrap_or("{replicated}").to_owned()
    }

    /// The computation of a loop's region: its parameter is all that the loop carries.
    fn loop_region(
        &mut self,
        id: OpId,
        region: RegionId,
        shapes: &[Rc<str>],
        captured: &[Captured],
        is_condition: bool,
    ) -> Result<String, String> {
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
            let parameter = self.body().parameter("arg", shape.clone(), "", id);
            if let Some(&name) = names.first() {
                self.body().values.insert((name, 0), parameter);
            }
        } else {
            let whole = tuple_shape(shapes.iter().map(|s| &**s));
            let parameter = self.body().parameter("arg", whole, "", id);
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
    pub(super) fn conditional(&mut self, id: OpId, is_if: bool) -> Result<(), String> {
        let operands = self.operands(id)?;
        let index = operands.first().ok_or("it has no operand")?.clone();
        let regions: Vec<RegionId> = self.parse().regions_of(id).collect();
        if regions.is_empty() || is_if && regions.len() != 2 {
            return Err("its branches are not read".to_owned());
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
        let behind = match (is_if, branches.as_slice()) {
            (true, [yes, no]) => format!(", true_computation={yes}, false_computation={no}"),
            _ => format!(", branch_computations={{{}}}", branches.join(", ")),
        };
        let shapes = self.results(id)?;
        let (annotations, location) = self.annotations(id, &[]);
        let rest = format!("conditional({}){behind}{annotations}{location}", list(&arguments));
        self.define(id, "conditional", shapes, &rest);
        Ok(())
    }

    fn branch(
        &mut self,
        id: OpId,
        region: RegionId,
        captured: &[Captured],
        values: &[Operand],
    ) -> Result<String, String> {
        let block = self.entry_of(region)?;
        self.open_body()?;
        match values {
            [only] => {
                let parameter = self.body().parameter("arg", only.shape.clone(), "", id);
                self.body().values.insert(captured[0], parameter);
            }
            several => {
                let whole = tuple_shape(several.iter().map(|o| &*o.shape));
                let parameter = self.body().parameter("arg", whole, "", id);
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

    /// What is carried stands behind the others, among operands and results. HLO answers a tuple always.
    pub(super) fn scan(&mut self, id: OpId, row: &'static OpRow) -> Result<(), String> {
        let op = self.op_text(id);
        let operands = self.operands(id)?;
        let segments = op.ints(&["operandSegmentSizes"]).filter(|s| s.len() == 2).map(|s| s[1]);
        let inits = || op.body().split_once("inits")?.1.split_once('(')?.1.split_once(')');
        let carried = segments.or_else(|| Some(inits()?.0.matches('%').count() as i64));
        let carried = carried.ok_or("what it carries is not read")?;
        let dimension = op.int(&["dimension"]).ok_or_else(|| missing("dimension"))?;
        let mut behind = format!(", dimensions={{{dimension}}}");
        for flag in ["is_reverse", "is_associative"] {
            if op.int(&[flag]).is_some_and(|value| value != 0) {
                behind += &format!(", {flag}=true");
            }
        }
        let region = self.parse().regions_of(id).next().ok_or("it has no region")?;
        let computation = self.region(id, region)?;
        let shapes = self.results(id)?;
        let (annotations, location) = self.annotations(id, &known_attributes(row));
        let rest = format!(
            "scan({}){behind}, num_carries={carried}, to_apply={computation}{annotations}{location}",
            list(&operands)
        );
        let shape = tuple_shape(shapes.iter().map(|s| &**s));
        let whole = self.body().push("scan", shape, &rest, id);
        self.define_elements(id, &whole, &shapes, 0);
        Ok(())
    }
}
