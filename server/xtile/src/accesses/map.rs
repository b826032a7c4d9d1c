//! From a tile and its layout to the addresses of the threads.

use gpu::{Buffer, CodeAccess, CodeAccessKind};
use indexing_map::{Constraint, Expr, IndexingMap, Interval, Variable};

use super::layout::{Layout, Step};
use super::tiles::{IDS, TileAccess, Tiles};
use crate::Reason;

/// The most instructions of one access; beyond it, it is not known what the kernel accesses.
const MAX_INSTRUCTIONS: usize = 1 << 12;

const TOO_FAR: &str = "an address that exceeds 64 bits";

/// Bits of a number that step along one dimension, each twice as far as the one before.
struct Run {
    /// The number of the first bit.
    bit: usize,
    bits: usize,
    /// `None` if they do not move.
    step: Step,
}

fn runs(steps: &[Step]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (bit, &step) in steps.iter().enumerate() {
        if let Some(last) = runs.last_mut() {
            let next = last.step.map(|(dim, step)| (dim, step << last.bits));
            if next == step {
                last.bits += 1;
                continue;
            }
        }
        runs.push(Run { bit, bits: 1, step });
    }
    runs
}

/// The accesses of threads to a tile, of which each moves `vector` elements with one instruction.
pub(super) fn code_access(
    tiles: &Tiles,
    access: &TileAccess,
    layout: &Layout,
    vector: i64,
    launch: &gpu::Launch,
    buffer: Buffer,
) -> Result<CodeAccess, Reason> {
    let is_write = access.kind != CodeAccessKind::Read;
    let mut places = vec![Expr::ZERO; access.dims.len()];
    let mut constraints = access.conditions.clone();
    let all = layout.threads.len();
    for run in runs(&layout.threads) {
        let above = Expr::var(0).floor_div(1i64 << run.bit);
        let digits = if run.bit + run.bits == all { above } else { above.modulo(1i64 << run.bits) };
        match run.step {
            Some((dim, step)) => places[dim] = places[dim].clone() + digits * step,
            // Only one of the threads that hold an element writes it.
            None if is_write => constraints.push(Constraint { expr: digits, interval: Interval::new(0, 0) }),
            None => {}
        }
    }
    // The bits of registers that one instruction moves are the first ones.
    let own: Vec<Step> = layout.registers.iter().filter(|step| step.is_some()).copied().collect();
    let own = own.get(vector.ilog2() as usize..).unwrap_or_default();
    let is_masked = |step: &Step| step.is_some_and(|(dim, _)| access.dims[dim].is_masked);
    let mut ranges: Vec<Variable> = Vec::new();
    let mut distances = vec![0i64];
    for run in runs(own) {
        let Some((dim, step)) = run.step else { continue };
        if is_masked(&run.step) {
            let id = IDS + tiles.variables.len() + ranges.len();
            places[dim] = places[dim].clone() + Expr::var(id) * step;
            ranges.push(Variable::from_size(1 << run.bits));
            continue;
        }
        let own = &access.dims[dim];
        let count = 1i64 << run.bits;
        if distances.len() << run.bits > MAX_INSTRUCTIONS {
            return Err("a tile of too many elements".into());
        }
        let far =
            [own.stride, own.step, access.bytes, count].iter().try_fold(step, |far, by| far.checked_mul(*by));
        let far = far.ok_or(TOO_FAR)? / count;
        distances = (0..count).flat_map(|n| distances.iter().map(move |d| d + n * far)).collect();
    }
    let mut position = access.start.clone();
    for (place, dim) in places.into_iter().zip(&access.dims) {
        if dim.is_masked {
            let expr = dim.offset.clone() + place.clone() * dim.stride;
            constraints.push(Constraint { expr, interval: Interval::new(0, dim.extent - 1) });
        }
        position = position + place * dim.stride.checked_mul(dim.step).ok_or(TOO_FAR)?;
    }
    let map = compact(tiles, position * access.bytes, constraints, ranges, launch);
    Ok(CodeAccess {
        kind: access.kind,
        buffer,
        map,
        gathered_at: Vec::new(),
        bytes: vector * access.bytes,
        element_bits: 8 * access.bytes,
        distances,
        is_certain: access.is_certain,
        is_bulk: false,
    })
}

/// The map with those variables of the program on which it depends.
fn compact(
    tiles: &Tiles,
    result: Expr,
    constraints: Vec<Constraint>,
    registers: Vec<Variable>,
    launch: &gpu::Launch,
) -> IndexingMap {
    let first_register = IDS + tiles.variables.len();
    let is_used = |id: usize| {
        result.uses_var(id as u32) || constraints.iter().any(|constraint| constraint.expr.uses_var(id as u32))
    };
    let used = |is_loop: bool| {
        (tiles.variables.iter().enumerate())
            .filter(move |(at, variable)| variable.is_loop == is_loop && is_used(IDS + at))
    };
    let (mut ranges, mut runtime) = (Vec::new(), Vec::new());
    let mut renamed: Vec<Option<usize>> = vec![None; first_register + registers.len()];
    for (at, variable) in used(true) {
        renamed[IDS + at] = Some(IDS + ranges.len());
        ranges.push(variable.bounds.clone());
    }
    for (at, register) in registers.into_iter().enumerate() {
        renamed[first_register + at] = Some(IDS + ranges.len());
        ranges.push(register);
    }
    for (at, variable) in used(false) {
        renamed[IDS + at] = Some(IDS + ranges.len() + runtime.len());
        runtime.push(variable.bounds.clone());
    }
    let rename =
        |expr: &Expr| expr.substitute(&mut |v| renamed.get(v as usize).copied().flatten().map(Expr::var));
    let ids = launch.sizes().map(Variable::from_size).to_vec();
    let mut map = IndexingMap::new(ids, ranges, runtime, vec![rename(&result)]);
    for constraint in constraints {
        map.add_constraint(rename(&constraint.expr), constraint.interval);
    }
    map
}
