//! The name under the cursor, its definition, and all its occurrences.

use ir::{OperandRef, SegmentRef};
use syntax::Span;
use syntax::hlo::{
    AttributeKey, ComputationId, ComputationKind, InstructionId, Opcode, OperandKind, ValueNode,
};

use crate::file_context::FileContext;
use crate::hlo::Hlo;
use crate::hlo::locate::InstructionRef;
use crate::semantics::Names;
use crate::source_location::SourceLocation;
use crate::symbol::{Defined, Name, Occurrence, Role, Symbol};
use crate::{NavigationTarget, SourceFrame, TextRange};

/// The name with the `%` before it, if there is one.
pub(crate) fn with_percent(text: &str, name: Span) -> Span {
    let has_percent = name.start > 0 && text.as_bytes().get(name.start as usize - 1) == Some(&b'%');
    Span { start: name.start - u32::from(has_percent), ..name }
}

/// Whether the cursor is on a name, or on the `%` before it.
fn is_on(text: &str, name: Span, local: usize) -> bool {
    with_percent(text, name).contains(local)
}

impl Names for Hlo {
    fn source_frames(
        &self,
        context: &FileContext<'_>,
        offset: usize,
    ) -> Option<(TextRange, Vec<SourceFrame>)> {
        crate::hlo::source_location::frames_at(context, offset)
    }

    fn source_location(&self, context: &FileContext<'_>, offset: usize) -> Option<SourceLocation> {
        Some(crate::hlo::source_location::source_location(context, context.instruction_at(offset)?))
    }

    fn text<'a>(&self, context: &FileContext<'a>, piece: usize) -> &'a str {
        &context.block(piece).text
    }

    fn name_at(&self, context: &FileContext<'_>, offset: usize) -> Option<Name> {
        if let Some(at) = context.instruction_at(offset)
            && let Some(local) = offset.checked_sub(context.range(at.piece, Span::default()).start)
            && let Some(found) = in_instruction(context, at, local)
        {
            return Some(found);
        }
        let (piece, local) = context.locate(offset);
        in_header(context, piece, local)
    }

    fn occurrences(&self, context: &FileContext<'_>, symbol: &Symbol) -> Vec<Occurrence> {
        let mut found = match *symbol {
            Symbol::Instruction(at) => of_instruction(context, at),
            Symbol::Computation(index) => of_computation(context, index),
            _ => Vec::new(),
        };
        found.sort_by_key(|o| (o.piece, o.span.start));
        found
    }

    fn definitions(&self, context: &FileContext<'_>, symbol: &Symbol) -> Vec<Defined> {
        crate::hlo::definitions::definition(context, symbol).into_iter().collect()
    }

    fn targets_beside_names(&self, context: &FileContext<'_>, offset: usize) -> Vec<NavigationTarget> {
        crate::hlo::definitions::targets_beside_names(context, offset).unwrap_or_default()
    }

    fn passed_for(&self, context: &FileContext<'_>, symbol: &Symbol) -> Vec<TextRange> {
        let Symbol::Instruction(at) = symbol else { return Vec::new() };
        let arguments = crate::hlo::call_arguments::arguments(context, *at).into_iter();
        arguments.map(|argument| context.range(argument.call.piece, argument.span)).collect()
    }

    fn type_definitions(&self, context: &FileContext<'_>, offset: usize) -> Vec<NavigationTarget> {
        crate::hlo::type_definitions::type_definitions(context, offset)
    }

    fn find_name(&self, context: &FileContext<'_>, name: &str) -> Option<usize> {
        context.find_instruction(None, name).map(|at| context.offset_of(at))
    }
}

fn in_instruction(context: &FileContext<'_>, at: InstructionRef, local: usize) -> Option<Name> {
    let block = context.block(at.piece);
    let instruction = block.instruction(at.id);
    let found = |span: Span, symbol: Symbol, role: Role| {
        Some(Name { at: Occurrence { piece: at.piece, span, role }, symbol })
    };
    if !instruction.is_nested && !instruction.name.is_empty() && is_on(&block.text, instruction.name, local) {
        // If a name has two definitions, every use refers to the first.
        let first = context.find_in_scope(at, block.name(at.id)).unwrap_or(at);
        let role = if first == at { Role::Definition } else { Role::Use };
        return found(instruction.name, Symbol::Instruction(first), role);
    }
    for (i, (operand, _)) in block.operands_of(at.id).enumerate() {
        let is_name = matches!(operand.kind, OperandKind::Name | OperandKind::Element { .. });
        if is_name && is_on(&block.text, operand.name, local) {
            return found(operand.name, Symbol::Instruction(context.definition(at, i)?), Role::Use);
        }
    }
    let attributes = block.parse.attributes_of(instruction);
    let attribute = attributes.iter().find(|a| a.value_span.contains(local))?;
    let callee = |span: Span| {
        let callee = context.callee(at, span.of(&block.text))?;
        found(span, Symbol::Computation(callee), Role::Use)
    };
    match (&attribute.value, attribute.key) {
        (ValueNode::Computation(span), _) => callee(*span),
        (ValueNode::Computations { start, len }, _) => {
            let spans = block.parse.spans(*start, *len).iter().filter(|s| !s.is_empty());
            callee(*spans.into_iter().find(|s| is_on(&block.text, **s, local))?)
        }
        (ValueNode::Names { start, len }, Some(AttributeKey::ControlPredecessors)) => {
            let mut spans = block.parse.spans(*start, *len).iter();
            let span = *spans.find(|s| is_on(&block.text, **s, local))?;
            let name = span.of(&block.text);
            let here = block.find(context.computation_id(at)?, name);
            let here = here.map(|id| InstructionRef { piece: at.piece, id });
            let target = here.or_else(|| context.definition_in_giant(at, name))?;
            found(span, Symbol::Instruction(target), Role::ControlPredecessor)
        }
        (_, Some(AttributeKey::Metadata)) => {
            let span = scheduling_name(context, at)?;
            let role = Role::SchedulingName;
            span.contains(local).then(|| found(span, Symbol::Instruction(at), role)).flatten()
        }
        _ => None,
    }
}

fn in_header(context: &FileContext<'_>, piece: usize, local: usize) -> Option<Name> {
    let block = context.block(piece);
    for (id, computation) in block.parse.computations.iter().enumerate() {
        let segment = SegmentRef { piece, computation: id as ComputationId };
        if !computation.name.is_empty() && is_on(&block.text, computation.name, local) {
            let index = context.module().computation_of(segment)?;
            let symbol = Symbol::Computation(index);
            let at = Occurrence { piece, span: computation.name, role: Role::Definition };
            return Some(Name { at, symbol });
        }
        for (number, parameter) in header_parameters(context, segment).iter().enumerate() {
            if is_on(&block.text, parameter.name, local) {
                let name = parameter.name.of(&block.text);
                // The header may name parameters differently from the body; then they are matched by order.
                let named = context.scope(segment).iter().find_map(|s| context.find_in_segment(*s, name));
                let target = named
                    .or_else(|| context.parameter_of(&context.scope(segment), u32::try_from(number).ok()?))?;
                let symbol = Symbol::Instruction(target);
                let at = Occurrence { piece, span: parameter.name, role: Role::Header };
                return Some(Name { at, symbol });
            }
        }
    }
    None
}

fn header_parameters<'a>(context: &FileContext<'a>, segment: SegmentRef) -> &'a [syntax::hlo::Parameter] {
    let parse = &context.block(segment.piece).parse;
    let range = parse.computations[segment.computation as usize].parameters.clone().unwrap_or(0..0);
    &parse.parameters[range.start as usize..range.end as usize]
}

/// The content of `scheduling_name="…"`, if it is the instruction's own name.
fn scheduling_name(context: &FileContext<'_>, at: InstructionRef) -> Option<Span> {
    const KEY: &str = "scheduling_name=\"";
    let block = context.block(at.piece);
    let attributes = block.parse.attributes_of(block.instruction(at.id));
    let metadata = attributes.iter().find(|a| a.key == Some(AttributeKey::Metadata))?.value_span;
    let start = metadata.start as usize + metadata.of(&block.text).find(KEY)? + KEY.len();
    let name = block.name(at.id);
    let span = Span::new(start, start + name.len());
    let is_own = span.of(&block.text) == name && block.text.as_bytes().get(span.end as usize) == Some(&b'"');
    is_own.then_some(span)
}

fn of_computation(context: &FileContext<'_>, index: usize) -> Vec<Occurrence> {
    let mut found = Vec::new();
    if let Some(&first) = context.module().computations[index].segments.first() {
        let name = context.computation(first).name;
        if !name.is_empty() {
            found.push(Occurrence { piece: first.piece, span: name, role: Role::Definition });
        }
    }
    let calls = db::call_graph(context.db, context.view.file).incoming(index);
    for of_piece in calls.chunk_by(|a, b| a.piece == b.piece) {
        let piece = of_piece[0].piece;
        let callees: Vec<Span> = context.block(piece).callees().map(|(_, span)| span).collect();
        let spans = of_piece.iter().filter_map(|call| callees.get(call.nth as usize));
        found.extend(spans.map(|&span| Occurrence { piece, span, role: Role::Use }));
    }
    found
}

fn of_instruction(context: &FileContext<'_>, at: InstructionRef) -> Vec<Occurrence> {
    let block = context.block(at.piece);
    let name = block.name(at.id);
    let mut found = Vec::new();
    let mut push = |piece, span, role| found.push(Occurrence { piece, span, role });
    push(at.piece, block.instruction(at.id).name, Role::Definition);
    if let Some(span) = scheduling_name(context, at) {
        push(at.piece, span, Role::SchedulingName);
    }
    let Some(home) = context.computation_id(at) else { return found };
    let home = SegmentRef { piece: at.piece, computation: home };
    let scope = context.scope(home);
    if block.instruction(at.id).opcode == Some(Opcode::Parameter) {
        for segment in &scope {
            let text = &context.block(segment.piece).text;
            for parameter in header_parameters(context, *segment) {
                if parameter.name.of(text) == name {
                    push(segment.piece, parameter.name, Role::Header);
                }
            }
        }
    }
    for segment in scope {
        crate::analysis::check_cancelled(context.db);
        let here = context.block(segment.piece);
        let is_home = segment == home;
        let is_it = |target: OperandRef, span: Span| match target {
            OperandRef::Local(id) => is_home && id == at.id,
            OperandRef::External(_) => span.of(&here.text) == name,
            OperandRef::Missing => false,
        };
        // Uses in other blocks are in their short lists of externals.
        if is_home {
            for user in here.parse.computations[segment.computation as usize].instructions.clone() {
                for (operand, target) in here.operands_of(user) {
                    let is_name = matches!(operand.kind, OperandKind::Name | OperandKind::Element { .. });
                    if is_name && is_it(target, operand.name) {
                        push(segment.piece, operand.name, Role::Use);
                    }
                }
            }
        } else if here.parse.computations[segment.computation as usize].kind == ComputationKind::Continued {
            let uses = here.externals.iter().filter(|e| e.name.of(&here.text) == name);
            // A name that the block defines later is not an external of the block.
            uses.for_each(|e| push(segment.piece, e.name, Role::Use));
        }
        control_predecessors(context, segment, |span| {
            if span.of(&here.text) == name && (is_home || here.find(segment.computation, name).is_none()) {
                push(segment.piece, span, Role::ControlPredecessor);
            }
        });
    }
    found
}

fn control_predecessors(context: &FileContext<'_>, segment: SegmentRef, mut each: impl FnMut(Span)) {
    let parse = &context.block(segment.piece).parse;
    let range = parse.computations[segment.computation as usize].instructions.clone();
    for attribute in range.flat_map(|id| parse.attributes_of(&parse.instructions[id as usize])) {
        if let (ValueNode::Names { start, len }, Some(AttributeKey::ControlPredecessors)) =
            (&attribute.value, attribute.key)
        {
            parse.spans(*start, *len).iter().copied().for_each(&mut each);
        }
    }
}

/// Name lookup across the blocks of a computation.
impl FileContext<'_> {
    /// All parts of the computation that contains `segment`. An inline body is separate.
    pub(crate) fn scope(&self, segment: SegmentRef) -> Vec<SegmentRef> {
        match self.module().computation_of(segment) {
            Some(index) => self.module().computations[index].segments.clone(),
            None => vec![segment],
        }
    }

    pub(crate) fn find_in_segment(&self, segment: SegmentRef, name: &str) -> Option<InstructionRef> {
        let id: InstructionId = self.block(segment.piece).find(segment.computation, name)?;
        Some(InstructionRef { piece: segment.piece, id })
    }

    /// The first instruction called `name` in the computation that contains `at`.
    pub(crate) fn find_in_scope(&self, at: InstructionRef, name: &str) -> Option<InstructionRef> {
        let segment = SegmentRef { piece: at.piece, computation: self.computation_id(at)? };
        let scope = self.scope(segment);
        match scope.len() {
            1 => self.find_in_segment(segment, name),
            _ => self.definition_in_giant(at, name),
        }
    }

    /// From the header of a computation to the end of its closing brace.
    pub(crate) fn computation_range(&self, index: usize) -> Option<crate::TextRange> {
        let segments = &self.module().computations.get(index)?.segments;
        let (first, last) = (*segments.first()?, *segments.last()?);
        let start = self.range(first.piece, self.computation(first).span).start;
        let end = self.range(last.piece, self.computation(last).span).end;
        Some(start..end.max(start))
    }

    /// The instruction whose value a computation of the module returns.
    pub(crate) fn result_of(&self, computation: usize) -> Option<InstructionRef> {
        self.root_of(&self.module().computations.get(computation)?.segments)
    }
}
