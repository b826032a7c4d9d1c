//! From the text of an entry function to a [`Program`].

mod accesses;
mod regions;
mod scans;
mod triton;
mod unsigned;

use std::sync::Arc;

use eval::Reason;
use ir::ElementType;
use mlir::{Definition, OpId, Parse, PieceState, RegionId, ValueId};
use mlir_hlo::computed_op;
use mlir_ops::{Loop, OpKind, OpText, Source, WrittenMap, map_use};
use rustc_hash::FxHashMap;

use crate::problem::Problem;
use crate::program::{Argument, Computed, Kind, Op, Program, Value};

/// Stack for regions in regions, and for the parser of maps.
const STACK: usize = 16 << 20;

impl Program {
    /// Reads the only entry function of a module.
    ///
    /// # Errors
    ///
    /// If there is none, or one of its ops cannot be executed.
    pub fn read(text: &str) -> Result<Program, Problem> {
        let parse = mlir::parse(text, PieceState::default());
        let source = Source::alone(&parse, text);
        let mut reader = Reader::new(&source);
        if let Some(error) = parse.errors.first() {
            let line = reader.line_at(error.span.start);
            return Err(Problem { line, what: error.message.clone().into() });
        }
        let mut ids = 0..parse.ops.len() as OpId;
        let entry = ids.find(|&id| parse.name(id, text) == "xtile.entry_func");
        let missing = Problem { line: 0, what: "there is no xtile.entry_func".into() };
        recursion::with_stack(STACK, || reader.entry(entry.ok_or(missing)?))
    }
}

struct Reader<'a> {
    source: &'a Source<'a>,
    arguments: Vec<Argument>,
    /// The arguments that are arrays, by their values.
    memrefs: FxHashMap<ValueId, usize>,
    /// The other values; results of packs by their number.
    values: FxHashMap<(ValueId, u32), Value>,
    /// The names that ops bind for their regions, in the order of the text.
    binders: FxHashMap<OpId, Vec<ValueId>>,
    /// How many regions are open.
    depth: usize,
}

impl<'a> Reader<'a> {
    fn new(source: &'a Source<'a>) -> Reader<'a> {
        let mut binders: FxHashMap<OpId, Vec<ValueId>> = FxHashMap::default();
        for (value, id) in source.parse.values.iter().zip(0..) {
            if let Definition::Binder(op) = value.definition {
                binders.entry(op).or_default().push(id);
            }
        }
        for bound in binders.values_mut() {
            bound.sort_by_key(|&value| source.parse.values[value as usize].name.start);
        }
        Reader {
            source,
            arguments: Vec::new(),
            memrefs: FxHashMap::default(),
            values: FxHashMap::default(),
            binders,
            depth: 0,
        }
    }

    fn parse(&self) -> &'a Parse {
        self.source.parse
    }

    /// The line of an op, from 1.
    fn line(&self, id: OpId) -> usize {
        self.line_at(self.parse().op(id).span.start)
    }

    fn line_at(&self, offset: u32) -> usize {
        let before = &self.source.text.as_bytes()[..offset as usize];
        before.iter().filter(|&&byte| byte == b'\n').count() + 1
    }

    fn entry(&mut self, id: OpId) -> Result<Program, Problem> {
        let at = Problem::at(self.line(id));
        let missing = |what: &'static str| at(what.into());
        let region =
            self.parse().regions_of(id).next().ok_or_else(|| missing("a function without a body"))?;
        let mut block_number = None;
        for value in self.bound(id, region) {
            let name = &self.parse().values[value as usize].name;
            let ty = self.source.type_of(value, 0).unwrap_or_default();
            if ty == "index" {
                let range =
                    self.range(name.end as usize).ok_or_else(|| missing("an index without its range"))?;
                block_number = Some((self.define((value, 0)), range));
                continue;
            }
            let argument = self.memref(&ty, name.start).map_err(&at)?;
            self.memrefs.insert(value, self.arguments.len());
            self.arguments.push(argument);
        }
        let (block_number, [first, last]) =
            block_number.ok_or_else(|| missing("no argument is the number of the block"))?;
        let body = self.region(region)?;
        let name = self.parse().symbols.iter().find(|symbol| symbol.op == id && symbol.is_definition);
        let name = name.map_or("", |symbol| symbol.span.of(self.source.text).trim_start_matches('@'));
        Ok(Program {
            name: name.to_owned(),
            arguments: std::mem::take(&mut self.arguments),
            blocks: first..=last,
            values: self.values.len(),
            block_number,
            body,
        })
    }

    /// `[0, 99]` of `%arg2: index {xla.range = [0 : index, 99 : index]}`, whose name ends at an offset.
    fn range(&self, name_end: usize) -> Option<[i64; 2]> {
        let (_, behind) = self.source.text.get(name_end..)?.split_once("xla.range = [")?;
        let (list, _) = behind.split_once(']')?;
        let (first, last) = list.split_once(',')?;
        let number = |text: &str| text.split(':').next()?.trim().parse().ok();
        Some([number(first)?, number(last)?])
    }

    /// `memref<8x100xbf16>`
    fn memref(&self, ty: &str, at: u32) -> Result<Argument, Reason> {
        let array = self.source.array(ty, at).map_err(|why| why.to_string())?;
        let dims: Option<Vec<i64>> = array.extents.iter().copied().collect();
        let dims = dims.ok_or("an array of unknown extents")?;
        let element = self.element(&array.element)?;
        Ok(Argument { element, dims })
    }

    fn element(&self, name: &str) -> Result<ElementType, Reason> {
        let shape = mlir_hlo::static_hlo_shape(&format!("tensor<{name}>")).map_err(|why| why.to_string())?;
        shape.element().ok_or_else(|| "an array without elements".into())
    }

    /// A new value.
    fn define(&mut self, key: (ValueId, u32)) -> Value {
        let next = self.values.len();
        *self.values.entry(key).or_insert(next)
    }

    fn results(&mut self, id: OpId) -> Vec<Value> {
        let mut found = Vec::new();
        for value in self.parse().op(id).results.clone() {
            // A name stands for as many results as have types.
            let types = self.parse().values[value as usize].types.len() as u32;
            found.extend((0..types).map(|index| self.define((value, index))));
        }
        found
    }

    /// The values of these operands.
    fn values_of(&self, operands: &[mlir_ops::Operand]) -> Result<Vec<Value>, Reason> {
        let of = |operand: &mlir_ops::Operand| {
            let known = operand.key().and_then(|key| self.values.get(&key)).copied();
            known.ok_or_else(|| format!("{} is not a value of the block", operand.name).into())
        };
        operands.iter().map(of).collect()
    }

    fn op(&mut self, id: OpId) -> Result<Op, Problem> {
        cancel::check();
        let line = self.line(id);
        let at = Problem::at(line);
        let text = OpText::of_any_length(self.source, id);
        let operands = text.operands();
        if let OpKind::Loop(Loop::ScfFor) | OpKind::ScfIf = text.op {
            return self.control(id, &text);
        }
        let (kind, operands) = match text.op {
            OpKind::ApplyIndexing => self.apply(&text).map(|kind| (kind, operands)),
            OpKind::ExtractTile => self.extract(&text),
            OpKind::InsertTile => self.insert(&text),
            OpKind::XtileMask => self.mask(&text).map(|kind| (kind, operands)),
            // One element of an array of one, and back.
            OpKind::Load | OpKind::FromElements => match operands.len() {
                1 => Ok((Kind::Same, operands)),
                _ => Err("it has not one operand".into()),
            },
            _ if unsigned::reads_unsigned(&text) => self.unsigned(&text),
            OpKind::XtileScan => self.xtile_scan(&text),
            _ if text.name() == "tt.scan" => self.triton_scan(&text),
            _ if text.name().starts_with("tt.") => self.triton(&text),
            _ => self.compute(id, &text),
        }
        .map_err(|why: Reason| at(format!("{}: {why}", text.name()).into()))?;
        let operands = self.values_of(&operands).map_err(&at)?;
        Ok(Op { line, kind, operands, results: self.results(id), blocks: Vec::new() })
    }

    fn apply(&self, text: &OpText<'_>) -> Result<Kind, Reason> {
        let found = map_use(text, 0).ok_or("its map is not read")?.map_err(|why| why.to_string())?;
        match found.map.as_ref() {
            WrittenMap::Indexing(map) if map.variables().len() == text.operands().len() => {
                Ok(Kind::Apply(map.clone()))
            }
            _ => Err("a map of other variables".into()),
        }
    }

    /// An op of HLO. Its operands are in the order of the graph's parameters.
    fn compute(&self, id: OpId, text: &OpText<'_>) -> Result<(Kind, Vec<mlir_ops::Operand>), Reason> {
        let found = computed_op(self.source, id).map_err(|why| why.to_string())?;
        if found.results != 1 {
            return Err("it has not one result".into());
        }
        let given = text.operands();
        let named = |name: &String| {
            let operand = given.iter().find(|operand| operand.name == *name).cloned();
            operand.ok_or_else(|| Reason::from(format!("{name} is no operand of it")))
        };
        let operands = found.operands.iter().map(named).collect::<Result<_, _>>()?;
        Ok((Kind::Compute(Computed { graph: Arc::new(found.graph), callees: found.callees }), operands))
    }

    /// The names that an op binds for its region: its own, else the arguments of the region's block.
    fn bound(&self, id: OpId, region: RegionId) -> Vec<ValueId> {
        if let Some(bound) = self.binders.get(&id) {
            return bound.clone();
        }
        let block = self.parse().blocks_of(region).next();
        block.map_or_else(Vec::new, |block| self.parse().blocks[block as usize].arguments.clone().collect())
    }
}
