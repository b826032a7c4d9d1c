//! The instructions that read and write arrays, as maps from threads to addresses. They are derived from the
//! printed code, with the widths of its vectors, the loops around each instruction and the branches on the
//! way to it.

mod paths;
mod values;

use gpu::{Buffer, CodeAccess, CodeAccessKind};
use indexing_map::{Constraint, Expr, IndexingMap, Variable};
use ir::ElementTypeExt;
use rustc_hash::FxHashMap;

use super::code::Code;
use super::element::packed;
use super::machine::{Address, Inst, Kind, Operand, Reg, Space};
use crate::Reason;
use crate::kernel::{Kernel, Role};
use paths::Paths;
use values::{AccessValue, ArgumentOffset, Values};

/// The maximum number of memory instructions of a kernel; beyond it, no accesses are reported.
const MAX_ACCESSES: usize = 1 << 14;
/// The maximum number of conditions of all memory instructions and all assignments: in a chain of branches, each has those of all
/// branches before it.
const MAX_CONDITIONS: usize = 1 << 21;

/// One instruction with one address.
struct Access {
    kind: CodeAccessKind,
    param: usize,
    /// The offset from the start of the array.
    first: Expr,
    distance: i64,
    bytes: i64,
    conditions: Vec<Constraint>,
    is_certain: bool,
    /// Variables of the loops around it, innermost last.
    loops: Vec<u32>,
}

pub(super) fn access_maps(
    kernel: &Kernel,
    code: &Code,
    pointers: &[Option<Reg>],
) -> Result<Vec<CodeAccess>, Reason> {
    let mut values = Values::new(kernel, &code.insts, pointers);
    let mut paths = Paths::default();
    let mut accesses: Vec<Access> = Vec::new();
    let mut changed: Vec<Address> = Vec::new();
    let mut conditions_in_all = 0;
    for (at, inst) in code.insts.iter().enumerate() {
        cancel::tick();
        match &inst.kind {
            Kind::Label(label) => paths.label(*label, &values),
            Kind::Branch { target, guard } if values.is_forward(at, *target) => {
                let holds = guard.map(|(reg, when)| (values.test(reg), when));
                paths.branch(*target, holds, &values);
            }
            Kind::Pure { .. } => values.compute(inst),
            Kind::Move { .. } => {
                conditions_in_all += paths.len();
                values.assign(inst, &paths);
            }
            _ => {}
        }
        if conditions_in_all > MAX_CONDITIONS {
            return Err(format!("its accesses to memory have more than {MAX_CONDITIONS} conditions").into());
        }
        if let Some((kind, address, bytes)) = moved(inst) {
            // An exchange with several variants in the code, only one of which is executed.
            let is_again = kind == CodeAccessKind::Change && changed.contains(&address);
            if kind == CodeAccessKind::Change {
                changed.push(address);
            }
            let (conditions, is_certain) = paths.conditions();
            conditions_in_all += conditions.len();
            let places = values.pointer(address.base).ok_or("an address of the code is not understood")?;
            for ArgumentOffset { param, bytes: first, when } in places.into_iter().filter(|_| !is_again) {
                let mut conditions = conditions.clone();
                conditions.extend(when);
                let loops = values.loops_around(at);
                let (distance, loops) = (address.offset, loops.to_vec());
                accesses.push(Access { kind, param, first, distance, bytes, conditions, is_certain, loops });
            }
            if accesses.len() > MAX_ACCESSES {
                return Err(format!("its code has more than {MAX_ACCESSES} accesses to memory").into());
            }
        }
        values.load(inst);
    }
    Ok(grouped(kernel, &values, accesses))
}

/// The access of an instruction to an argument of the kernel: its kind, address, and bytes per thread.
fn moved(inst: &Inst) -> Option<(CodeAccessKind, Address, i64)> {
    let (kind, address, bits) = match &inst.kind {
        Kind::Load { address, bits, .. } => (CodeAccessKind::Read, *address, bits * inst.to.len() as u32),
        Kind::Store { address, bits, from } => (CodeAccessKind::Write, *address, bits * from.len() as u32),
        Kind::Exchange { address, bits, .. } => (CodeAccessKind::Change, *address, *bits),
        Kind::Atomic { ty, address, from, .. } => {
            let bits = ty.bits()?;
            let kind = if inst.to.is_empty() { CodeAccessKind::Write } else { CodeAccessKind::Change };
            (kind, *address, bits * from.len() as u32)
        }
        _ => return None,
    };
    matches!(address.space, Space::Global(_)).then_some((kind, address, i64::from(bits / 8)))
}

type Alike = (CodeAccessKind, usize, Expr, i64, Vec<Constraint>, bool, Vec<u32>);

/// Merges accesses that differ only in an offset: most are iterations of an unrolled loop.
#[allow(
    clippy::mutable_key_type,
    reason = "what a node remembers of its simplification is no part of its hash"
)]
fn grouped(kernel: &Kernel, values: &Values<'_>, accesses: Vec<Access>) -> Vec<CodeAccess> {
    let mut known: FxHashMap<Alike, usize> = FxHashMap::default();
    let mut out: Vec<CodeAccess> = Vec::new();
    for access in accesses {
        let Access { kind, param, first, distance, bytes, conditions, is_certain, loops } = access;
        let key = (kind, param, first.clone(), bytes, conditions.clone(), is_certain, loops.clone());
        if let Some(&number) = known.get(&key) {
            out[number].distances.push(distance);
            continue;
        }
        known.insert(key, out.len());
        let own = &kernel.params[param];
        let (map, gathered_at) = values.map(first, &conditions, &loops);
        let element = own.shape.element;
        let element_bits = packed(element).or(element.bits().map(|bits| bits.max(8))).unwrap_or(8);
        out.push(CodeAccess {
            is_bulk: false,
            kind,
            buffer: match own.role {
                Role::Operand(number) => Buffer::Operand(number as u32),
                Role::Result(number) => Buffer::Result(number),
            },
            map,
            gathered_at,
            bytes,
            element_bits: i64::from(element_bits),
            distances: vec![distance],
            is_certain,
        });
    }
    out
}

/// The bounds of a variable, with its name in the texts of maps.
fn named(name: &str, variable: &Variable) -> Variable {
    Variable::named(name, variable.bounds.lower, variable.bounds.upper)
}

/// A map from the ids of thread and block and from loops, with runtime variables last.
fn map_of(
    variables: &[Variable],
    dims: usize,
    ranges: &[u32],
    runtime: &[u32],
    result: &Expr,
    conditions: &[Constraint],
) -> IndexingMap {
    let place = |v: u32| {
        let v = v as usize;
        if v < dims {
            return Some(Expr::var(v));
        }
        let among = |list: &[u32]| list.iter().position(|&own| own as usize == v);
        let number = among(ranges).map(|n| dims + n);
        Some(
            number
                .or_else(|| among(runtime).map(|n| dims + ranges.len() + n))
                .map_or(Expr::TOO_LARGE, Expr::var),
        )
    };
    let of = |list: &[u32]| list.iter().map(|&v| variables[v as usize].clone()).collect();
    let names = ["th_x", "th_y", "th_z", "bl_x", "bl_y", "bl_z"];
    let ids = variables[..dims].iter().zip(names).map(|(variable, name)| named(name, variable)).collect();
    let mut map = IndexingMap::new(ids, of(ranges), of(runtime), vec![result.substitute(&mut { place })]);
    for condition in conditions {
        map.add_constraint(condition.expr.substitute(&mut { place }), condition.interval);
    }
    map
}

impl Values<'_> {
    /// The possible positions of a pointer.
    fn pointer(&self, base: Operand) -> Option<Vec<ArgumentOffset>> {
        match self.value(base)? {
            AccessValue::Pointer(places) => Some(places),
            _ => None,
        }
    }
}
