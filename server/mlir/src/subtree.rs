//! Copies an op from one text to another.

use std::ops::Range;

use rustc_hash::FxHashMap;
use text::Span;

use crate::tree::*;

impl Parse {
    /// Adds an op of another parse at the top level, with everything inside it, or without `regions` the op
    /// alone. `place` maps a span of the other text to this one. Returns the new number of each copied value.
    ///
    /// Operands that the op does not define have no value here. Symbol mentions and successors are not
    /// copied.
    pub fn copy(
        &mut self,
        from: &Parse,
        id: OpId,
        regions: bool,
        place: &dyn Fn(Span) -> Span,
    ) -> FxHashMap<ValueId, ValueId> {
        let all = if regions { id..from.op(id).behind } else { id..id + 1 };
        let first_op = self.ops.len() as OpId;
        let mut copy = Copy {
            from,
            to: self,
            all,
            first_op,
            place,
            blocks: FxHashMap::default(),
            values: FxHashMap::default(),
        };
        for id in copy.all.clone() {
            copy.op(id, regions);
        }
        copy.bind(regions);
        let mut types = Vec::new();
        for id in copy.all.clone() {
            types.push(copy.types(id));
        }
        for (at, (operand_types, result_types)) in types.into_iter().enumerate() {
            let op = &mut copy.to.ops[first_op as usize + at];
            (op.operand_types, op.result_types) = (operand_types, result_types);
        }
        copy.types_of_values();
        copy.uses();
        copy.values
    }
}

struct Copy<'a> {
    from: &'a Parse,
    to: &'a mut Parse,
    /// The copied ops.
    all: Range<OpId>,
    first_op: OpId,
    place: &'a dyn Fn(Span) -> Span,
    blocks: FxHashMap<BlockId, BlockId>,
    values: FxHashMap<ValueId, ValueId>,
}

impl Copy<'_> {
    fn op_id(&self, id: OpId) -> OpId {
        id.clamp(self.all.start, self.all.end) - self.all.start + self.first_op
    }

    fn at(&self, span: Span) -> Span {
        if span.is_empty() { Span::default() } else { (self.place)(span) }
    }

    fn op(&mut self, id: OpId, regions: bool) {
        let from = self.from;
        let op = from.op(id);
        let place = |span: Span| self.at(span);
        let attributes = from.attributes_of(id).iter();
        let moved =
            attributes.map(|a| Attribute { name: place(a.name), value: place(a.value), place: a.place });
        let moved: Vec<_> = moved.collect();
        let first = self.to.attributes.len() as u32;
        self.to.attributes.extend(moved);
        let attributes = first..self.to.attributes.len() as u32;
        let results = self.add_values(op.results.clone());
        let block = op.block.and_then(|block| self.blocks.get(&block).copied());
        let copied = Op {
            span: self.at(op.span),
            name: self.at(op.name),
            form: op.form,
            block,
            behind: self.op_id(op.behind),
            results,
            uses: 0..0,
            first_region: None,
            attributes,
            operand_types: 0..0,
            result_types: 0..0,
            head: self.at(op.head),
            location: self.at(op.location),
            is_isolated: op.is_isolated,
        };
        self.to.ops.push(copied);
        if regions {
            self.regions_of(id);
        }
    }

    fn regions_of(&mut self, id: OpId) {
        let from = self.from;
        let new = self.op_id(id);
        let mut before: Option<RegionId> = None;
        for region in from.regions_of(id) {
            let there = &from.regions[region as usize];
            let here = self.to.regions.len() as RegionId;
            match before {
                Some(before) => self.to.regions[before as usize].next = Some(here),
                None => self.to.ops[new as usize].first_region = Some(here),
            }
            before = Some(here);
            let span = self.at(there.span);
            let first_block = there.first_block.map(|_| self.to.blocks.len() as BlockId);
            self.to.regions.push(Region {
                op: new,
                span,
                first_block,
                next: None,
                is_closed: there.is_closed,
            });
            let mut last: Option<BlockId> = None;
            for block in from.blocks_of(region) {
                let there = &from.blocks[block as usize];
                let arguments = self.add_values(there.arguments.clone());
                let number = self.to.blocks.len() as BlockId;
                if let Some(last) = last {
                    self.to.blocks[last as usize].next = Some(number);
                }
                last = Some(number);
                self.blocks.insert(block, number);
                self.to.blocks.push(Block {
                    region: here,
                    label: self.at(there.label),
                    arguments,
                    first_op: self.op_id(there.first_op),
                    next: None,
                });
            }
        }
    }

    /// Adds the values; their definitions and types follow.
    fn add_values(&mut self, range: Range<ValueId>) -> Range<ValueId> {
        let first = self.to.values.len() as ValueId;
        for value in range {
            self.values.insert(value, self.to.values.len() as ValueId);
            let there = &self.from.values[value as usize];
            self.to.values.push(Value { name: self.at(there.name), ..there.clone() });
        }
        first..self.to.values.len() as ValueId
    }

    /// Adds the names that the ops bind, and sets the definition of each value.
    fn bind(&mut self, regions: bool) {
        let first = self.from.op(self.all.start);
        if regions && (first.first_region.is_some() || first.is_isolated) {
            let bound =
                self.from.values.iter().enumerate().filter(
                    |(_, v)| matches!(v.definition, Definition::Binder(op) if self.all.contains(&op)),
                );
            for value in bound.map(|(value, _)| value as ValueId).collect::<Vec<_>>() {
                self.add_values(value..value + 1);
            }
        }
        for (&there, &here) in &self.values {
            let definition = match self.from.values[there as usize].definition {
                Definition::Result(op) => Definition::Result(self.op_id(op)),
                Definition::Binder(op) => Definition::Binder(self.op_id(op)),
                Definition::BlockArgument(block) => {
                    Definition::BlockArgument(self.blocks.get(&block).copied().unwrap_or(block))
                }
            };
            self.to.values[here as usize].definition = definition;
        }
    }

    fn types(&mut self, id: OpId) -> (Range<u32>, Range<u32>) {
        let op = self.from.op(id);
        (
            self.add_types(op.operand_types.clone(), op.span.start),
            self.add_types(op.result_types.clone(), op.span.start),
        )
    }

    fn types_of_values(&mut self) {
        let mut all: Vec<(ValueId, ValueId)> =
            self.values.iter().map(|(&there, &here)| (there, here)).collect();
        all.sort_unstable();
        for (there, here) in all {
            let there = &self.from.values[there as usize];
            let types = self.add_types(there.types.clone(), there.name.start);
            self.to.values[here as usize].types = types;
        }
    }

    /// `at` is the offset of the name that has these types.
    fn add_types(&mut self, range: Range<u32>, at: u32) -> Range<u32> {
        let first = self.to.types.len() as u32;
        let place = self.place;
        for &ty in self.from.types(&range) {
            let copied = match ty {
                TypeRef::Written(span) => TypeRef::Written(place(span)),
                TypeRef::ElementOf(span) => TypeRef::ElementOf(place(span)),
                TypeRef::I1Like(span) => TypeRef::I1Like(place(span)),
                TypeRef::Listed(span) => TypeRef::Listed(place(span)),
                TypeRef::Elsewhere(span) => TypeRef::Elsewhere(place(span)),
                TypeRef::SameAs(value, index) => match self.values.get(&value) {
                    Some(&value) => TypeRef::SameAs(value, index),
                    None => TypeRef::Elsewhere(self.bound_to(value, at)),
                },
                TypeRef::Index | TypeRef::I1 | TypeRef::I32 => ty,
            };
            self.to.types.push(copied);
        }
        first..self.to.types.len() as u32
    }

    /// The use after `at` that binds a name to an outside value, whose type the name has: `%c = %0#1`.
    fn bound_to(&self, value: ValueId, at: u32) -> Span {
        let uses = self.all.clone().flat_map(|id| self.from.uses_of(id));
        let mut bound = uses.filter(|used| used.value == Some(value) && used.span.start > at);
        bound.next().map_or(Span::default(), |used| self.at(used.span))
    }

    fn uses(&mut self) {
        for id in self.all.clone() {
            let first = self.to.uses.len() as u32;
            let op = self.op_id(id);
            for used in self.from.uses_of(id) {
                let value = used.value.and_then(|value| self.values.get(&value).copied());
                let span = (self.place)(used.span);
                let is_external = value.is_none();
                self.to.uses.push(Use { span, op, value, is_external, ..*used });
            }
            self.to.ops[op as usize].uses = first..self.to.uses.len() as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::piece_state::PieceState;
    use crate::tree::*;
    use text::Span;

    const CONSTRUCTS: &str = include_str!("../tests/fixtures/constructs.mlir");

    /// The type of a name that an op binds to a value defined outside of it.
    type Outside<'a> = dyn Fn(Span) -> Option<String> + 'a;

    fn type_of(parse: &Parse, ty: TypeRef, text: &str, outside: &Outside<'_>) -> Option<String> {
        match parse.followed(ty) {
            Some(TypeRef::Elsewhere(span)) => outside(span),
            _ => parse.type_text(ty, text).map(Into::into),
        }
    }

    /// Describes an op, independent of its position.
    fn show(parse: &Parse, id: OpId, text: &str, start: u32, outside: &Outside<'_>) -> String {
        let op = parse.op(id);
        let at = |span: Span| (!span.is_empty()).then(|| (span.start - start, span.of(text).to_owned()));
        let values = |range: std::ops::Range<ValueId>| -> Vec<_> {
            let value = |v: ValueId| {
                let value = &parse.values[v as usize];
                let ty = parse.types(&value.types).first();
                (at(value.name), value.count, ty.and_then(|&ty| type_of(parse, ty, text, outside)))
            };
            range.map(value).collect()
        };
        let regions: Vec<_> = parse
            .regions_of(id)
            .map(|r| {
                let blocks = parse.blocks_of(r).map(|b| {
                    let block = &parse.blocks[b as usize];
                    let ops = parse.ops_of(b).map(|op| show(parse, op, text, start, outside));
                    (at(block.label), values(block.arguments.clone()), ops.collect::<Vec<_>>())
                });
                (at(parse.regions[r as usize].span), blocks.collect::<Vec<_>>())
            })
            .collect();
        let types =
            |range| parse.types(range).iter().map(|&ty| parse.type_text(ty, text)).collect::<Vec<_>>();
        let attributes: Vec<_> = parse.attributes_of(id).iter().map(|a| (at(a.name), at(a.value))).collect();
        let bound = (0..parse.values.len() as ValueId)
            .filter(|&v| parse.values[v as usize].definition == Definition::Binder(id))
            .flat_map(|v| values(v..v + 1));
        format!(
            "{:?} {:?} {:?} {:?} {:?} {:?} {attributes:?} {regions:?} {:?}",
            at(op.span),
            at(op.name),
            values(op.results.clone()),
            types(&op.operand_types),
            types(&op.result_types),
            op.form,
            bound.collect::<Vec<_>>()
        )
    }

    #[test]
    fn copies_are_what_was_copied() {
        let parse = crate::parse(CONSTRUCTS, PieceState::default());
        let mut compared = 0;
        for id in 0..parse.ops.len() as OpId {
            let span = parse.op(id).span;
            let head = "x.y\n";
            let text = format!("{head}{}", span.of(CONSTRUCTS));
            let mut copy = crate::parse(head, PieceState::default());
            let start = head.len() as u32;
            let place = |s: Span| Span {
                start: (s.start + start).saturating_sub(span.start),
                end: (s.end + start).saturating_sub(span.start),
            };
            let values = copy.copy(&parse, id, true, &place);
            let of_outside = |bound: Span| {
                let at = bound.start - start + span.start;
                let used = parse.uses.iter().find(|used| used.span.start == at)?;
                let index = bound.of(&text).split_once('#').map_or(0, |(_, n)| n.parse().expect("a number"));
                parse.type_of(used.value?, index, CONSTRUCTS).map(Into::into)
            };
            assert_eq!(
                show(&copy, 1, &text, start, &of_outside),
                show(&parse, id, CONSTRUCTS, span.start, &|_| None)
            );
            for op in id..parse.op(id).behind {
                for (there, here) in parse.uses_of(op).iter().zip(copy.uses_of(op - id + 1)) {
                    assert_eq!(here.span.of(&text), there.span.of(CONSTRUCTS));
                    let expect = there.value.and_then(|v| values.get(&v).copied());
                    assert_eq!((here.value, here.is_external), (expect, expect.is_none()));
                    compared += 1;
                }
            }
        }
        assert!(compared > 100, "{compared}");
    }
}
