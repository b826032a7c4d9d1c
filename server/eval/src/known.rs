//! A cache for elements of costly ops.

use std::collections::HashMap;

use super::column::Column;
use super::dispatch::Asked;
use super::evaluator::{Evaluator, MAX_HELD};
use crate::checks::Checked;

/// The computed elements of one op. Lives as long as the op's frame; at most [`MAX_HELD`] elements.
#[derive(Default)]
pub(crate) struct Known {
    places: HashMap<i64, u32>,
    columns: Vec<Column>,
}

impl<'a> Evaluator<'a> {
    /// Elements of a costly op, each computed once. `compute` returns all leaves at distinct positions.
    pub(crate) fn known(
        &mut self,
        asked: &Asked<'_>,
        compute: fn(&mut Evaluator<'a>, &Asked<'_>, &[i64]) -> Checked<Vec<Column>>,
    ) -> Checked<Column> {
        let (frame, id, leaf) = (asked.frame, asked.id, asked.leaf);
        let places = &self.frames[frame].known.entry(id).or_default().places;
        let mut missing: Vec<i64> =
            asked.batch.positions.iter().copied().filter(|p| !places.contains_key(p)).collect();
        super::positions::sort(&mut missing);
        missing.dedup();
        if !missing.is_empty() {
            if (places.len() + missing.len()) as i64 > MAX_HELD {
                return Err("too many elements to hold".into());
            }
            let columns = compute(self, asked, &missing)?;
            let known = self.frames[frame].known.entry(id).or_default();
            let start = known.places.len() as u32;
            if known.columns.is_empty() {
                known.columns = columns;
            } else {
                known.columns.iter_mut().zip(&columns).for_each(|(own, more)| own.append(more));
            }
            known.places.extend(missing.iter().enumerate().map(|(i, &p)| (p, start + i as u32)));
        }
        let known = &self.frames[frame].known[&id];
        let column = known.columns.get(leaf).ok_or("there is no such output")?;
        let indices: Vec<u32> = asked.batch.positions.iter().map(|p| known.places[p]).collect();
        if indices.iter().any(|&i| i as usize >= column.len()) {
            return Err("an op answers too few elements".into());
        }
        Ok(column.pick(&indices))
    }
}
