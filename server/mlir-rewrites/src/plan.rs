//! Finds the simplest code that slices the source of a reshape instead of its result.

use crate::along::{Along, Line, Need};
use crate::code::{Code, Form, Loop, SliceOfCollapse};
use crate::proof::is_proven;

/// The largest number of separate slices; beyond it a loop is used.
const MAX_BOXES: usize = 3;

/// The replacements of the slice, simplest first: one slice, or a few slices and a loop. Each is proven to
/// read the same elements.
pub(crate) fn plans(slice: &SliceOfCollapse) -> Vec<Code> {
    let candidates = match straight(slice) {
        Some(code) => vec![code],
        None => [boxes(slice), loops(slice)].into_iter().flatten().collect(),
    };
    candidates.into_iter().filter(|code| is_proven(slice, code)).collect()
}

fn line(slice: &SliceOfCollapse, dim: usize) -> Line<'_> {
    Line {
        extents: slice.group_extents(dim),
        offset: slice.offsets[dim].expr.clone(),
        size: slice.sizes[dim].expr.clone(),
        stride: slice.strides[dim].expr.clone(),
        symbols: &slice.symbols,
    }
}

/// One box, if the elements form one. Not proven yet.
pub(crate) fn straight(slice: &SliceOfCollapse) -> Option<Code> {
    let found: Vec<(Need, Along)> =
        (0..slice.rank()).map(|dim| line(slice, dim).straight()).collect::<Option<_>>()?;
    let form = match found.iter().map(|(need, _)| *need).max() {
        Some(Need::OneBox) => Form::SingleBox,
        Some(Need::Squeeze) => Form::RankReducing,
        _ => Form::Unlinearized,
    };
    let part = found.into_iter().map(|(_, along)| along).collect();
    Some(Code { form, loops: Vec::new(), parts: vec![part] })
}

fn boxes(slice: &SliceOfCollapse) -> Option<Code> {
    let mut parts: Vec<Vec<Along>> = vec![Vec::new()];
    for dim in 0..slice.rank() {
        let line = line(slice, dim);
        let along = match line.straight() {
            Some((_, along)) => vec![along],
            None => line.boxes(MAX_BOXES / parts.len())?,
        };
        let extended = |part: &Vec<Along>, a: &Along| part.iter().chain([a]).cloned().collect();
        parts = parts.iter().flat_map(|part| along.iter().map(move |a| extended(part, a))).collect();
    }
    Some(Code { form: Form::Boxes, loops: Vec::new(), parts })
}

fn loops(slice: &SliceOfCollapse) -> Option<Code> {
    let mut loops = Vec::new();
    let mut part = Vec::new();
    for dim in 0..slice.rank() {
        let line = line(slice, dim);
        if let Some((_, along)) = line.straight() {
            part.push(along);
            continue;
        }
        let (count, elements, along) = line.blocks(&slice.loop_variable(dim))?;
        loops.push(Loop { dim, count, elements });
        part.push(along);
    }
    let is_blocked = loops.iter().any(|l| l.elements > 1);
    let form = if is_blocked { Form::BlockedLoop } else { Form::ScalarLoop };
    Some(Code { form, loops, parts: vec![part] })
}

impl Code {
    /// The title of the code action: `Replace by 3 slices`.
    pub(crate) fn title(&self) -> String {
        let counts: Option<Vec<i64>> = self.loops.iter().map(|l| l.count.as_const()).collect();
        match self.form {
            Form::RankReducing => "Replace by 1 rank-reducing slice".to_owned(),
            Form::Unlinearized | Form::SingleBox => "Replace by 1 slice".to_owned(),
            Form::Boxes => format!("Replace by {} slices", self.parts.len()),
            Form::BlockedLoop | Form::ScalarLoop => {
                let of = if self.form == Form::BlockedLoop { "blocks" } else { "elements" };
                let loops = match self.loops.len() {
                    1 => "a loop".to_owned(),
                    n => format!("{n} nested loops"),
                };
                match counts {
                    Some(counts) => {
                        let counts: Vec<_> = counts.iter().map(i64::to_string).collect();
                        format!("Replace by {loops} over {} {of}", counts.join(" × "))
                    }
                    None => format!("Replace by {loops} over {of}"),
                }
            }
        }
    }
}
