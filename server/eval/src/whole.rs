//! A cache for ops that are computed as a whole.

use std::rc::Rc;

use super::column::Column;
use super::dispatch::Asked;
use super::evaluator::Evaluator;
use crate::checks::Checked;

impl<'a> Evaluator<'a> {
    /// Elements of an op whose only array `compute` returns as a whole.
    pub(crate) fn as_whole(
        &mut self,
        asked: &Asked<'_>,
        compute: fn(&mut Evaluator<'a>, &Asked<'_>) -> Checked<Column>,
    ) -> Checked<Column> {
        let key = (asked.frame, asked.id);
        let whole = match self.wholes.get(&key) {
            Some(whole) => whole.clone(),
            None => {
                let whole = Rc::new(compute(self, asked)?);
                self.wholes.insert(key, whole.clone());
                whole
            }
        };
        let indices: Vec<u32> = asked.batch.positions.iter().map(|&p| p as u32).collect();
        match indices.iter().all(|&i| (i as usize) < whole.len()) {
            true => Ok(whole.pick(&indices)),
            false => Err("an op answers too few elements".into()),
        }
    }
}
