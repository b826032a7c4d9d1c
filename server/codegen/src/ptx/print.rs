//! The text of instructions. Names and directives are those of LLVM's NVPTX back end.

use std::fmt::Write;

use ir::{ElementTypeExt, OpId};

use super::Target;
use super::code::Code;
use super::library;
use super::machine::{Address, Class, Inst, Kind, Operand, Reg, Space};
use super::packed::packed;
use crate::KernelText;
use crate::kernel::{Kernel, Missing, SharedArray};

/// The version of the PTX ISA that XLA currently emits.
const VERSION: &str = "8.8";

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
    out.line(format_args!(".version {VERSION}"), None);
    out.line(format_args!(".target sm_{major}{minor}{features}"), None);
    out.line(format_args!(".address_size 64"), None);
    out.line(format_args!(""), None);
    for Missing { instruction, reason, .. } in &missing {
        out.line(format_args!("// incomplete: {instruction}: {reason}"), None);
    }
    for table in library::tables() {
        let is_read = |lowered: &Lowered<'_>| lowered.code.reads(Operand::Symbol(table.name));
        if kernels.iter().any(is_read) {
            declare(&mut out, table.align, table.name, &table.bytes);
        }
    }
    let mut shared_bytes = 0;
    for (n, kernel) in kernels.into_iter().enumerate() {
        if n > 0 {
            out.line(format_args!(""), None);
        }
        shared_bytes = entry(&mut out, kernel, name_of).max(shared_bytes);
    }
    KernelText { text: out.text, lines: out.origins, missing, accesses: out.accesses, shared_bytes }
}

/// Prints one kernel; returns the bytes of shared memory of a block.
fn entry(out: &mut Lines, lowered: Lowered<'_>, name_of: &dyn Fn(OpId) -> String) -> i64 {
    let Lowered { kernel, mut code, pointers, shared } = lowered;
    let mut insts = arguments(kernel, &mut code, &pointers);
    insts.append(&mut code.insts);
    code.insts = insts;
    let counts = code.renumber();
    let name = &kernel.name;
    for (n, table) in kernel.tables.iter().enumerate() {
        let align = (table.shape.element.bits().unwrap_or(8) / 8).clamp(1, 8);
        declare(out, align, &format!("global_cst_{n}"), &table.bytes);
    }
    out.line(format_args!(".visible .entry {name}("), None);
    for (n, param) in kernel.params.iter().enumerate() {
        let comma = if n + 1 == kernel.params.len() { "" } else { "," };
        let align = param.align;
        out.line(format_args!("\t.param .u64 .ptr .align {align} {name}_param_{n}{comma}"), None);
    }
    out.line(format_args!(")"), None);
    let [x, y, z] = kernel.launch.block;
    out.line(format_args!(".reqntid {x}, {y}, {z}"), None);
    out.line(format_args!("{{"), None);
    for class in Class::ALL {
        let count = counts[class as usize];
        if count > 0 {
            let (declared, prefix) = (class.declared(), class.prefix());
            out.line(format_args!("\t.reg {declared} \t{prefix}<{}>;", count + 1), None);
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
        out.line(format_args!("\t.shared .align 16 .b8 shared_{n}[{size}];"), None);
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
        let text = text(inst);
        out.accesses.extend(inst.argument().map(|argument| (out.origins.len(), argument)));
        out.line(format_args!("{text}"), inst.origin);
    }
    out.line(format_args!("}}"), None);
    shared_bytes
}

/// An array of the module.
fn declare(out: &mut Lines, align: u32, name: &str, bytes: &[u8]) {
    let numbers: Vec<String> = bytes.iter().map(u8::to_string).collect();
    let (size, numbers) = (bytes.len(), numbers.join(", "));
    out.line(format_args!(".global .align {align} .b8 {name}[{size}] = {{{numbers}}};"), None);
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
}

/// Loads the used arguments as addresses in global memory.
fn arguments(kernel: &Kernel, code: &mut Code, pointers: &[Option<Reg>]) -> Vec<Inst> {
    let mut insts = Vec::new();
    for (n, pointer) in pointers.iter().enumerate() {
        let Some(pointer) = *pointer else { continue };
        let is_read = code.insts.iter().any(|inst| inst.reads().contains(&Operand::Reg(pointer)));
        if !is_read {
            continue;
        }
        let raw = code.reg(Class::B64);
        let load = format!("ld.param.b64\u{0}{}_param_{n}", kernel.name);
        let of = |kind, to| Inst { kind, to, origin: None };
        insts.push(of(Kind::Pure { name: load.into(), from: Vec::new() }, vec![raw]));
        let from = vec![raw.into()];
        insts.push(of(Kind::Pure { name: "cvta.to.global.u64".into(), from }, vec![pointer]));
    }
    insts
}

fn text(inst: &Inst) -> String {
    let reg = |reg: &Reg| format!("{}{}", reg.class.prefix(), reg.number);
    let list = |regs: &[Reg]| regs.iter().map(reg).collect::<Vec<_>>().join(", ");
    let values = |from: &[Operand]| from.iter().map(|o| operand(*o)).collect::<Vec<_>>().join(", ");
    let braced = |text: String, count: usize| if count > 1 { format!("{{{text}}}") } else { text };
    match &inst.kind {
        Kind::Pure { name, .. } if name.contains('\u{0}') => {
            let (name, symbol) = name.split_once('\u{0}').unwrap_or_default();
            format!("\t{name} \t{}, [{symbol}];", list(&inst.to))
        }
        Kind::Pure { name, from } => format!("\t{name} \t{}, {};", list(&inst.to), values(from)),
        Kind::Effect { name, from } if inst.to.is_empty() && from.is_empty() => format!("\t{name};"),
        Kind::Effect { name, from } if inst.to.is_empty() => format!("\t{name} \t{};", values(from)),
        Kind::Effect { name, from } => format!("\t{name} \t{}, {};", list(&inst.to), values(from)),
        Kind::Load { address, bits, is_invariant } => {
            let space = space(address.space);
            let nc = if *is_invariant { ".nc" } else { "" };
            let vector = vector(inst.to.len());
            let to = braced(list(&inst.to), inst.to.len());
            format!("\tld.{space}{nc}{vector}.b{bits} \t{to}, {};", place(address))
        }
        Kind::Store { address, bits, from } => {
            let space = space(address.space);
            let vector = vector(from.len());
            let from_text = from.iter().map(|o| stored(*o, *bits)).collect::<Vec<_>>().join(", ");
            let from = braced(from_text, from.len());
            format!("\tst.{space}{vector}.b{bits} \t{}, {from};", place(address))
        }
        Kind::Exchange { address, bits, expected, new } => {
            let (space, place) = (space(address.space), place(address));
            let from = values(&[*expected, *new]);
            format!("\tatom.relaxed.sys.{space}.cas.b{bits} \t{}, {place}, {from};", list(&inst.to))
        }
        Kind::Atomic { name, address, from } => {
            let (space, place) = (space(address.space), place(address));
            let to = braced(list(&inst.to), inst.to.len());
            let values = braced(values(from), from.len());
            match name.split_once('.') {
                _ if inst.to.is_empty() => format!("\tst.relaxed.sys.{space}.{name} \t{place}, {values};"),
                // Vector instructions have the type before the operation.
                Some((operation, ty)) if from.len() > 1 => {
                    let vector = vector(from.len());
                    format!("\tatom.{space}{vector}.{ty}.{operation} \t{to}, {place}, {values};")
                }
                _ => format!("\tatom.relaxed.sys.{space}.{name} \t{to}, {place}, {values};"),
            }
        }
        Kind::Branch { target, guard: None } => format!("\tbra.uni \t$L__BB0_{target};"),
        Kind::Branch { target, guard: Some((guard, is_true)) } => {
            let not = if *is_true { "" } else { "!" };
            format!("\t@{not}{} bra \t$L__BB0_{target};", reg(guard))
        }
        Kind::Label(label) => format!("$L__BB0_{label}:"),
        Kind::Move { from } => {
            let class = inst.to.first().map_or(Class::B32, |reg| reg.class);
            match (class, from) {
                (Class::Pred, Operand::Int(value)) => {
                    format!("\tsetp.ne.s32 \t{}, {value}, 0;", list(&inst.to))
                }
                (Class::Pred, _) => format!("\tmov.pred \t{}, {};", list(&inst.to), operand(*from)),
                _ => format!("\tmov.b{} \t{}, {};", class.bits(), list(&inst.to), operand(*from)),
            }
        }
        Kind::Unpack { from } => {
            format!("\tmov.b{} \t{{{}}}, {};", from.class.bits(), list(&inst.to), reg(from))
        }
        Kind::Pack { from } => {
            let bits = inst.to.first().map_or(32, |reg| reg.class.bits());
            format!("\tmov.b{bits} \t{}, {{{}}};", list(&inst.to), values(from))
        }
        Kind::Return => "\tret;".to_owned(),
        Kind::Note(note) => format!("\t// {note}"),
    }
}

fn vector(count: usize) -> &'static str {
    match count {
        2 => ".v2",
        4 => ".v4",
        8 => ".v8",
        _ => "",
    }
}

fn space(space: Space) -> &'static str {
    match space {
        Space::Global(_) | Space::Table(_) | Space::Library => "global",
        Space::Shared(_) => "shared",
    }
}

fn place(address: &Address) -> String {
    match address.offset {
        0 => format!("[{}]", operand(address.base)),
        offset if offset < 0 => format!("[{}+{offset}]", operand(address.base)),
        offset => format!("[{}+{offset}]", operand(address.base)),
    }
}

fn operand(operand: Operand) -> String {
    match operand {
        Operand::Reg(reg) => format!("{}{}", reg.class.prefix(), reg.number),
        Operand::Int(value) => value.to_string(),
        Operand::F32(bits) => format!("0f{bits:08X}"),
        Operand::F64(bits) => format!("0d{bits:016X}"),
        Operand::Symbol(name) => name.to_owned(),
        Operand::Shared(n) => format!("shared_{n}"),
        Operand::Table(n) => format!("global_cst_{n}"),
    }
}

/// The text of a stored value; constants are written as bits.
fn stored(value: Operand, bits: u32) -> String {
    match value {
        Operand::F32(pattern) => (pattern as i32).to_string(),
        Operand::F64(pattern) => (pattern as i64).to_string(),
        Operand::Int(value) if bits < 32 => (value & ((1 << bits) - 1)).to_string(),
        other => operand(other),
    }
}
