//! A function as computations: its own, and one per region inside.

use ir::{Attributes, Opcode, Shape};
use mlir::{BlockId, Definition, OpId, Parse, ValueId};
use mlir_ops::Source;
use rustc_hash::{FxHashMap, FxHashSet};

use super::annotations::{Annotations, Location};
use super::body::{Body, HloComputation, Operand};
use crate::environment::{Environment, Slice};
use crate::incomplete::Incomplete;
use crate::names::sanitized;
use crate::not_in_hlo::NotInHlo;
use crate::types::{computed_shape, hlo_shape, stored_shape};

/// What the header of a module says of the function that it starts with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FunctionHeader {
    pub parameters: Vec<Shape>,
    /// A tuple where the function has not one result.
    pub result: Option<Shape>,
    /// Per result the layout that is stated for it, or nothing; none at all where no result has one.
    pub result_layouts: Vec<String>,
    /// The function has one result, which is not wrapped in a tuple.
    pub is_single: bool,
    /// Arguments whose memory results take: argument, result.
    pub aliases: Vec<(usize, i64)>,
    /// Arguments whose memory may be taken.
    pub donors: Vec<usize>,
}

/// A function, read in its piece alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HloFunction {
    /// Without `@`.
    pub symbol: Box<str>,
    /// The function itself.
    pub op: OpId,
    pub header: FunctionHeader,
    /// Those of regions, then the function's own.
    pub computations: Vec<HloComputation>,
    /// Symbols of the functions that it calls.
    pub calls: Vec<Box<str>>,
    pub incomplete: Vec<Incomplete>,
}

/// The parts that all functions of a piece share.
struct PieceFacts {
    /// Values that something reads.
    used: FxHashSet<(ValueId, u32)>,
    /// Names that an op binds for its regions, in the order of the text.
    binders: FxHashMap<OpId, Vec<ValueId>>,
}

impl PieceFacts {
    fn of(parse: &Parse, text: &str) -> PieceFacts {
        let used = parse.uses.iter().filter_map(|u| Some((u.value?, pack_index(u.span.of(text))))).collect();
        let mut binders: FxHashMap<OpId, Vec<ValueId>> = FxHashMap::default();
        for (id, value) in parse.values.iter().enumerate() {
            if let Definition::Binder(op) = value.definition {
                binders.entry(op).or_default().push(id as ValueId);
            }
        }
        for values in binders.values_mut() {
            values.sort_by_key(|&v| parse.values[v as usize].name.start);
        }
        PieceFacts { used, binders }
    }
}

/// Which result of a pack `%0#1` is.
pub(crate) fn pack_index(name: &str) -> u32 {
    name.split_once('#').and_then(|(_, index)| index.parse().ok()).unwrap_or(0)
}

/// The functions of a slice that have bodies, each as computations.
pub fn functions(slice: Slice<'_>, environment: &Environment) -> Vec<HloFunction> {
    let source = Source::new(slice.parse, slice.text, environment);
    let facts = PieceFacts::of(slice.parse, slice.text);
    let mut found = Vec::new();
    for id in slice.functions() {
        let Some(symbol) = slice.symbol(id) else { continue };
        // The first of two by one name is the one that is called.
        let Some(declared) = environment.function(symbol).filter(|f| f.is_defined) else { continue };
        let Some(block) = first_block(slice.parse, id) else { continue };
        let mut writer = Writer::new(&source, environment, &facts, declared.computation.to_string());
        let header = writer.function(id, block);
        found.push(HloFunction {
            symbol: symbol.into(),
            op: id,
            header,
            computations: writer.finished,
            calls: writer.calls,
            incomplete: writer.incomplete,
        });
    }
    found
}

/// The block that a function, or another op with a region, starts with.
pub(crate) fn first_block(parse: &Parse, id: OpId) -> Option<BlockId> {
    parse.blocks_of(parse.regions_of(id).next()?).next()
}

/// Writes one function.
pub(crate) struct Writer<'a> {
    pub source: &'a Source<'a>,
    pub environment: &'a Environment,
    used: Option<&'a FxHashSet<(ValueId, u32)>>,
    binders: Option<&'a FxHashMap<OpId, Vec<ValueId>>>,
    /// The computation of the function, which those of its regions are named after.
    prefix: String,
    /// Those that are open, the innermost last.
    pub bodies: Vec<Body>,
    pub finished: Vec<HloComputation>,
    pub calls: Vec<Box<str>>,
    pub incomplete: Vec<Incomplete>,
    shapes: FxHashMap<&'a str, Result<Shape, NotInHlo>>,
    /// Of locations that are aliases.
    pub(super) metadata: FxHashMap<Box<str>, Location>,
    regions: usize,
    /// A shape has an extent that nobody knows.
    is_unbounded: bool,
    /// Instructions get no annotations and no source locations.
    pub(super) is_bare: bool,
    /// Whether instructions have to compute what ops do, and not only to read alike.
    pub(super) is_computed: bool,
    /// An op has operands that its instruction has as attributes, or as a tuple: such a one has maps alone.
    pub(crate) only_maps: bool,
    /// An op whose annotations another one's instruction says, and what they are.
    pub(super) held: Option<(OpId, Annotations)>,
}

impl<'a> Writer<'a> {
    fn new(
        source: &'a Source<'a>,
        environment: &'a Environment,
        facts: &'a PieceFacts,
        prefix: String,
    ) -> Writer<'a> {
        let mut writer = Writer::alone(source, environment);
        writer.used = Some(&facts.used);
        writer.binders = Some(&facts.binders);
        writer.prefix = prefix;
        writer
    }

    /// Writes single ops, of which nothing else is known.
    pub fn alone(source: &'a Source<'a>, environment: &'a Environment) -> Writer<'a> {
        Writer {
            source,
            environment,
            used: None,
            binders: None,
            prefix: String::new(),
            bodies: vec![Body::default()],
            finished: Vec::new(),
            calls: Vec::new(),
            incomplete: Vec::new(),
            shapes: FxHashMap::default(),
            metadata: FxHashMap::default(),
            regions: 0,
            is_unbounded: false,
            is_bare: false,
            is_computed: false,
            only_maps: false,
            held: None,
        }
    }

    /// A writer of single ops without annotations and source locations.
    pub fn bare(source: &'a Source<'a>, environment: &'a Environment) -> Writer<'a> {
        Writer { is_bare: true, ..Writer::alone(source, environment) }
    }

    /// The same for ops that are executed.
    pub fn computed(source: &'a Source<'a>, environment: &'a Environment) -> Writer<'a> {
        Writer { is_computed: true, ..Writer::bare(source, environment) }
    }

    pub fn body(&mut self) -> &mut Body {
        self.bodies.last_mut().expect("one is open while there are ops")
    }

    pub fn parse(&self) -> &'a Parse {
        self.source.parse
    }

    pub fn text(&self) -> &'a str {
        self.source.text
    }

    /// Something that the text of HLO does not say.
    pub fn report(&mut self, op: OpId, what: String) {
        self.incomplete.push(Incomplete { span: self.parse().op(op).head, what });
    }

    /// Names that an op binds for its regions.
    pub fn binders(&self, id: OpId) -> Vec<ValueId> {
        match self.binders {
            Some(binders) => binders.get(&id).cloned().unwrap_or_default(),
            None => {
                let values = self.parse().values.iter().enumerate();
                let of = values.filter(|(_, v)| v.definition == Definition::Binder(id));
                let mut of: Vec<_> = of.map(|(value, _)| value as ValueId).collect();
                of.sort_by_key(|&v| self.parse().values[v as usize].name.start);
                of
            }
        }
    }

    pub fn is_used(&self, value: ValueId, index: u32) -> bool {
        self.used.is_none_or(|used| used.contains(&(value, index)))
    }

    /// A name for the computation of a region.
    pub fn region_name(&mut self, stem: &str) -> String {
        self.regions += 1;
        match self.prefix.is_empty() {
            true => format!("{stem}_{}", self.regions),
            false => format!("{stem}_{}.{}", self.regions, self.prefix),
        }
    }

    /// The shape of a value, where its type is known and HLO has it.
    pub fn shape_of(&mut self, value: ValueId, index: u32) -> Result<Shape, NotInHlo> {
        let parse = self.source.parse;
        let Some(ty) = parse.type_of(value, index as usize, self.source.text) else {
            let name = parse.values[value as usize].name.of(self.source.text);
            return Err(NotInHlo::unknown_type(name));
        };
        let at = parse.values[value as usize].name.start;
        let hlo_shape = match (self.is_computed, self.is_bare) {
            (true, _) => computed_shape,
            (_, true) => stored_shape,
            _ => hlo_shape,
        };
        match ty {
            std::borrow::Cow::Borrowed(ty) => {
                if let Some(known) = self.shapes.get(ty) {
                    return known.clone();
                }
                let shape = hlo_shape(self.source.resolved(ty, at));
                self.is_unbounded |= shape.as_ref().is_ok_and(is_unbounded);
                self.shapes.insert(ty, shape.clone());
                shape
            }
            std::borrow::Cow::Owned(ty) => hlo_shape(self.source.resolved(&ty, at)),
        }
    }

    pub fn wanted_name(&self, value: ValueId, opcode: &str) -> String {
        wanted_name(self.source, value, opcode)
    }

    fn function(&mut self, id: OpId, block: BlockId) -> FunctionHeader {
        let parse = self.parse();
        let mut header = FunctionHeader::default();
        self.arguments(id, block, &mut header);
        let results = self.block(block);
        header.is_single = results.len() == 1;
        let count = results.len();
        let root = self.root(results, id);
        let (root, layouts) = self.result_attributes(id, root, count);
        header.result = Some(root.shape.clone());
        header.result_layouts = layouts;
        let name = self.prefix.clone();
        self.finish_body(&name, &root);
        if self.is_unbounded {
            self.report(
                id,
                "unknown extents: HLO can write them, but XLA compiles no such module".to_owned(),
            );
        }
        if parse.blocks[block as usize].next.is_some() {
            self.report(id, "blocks after the first one: HLO has no branches".to_owned());
        }
        header
    }

    /// One value for all that a computation returns.
    pub(super) fn root(&mut self, results: Vec<Operand>, op: OpId) -> Operand {
        match <[Operand; 1]>::try_from(results) {
            Ok([only]) => only,
            Err(results) => self.tuple(&results, op),
        }
    }

    pub(super) fn tuple(&mut self, operands: &[Operand], op: OpId) -> Operand {
        let shape = Shape::tuple(operands.iter().map(|o| o.shape.clone()));
        self.instruction(op, Opcode::Tuple, shape, operands, Attributes::default())
    }

    /// Closes the innermost computation.
    pub(super) fn finish_body(&mut self, name: &str, root: &Operand) {
        let Some(body) = self.bodies.pop() else { return };
        self.finished.push(body.finish(name, root));
    }
}

/// What a value is called: its name where it has letters, else the opcode with its number.
pub(crate) fn wanted_name(source: &Source<'_>, value: ValueId, opcode: &str) -> String {
    let name = source.parse.values[value as usize].name.of(source.text).trim_start_matches('%');
    match name.starts_with(|c: char| c.is_ascii_digit()) {
        true => format!("{opcode}.{name}"),
        false => sanitized(name),
    }
}

/// Whether a dimension is dynamic without a bound.
fn is_unbounded(shape: &Shape) -> bool {
    match shape.tuple_elements() {
        Some(elements) => elements.iter().any(is_unbounded),
        None => shape.dims().contains(&ir::UNBOUNDED),
    }
}
