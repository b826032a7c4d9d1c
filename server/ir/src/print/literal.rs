//! Literals in XLA's one-line form. Source: XLA `literal.cc` DenseArrayPrintHelper.

use std::fmt::Write as _;

use syntax::hlo::ElementType;

use super::float::write_float;
use super::shapes::{separate, write_shape};
use super::tokens::{Token, Tokens, bracketed, split_top_level};
use crate::element_type::ElementTypeExt;
use crate::shape::{ArrayShape, Shape};

/// Arrays up to this many elements are written in full.
const SMALL: i64 = 10;
/// The most zeros that are written for an array given as one value.
const MANY: i64 = 10_000;

/// Writes the literal `text` of `shape`. Without `large` one of more than [`SMALL`] elements, or a tuple, is `{...}`.
pub(super) fn write_literal(out: &mut String, text: &str, shape: &Shape, large: bool) {
    let is_small = shape.as_array().is_some_and(|a| a.elements().is_some_and(|n| n <= SMALL));
    if !large && !is_small {
        out.push_str("{...}");
        return;
    }
    write_value(out, &mut Tokens::new(text), shape);
}

/// `f32[2]{0} {1, 2}`, `( s32[] 1, f32[1]{0} {2} )`: each array after its shape.
pub(super) fn write_shaped_literal(
    out: &mut String,
    text: &str,
    shape_of: &mut dyn FnMut(&str) -> Option<Shape>,
) {
    let text = text.trim();
    if let Some(inner) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
        out.push_str("( ");
        for (i, element) in split_top_level(inner).into_iter().enumerate() {
            separate(out, i, false);
            write_shaped_literal(out, element, shape_of);
        }
        out.push_str(" )");
        return;
    }
    // The shape ends after its `]`, or after the layout that follows at once.
    let mut end = text.find(']').map_or(text.len(), |n| n + 1);
    let behind = text[end..].trim_start();
    let is_layout = |inner: &str| inner.starts_with(|c: char| c.is_ascii_digit() || c == ':');
    if let Some((layout, value)) = bracketed(behind)
        && behind.strip_prefix('{').is_some_and(is_layout)
        && !value.trim().is_empty()
    {
        end = text.len() - value.len();
        debug_assert!(text[..end].ends_with(layout));
    }
    let Some(shape) = shape_of(&text[..end]) else {
        out.push_str(text);
        return;
    };
    write_shape(out, &shape);
    out.push(' ');
    write_value(out, &mut Tokens::new(&text[end..]), &shape);
}

fn write_value<'a>(out: &mut String, tokens: &mut dyn Iterator<Item = Token<'a>>, shape: &Shape) {
    match shape {
        Shape::Tuple(elements) => {
            let mut tokens = tokens.peekable();
            tokens.next_if(|t| *t == Token::Punctuation('('));
            out.push_str("( ");
            for (i, element) in elements.iter().enumerate() {
                separate(out, i, false);
                tokens.next_if(|t| *t == Token::Punctuation(','));
                write_value(out, &mut tokens, element);
            }
            out.push_str(" )");
            tokens.next_if(|t| *t == Token::Punctuation(')'));
        }
        Shape::Array(array) => Dense { out, array }.write(tokens),
        Shape::Buffer(_) | Shape::Token | Shape::Opaque => {}
    }
}

struct Dense<'a> {
    out: &'a mut String,
    array: &'a ArrayShape,
}

impl Dense<'_> {
    fn write<'a>(&mut self, tokens: &mut dyn Iterator<Item = Token<'a>>) {
        let mut depth = 0usize;
        let mut is_done = false;
        let values = std::iter::from_fn(|| {
            while !is_done {
                let value = match tokens.next()? {
                    Token::Punctuation('{') => {
                        depth += 1;
                        continue;
                    }
                    Token::Punctuation('}') => {
                        depth = depth.saturating_sub(1);
                        is_done = depth == 0;
                        continue;
                    }
                    Token::Punctuation('(') => {
                        let (real, _comma, imaginary) = (tokens.next(), tokens.next(), tokens.next());
                        let _close = tokens.next();
                        match (real, imaginary) {
                            (Some(Token::Word(real)), Some(Token::Word(imaginary))) => {
                                LiteralElement::Complex(real, imaginary)
                            }
                            _ => continue,
                        }
                    }
                    Token::Word("...") => LiteralElement::Elided,
                    Token::Word(word) => LiteralElement::Real(word),
                    _ => continue,
                };
                // A value outside of brackets is all there is.
                is_done = depth == 0;
                return Some((value, depth));
            }
            None
        });
        let mut values = values.fuse().peekable();
        let elements = self.array.elements().unwrap_or(i64::MAX);
        match values.peek().copied() {
            Some((value, _)) if self.array.rank() == 0 => self.value(value),
            None if self.array.rank() == 0 => self.value(self.zero()),
            Some((LiteralElement::Elided, _)) => self.out.push_str("{...}"),
            // One value for all of a large array is its first element; the zeros after it are not written.
            Some((value, 0)) if elements > MANY => self.value(value),
            _ => {
                let mut index = Vec::with_capacity(self.array.rank());
                self.nest(&mut index, &mut values.by_ref().map(|(value, _)| value));
            }
        }
        // The closing brackets.
        while values.next().is_some() {}
    }

    fn nest<'a>(&mut self, index: &mut Vec<i64>, values: &mut dyn Iterator<Item = LiteralElement<'a>>) {
        let rank = self.array.rank();
        let size = self.array.dims[index.len()];
        let is_row = index.len() + 1 == rank;
        self.out.push('{');
        let padding = match (rank, is_row) {
            (1, _) => "",
            (_, true) if size <= 1 => "",
            _ => " ",
        };
        if rank > 3 && !is_row && !index.is_empty() {
            let _ =
                write!(self.out, " /*i{}={}*/", index.len() - 1, index.last().copied().unwrap_or_default());
            self.out.push_str(if size > 0 { " " } else { "" });
        } else {
            self.out.push_str(padding);
        }
        for i in 0..size {
            if i > 0 {
                self.out.push_str(", ");
            }
            if is_row {
                // A bare value for an array is its first element; the others are zero.
                match values.next() {
                    Some(value) => self.value(value),
                    None => self.value(self.zero()),
                }
            } else {
                index.push(i);
                self.nest(index, values);
                index.pop();
            }
        }
        self.out.push_str(padding);
        self.out.push('}');
    }

    fn zero(&self) -> LiteralElement<'static> {
        if self.array.element.is_complex() {
            LiteralElement::Complex("0", "0")
        } else {
            LiteralElement::Real("0")
        }
    }

    fn value(&mut self, value: LiteralElement<'_>) {
        let element = self.array.element;
        match value {
            LiteralElement::Complex(real, imaginary) => {
                self.out.push('(');
                write_float(self.out, real, element);
                self.out.push_str(", ");
                write_float(self.out, imaginary, element);
                self.out.push(')');
            }
            LiteralElement::Real(word) if element == ElementType::Pred => {
                let is_true = word == "true" || word.parse::<i128>().is_ok_and(|n| n != 0);
                self.out.push_str(match (self.array.rank(), is_true) {
                    (0, true) => "true",
                    (0, false) => "false",
                    (_, true) => "1",
                    (_, false) => "0",
                });
            }
            LiteralElement::Real(word) if element.is_floating() => write_float(self.out, word, element),
            LiteralElement::Real(word) => self.integer(word, element),
            LiteralElement::Elided => self.out.push_str("..."),
        }
    }

    /// 64-bit patterns are kept: -1 as u64 is its largest value.
    fn integer(&mut self, word: &str, element: ElementType) {
        let value = word.parse::<i128>().unwrap_or_default();
        let _ = match element {
            ElementType::U64 => write!(self.out, "{}", value as u64),
            ElementType::S64 => write!(self.out, "{}", value as i64),
            _ => write!(self.out, "{value}"),
        };
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LiteralElement<'a> {
    Real(&'a str),
    Complex(&'a str, &'a str),
    Elided,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(element: ElementType, dims: &[i64], text: &str, expect: &str) {
        let shape = Shape::array(element, dims);
        let mut out = String::new();
        write_literal(&mut out, text, &shape, true);
        assert_eq!(out, expect);
        let mut again = String::new();
        write_literal(&mut again, &out, &shape, true);
        assert_eq!(again, out);
    }

    #[test]
    fn arrays_are_nested_as_xla_nests_them() {
        use ElementType::*;
        check(S32, &[], " -42", "-42");
        check(F32, &[3], "{1 2,3.0}", "{1, 2, 3}");
        check(S32, &[2, 3], "{{1,2,3},/*x*/{4,5,6}}", "{ { 1, 2, 3 }, { 4, 5, 6 } }");
        check(F32, &[2, 1], "{{1},{2}}", "{ {1}, {2} }");
        check(Pred, &[2], "{true, 0}", "{1, 0}");
        check(Pred, &[], "1", "true");
        check(F32, &[2, 0, 4, 3], "{{},{}}", "{ { /*i0=0*/ }, { /*i0=1*/ } }");
        check(
            F32,
            &[2, 2, 1, 1],
            "{{{{1}},{{2}}},{{{3}},{{4}}}}",
            "{ { /*i0=0*/ { /*i1=0*/ {1} }, { /*i1=1*/ {2} } }, { /*i0=1*/ { /*i1=0*/ {3} }, { /*i1=1*/ {4} } } }",
        );
        check(C128, &[2], "{(1, 2), (-inf, nan)}", "{(1, 2), (-inf, nan)}");
        check(Bf16, &[2, 2], "1", "{ { 1, 0 }, { 0, 0 } }");
        check(S32, &[67, 89], "{ ... }", "{...}");
        check(U64, &[1], "{-1}", "{18446744073709551615}");
    }

    #[test]
    fn large_ones_are_elided_on_demand() {
        let mut out = String::new();
        write_literal(&mut out, "{1,2,3,4,5,6,7,8,9,10,11}", &Shape::array(ElementType::S32, &[11]), false);
        assert_eq!(out, "{...}");
    }
}
