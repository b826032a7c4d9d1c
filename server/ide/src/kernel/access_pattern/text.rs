//! The picture for terminals, with a line per sector.

use std::fmt::Write;

use gpu::{LanePicture, SECTOR_BYTES};

use super::Sector;

/// The number of sectors shown; the rest are counted.
const LIMIT: usize = 64;

/// Each sector has 32 columns, one per byte: an accessed byte shows the lane in base 36, or `*` for several
/// lanes.
pub(super) fn text(title: &str, caption: &str, picture: &LanePicture, sectors: &[Sector]) -> String {
    let mut out = format!("{title}\n{caption}\n");
    let numbers = |values: &[i64]| values.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    _ = writeln!(out, "bl = ({})", numbers(&picture.block));
    if !picture.iteration.is_empty() {
        _ = writeln!(out, "s = ({})", numbers(&picture.iteration));
    }
    let mut before = None;
    for sector in sectors.iter().take(LIMIT) {
        if before.is_some_and(|number| number + 1 != sector.number) {
            out += "            ⋮\n";
        }
        before = Some(sector.number);
        let mut cells = [b'.'; SECTOR_BYTES as usize];
        for &(lane, first, end) in &sector.lanes {
            for cell in &mut cells[first as usize..end as usize] {
                *cell = if *cell == b'.' { digit(lane) } else { b'*' };
            }
        }
        let lanes = spans(&sector.lanes);
        _ = writeln!(out, "{:>11} {} lanes {lanes}", byte_of(sector), String::from_utf8_lossy(&cells));
    }
    if sectors.len() > LIMIT {
        _ = writeln!(out, "… and {} more sectors", sectors.len() - LIMIT);
    }
    out
}

fn byte_of(sector: &Sector) -> i64 {
    sector.number.saturating_mul(SECTOR_BYTES as i64)
}

fn digit(lane: usize) -> u8 {
    let digits = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ@#";
    digits.get(lane).copied().unwrap_or(b'?')
}

/// For example `0-7, 12`.
pub(super) fn spans(lanes: &[(usize, i64, i64)]) -> String {
    let mut numbers: Vec<usize> = lanes.iter().map(|(lane, ..)| *lane).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let spans = numbers.chunk_by(|a, b| a + 1 == *b).map(|span| match span {
        [only] => only.to_string(),
        [first, .., last] => format!("{first}-{last}"),
        [] => String::new(),
    });
    spans.collect::<Vec<_>>().join(", ")
}
