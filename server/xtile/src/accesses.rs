//! Which thread of a Triton kernel reads and writes which bytes, by Triton's layout rules.
//!
//! XLA lowers each read and write of a tile to addresses and a mask. Triton's analysis of these ([`axis_info`]) finds runs of
//! consecutive, aligned elements; its coalescing pass ([`coalesce`]) gives each tile the layout in which a thread holds such
//! a run and lanes follow each other.
//!
//! Architecture Invariant: what these rules do not decide is an error with its reason, not a guess.

mod axis_info;
mod coalesce;
mod layout;
mod map;
mod tiles;
mod users;

use gpu::{Buffer, CodeAccess, FusionAnalysis};

use crate::Reason;
use crate::program::Program;
use coalesce::{Pointers, coalesced};
use tiles::{TileAccess, Tiles};

/// Stack for nested blocks, whose depth is bounded.
const STACK: usize = 4 << 20;

/// The memory accesses of the kernel that Triton writes for a program in its operations, which [`crate::lower()`] returns.
///
/// # Errors
///
/// Why the rules do not decide them.
pub fn accesses(program: &Program, analysis: &FusionAnalysis) -> Result<Vec<CodeAccess>, Reason> {
    recursion::with_stack(STACK, || predicted(program, analysis))
}

fn predicted(program: &Program, analysis: &FusionAnalysis) -> Result<Vec<CodeAccess>, Reason> {
    let launch = analysis.stated_launch().ok_or("a launch that is not known")?;
    let config = analysis.fused.block_level.as_ref().ok_or("a fusion whose configuration states no tiles")?;
    // Blocks beyond the last one of the program have no tiles.
    if launch.grid[0] < program.blocks || launch.grid[1..] != [1, 1] {
        return Err("a grid with blocks along several dimensions".into());
    }
    if analysis.device.is_rocm() || analysis.device.is_blackwell_or_later() {
        return Err("Triton's layouts on this GPU are not known".into());
    }
    if config.warps.count_ones() != 1 {
        return Err(format!("{} warps, which is no power of two", config.warps).into());
    }
    let tiles = Tiles::of(program)?;
    let pointers: Vec<Pointers> = tiles.accesses.iter().map(Pointers::of).collect();
    let layouts = coalesced(&tiles.accesses, &pointers, config.warps);
    let results = analysis.fused.outputs.len();
    let first_result = program.arguments.len().checked_sub(results).ok_or("a kernel without its results")?;
    let mut accesses = Vec::new();
    // A bulk copy moves the bytes of the box that its tile is. Those in rows, so that the coalesced layout has the same sectors.
    let is_bulk = |access: &TileAccess| config.is_tma_allowed && access.fits_bulk_copy;
    let plain = layouts.clone();
    let chosen = users::chosen(program, &tiles.accesses, layouts, analysis.device, config.warps);
    for (at, (access, pointers)) in tiles.accesses.iter().zip(&pointers).enumerate() {
        let is_bulk = is_bulk(access);
        let layouts = if is_bulk { std::slice::from_ref(&plain[at]) } else { &chosen[at] };
        let buffer = match access.argument {
            argument if argument >= first_result => Buffer::Result(argument - first_result),
            argument => Buffer::Operand(argument as u32),
        };
        for layout in layouts {
            let vector = pointers.elements_at_once(layout);
            let found = map::code_access(&tiles, access, layout, vector, &launch, buffer)?;
            accesses.push(CodeAccess { is_bulk, ..found });
        }
    }
    Ok(accesses)
}
