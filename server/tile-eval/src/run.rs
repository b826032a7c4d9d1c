//! Executes one block.

use std::rc::Rc;

use eval::{Column, Evaluator, Kind as ElementKind, Reason};
use indexing_map::{Expr, IndexingMap};

use crate::memory::Memory;
use crate::problem::Problem;
use crate::program::{Access, Argument, Block, Computed, Kind, Op, Program, Value};
use crate::tiles::{below, positions};

/// Stack for regions in regions, whose depth is bounded, and for an op that `eval` evaluates.
const STACK: usize = 16 << 20;

impl Program {
    /// Executes block `block`. `work` is the number of elements that may be computed, and that of those which are left
    /// afterwards.
    ///
    /// # Errors
    ///
    /// If an op is applied outside of its domain, memory refuses an access, or the work does not suffice.
    pub fn run(&self, block: i64, memory: &mut dyn Memory, work: &mut u64) -> Result<(), Problem> {
        if !self.blocks.contains(&block) {
            return Err(Problem { line: 0, what: format!("there is no block {block}").into() });
        }
        recursion::with_stack(STACK, || {
            let mut values = vec![None; self.values];
            values[self.block_number] = Some(Rc::new(index(block)));
            let mut run = Run { arguments: &self.arguments, values, memory, work };
            run.block(&self.body).map(drop)
        })
    }
}

fn index(value: i64) -> Column {
    Column::int(ElementKind::Signed(64), vec![value])
}

/// The results of a map. XLA passes the number of the block for the thread, too, which no result uses.
fn applied(map: &IndexingMap, point: &[i64]) -> Result<Vec<Rc<Column>>, Reason> {
    let is_inside = |v: u32| map.variables()[v as usize].bounds.contains(point[v as usize]);
    let result = |result: &Expr| {
        let mut outside = None;
        result.for_each_var(&mut |v| outside = outside.or(Some(v).filter(|&v| !is_inside(v))));
        match (outside, result.evaluate(point)) {
            (None, Some(value)) => Ok(Rc::new(index(value))),
            _ => Err(format!("the map has no value at {point:?}").into()),
        }
    };
    map.results().iter().map(result).collect()
}

/// The execution of one block.
struct Run<'a> {
    arguments: &'a [Argument],
    values: Vec<Option<Rc<Column>>>,
    memory: &'a mut dyn Memory,
    work: &'a mut u64,
}

impl Run<'_> {
    /// Executes the ops of a block. Returns what it yields.
    fn block(&mut self, block: &Block) -> Result<Vec<Rc<Column>>, Problem> {
        for op in &block.ops {
            cancel::check();
            let results = match op.kind {
                Kind::For => self.for_loop(op)?,
                Kind::If => {
                    let is_true = self.scalar(op, 0).map_err(Problem::at(op.line))? != 0;
                    match op.blocks.get(usize::from(!is_true)) {
                        Some(chosen) => self.block(chosen)?,
                        None => Vec::new(),
                    }
                }
                _ => self.simple(op).map_err(Problem::at(op.line))?,
            };
            if results.len() != op.results.len() {
                let what = format!("{} values for {} results", results.len(), op.results.len());
                return Err(Problem { line: op.line, what: what.into() });
            }
            for (&result, value) in op.results.iter().zip(results) {
                self.values[result] = Some(value);
            }
        }
        block.yields.iter().map(|&value| self.value(value).map_err(Problem::at(0))).collect()
    }

    fn for_loop(&mut self, op: &Op) -> Result<Vec<Rc<Column>>, Problem> {
        let at = Problem::at(op.line);
        let (lower, upper, step) =
            (|| Ok((self.scalar(op, 0)?, self.scalar(op, 1)?, self.scalar(op, 2)?)))().map_err(&at)?;
        let body = op.blocks.first().ok_or("a loop without a body").map_err(|why| at(why.into()))?;
        if step <= 0 {
            return Err(at(format!("a loop in steps of {step}").into()));
        }
        let mut carried: Vec<Rc<Column>> = (op.operands.iter().skip(3))
            .map(|&value| self.value(value))
            .collect::<Result<_, _>>()
            .map_err(&at)?;
        let mut counter = lower;
        while counter < upper {
            self.spend(1).map_err(&at)?;
            let given = std::iter::once(Rc::new(index(counter))).chain(carried);
            for (&argument, value) in body.arguments.iter().zip(given) {
                self.values[argument] = Some(value);
            }
            carried = self.block(body)?;
            let Some(next) = counter.checked_add(step) else { break };
            counter = next;
        }
        Ok(carried)
    }

    fn simple(&mut self, op: &Op) -> Result<Vec<Rc<Column>>, Reason> {
        let value = match &op.kind {
            Kind::Compute(computed) => return self.computed(op, computed),
            Kind::Same => return op.operands.iter().map(|&value| self.value(value)).collect(),
            Kind::Apply(map) => {
                let point: Vec<i64> =
                    (0..op.operands.len()).map(|n| self.scalar(op, n)).collect::<Result<_, _>>()?;
                return applied(map, &point);
            }
            Kind::Extract(access) => self.extract(op, access)?,
            Kind::Insert(access) => {
                self.insert(op, access)?;
                return Ok(Vec::new());
            }
            Kind::Mask { sizes, bounds } => {
                let kept = below(sizes, bounds)?;
                self.spend(kept.len())?;
                let (tile, neutral) = (self.operand(op, 0)?, self.operand(op, 1)?);
                if tile.len() != kept.len() || neutral.len() != 1 || neutral.kind != tile.kind {
                    return Err("a mask of other types".into());
                }
                let mut both = Column::clone(&tile);
                both.append(&neutral);
                let picked: Vec<u32> = kept
                    .iter()
                    .enumerate()
                    .map(|(i, &kept)| if kept { i } else { tile.len() } as u32)
                    .collect();
                both.pick(&picked)
            }
            Kind::For | Kind::If => return Err("an op with blocks".into()),
        };
        Ok(vec![Rc::new(value)])
    }

    /// The results of an op of HLO: its only value, or the elements of a tuple.
    fn computed(&mut self, op: &Op, computed: &Computed) -> Result<Vec<Rc<Column>>, Reason> {
        let operands: Vec<Rc<Column>> =
            op.operands.iter().map(|&value| self.value(value)).collect::<Result<_, _>>()?;
        let callees = |name: &str| computed.callees.get(name).cloned();
        let inputs = |number: u32, _: usize, positions: &[i64]| -> Result<Column, Reason> {
            let column = operands.get(number as usize).ok_or("an operand is missing")?;
            let picked: Vec<u32> = positions.iter().map(|&p| p as u32).collect();
            match picked.iter().all(|&p| (p as usize) < column.len()) {
                true => Ok(column.pick(&picked)),
                false => Err("an operand has fewer elements than its type says".into()),
            }
        };
        let mut evaluator = Evaluator::new(computed.graph.clone(), &callees, &inputs);
        evaluator.limit(*self.work);
        let found = (0..op.results.len())
            .map(|result| evaluator.whole(computed.graph.root, result).map(Rc::new))
            .collect();
        *self.work = evaluator.work_left();
        found
    }

    fn extract(&mut self, op: &Op, access: &Access) -> Result<Column, Reason> {
        let argument = self.argument(access)?;
        let kind = ElementKind::of(argument.element).ok_or("an array without values")?;
        let offsets = self.offsets(op, access, 0)?;
        let places = positions(&argument.dims, &offsets, &access.sizes, &access.strides)?;
        self.spend(places.len())?;
        let inside: Vec<i64> = places.iter().copied().flatten().collect();
        let mut read = self.memory.read(access.argument, &inside)?;
        if read.len() != inside.len() || read.kind != kind {
            return Err("memory answers with other elements".into());
        }
        if inside.len() == places.len() {
            return Ok(read);
        }
        read.append(&self.memory.outside(kind, places.len() - inside.len()));
        let (mut next_inside, mut next_outside) = (0, inside.len() as u32);
        let picked: Vec<u32> = (places.iter())
            .map(|place| {
                let next = if place.is_some() { &mut next_inside } else { &mut next_outside };
                *next += 1;
                *next - 1
            })
            .collect();
        Ok(read.pick(&picked))
    }

    fn insert(&mut self, op: &Op, access: &Access) -> Result<(), Reason> {
        let argument = self.argument(access)?;
        let kind = ElementKind::of(argument.element).ok_or("an array without values")?;
        let offsets = self.offsets(op, access, 1)?;
        let places = positions(&argument.dims, &offsets, &access.sizes, &access.strides)?;
        self.spend(places.len())?;
        let tile = self.operand(op, 0)?;
        if tile.len() != places.len() || tile.kind != kind {
            return Err("a tile of another type than its array".into());
        }
        let (picked, inside): (Vec<u32>, Vec<i64>) =
            (0..).zip(&places).filter_map(|(i, place)| Some((i, (*place)?))).unzip();
        self.memory.write(access.argument, &inside, &tile.pick(&picked))
    }

    fn argument(&self, access: &Access) -> Result<&Argument, Reason> {
        self.arguments.get(access.argument).ok_or_else(|| "there is no such argument".into())
    }

    /// The offsets of an access whose offsets that are not known are the operands from `next` on.
    fn offsets(&self, op: &Op, access: &Access, mut next: usize) -> Result<Vec<i64>, Reason> {
        let offset = |known: &Option<i64>| match known {
            Some(offset) => Ok(*offset),
            None => {
                next += 1;
                self.scalar(op, next - 1)
            }
        };
        access.offsets.iter().map(offset).collect()
    }

    fn value(&self, value: Value) -> Result<Rc<Column>, Reason> {
        self.values.get(value).cloned().flatten().ok_or_else(|| "a value that is not computed yet".into())
    }

    fn operand(&self, op: &Op, number: usize) -> Result<Rc<Column>, Reason> {
        self.value(*op.operands.get(number).ok_or_else(|| format!("operand {number} is missing"))?)
    }

    fn scalar(&self, op: &Op, number: usize) -> Result<i64, Reason> {
        let value = self.operand(op, number)?;
        match (value.ints(), &value.error) {
            (&[only], None) => Ok(only),
            _ => Err(format!("operand {number} is not one integer").into()),
        }
    }

    fn spend(&mut self, elements: usize) -> Result<(), Reason> {
        *self.work = self.work.checked_sub(elements as u64).ok_or("too much work to execute")?;
        Ok(())
    }
}
