//! The kind of each token: a parameter looks the same at its definition and its uses.

use std::ops::Range;

use ir::OperandRef;
use syntax::Span;
use syntax::hlo::{InstructionId, Opcode, OperandKind, TokenClass, ValueNode, tokens};

use crate::file_context::FileContext;
use crate::hlo::Hlo;
use crate::hlo::locate::InstructionRef;
use crate::semantic_tokens::{Highlighting, SemanticToken, TokenKind, TokenModifier, TokenModifiers};

impl Highlighting for Hlo {
    fn tokens_in(&self, context: &FileContext<'_>, piece: usize, range: Range<usize>) -> Vec<SemanticToken> {
        let names = Names::of(context, piece, &range);
        let mut values = names.values.iter().peekable();
        let mut names = names.names.iter().peekable();
        let block = context.block(piece);
        let text: &str = &block.text;
        // A token may start before the range; every instruction starts with one.
        let before = block.parse.instructions.iter().filter(|i| !i.is_nested);
        let before = before.map(|i| i.span).filter(|s| s.start as usize <= range.start);
        // Inline bodies follow their instruction's computation: the last in the array may not be the last in the
        // text.
        let from = before.map(|s| s.start as usize).max().unwrap_or(0);
        // The end of the attribute value that contains the token.
        let mut value_end = 0;
        let mut found = Vec::new();
        for token in tokens(text, from, range.end.min(text.len())) {
            let inner = token.span.start + u32::from(text.as_bytes()[token.span.start as usize] == b'%');
            while names.next_if(|n| n.start < inner).is_some() {}
            while let Some(value) = values.next_if(|v| v.start <= inner) {
                value_end = value_end.max(value.end);
            }
            let (kind, modifiers) = match (token.class, names.next_if(|n| n.start == inner)) {
                (_, Some(name)) => (name.kind, name.modifiers),
                (class, None) => {
                    let word = token.span.of(text);
                    let Some(kind) = by_letters(class, word, inner < value_end) else { continue };
                    (kind, TokenModifiers::default())
                }
            };
            found.push(SemanticToken { range: context.range(piece, token.span), kind, modifiers });
        }
        found
    }
}

/// The kind of a token that refers to nothing.
fn by_letters(class: TokenClass, text: &str, is_value: bool) -> Option<TokenKind> {
    Some(match class {
        TokenClass::Comment => TokenKind::Comment,
        TokenClass::String => TokenKind::String,
        TokenClass::Number => TokenKind::Number,
        TokenClass::ElementType => TokenKind::ElementType,
        TokenClass::AttributeName => TokenKind::AttributeName,
        TokenClass::DimLabels => TokenKind::EnumValue,
        TokenClass::Word => match text {
            "HloModule" | "ENTRY" | "ROOT" | "FileNames" | "FunctionNames" | "FileLocations"
            | "StackFrames" => TokenKind::Keyword,
            _ if is_value => TokenKind::EnumValue,
            _ => return None,
        },
        TokenClass::Name | TokenClass::Bracket(_) | TokenClass::Sign | TokenClass::Bad => return None,
    })
}

struct Name {
    /// The start without `%`.
    start: u32,
    kind: TokenKind,
    modifiers: TokenModifiers,
}

/// Named entities in a part of a piece, and values of attributes there; both sorted by offset.
#[derive(Default)]
struct Names {
    names: Vec<Name>,
    values: Vec<Span>,
}

impl Names {
    fn of(context: &FileContext<'_>, piece: usize, local: &std::ops::Range<usize>) -> Names {
        let mut names = Names::default();
        let block = context.block(piece);
        if let Some(header) = &block.parse.header {
            names.push(header.name, TokenKind::Module, TokenModifiers::default());
            names.values.extend(header.attributes.iter().map(|(_, value)| *value));
        }
        let declared = TokenModifiers::default().with(TokenModifier::Declaration, true);
        for computation in &block.parse.computations {
            if !computation.name.is_empty() {
                let modifiers = declared.with(TokenModifier::Entry, computation.is_entry);
                names.push(computation.name, TokenKind::Computation, modifiers);
            }
            let parameters = computation.parameters.clone().unwrap_or(0..0);
            for parameter in &block.parse.parameters[parameters.start as usize..parameters.end as usize] {
                names.push(parameter.name, TokenKind::Parameter, declared);
            }
        }
        for (id, instruction) in block.parse.instructions.iter().enumerate() {
            // A value that starts before the range may contain the range's first token.
            let span = instruction.span;
            if span.end as usize >= local.start && span.start as usize <= local.end {
                names.instruction(context, InstructionRef { piece, id: id as InstructionId });
            }
        }
        names.names.sort_by_key(|n| n.start);
        names.values.sort_by_key(|v| v.start);
        names
    }

    fn push(&mut self, span: Span, kind: TokenKind, modifiers: TokenModifiers) {
        if !span.is_empty() {
            self.names.push(Name { start: span.start, kind, modifiers });
        }
    }

    fn instruction(&mut self, context: &FileContext<'_>, at: InstructionRef) {
        let block = context.block(at.piece);
        let instruction = block.instruction(at.id);
        if !instruction.is_nested {
            let (kind, modifiers) = value(instruction.opcode);
            self.push(instruction.name, kind, modifiers.with(TokenModifier::Declaration, true));
        }
        if let Some(opcode) = instruction.opcode {
            let name = opcode.name();
            let is_async = ["-start", "-update", "-done"].iter().any(|end| name.ends_with(end));
            let modifiers = TokenModifiers::default().with(TokenModifier::Async, is_async);
            self.push(instruction.opcode_span, TokenKind::Opcode, modifiers);
        }
        for (i, (operand, target)) in block.operands_of(at.id).enumerate() {
            if matches!(operand.kind, OperandKind::Nested(_) | OperandKind::ShapeOnly) {
                continue;
            }
            let defined = match target {
                OperandRef::Local(id) => block.instruction(id).opcode,
                OperandRef::External(_) => {
                    context.definition(at, i).and_then(|d| context.block(d.piece).instruction(d.id).opcode)
                }
                OperandRef::Missing => None,
            };
            let (kind, modifiers) = value(defined);
            self.push(operand.name, kind, modifiers);
        }
        for attribute in block.parse.attributes_of(instruction) {
            self.values.push(attribute.value_span);
            let plain = TokenModifiers::default();
            match attribute.value {
                ValueNode::Computation(span) => self.push(span, TokenKind::Computation, plain),
                ValueNode::Computations { start, len } => {
                    for &span in block.parse.spans(start, len) {
                        self.push(span, TokenKind::Computation, plain);
                    }
                }
                ValueNode::Names { start, len } => {
                    for &span in block.parse.spans(start, len) {
                        self.push(span, TokenKind::Instruction, plain);
                    }
                }
                _ => {}
            }
        }
    }
}

/// The kind and modifiers of the name of an instruction with this opcode.
fn value(opcode: Option<Opcode>) -> (TokenKind, TokenModifiers) {
    let plain = TokenModifiers::default();
    match opcode {
        Some(Opcode::Parameter) => (TokenKind::Parameter, plain),
        Some(Opcode::Constant) => (TokenKind::Instruction, plain.with(TokenModifier::Readonly, true)),
        _ => (TokenKind::Instruction, plain),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::{SemanticToken, TokenKind, TokenModifier};
    use crate::fixture::open;

    fn show(text: &str, tokens: &[SemanticToken]) -> String {
        let mut shown = String::new();
        for token in tokens {
            shown += &format!("{} {:?}", &text[token.range.clone()], token.kind);
            for modifier in TokenModifier::ALL.into_iter().filter(|&m| token.modifiers.contains(m)) {
                shown += &format!(" {modifier:?}");
            }
            shown.push('\n');
        }
        shown
    }

    fn check(text: &str, expect: Expect) {
        let (analysis, file, _) = open(text);
        let tokens = analysis.semantic_tokens(file, 0..text.len(), 1000).expect("nobody cancels");
        let tokens = tokens.expect("they are few");
        assert!(tokens.windows(2).all(|w| w[0].range.end <= w[1].range.start));
        expect.assert_eq(&show(text, &tokens));
    }

    const TEXT: &str = r#"HloModule m

%f (a: f32[]) -> f32[] {
  ROOT %a = f32[] parameter(0)
}

ENTRY e {
  c = f32[] constant(-1) // c
  f32.1 = (f32[]) copy-start(c)
  ROOT d = f32[] call(%c), to_apply=%f, sharding={replicated}, metadata={op_name="x"}
}
"#;

    #[test]
    fn tokens_say_what_names_stand_for() {
        check(
            TEXT,
            expect![[r#"
                HloModule Keyword
                m Module
                %f Computation Declaration
                a Parameter Declaration
                f32 ElementType
                f32 ElementType
                ROOT Keyword
                %a Parameter Declaration
                f32 ElementType
                parameter Opcode
                0 Number
                ENTRY Keyword
                e Computation Declaration Entry
                c Instruction Declaration Readonly
                f32 ElementType
                constant Opcode
                -1 Number
                // c Comment
                f32.1 Instruction Declaration
                f32 ElementType
                copy-start Opcode Async
                c Instruction Readonly
                ROOT Keyword
                d Instruction Declaration
                f32 ElementType
                call Opcode
                %c Instruction Readonly
                to_apply AttributeName
                %f Computation
                sharding AttributeName
                replicated EnumValue
                metadata AttributeName
                op_name AttributeName
                "x" String
            "#]],
        );
    }

    /// Tokens requested by range are those of the whole text.
    #[test]
    fn a_range_gives_what_the_whole_gives_there() {
        let (analysis, file, _) = open(TEXT);
        let all = |range| analysis.semantic_tokens(file, range, 1000).expect("nobody cancels").expect("few");
        let whole = all(0..TEXT.len());
        for start in 0..TEXT.len() {
            for end in [start, start + 1, start + 30, TEXT.len()].map(|end| end.min(TEXT.len())) {
                let here = whole.iter().filter(|t| t.range.end > start && t.range.start < end);
                let here: Vec<_> = here.cloned().collect();
                assert_eq!(show(TEXT, &all(start..end)), show(TEXT, &here), "{start}..{end}");
            }
        }
        assert_eq!(analysis.semantic_tokens(file, 0..TEXT.len(), whole.len() - 1), Ok(None));
        assert_eq!(TokenKind::ALL.map(|k| k as usize), std::array::from_fn(|i| i));
    }
}
