//! The text of a module.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::attribute_text::write_name;
use crate::entries::{Attribute, Entries, Location, Type};
use crate::ops::{Argument, Block, Name, Named, Op, Ops, Region, Value};
use crate::sections::File;
use crate::stablehlo::{Converted, convert, unversioned};
use crate::type_text::Nesting;
use crate::{Error, Result, ops};

/// The text may be this many times longer than the bytes, beside a fixed allowance.
const EXPANSION: usize = 2000;
const ALLOWANCE: usize = 1 << 20;

/// Ops that are written without quotes where their operands and results have one type.
const ELEMENTWISE: &[&str] = &[
    "abs",
    "add",
    "and",
    "atan2",
    "cbrt",
    "ceil",
    "cosine",
    "count_leading_zeros",
    "divide",
    "exponential",
    "exponential_minus_one",
    "floor",
    "log",
    "log_plus_one",
    "logistic",
    "maximum",
    "minimum",
    "multiply",
    "negate",
    "not",
    "or",
    "popcnt",
    "power",
    "remainder",
    "round_nearest_afz",
    "round_nearest_even",
    "rsqrt",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "sign",
    "sine",
    "sqrt",
    "subtract",
    "tan",
    "tanh",
    "xor",
];

/// The text of the module in MLIR bytecode. VHLO is written as StableHLO.
///
/// # Errors
/// The bytes are damaged or of a newer version, or have what only its dialect can read.
pub fn module_text(bytes: &[u8]) -> Result<String> {
    let entries = Entries::new(File::read(bytes)?);
    let Ops { block, values } = ops::read(&entries)?;
    let limit = bytes.len().saturating_mul(EXPANSION).saturating_add(ALLOWANCE);
    let mut printer = Printer {
        entries: &entries,
        values: &values,
        out: String::new(),
        limit,
        has_locations: entries.have_locations(),
        aliases: Aliases::default(),
    };
    for op in &block.ops {
        printer.op(op, 0, false)?;
    }
    printer.write_aliases()?;
    Ok(printer.out)
}

/// The locations that ops have, which are written at the end.
#[derive(Default)]
struct Aliases {
    numbers: HashMap<u32, usize>,
    /// By number.
    locations: Vec<u32>,
}

struct Printer<'e, 'a> {
    entries: &'e Entries<'a>,
    values: &'e [Named],
    out: String,
    limit: usize,
    has_locations: bool,
    aliases: Aliases,
}

impl Printer<'_, '_> {
    fn indent(&mut self, depth: usize) {
        // Deeper code is not read by its indentation.
        self.out.push_str(&"  ".repeat(depth.min(40)));
    }

    fn value(&mut self, value: Value, op: &Op) -> Result<u32> {
        let named = self.values.get(value as usize).copied().unwrap_or_default();
        match named.name {
            Name::Nothing => return op.error("uses a value that is not defined: the file is damaged"),
            Name::Argument(number) => _ = write!(self.out, "%arg{number}"),
            Name::Result(number) => _ = write!(self.out, "%{number}"),
            Name::ResultOf(number, n) => _ = write!(self.out, "%{number}#{n}"),
        }
        Ok(named.ty)
    }

    fn op(&mut self, op: &Op, depth: usize, is_in_function: bool) -> Result<()> {
        cancel::tick();
        if self.out.len() > self.limit {
            return op.error(format!(
                "the text would be more than {} MB, {EXPANSION} times the size of the file",
                self.limit >> 20
            ));
        }
        match op.name.as_str() {
            "builtin.module" if is_plain_body(op) => return self.module(op, depth),
            "func.func" => return self.function(op, depth),
            name if name.strip_prefix("vhlo.").is_some_and(|name| unversioned(name) == "func") => {
                return self.function(op, depth);
            }
            _ => {}
        }
        let converted = convert(self.entries, op, is_in_function)?;
        self.indent(depth);
        match op.results.as_slice() {
            [] => {}
            [(value, _)] => {
                self.value(*value, op)?;
                self.out.push_str(" = ");
            }
            [(first, _), ..] => {
                if let Some(Name::ResultOf(number, _)) =
                    self.values.get(*first as usize).map(|named| named.name)
                {
                    _ = write!(self.out, "%{number}:{} = ", op.results.len());
                }
            }
        }
        if !self.short(op, &converted)? {
            self.generic(op, &converted, depth)?;
        }
        self.location(op.location)?;
        self.out.push('\n');
        Ok(())
    }

    /// Writes an op in its short form; `false` if it is to be written in the generic one.
    fn short(&mut self, op: &Op, converted: &Converted) -> Result<bool> {
        if !op.attributes.is_empty()
            || op.property_dictionary.is_some()
            || !op.regions.is_empty()
            || !op.successors.is_empty()
        {
            return Ok(false);
        }
        let name = converted.name.as_str();
        let (attributes, start) = (&converted.attributes, self.out.len());
        let operand_types: Vec<u32> = op.operands.iter().map(|&value| self.type_of(value)).collect();
        match (name, attributes.as_slice()) {
            ("func.return", []) => {
                self.out.push_str("return");
                for (n, &operand) in op.operands.iter().enumerate() {
                    self.out.push_str(if n == 0 { " " } else { ", " });
                    self.value(operand, op)?;
                }
                if !operand_types.is_empty() {
                    self.out.push_str(" : ");
                    self.entries.write_types(&operand_types, &mut self.out)?;
                }
                Ok(true)
            }
            ("func.call", [(key, callee)]) if key == "callee" => {
                _ = write!(self.out, "call {callee}(");
                self.operands(op)?;
                self.out.push_str(") : ");
                self.function_type(&operand_types, op)?;
                Ok(true)
            }
            ("stablehlo.constant", [(key, value)]) if key == "value" => {
                let mut ty = String::new();
                if let [(_, result)] = op.results.as_slice() {
                    self.entries.write_type(*result, &mut ty)?;
                }
                let is_typed = value.strip_suffix(&ty).is_some_and(|rest| rest.ends_with(" : "));
                if is_typed {
                    _ = write!(self.out, "stablehlo.constant {value}");
                }
                Ok(is_typed)
            }
            (_, []) if is_elementwise(name) => {
                let [(_, result)] = op.results.as_slice() else { return Ok(false) };
                if operand_types.is_empty() || operand_types.iter().any(|ty| ty != result) {
                    return Ok(false);
                }
                _ = write!(self.out, "{name} ");
                self.operands(op)?;
                self.out.push_str(" : ");
                self.entries.write_type(*result, &mut self.out)?;
                Ok(self.out.len() > start)
            }
            _ => Ok(false),
        }
    }

    fn type_of(&self, value: Value) -> u32 {
        self.values.get(value as usize).map_or(u32::MAX, |named| named.ty)
    }

    fn operands(&mut self, op: &Op) -> Result<()> {
        for (n, &operand) in op.operands.iter().enumerate() {
            if n > 0 {
                self.out.push_str(", ");
            }
            self.value(operand, op)?;
        }
        Ok(())
    }

    fn function_type(&mut self, operands: &[u32], op: &Op) -> Result<()> {
        self.out.push('(');
        self.entries.write_types(operands, &mut self.out)?;
        self.out.push_str(") -> ");
        let results: Vec<u32> = op.results.iter().map(|(_, ty)| *ty).collect();
        match results.as_slice() {
            [one] if !matches!(*self.entries.ty(*one)?, Type::Function { .. }) => {
                self.entries.write_type(*one, &mut self.out)
            }
            _ => {
                self.out.push('(');
                self.entries.write_types(&results, &mut self.out)?;
                self.out.push(')');
                Ok(())
            }
        }
    }

    fn generic(&mut self, op: &Op, converted: &Converted, depth: usize) -> Result<()> {
        _ = write!(self.out, "\"{}\"(", converted.name);
        let types: Vec<u32> = op.operands.iter().map(|&operand| self.type_of(operand)).collect();
        self.operands(op)?;
        self.out.push(')');
        if !op.successors.is_empty() {
            let labels: Vec<String> = op.successors.iter().map(|block| format!("^bb{block}")).collect();
            _ = write!(self.out, "[{}]", labels.join(", "));
        }
        if let Some(dictionary) = op.property_dictionary {
            self.out.push_str(" <");
            self.entries.write_attribute(dictionary, &mut self.out)?;
            self.out.push('>');
        } else if !converted.attributes.is_empty() {
            self.out.push_str(" <{");
            for (n, (name, value)) in converted.attributes.iter().enumerate() {
                self.out.push_str(if n == 0 { "" } else { ", " });
                match value.as_str() {
                    "unit" => self.out.push_str(name),
                    value => _ = write!(self.out, "{name} = {value}"),
                }
            }
            self.out.push_str("}>");
        }
        if !op.regions.is_empty() {
            self.out.push_str(" (");
            for (n, region) in op.regions.iter().enumerate() {
                self.out.push_str(if n == 0 { "{\n" } else { ", {\n" });
                self.region(region, depth + 1, op, false)?;
                self.indent(depth);
                self.out.push('}');
            }
            self.out.push(')');
        }
        if !op.attributes.is_empty() {
            self.out.push(' ');
            self.entries.write_dictionary(&op.attributes, &mut self.out)?;
        }
        self.out.push_str(" : ");
        self.function_type(&types, op)
    }

    fn is_empty_dictionary(&self, index: u32) -> bool {
        self.entries.attribute(index).is_ok_and(|found| *found == Attribute::Dictionary(Vec::new()))
    }

    /// `is_function`: the arguments of the first block are in the head of the function.
    fn region(&mut self, region: &Region, depth: usize, op: &Op, is_function: bool) -> Result<()> {
        for (n, block) in region.blocks.iter().enumerate() {
            let is_entry = n == 0 && (is_function || block.arguments.is_empty());
            if !is_entry {
                self.indent(depth.saturating_sub(1));
                _ = write!(self.out, "^bb{n}");
                self.block_arguments(block, op)?;
                self.out.push_str(":\n");
            }
            for op in &block.ops {
                recursion::grow(|| self.op(op, depth, is_function))?;
            }
        }
        Ok(())
    }

    fn block_arguments(&mut self, block: &Block, op: &Op) -> Result<()> {
        if block.arguments.is_empty() {
            return Ok(());
        }
        self.out.push('(');
        for (n, argument) in block.arguments.iter().enumerate() {
            if n > 0 {
                self.out.push_str(", ");
            }
            self.value(argument.value, op)?;
            self.out.push_str(": ");
            self.entries.write_type(argument.ty, &mut self.out)?;
            self.argument_location(argument)?;
        }
        self.out.push(')');
        Ok(())
    }

    fn module(&mut self, op: &Op, depth: usize) -> Result<()> {
        self.indent(depth);
        self.out.push_str("module");
        if let Some((_, name)) = op.properties.iter().find(|(name, _)| *name == "sym_name") {
            self.out.push_str(" @");
            write_name(self.entries.string(*name)?, &mut self.out);
        }
        if !op.attributes.is_empty() {
            self.out.push_str(" attributes ");
            self.entries.write_dictionary(&op.attributes, &mut self.out)?;
        }
        self.out.push_str(" {\n");
        for region in &op.regions {
            self.region(region, depth + 1, op, false)?;
        }
        self.indent(depth);
        self.out.push('}');
        self.location(op.location)?;
        self.out.push('\n');
        Ok(())
    }

    fn function(&mut self, op: &Op, depth: usize) -> Result<()> {
        let property =
            |wanted: &str| op.properties.iter().find(|(name, _)| *name == wanted).map(|(_, index)| *index);
        let (Some(name), Some(ty)) = (property("sym_name"), property("function_type")) else {
            return op.error("a function without a name or a type: the file is damaged");
        };
        let Attribute::Type(ty) = &*self.entries.attribute(ty)? else {
            return op.error("a function has an attribute in place of its type");
        };
        let ty = self.entries.ty(*ty)?;
        let Type::Function { inputs, results } = &*ty else {
            return op.error("the type of a function is another one");
        };
        self.indent(depth);
        self.out.push_str("func.func ");
        if let Some(visibility) = property("sym_visibility") {
            let visibility = String::from_utf8_lossy(self.entries.string(visibility)?).into_owned();
            match visibility.as_str() {
                "" => {}
                "public" | "private" | "nested" => _ = write!(self.out, "{visibility} "),
                _ => return op.error("the visibility of a function is unknown"),
            }
        }
        self.out.push('@');
        write_name(self.entries.string(name)?, &mut self.out);
        let [region] = op.regions.as_slice() else { return op.error("a function has one region") };
        let dictionaries = |index: Option<u32>| -> Result<Vec<u32>> {
            match index.map(|index| self.entries.attribute(index)).transpose()?.as_deref() {
                Some(Attribute::Array(dictionaries)) => Ok(dictionaries.clone()),
                _ => Ok(Vec::new()),
            }
        };
        let argument_attributes = dictionaries(property("arg_attrs"))?;
        let result_attributes = dictionaries(property("res_attrs"))?;
        self.out.push('(');
        let arguments = region.blocks.first().map(|block| block.arguments.as_slice());
        if arguments.is_some_and(|arguments| arguments.len() != inputs.len()) {
            return op.error("a function has other arguments than its type says: the file is damaged");
        }
        for (n, input) in inputs.iter().enumerate() {
            self.out.push_str(if n == 0 { "" } else { ", " });
            let argument = arguments.and_then(|arguments| arguments.get(n));
            if let Some(argument) = argument {
                self.value(argument.value, op)?;
                self.out.push_str(": ");
            }
            self.entries.write_type(*input, &mut self.out)?;
            self.argument_attributes(argument_attributes.get(n))?;
            if let Some(argument) = argument {
                self.argument_location(argument)?;
            }
        }
        self.out.push(')');
        if !results.is_empty() {
            self.out.push_str(" -> (");
            for (n, result) in results.iter().enumerate() {
                self.out.push_str(if n == 0 { "" } else { ", " });
                self.entries.write_type(*result, &mut self.out)?;
                self.argument_attributes(result_attributes.get(n))?;
            }
            self.out.push(')');
        }
        if !op.attributes.is_empty() {
            self.out.push_str(" attributes ");
            self.entries.write_dictionary(&op.attributes, &mut self.out)?;
        }
        if !region.blocks.is_empty() {
            self.out.push_str(" {\n");
            self.region(region, depth + 1, op, true)?;
            self.indent(depth);
            self.out.push('}');
        }
        self.location(op.location)?;
        self.out.push('\n');
        Ok(())
    }

    fn argument_attributes(&mut self, dictionary: Option<&u32>) -> Result<()> {
        if let Some(&dictionary) = dictionary
            && !self.is_empty_dictionary(dictionary)
        {
            self.out.push(' ');
            self.entries.write_attribute(dictionary, &mut self.out)?;
        }
        Ok(())
    }

    /// Unknown locations of arguments are left out of the bytes.
    fn argument_location(&mut self, argument: &Argument) -> Result<()> {
        match argument.location {
            Some(location) => self.location(location)?,
            None if self.has_locations => self.out.push_str(" loc(unknown)"),
            None => {}
        }
        Ok(())
    }

    /// ` loc(#loc1)`, in files that have locations.
    fn location(&mut self, index: u32) -> Result<()> {
        if let Attribute::Location(Location::Unknown) = &*self.entries.attribute(index)? {
            if self.has_locations {
                self.out.push_str(" loc(unknown)");
            }
            return Ok(());
        }
        let number = self.number(index);
        _ = write!(self.out, " loc(#loc{number})");
        Ok(())
    }

    /// Writes the locations, each after those that it refers to.
    fn write_aliases(&mut self) -> Result<()> {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            Open,
            Written,
        }
        let mut states: HashMap<u32, State> = HashMap::new();
        let mut stack: Vec<(u32, bool)> =
            self.aliases.locations.iter().rev().map(|index| (*index, false)).collect();
        while let Some((index, is_complete)) = stack.pop() {
            cancel::tick();
            let attribute = self.entries.attribute(index)?;
            let Attribute::Location(location) = &*attribute else {
                return self.entries.attribute_error(index, "a location is expected: the file is damaged");
            };
            if is_complete {
                states.insert(index, State::Written);
                self.alias(index, location)?;
                continue;
            }
            match states.get(&index) {
                Some(State::Written) => continue,
                Some(State::Open) => {
                    return self
                        .entries
                        .attribute_error(index, "a location is part of itself: the file is damaged");
                }
                None => _ = states.insert(index, State::Open),
            }
            stack.push((index, true));
            for part in parts(location) {
                match states.get(&part) {
                    Some(State::Written) => {}
                    Some(State::Open) => {
                        return self
                            .entries
                            .attribute_error(part, "a location is part of itself: the file is damaged");
                    }
                    None => stack.push((part, false)),
                }
            }
        }
        Ok(())
    }

    fn alias(&mut self, index: u32, location: &Location) -> Result<()> {
        if *location == Location::Unknown {
            return Ok(());
        }
        if self.out.len() > self.limit {
            let message = format!("the text would be more than {} MB", self.limit >> 20);
            return Err(Error { offset: 0, message });
        }
        let number = self.number(index);
        _ = write!(self.out, "#loc{number} = loc(");
        let numbers: HashMap<u32, usize> =
            parts(location).into_iter().map(|part| (part, self.number(part))).collect();
        let mut text = String::new();
        self.entries.write_location(location, &mut text, Nesting::outermost(""), &|part, out| {
            match &*self.entries.attribute(part)? {
                Attribute::Location(Location::Unknown) => out.push_str("unknown"),
                _ => _ = write!(out, "#loc{}", numbers.get(&part).copied().unwrap_or(0)),
            }
            Ok(())
        })?;
        self.out.push_str(&text);
        self.out.push_str(")\n");
        Ok(())
    }

    fn number(&mut self, index: u32) -> usize {
        let aliases = &mut self.aliases;
        *aliases.numbers.entry(index).or_insert_with(|| {
            aliases.locations.push(index);
            aliases.locations.len()
        })
    }
}

/// The locations that a location is made of.
fn parts(location: &Location) -> Vec<u32> {
    match location {
        Location::Unknown | Location::File { .. } => Vec::new(),
        Location::CallSite { callee, caller } => vec![*callee, *caller],
        Location::Fused { locations, .. } => locations.clone(),
        Location::Name { child, .. } => vec![*child],
    }
}

fn is_elementwise(name: &str) -> bool {
    name.strip_prefix("stablehlo.").is_some_and(|name| ELEMENTWISE.contains(&name))
}

/// Whether a module can be written as `module { … }`.
fn is_plain_body(op: &Op) -> bool {
    let is_one = |region: &Region| matches!(region.blocks.as_slice(), [block] if block.arguments.is_empty());
    op.property_dictionary.is_none() && matches!(op.regions.as_slice(), [region] if is_one(region))
}
