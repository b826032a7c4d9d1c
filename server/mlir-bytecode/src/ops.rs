//! The ops: regions, blocks, values.

use crate::bytes::Reader;
use crate::entries::{Attribute, Entries, foreign, instead};
use crate::properties::{is_known, layout, names};
use crate::sections::{LAZY_REGIONS, OPS, OPTIONAL_ARGUMENT_LOCATIONS, PROPERTIES, USE_LIST_ORDERS, section};
use crate::{Error, Result};

/// The deepest nesting of regions.
const MAX_DEPTH: usize = 256;

/// A number for each value of the file.
pub(crate) type Value = u32;

pub(crate) struct Op {
    /// With the dialect: `vhlo.add_v1`.
    pub(crate) name: String,
    /// Its place in the file.
    pub(crate) offset: usize,
    /// The attributes that the op does not define: names, which are strings, and values.
    pub(crate) attributes: Vec<(u32, u32)>,
    /// The attributes that it defines.
    pub(crate) properties: Vec<(&'static str, u32)>,
    /// The same, from a writer that did not know the op: a dictionary.
    pub(crate) property_dictionary: Option<u32>,
    pub(crate) location: u32,
    pub(crate) results: Vec<(Value, u32)>,
    pub(crate) operands: Vec<Value>,
    pub(crate) successors: Vec<u32>,
    pub(crate) regions: Vec<Region>,
}

pub(crate) struct Region {
    pub(crate) blocks: Vec<Block>,
}

pub(crate) struct Block {
    pub(crate) arguments: Vec<Argument>,
    pub(crate) ops: Vec<Op>,
}

pub(crate) struct Argument {
    pub(crate) value: Value,
    pub(crate) ty: u32,
    pub(crate) location: Option<u32>,
}

/// How a value is written, and its type.
#[derive(Clone, Copy, Default)]
pub(crate) struct Named {
    pub(crate) name: Name,
    pub(crate) ty: u32,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Name {
    /// Not defined yet.
    #[default]
    Nothing,
    Argument(u32),
    Result(u32),
    /// One of several results of an op.
    ResultOf(u32, u32),
}

/// All ops of a file, and the names of their values.
pub(crate) struct Ops {
    pub(crate) block: Block,
    pub(crate) values: Vec<Named>,
}

/// The values that an op may use.
#[derive(Default)]
struct Scope {
    values: Vec<Value>,
}

struct Ir<'e, 'a> {
    entries: &'e Entries<'a>,
    values: Vec<Named>,
    scopes: Vec<Scope>,
    /// The names that the function has used: of arguments and of results.
    names: (u32, u32),
    /// The largest number of values: each takes at least a byte.
    limit: usize,
}

pub(crate) fn read(entries: &Entries<'_>) -> Result<Ops> {
    let mut reader = entries.file.ops;
    let mut ir = Ir {
        entries,
        values: Vec::new(),
        scopes: vec![Scope::default()],
        names: (0, 0),
        limit: reader.left(),
    };
    let mut next = 0;
    let block = ir.block(&mut reader, &mut next, 0)?;
    Ok(Ops { block, values: ir.values })
}

impl Ir<'_, '_> {
    fn version(&self) -> u64 {
        self.entries.file.header.version
    }

    fn scope(&mut self) -> &mut Scope {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    /// Defines the next value of the region.
    fn define(&mut self, next: &mut usize, ty: u32, name: Name, at: &Reader<'_>) -> Result<Value> {
        let Some(&value) = self.scope().values.get(*next) else {
            return at.error("a region has more values than it says: the file is damaged");
        };
        *next += 1;
        if let Some(named) = self.values.get_mut(value as usize) {
            *named = Named { name, ty };
        }
        Ok(value)
    }

    fn block(&mut self, reader: &mut Reader<'_>, next: &mut usize, depth: usize) -> Result<Block> {
        let (ops, has_arguments) = reader.flagged()?;
        let mut arguments = Vec::new();
        if has_arguments {
            let count = reader.count()?;
            for _ in 0..count {
                cancel::tick();
                let at = *reader;
                let (ty, has_location) = match self.version() >= OPTIONAL_ARGUMENT_LOCATIONS {
                    true => reader.flagged()?,
                    false => (reader.number()?, true),
                };
                let ty =
                    u32::try_from(ty).or_else(|_| at.error("an index is too large: the file is damaged"))?;
                let location = has_location.then(|| reader.index()).transpose()?;
                let name = Name::Argument(self.names.0);
                self.names.0 += 1;
                let value = self.define(next, ty, name, &at)?;
                arguments.push(Argument { value, ty, location });
            }
            if self.version() >= USE_LIST_ORDERS && reader.byte()? != 0 {
                use_list_orders(reader, arguments.len())?;
            }
        }
        if ops > reader.left() as u64 {
            return reader.error(format!(
                "a block of {ops} ops in {} bytes: the file is damaged; copy it again",
                reader.left()
            ));
        }
        let mut read = Vec::new();
        for _ in 0..ops {
            cancel::tick();
            read.extend(self.op(reader, next, depth)?);
        }
        Ok(Block { arguments, ops: read })
    }

    fn op(&mut self, reader: &mut Reader<'_>, next: &mut usize, depth: usize) -> Result<Option<Op>> {
        let at = *reader;
        let offset = at.offset();
        let name = reader.index()?;
        let (name, is_registered) = self.entries.file.op_name(name, &at)?;
        let mask = reader.byte()?;
        let has = |bit: u32| mask & 1 << bit != 0;
        let location = reader.index()?;
        let mut attributes = if has(0) { self.dictionary(reader)? } else { Vec::new() };
        let (mut properties, mut property_dictionary) = (Vec::new(), None);
        if self.version() < PROPERTIES {
            properties = self.defined_attributes(&name, &mut attributes)?;
        }
        if has(6) {
            let index = reader.index()?;
            match is_registered {
                true => properties = self.properties(&name, index, &at)?,
                false => property_dictionary = Some(index),
            }
        }
        let types = if has(1) { reader.indices()? } else { Vec::new() };
        let operands = if has(2) { reader.indices()? } else { Vec::new() };
        let operands = operands.into_iter().map(|operand| match self.scope().values.get(operand as usize) {
            Some(&value) => Ok(value),
            None => at
                .error(format!("{name} uses the value {operand}, which does not exist: the file is damaged")),
        });
        let operands = operands.collect::<Result<Vec<Value>>>()?;
        let successors = if has(3) { reader.indices()? } else { Vec::new() };
        if has(5) {
            use_list_orders(reader, types.len())?;
        }
        let (regions, is_isolated) = if has(4) { reader.flagged()? } else { (0, false) };
        if name == "builtin.unrealized_conversion_cast"
            && regions == 0
            && self.are_equal(&operands, &types)?
        {
            for (operand, ty) in operands.iter().zip(types) {
                let name = self.values.get(*operand as usize).map_or(Name::Nothing, |named| named.name);
                self.define(next, ty, name, &at)?;
            }
            return Ok(None);
        }
        let mut results = Vec::new();
        if !types.is_empty() {
            let number = self.names.1;
            self.names.1 += 1;
            let is_one = types.len() == 1;
            for (n, ty) in (0..).zip(types) {
                let name = if is_one { Name::Result(number) } else { Name::ResultOf(number, n) };
                results.push((self.define(next, ty, name, &at)?, ty));
            }
        }
        let regions = match regions {
            0 => Vec::new(),
            _ if name.contains(".func") => {
                let outside = std::mem::take(&mut self.names);
                let regions = self.regions(reader, regions, is_isolated, depth)?;
                self.names = outside;
                regions
            }
            _ => self.regions(reader, regions, is_isolated, depth)?,
        };
        let op = Op {
            name,
            offset,
            attributes,
            properties,
            property_dictionary,
            location,
            results,
            operands,
            successors,
            regions,
        };
        Ok(Some(op))
    }

    /// Whether values have these types in StableHLO: then a cast between VHLO and another dialect leaves them as they are.
    fn are_equal(&self, operands: &[Value], types: &[u32]) -> Result<bool> {
        if operands.len() != types.len() {
            return Ok(false);
        }
        for (operand, ty) in operands.iter().zip(types) {
            let from = self.values.get(*operand as usize).map_or(u32::MAX, |named| named.ty);
            let mut texts = [String::new(), String::new()];
            self.entries.write_type(from, &mut texts[0])?;
            self.entries.write_type(*ty, &mut texts[1])?;
            if texts[0] != texts[1] {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn regions(
        &mut self,
        reader: &mut Reader<'_>,
        count: u64,
        is_isolated: bool,
        depth: usize,
    ) -> Result<Vec<Region>> {
        if depth >= MAX_DEPTH {
            return reader.error(format!("regions are nested more than {MAX_DEPTH} deep"));
        }
        let mut own;
        let reader = match is_isolated && self.version() >= LAZY_REGIONS {
            true => {
                let at = *reader;
                let (id, bytes) = section(reader)?;
                if id != OPS {
                    return at.error("the ops of a region are missing: the file is damaged");
                }
                own = bytes;
                &mut own
            }
            false => reader,
        };
        if count > reader.left() as u64 {
            return reader.error(format!("{count} regions in {} bytes: the file is damaged", reader.left()));
        }
        if is_isolated {
            self.scopes.push(Scope::default());
        }
        let mut regions = Vec::new();
        for _ in 0..count {
            regions.push(recursion::grow(|| self.region(reader, depth + 1))?);
        }
        if is_isolated {
            self.scopes.pop();
        }
        Ok(regions)
    }

    fn region(&mut self, reader: &mut Reader<'_>, depth: usize) -> Result<Region> {
        let blocks = reader.count()?;
        if blocks == 0 {
            return Ok(Region { blocks: Vec::new() });
        }
        let count = reader.count()?;
        if self.values.len() + count > self.limit {
            return reader.error("the regions have more values than bytes: the file is damaged");
        }
        let mut next = self.scope().values.len();
        let before = next;
        for _ in 0..count {
            let value = Value::try_from(self.values.len()).unwrap_or(Value::MAX);
            self.values.push(Named::default());
            self.scope().values.push(value);
        }
        let mut read = Vec::new();
        for _ in 0..blocks {
            read.push(self.block(reader, &mut next, depth)?);
        }
        self.scope().values.truncate(before);
        Ok(Region { blocks: read })
    }

    fn dictionary(&self, reader: &mut Reader<'_>) -> Result<Vec<(u32, u32)>> {
        let index = reader.index()?;
        match &*self.entries.attribute(index)? {
            Attribute::Dictionary(members) => Ok(members.clone()),
            _ => self.entries.attribute_error(
                index,
                "the attributes of an op are no dictionary: print the text with the tool that wrote the file",
            ),
        }
    }

    /// Takes the attributes that the op defines from its dictionary: older versions of the format have no properties.
    fn defined_attributes(
        &self,
        op: &str,
        attributes: &mut Vec<(u32, u32)>,
    ) -> Result<Vec<(&'static str, u32)>> {
        let mut defined = Vec::new();
        let mut others = Vec::new();
        for &(name, value) in &*attributes {
            let string = self.entries.string(name)?;
            let known = names(op).find(|known| known.as_bytes() == string);
            match known {
                Some(known) => defined.push((known, value)),
                None => others.push((name, value)),
            }
        }
        *attributes = others;
        Ok(defined)
    }

    fn properties(&self, op: &str, index: u32, at: &Reader<'_>) -> Result<Vec<(&'static str, u32)>> {
        let Some(&(mut reader)) = self.entries.file.properties.get(index as usize) else {
            return at.error(format!("properties {index} of {op} do not exist: the file is damaged"));
        };
        let dialect = op.split('.').next().unwrap_or(op);
        if !is_known(op) {
            return reader.error(foreign(&format!("the properties of {op} are"), dialect));
        }
        let mut count = 0;
        let mut rest = reader;
        while !rest.is_empty() {
            rest.number()?;
            count += 1;
        }
        let Some(layout) = layout(op, count) else {
            let instead = match dialect {
                "vhlo" => "write it for an older version, or print the text with the tool that wrote it",
                _ => instead(dialect),
            };
            return reader
                .error(format!("{op} has properties that are not known: the file is newer; {instead}"));
        };
        let mut properties = Vec::new();
        for property in layout {
            if property.is_optional {
                let (index, is_present) = reader.flagged()?;
                if let (true, Ok(index)) = (is_present, u32::try_from(index)) {
                    properties.push((property.name, index));
                }
            } else {
                properties.push((property.name, reader.index()?));
            }
        }
        Ok(properties)
    }
}

/// Skips the orders in which the uses of values are listed, which say nothing about the program.
fn use_list_orders(reader: &mut Reader<'_>, values: usize) -> Result<()> {
    let count = if values > 1 { reader.count()? } else { 1 };
    for _ in 0..count {
        if values > 1 {
            reader.number()?;
        }
        let (numbers, _) = reader.flagged()?;
        if numbers > reader.left() as u64 {
            return reader.error("the order of uses is longer than the file: the file is damaged");
        }
        for _ in 0..numbers {
            reader.number()?;
        }
    }
    Ok(())
}

impl Op {
    /// An error at the op.
    pub(crate) fn error<T>(&self, message: impl std::fmt::Display) -> Result<T> {
        Err(Error { offset: self.offset, message: format!("{}: {message}", self.name) })
    }
}
