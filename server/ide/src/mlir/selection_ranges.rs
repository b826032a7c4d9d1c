//! Expanding selections around the cursor: token, brackets, type or attribute, op, block, region, function,
//! file.

use syntax::Span;

use crate::file_context::FileContext;
use crate::mlir::Mlir;
use crate::mlir::context::OpRef;
use crate::selection_ranges::{Nesting, Surroundings};

impl Nesting for Mlir {
    fn surroundings(&self, context: &FileContext<'_>, offset: usize) -> Surroundings {
        let mut found = Surroundings::default();
        let Some(at) = context.op_at(offset) else { return found };
        let parse = &context.mlir_piece(at.piece).parse;
        for id in parse.path_to(at.id) {
            let id = OpRef { id, ..at };
            found.elements.push(context.whole_op(id));
            found.elements.push(context.whole_head(id));
            for region in parse.regions_of(id.id) {
                let (range, is_closed) = context.whole_region(at.piece, region);
                let inside = range.start + 1..range.end - usize::from(is_closed);
                found.elements.extend([range, inside]);
            }
        }
        for attribute in parse.attributes_of(at.id) {
            let end = attribute.value.end.max(attribute.name.end);
            found.elements.push(context.range(at.piece, Span { start: attribute.name.start, end }));
            found.elements.push(context.range(at.piece, attribute.value));
        }
        found.tokens_of.push((at.piece, parse.op(at.id).span));
        found
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::open_mlir;

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        let (analysis, file, offset) = open_mlir(text);
        let text = analysis.text(file).to_string();
        let ranges = analysis.selection_ranges(file, offset).expect("nobody cancels");
        let shown: Vec<_> = ranges.iter().map(|r| text[r.clone()].replace('\n', "|")).collect();
        assert_eq!(shown, expect);
    }

    #[test]
    fn selections_grow_from_the_token_to_the_file() {
        check(
            "\
func.func @f() {
  %0 = x.y %a {m = [1, $0%b]} : f32
}
",
            &[
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
            ],
        );
    }

    #[test]
    fn a_region_without_a_brace_ends_with_its_last_letter() {
        check(
            "func.func @f() {\n  x.y$0 %é",
            &["x.y", "x.y %é", "|  x.y %é", "{|  x.y %é", "func.func @f() {|  x.y %é"],
        );
    }

    #[test]
    fn comments_in_an_op_are_tokens() {
        check(
            "\
x.y %a, // fi$0rst
  %b : f32
",
            &["// first", "x.y %a, // first|  %b : f32", "x.y %a, // first|  %b : f32|"],
        );
    }
}
