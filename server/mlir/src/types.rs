//! Types of operands and results, from the common syntax of all dialects: `: (A, B) -> C`, `: A to B`, `: T`.

use text::Span;

use crate::lexer::TokenKind;
use crate::parts::Parts;
use crate::segmenter::Segmenter;
use crate::tree::*;
use crate::words::unquoted;

/// The separator between operand and result types.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joint {
    None,
    /// `->`
    Arrow,
    /// `to`, `into`
    To,
}

impl Segmenter<'_> {
    /// The token after the type that starts at `at`; `at` if there is none.
    pub(crate) fn type_end(&self, at: usize, end: usize) -> usize {
        if at >= end {
            return at;
        }
        match self.tokens.all[at].kind {
            TokenKind::Word | TokenKind::TypeName => {
                let body = at + 1;
                let is_adjacent = body < end
                    && self.tokens.all[body].kind == TokenKind::OpenAngle
                    && self.tokens.all[body].span.start == self.tokens.all[at].span.end;
                if is_adjacent { self.behind(body).min(end) } else { body }
            }
            TokenKind::OpenParen => {
                let mut behind = self.behind(at).min(end);
                // A function type, whose result may also be one.
                while behind < end && self.tokens.all[behind].kind == TokenKind::Arrow {
                    let result = behind + 1;
                    if result < end && self.tokens.all[result].kind == TokenKind::OpenParen {
                        behind = self.behind(result).min(end);
                    } else {
                        return self.type_end_of_word(result, end);
                    }
                }
                behind
            }
            _ => at,
        }
    }

    fn type_end_of_word(&self, at: usize, end: usize) -> usize {
        match self.tokens.kind(at) {
            Some(TokenKind::Word | TokenKind::TypeName) => self.type_end(at, end),
            _ => at.min(end),
        }
    }

    /// The types between brackets, each with optional attributes or location.
    fn types_in(&mut self, open: usize, end: usize) {
        let close = (self.behind(open) - 1).min(end);
        let mut at = open + 1;
        while at < close {
            let behind = self.type_end(at, close);
            if behind > at {
                let span = self.span(at, behind);
                self.out.types.push(TypeRef::Written(span));
            }
            at = behind;
            while at < close && self.tokens.all[at].kind != TokenKind::Comma {
                at = self.behind(at);
            }
            at += 1;
        }
    }

    /// `A, B`, or `(A, B)`; pushes them and returns their end.
    fn type_list(&mut self, at: usize, end: usize) -> usize {
        let mut at = at;
        loop {
            if self.tokens.kind(at) == Some(TokenKind::OpenParen) && at < end {
                let behind = self.behind(at);
                let is_function = behind < end && self.tokens.kind(behind) == Some(TokenKind::Arrow);
                let is_inner = self.tokens.kind(at.wrapping_sub(1)) == Some(TokenKind::Arrow);
                if !(is_function && is_inner) {
                    self.types_in(at, end);
                    at = behind;
                    if is_function {
                        return at;
                    }
                } else {
                    let behind = self.type_end(at, end);
                    let span = self.span(at, behind);
                    self.out.types.push(TypeRef::Written(span));
                    at = behind;
                }
            } else {
                let behind = self.type_end(at, end);
                if behind == at {
                    return at;
                }
                let span = self.span(at, behind);
                self.out.types.push(TypeRef::Written(span));
                at = behind;
            }
            let goes_on =
                at < end && (self.tokens.all[at].kind == TokenKind::Comma || self.tokens.word(at) == "*");
            if !goes_on {
                return at;
            }
            at += 1;
        }
    }

    pub(crate) fn types_of(&mut self, id: OpId, first: usize, end: usize, parts: &Parts) {
        let text = self.tokens.text;
        let name = unquoted(self.out.ops[id as usize].name.of(text));
        let end = parts.location_at.unwrap_or(end).min(end);
        let mut ranges: [std::ops::Range<u32>; 2] = [0..0, 0..0];
        let mut joint = Joint::None;
        if let Some(mut at) = parts.colon.map(|colon| colon + 1).or(parts.arrow) {
            let begin = self.out.types.len() as u32;
            if parts.colon.is_some() {
                at = self.type_list(at, end);
            }
            ranges[0] = begin..self.out.types.len() as u32;
            joint = match self.tokens.kind(at) {
                Some(TokenKind::Arrow) if at < end => Joint::Arrow,
                Some(TokenKind::Word) if at < end && matches!(self.tokens.word(at), "to" | "into") => {
                    Joint::To
                }
                _ => Joint::None,
            };
            if joint != Joint::None {
                let begin = self.out.types.len() as u32;
                self.type_list(at + 1, end);
                ranges[1] = begin..self.out.types.len() as u32;
            }
        }
        if joint == Joint::None && self.out.ops[id as usize].form == Form::Custom {
            // `if %c -> (T) {`, `from A to B`, `to T`: types without a colon.
            if let Some(arrow) = parts.arrow.filter(|&arrow| parts.colon.is_none_or(|colon| arrow > colon)) {
                let begin = self.out.types.len() as u32;
                self.type_list(arrow + 1, end);
                ranges[1] = begin..self.out.types.len() as u32;
                joint = Joint::Arrow;
            } else if parts.colon.is_none()
                && let Some(to) = self.last_to(first, end)
            {
                let begin = self.out.types.len() as u32;
                self.type_list(to + 1, end);
                ranges[1] = begin..self.out.types.len() as u32;
                joint = Joint::To;
            }
        }
        let op = &mut self.out.ops[id as usize];
        let results = op.results.clone();
        op.operand_types = ranges[0].clone();
        let result_types = match joint {
            Joint::None if results.is_empty() => 0..0,
            Joint::None => ranges[0].clone(),
            _ => ranges[1].clone(),
        };
        op.result_types = result_types;
        if !results.is_empty() {
            self.type_results(id, name, first, end, joint);
        }
    }

    /// The last `to` among the first tokens of an op: types without a colon are short.
    fn last_to(&self, first: usize, end: usize) -> Option<usize> {
        let mut at = first;
        let mut found = None;
        while at < end && at < first + 64 {
            if self.tokens.kind(at) == Some(TokenKind::Word) && self.tokens.word(at) == "to" {
                found = Some(at);
            }
            at = self.behind(at);
        }
        found
    }

    /// Distributes the result types over the results.
    fn type_results(&mut self, id: OpId, name: &str, first: usize, end: usize, joint: Joint) {
        let op = &self.out.ops[id as usize];
        let results = op.results.clone();
        let written = op.result_types.clone();
        if let Some(special) = self.special_type(name, first, end, &written, joint) {
            let at = self.out.types.len() as u32;
            self.out.types.push(special);
            self.out.ops[id as usize].result_types = at..at + 1;
            for value in results {
                self.out.values[value as usize].types = at..at + 1;
            }
            return;
        }
        let total: u64 = results.clone().map(|v| u64::from(self.out.values[v as usize].count)).sum();
        let written = match self.own_types(name, first, end, &written, joint, total) {
            Some(own) => {
                self.out.ops[id as usize].result_types = own.clone();
                own
            }
            None => written,
        };
        let len = u64::from(written.end - written.start);
        if len == 0 {
            return;
        }
        if name == "vector.deinterleave" && len == 1 && total == 2 {
            // Both halves have the type after the arrow.
            let at = self.out.types.len() as u32;
            let half = self.out.types[written.start as usize];
            self.out.types.extend([half, half]);
            self.out.ops[id as usize].result_types = at..at + 2;
            let mut at = at;
            for value in results {
                let value = &mut self.out.values[value as usize];
                value.types = at..at + value.count;
                at += value.count;
            }
            return;
        }
        if joint == Joint::None && len != total {
            // One type for all of them, or the last one of `P, T`.
            let last = written.end - 1..written.end;
            self.out.ops[id as usize].result_types = last.clone();
            for value in results {
                self.out.values[value as usize].types = last.clone();
            }
            return;
        }
        let mut at = written.start;
        for value in results {
            let value = &mut self.out.values[value as usize];
            let behind = at.saturating_add(value.count).min(written.end);
            value.types = at..behind;
            at = behind;
        }
    }

    /// Result types that are not written in the text.
    fn special_type(
        &mut self,
        name: &str,
        first: usize,
        end: usize,
        written: &std::ops::Range<u32>,
        joint: Joint,
    ) -> Option<TypeRef> {
        let last = match self.out.types(written).last() {
            Some(TypeRef::Written(span)) => Some(*span),
            _ => None,
        };
        if joint == Joint::Arrow && !written.is_empty() {
            return None;
        }
        match name {
            "tensor.extract"
            | "memref.load"
            | "affine.load"
            | "xla.predicated_extract"
            | "xla_gpu.predicated_extract" => last.map(TypeRef::ElementOf),
            "arith.cmpi" | "arith.cmpf" | "math.isfinite" | "math.isinf" | "math.isnan" | "math.isnormal" => {
                last.map(TypeRef::I1Like)
            }
            "vector.shuffle" => self.listed_type(first, last?),
            "tensor.dim"
            | "memref.dim"
            | "tensor.rank"
            | "memref.rank"
            | "affine.apply"
            | "affine.min"
            | "affine.max"
            | "affine.linearize_index"
            | "affine.delinearize_index"
            | "xla.apply_indexing"
            | "xla_gpu.apply_indexing"
            | "xla.workgroup_id"
            | "xla_cpu.extract_workgroup_id"
            | "vector.vscale"
            | "linalg.index"
            | "gpu.lane_id"
            | "gpu.subgroup_id"
            | "gpu.num_subgroups"
            | "gpu.subgroup_size"
            | "gpu.thread_id"
            | "gpu.block_id"
            | "gpu.block_dim"
            | "gpu.grid_dim"
            | "gpu.global_id"
            | "gpu.cluster_id"
            | "gpu.cluster_dim"
                if last.is_none() || !name.starts_with("gpu") =>
            {
                Some(TypeRef::Index)
            }
            "xla.get_dynamic_dim_size" => Some(TypeRef::I32),
            _ if written.is_empty() && name.ends_with("constant") => match self.tokens.word(first) {
                "true" | "false" => Some(TypeRef::I1),
                value => self.alias_types.get(value).copied().map(TypeRef::Written),
            },
            _ if name.starts_with("linalg.") && joint == Joint::None => self.outs_type(first, end),
            _ => None,
        }
    }

    /// The types of several results that are not written one by one; empty if the type of the result is not
    /// written at all.
    fn own_types(
        &mut self,
        name: &str,
        first: usize,
        end: usize,
        written: &std::ops::Range<u32>,
        joint: Joint,
        total: u64,
    ) -> Option<std::ops::Range<u32>> {
        if joint == Joint::Arrow && !written.is_empty() {
            return None;
        }
        let at = self.out.types.len() as u32;
        match name {
            // Vectors of m and n elements give one of m x n.
            "vector.outerproduct" => {}
            "gpu.shuffle" if total == 2 => {
                let value = *self.out.types(written).last()?;
                self.out.types.extend([value, TypeRef::I1]);
            }
            _ if name.starts_with("linalg.") && joint == Joint::None && total > 1 => {
                let (colon, close) = self.outs(first, end)?;
                self.type_list(colon + 1, close);
            }
            _ => return None,
        }
        Some(at..self.out.types.len() as u32)
    }

    /// The type of `vector.shuffle %a, %b [0, 1] : T, T`: the span from its list to its types.
    fn listed_type(&self, first: usize, types: Span) -> Option<TypeRef> {
        let mut at = first;
        while at < self.tokens.all.len() && self.tokens.all[at].span.start < types.start {
            if self.tokens.kind(at) == Some(TokenKind::OpenSquare) {
                let start = self.tokens.all[at].span.start;
                return Some(TypeRef::Listed(Span { start, end: types.end }));
            }
            at = self.behind(at);
        }
        None
    }

    /// For ops with destination operands: the type in `outs(%x : T)`, if there is exactly one.
    fn outs_type(&mut self, first: usize, end: usize) -> Option<TypeRef> {
        let (colon, close) = self.outs(first, end)?;
        let behind = self.type_end(colon + 1, close);
        (behind > colon + 1 && behind == close).then(|| TypeRef::Written(self.span(colon + 1, behind)))
    }

    /// The colon in `outs(%x, %y : A, B)`, and the bracket after it.
    fn outs(&self, first: usize, end: usize) -> Option<(usize, usize)> {
        let mut at = first;
        while at < end {
            if self.tokens.word(at) == "outs" && self.tokens.kind(at + 1) == Some(TokenKind::OpenParen) {
                let close = (self.behind(at + 1) - 1).min(end);
                let colon = (at + 2..close).find(|&i| self.tokens.kind(i) == Some(TokenKind::Colon))?;
                return Some((colon, close));
            }
            at = self.behind(at);
        }
        None
    }
}
