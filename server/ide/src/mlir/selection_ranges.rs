//! Expanding selections around the cursor: token, brackets, type or attribute, op, block, region, function,
//! file.

use mlir::{TokenKind, tokens};
use syntax::Span;

use crate::TextRange;
use crate::file_context::FileContext;
use crate::mlir::context::OpRef;

/// The syntax elements around `offset`.
pub(crate) fn enclosing_ranges(context: &FileContext<'_>, offset: usize) -> Vec<TextRange> {
    let mut ranges: Vec<TextRange> = Vec::new();
    let Some(at) = context.op_at(offset) else { return ranges };
    let read = context.mlir_piece(at.piece);
    let parse = &read.parse;
    for id in parse.path_to(at.id) {
        let id = OpRef { id, ..at };
        ranges.push(context.whole_op(id));
        ranges.push(context.whole_head(id));
        for region in parse.regions_of(id.id) {
            let range = context.whole_region(at.piece, region);
            ranges.push(range.clone());
            ranges.push(range.start + 1..range.end.saturating_sub(1).max(range.start + 1));
        }
    }
    let mut push = |span: Span| ranges.push(context.range(at.piece, span));
    for attribute in parse.attributes_of(at.id) {
        push(Span { start: attribute.name.start, end: attribute.value.end.max(attribute.name.end) });
        push(attribute.value);
    }
    let local = offset - context.range(at.piece, Span::default()).start;
    let op = parse.op(at.id).span;
    let mut open: Vec<(TokenKind, u32)> = Vec::new();
    let (all, _) = tokens(&read.text, op.start as usize, op.end as usize, false);
    for token in all {
        let opener = match token.kind {
            TokenKind::OpenParen | TokenKind::OpenSquare | TokenKind::OpenAngle | TokenKind::OpenBrace => {
                open.push((token.kind, token.span.start));
                continue;
            }
            TokenKind::CloseParen => TokenKind::OpenParen,
            TokenKind::CloseSquare => TokenKind::OpenSquare,
            TokenKind::CloseAngle => TokenKind::OpenAngle,
            TokenKind::CloseBrace => TokenKind::OpenBrace,
            TokenKind::Comma | TokenKind::Colon | TokenKind::Equal | TokenKind::Arrow | TokenKind::Sign => {
                continue;
            }
            _ => {
                if token.span.contains(local) {
                    push(token.span);
                }
                continue;
            }
        };
        if let Some((_, start)) = open.pop_if(|(kind, _)| *kind == opener)
            && (start as usize..=token.span.end as usize).contains(&local)
        {
            push(Span { start: start + 1, end: token.span.start });
            push(Span { start, end: token.span.end });
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use crate::fixture::open_mlir;

    #[test]
    fn selections_grow_from_the_token_to_the_file() {
        let (analysis, file, offset) =
            open_mlir("func.func @f() {\n  %0 = x.y %a {m = [1, $0%b]} : f32\n}\n");
        let text = analysis.rope(file).to_string();
        let ranges = analysis.selection_ranges(file, offset).expect("nobody cancels");
        let shown: Vec<_> = ranges.iter().map(|r| text[r.clone()].replace('\n', "|")).collect();
        assert_eq!(
            shown,
            [
                "%b",
                "1, %b",
                "[1, %b]",
                "m = [1, %b]",
                "{m = [1, %b]}",
                "%0 = x.y %a {m = [1, %b]} : f32",
                "|  %0 = x.y %a {m = [1, %b]} : f32|",
                "{|  %0 = x.y %a {m = [1, %b]} : f32|}",
                "func.func @f() {|  %0 = x.y %a {m = [1, %b]} : f32|}",
                "func.func @f() {|  %0 = x.y %a {m = [1, %b]} : f32|}|",
            ]
        );
    }
}
