//! The text of statements, functions and modules, laid out as LLVM's NVPTX back end does.

use std::fmt::{self, Display, Formatter, Write};

use crate::{Attribute, Function, Instruction, Linkage, Module, Opcode, Operand, Statement, Type, Variable};

impl Display for Opcode {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.name.text())?;
        self.words().iter().try_for_each(|word| write!(f, ".{word}"))
    }
}

fn list<T: Display>(f: &mut Formatter<'_>, items: &[T]) -> fmt::Result {
    items.iter().enumerate().try_for_each(|(n, item)| {
        f.write_str(if n > 0 { ", " } else { "" })?;
        item.fmt(f)
    })
}

impl<N: Display> Display for Operand<N> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Name(name) => name.fmt(f),
            Operand::Not(name) => write!(f, "!{name}"),
            Operand::Integer(value) => value.fmt(f),
            Operand::Single(bits) => write!(f, "0f{bits:08X}"),
            Operand::Double(bits) => write!(f, "0d{bits:016X}"),
            Operand::Address { base: None, offset } => write!(f, "[{offset}]"),
            Operand::Address { base: Some(base), offset: 0 } => write!(f, "[{base}]"),
            Operand::Address { base: Some(base), offset } => write!(f, "[{base}+{offset}]"),
            Operand::Tensor { map, coordinates } => {
                write!(f, "[{map}, {{")?;
                list(f, coordinates)?;
                f.write_str("}]")
            }
            Operand::Vector(parts) => {
                f.write_char('{')?;
                list(f, parts)?;
                f.write_char('}')
            }
            Operand::Arguments(parts) => {
                f.write_char('(')?;
                list(f, parts)?;
                f.write_char(')')
            }
            Operand::Pair(a, b) => write!(f, "{a}|{b}"),
        }
    }
}

/// With its semicolon.
impl<N: Display> Display for Instruction<N> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(guard) = &self.guard {
            write!(f, "@{}{} ", if guard.is_negated { "!" } else { "" }, guard.name)?;
        }
        self.opcode.fmt(f)?;
        if !self.operands.is_empty() {
            f.write_str(" \t")?;
            list(f, &self.operands)?;
        }
        f.write_char(';')
    }
}

/// One line, indented, without the line break.
impl<N: Display> Display for Statement<N> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Statement::Label(name) => write!(f, "{name}:"),
            Statement::Instruction(instruction) => {
                f.write_char('\t')?;
                instruction.fmt(f)
            }
            Statement::Registers { ty, name, count } => {
                write!(f, "\t.reg .{} \t{name}", ty.text())?;
                match count {
                    Some(count) => write!(f, "<{count}>;"),
                    None => f.write_char(';'),
                }
            }
            Statement::Variable(variable) => write!(f, "\t{variable};"),
            Statement::Open => f.write_str("\t{"),
            Statement::Close => f.write_str("\t}"),
        }
    }
}

/// Without the semicolon.
impl<N: Display> Display for Variable<N> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        linkage(f, self.linkage)?;
        write!(f, ".{}", self.space.text())?;
        let align = |f: &mut Formatter<'_>| match self.align {
            Some(align) => write!(f, " .align {align}"),
            None => Ok(()),
        };
        if !self.is_pointer {
            align(f)?;
        }
        if self.vector > 1 {
            write!(f, " .v{}", self.vector)?;
        }
        write!(f, " .{}", self.ty.text())?;
        if self.is_pointer {
            f.write_str(" .ptr")?;
            if let Some(space) = self.target {
                write!(f, " .{}", space.text())?;
            }
            align(f)?;
        }
        write!(f, " {}", self.name)?;
        for extent in &self.extents {
            match extent {
                Some(extent) => write!(f, "[{extent}]")?,
                None => f.write_str("[]")?,
            }
        }
        match self.initial.as_slice() {
            [] => Ok(()),
            [one] if self.extents.is_empty() => {
                f.write_str(" = ")?;
                initial(f, self.ty, *one)
            }
            all => {
                f.write_str(" = {")?;
                for (n, &bits) in all.iter().enumerate() {
                    f.write_str(if n > 0 { ", " } else { "" })?;
                    initial(f, self.ty, bits)?;
                }
                f.write_char('}')
            }
        }
    }
}

fn initial(f: &mut Formatter<'_>, ty: Type, bits: u64) -> fmt::Result {
    match ty {
        Type::F32 => write!(f, "0f{:08X}", bits as u32),
        Type::F64 => write!(f, "0d{bits:016X}"),
        _ => bits.fmt(f),
    }
}

fn linkage(f: &mut Formatter<'_>, linkage: Option<Linkage>) -> fmt::Result {
    let text = Linkage::ALL.iter().find(|(known, _)| Some(*known) == linkage);
    text.map_or(Ok(()), |(_, text)| write!(f, "{text} "))
}

impl<N: Display> Display for Attribute<N> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.name.fmt(f)?;
        f.write_str(if self.values.is_empty() { "" } else { " " })?;
        list(f, &self.values)
    }
}

/// All before the body, in lines.
struct Head<'f, N>(&'f Function<N>);

impl<N: Display> Display for Head<'_, N> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Function { name, parameters, results, attributes, .. } = self.0;
        linkage(f, self.0.linkage)?;
        f.write_str(if self.0.is_entry { ".entry " } else { ".func " })?;
        if !results.is_empty() {
            f.write_char('(')?;
            list(f, results)?;
            f.write_str(") ")?;
        }
        writeln!(f, "{name}(")?;
        for (n, parameter) in parameters.iter().enumerate() {
            writeln!(f, "\t{parameter}{}", if n + 1 < parameters.len() { "," } else { "" })?;
        }
        f.write_str(")\n")?;
        attributes.iter().try_for_each(|attribute| writeln!(f, "{attribute}"))
    }
}

impl<N: Display> Function<N> {
    /// The text before the body: linkage, name, parameters and attributes, each line with its break.
    pub fn head(&self) -> impl Display {
        Head(self)
    }
}

impl<N: Display> Display for Function<N> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.head().fmt(f)?;
        let Some(body) = &self.body else { return f.write_str(";\n") };
        f.write_str("{\n")?;
        body.iter().try_for_each(|statement| writeln!(f, "{statement}"))?;
        f.write_str("}\n")
    }
}

/// The directives before variables and functions.
struct Header<'m, N>(&'m Module<N>);

impl<N: Display> Display for Header<'_, N> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some((major, minor)) = self.0.version {
            writeln!(f, ".version {major}.{minor}")?;
        }
        if !self.0.targets.is_empty() {
            f.write_str(".target ")?;
            list(f, &self.0.targets)?;
            f.write_char('\n')?;
        }
        self.0.address_size.map_or(Ok(()), |size| writeln!(f, ".address_size {size}"))
    }
}

impl<N: Display> Module<N> {
    /// The directives before variables and functions, each line with its break.
    pub fn header(&self) -> impl Display {
        Header(self)
    }
}

impl<N: Display> Display for Module<N> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.header())?;
        self.variables.iter().try_for_each(|variable| writeln!(f, "{variable};"))?;
        for (n, function) in self.functions.iter().enumerate() {
            write!(f, "{}{function}", if n > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}
