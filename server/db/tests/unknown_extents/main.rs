//! Ops of StableHLO, MHLO and CHLO with unknown extents, compared with evaluating them on arrays of known extents.

mod einsums;
mod elementwise;
mod moves_and_sums;
mod producers;
mod rows;
mod scatter;
mod windows;

use op_reads::{MapsOf, Read};

/// A function around one op, whose maps are those that features show.
fn function(arguments: &[String], op: &str) -> Read {
    shown(op_reads::function(arguments, op))
}

/// The same of a text.
fn of(text: &str) -> Read {
    shown(Read::of(text.to_owned()))
}

fn shown(read: Read) -> Read {
    let maps_of: MapsOf = |source, id, result| {
        let maps = db::mlir_maps(source, id, result)?;
        Some(maps.map(|maps| maps.into_op_maps(source, id, result)).map_err(|why| why.to_string()))
    };
    Read { maps_of, ..read }
}
