//! The text of kernels with the op that each line comes from. Names and directives are those of LLVM's NVPTX
//! back end.

use std::fmt::{Display, Write};

use ir::{ElementTypeExt, OpId};
use ptx::{Attribute, Function, Linkage, Modifier, Module, Name, Opcode, Space, Statement, Type, Variable};

use super::Target;
use super::assemble::{Symbol, statement};
use super::code::Code;
use super::element::packed;
use super::library;
use super::machine::{Class, Inst, Kind, Operand, Reg};
use crate::KernelText;
use crate::kernel::{Kernel, Missing, Param, SharedArray};

/// The version of the PTX ISA that XLA currently emits.
const VERSION: (u32, u32) = (8, 8);

/// A lowered kernel.
pub(super) struct Lowered<'k> {
    pub kernel: &'k Kernel,
    pub code: Code,
    /// Per argument, the register with its address, if it is used.
    pub pointers: Vec<Option<Reg>>,
    pub shared: Vec<SharedArray>,
}

/// A module of kernels.
pub(super) fn print(
    kernels: Vec<Lowered<'_>>,
    Target { major, minor, accelerated }: Target,
    missing: Vec<Missing>,
    name_of: &dyn Fn(OpId) -> String,
) -> KernelText {
    let mut out = Lines::default();
    let features = if accelerated { "a" } else { "" };
    let target = format!("sm_{major}{minor}{features}");
    let (version, targets, address_size) = (Some(VERSION), vec![target], Some(64));
    out.lines(Module { version, targets, address_size, ..Module::default() }.header());
    out.line(format_args!(""), None);
    for Missing { instruction, reason, .. } in &missing {
        out.line(format_args!("// incomplete: {instruction}: {reason}"), None);
    }
    for table in library::tables() {
        let is_read = |lowered: &Lowered<'_>| lowered.code.reads(Operand::Symbol(table.name));
        if kernels.iter().any(is_read) {
            declare(&mut out, table.align, Symbol::Text(table.name), &table.bytes);
        }
    }
    let mut shared_bytes = 0;
    for (n, kernel) in kernels.into_iter().enumerate() {
        if n > 0 {
            out.line(format_args!(""), None);
        }
        shared_bytes = entry(&mut out, kernel, name_of).max(shared_bytes);
    }
    KernelText {
        text: out.text,
        lines: out.origins,
        missing,
        accesses: out.accesses,
        shared_bytes,
        ..KernelText::default()
    }
}

/// Prints one kernel; returns the bytes of shared memory of a block.
fn entry(out: &mut Lines, lowered: Lowered<'_>, name_of: &dyn Fn(OpId) -> String) -> i64 {
    let Lowered { kernel, mut code, pointers, shared } = lowered;
    let mut insts = arguments(&mut code, &pointers);
    insts.append(&mut code.insts);
    code.insts = insts;
    let counts = code.renumber();
    let name = &kernel.name;
    for (n, table) in kernel.tables.iter().enumerate() {
        let align = (table.shape.element.bits().unwrap_or(8) / 8).clamp(1, 8);
        declare(out, align, Symbol::Table(n as u32), &table.bytes);
    }
    out.lines(head(kernel).head());
    out.line(format_args!("{{"), None);
    for class in Class::ALL {
        let count = counts[class as usize];
        if count > 0 {
            let (ty, name, count) = (class.ty(), Symbol::Registers(class), Some(count + 1));
            out.line(format_args!("{}", Statement::Registers { ty, name, count }), None);
        }
    }
    let mut shared_bytes = 0;
    for (n, array) in shared.iter().enumerate() {
        let bits = match packed(array.element) {
            Some(bits) => bits,
            None => array.element.bits().unwrap_or(8).max(8),
        };
        let size = (array.dims.iter().product::<i64>() * i64::from(bits) + 7) / 8;
        shared_bytes += size;
        let mut variable = Variable::new(Space::Shared, Type::B8, Symbol::Shared(n as u32));
        variable.align = Some(16);
        variable.extents.push(Some(size.unsigned_abs()));
        out.line(format_args!("{}", Statement::Variable(variable)), None);
    }
    out.line(format_args!(""), None);
    let mut last = None;
    for inst in &code.insts {
        if inst.origin != last
            && let Some(op) = inst.origin
        {
            out.line(format_args!("\t// %{}", name_of(op)), inst.origin);
            last = inst.origin;
        }
        out.accesses.extend(inst.argument().map(|argument| (out.origins.len(), argument)));
        match (statement(inst, name), &inst.kind) {
            (Some(statement), _) => out.line(format_args!("{statement}"), inst.origin),
            (None, Kind::Note(note)) => out.line(format_args!("\t// {note}"), inst.origin),
            (None, _) => {}
        }
    }
    out.line(format_args!("}}"), None);
    shared_bytes
}

/// The kernel without its body.
fn head(kernel: &Kernel) -> Function<Symbol<'_>> {
    let parameter = |(n, param): (usize, &Param)| {
        let mut variable = Variable::new(Space::Param, Type::U64, Symbol::Argument(&kernel.name, n));
        variable.is_pointer = true;
        variable.align = Some(u64::from(param.align));
        variable
    };
    let values = kernel.launch.block.map(|size| u32::try_from(size).unwrap_or(u32::MAX)).to_vec();
    let mut function = Function::entry(Symbol::Text(&kernel.name));
    function.linkage = Some(Linkage::Visible);
    function.parameters = kernel.params.iter().enumerate().map(parameter).collect();
    function.attributes = vec![Attribute { name: Symbol::Text(".reqntid"), values }];
    function
}

/// An array of the module.
fn declare(out: &mut Lines, align: u32, name: Symbol<'_>, bytes: &[u8]) {
    let mut variable = Variable::new(Space::Global, Type::B8, name);
    variable.align = Some(u64::from(align));
    variable.extents.push(Some(bytes.len() as u64));
    variable.initial = bytes.iter().map(|&byte| u64::from(byte)).collect();
    out.line(format_args!("{variable};"), None);
}

#[derive(Default)]
struct Lines {
    text: String,
    origins: Vec<Option<OpId>>,
    accesses: Vec<(usize, usize)>,
}

impl Lines {
    fn line(&mut self, text: std::fmt::Arguments<'_>, origin: Option<OpId>) {
        let _ = writeln!(self.text, "{text}");
        self.origins.push(origin);
    }

    /// Text of any number of lines, each with its break.
    fn lines(&mut self, text: impl Display) {
        let before = self.text.len();
        let _ = write!(self.text, "{text}");
        let count = self.text[before..].matches('\n').count();
        self.origins.resize(self.origins.len() + count, None);
    }
}

/// Loads the used arguments as addresses in global memory.
fn arguments(code: &mut Code, pointers: &[Option<Reg>]) -> Vec<Inst> {
    let mut insts = Vec::new();
    for (n, pointer) in pointers.iter().enumerate() {
        let Some(pointer) = *pointer else { continue };
        let is_read = code.insts.iter().any(|inst| inst.reads().contains(&Operand::Reg(pointer)));
        if !is_read {
            continue;
        }
        let raw = code.reg(Class::B64);
        let of = |kind, to| Inst { kind, to, origin: None };
        insts.push(of(Kind::Argument(n), vec![raw]));
        let opcode = Opcode::new(Name::Cvta).with(Modifier::To).with(Space::Global).with(Type::U64);
        insts.push(of(Kind::Pure { opcode, from: vec![raw.into()] }, vec![pointer]));
    }
    insts
}
