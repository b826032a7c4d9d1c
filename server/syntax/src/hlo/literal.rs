//! Literals, `constant({ {1, 2}, {3, 4} })`: values are checked against the shape and kept as text.
//!
//! Source: XLA `hlo_parser.cc` ParseLiteral, ParseDenseLiteral, SetValueInLiteral.

use super::float_format::FloatFormat;
use super::lexer::Token;
use super::parser::{Parsed, Parser, Reported};
use super::tree::{ShapeId, ShapeNode};
use super::vocabulary::ElementType;

impl Parser<'_> {
    /// Parses a literal of `shape`.
    pub(crate) fn literal_of(&mut self, shape: Option<ShapeId>) -> Parsed {
        let Some(shape) = shape else {
            return self.fail("a constant needs its shape");
        };
        match self.out.shapes[shape.0 as usize].clone() {
            ShapeNode::Tuple(elements) => self.nested(|p| p.tuple_literal(&elements)),
            ShapeNode::Array { element, dims: (start, rank), .. } => {
                let dims: Vec<i64> =
                    self.out.ints(start, rank).iter().map(|&d| if d < 0 { -(d + 1) } else { d }).collect();
                self.dense_literal(element, &dims)
            }
            ShapeNode::Buffer(_) => self.fail("a buffer has no literal"),
        }
    }

    /// `( {1, 2}, 3 )`: the elements are written without shapes.
    fn tuple_literal(&mut self, elements: &[ShapeId]) -> Parsed {
        self.expect(Token::LeftParen, "expects '(' before tuple elements")?;
        for (i, &element) in elements.iter().enumerate() {
            if i > 0 {
                self.expect(Token::Comma, "expects ',' between tuple elements")?;
            }
            self.literal_of(Some(element))?;
        }
        self.expect(Token::RightParen, "expects ')' at the end of the tuple")
    }

    fn dense_literal(&mut self, element: ElementType, dims: &[i64]) -> Parsed {
        if matches!(element, ElementType::Token | ElementType::Opaque) {
            return self.fail(format!("{element} has no literal"));
        }
        if dims.len() > crate::MAX_DEPTH as usize {
            return self.fail("a literal of so many dimensions is not supported");
        }
        // The number of elements seen at each nesting level.
        let mut seen = vec![0i64; dims.len() + 1];
        let mut level = 0usize;
        loop {
            match self.lexer.token {
                Token::LeftBrace => {
                    level += 1;
                    if level > dims.len() {
                        return self
                            .fail(format!("expects nested array in rank {}, but sees larger", dims.len()));
                    }
                    if level > 1 {
                        seen[level - 1] += 1;
                        if seen[level - 1] > dims[level - 2] {
                            let limit = dims[level - 2];
                            return self.fail(format!(
                                "expects {limit} elements in dimension {}, but sees more",
                                level - 2
                            ));
                        }
                    }
                    seen[level] = 0;
                    self.lexer.bump();
                }
                Token::RightBrace => {
                    if level == 0 {
                        return self.fail("unexpected '}' in a literal");
                    }
                    if seen[level] != dims[level - 1] {
                        let (want, got) = (dims[level - 1], seen[level]);
                        return self.fail(format!(
                            "expects {want} elements in dimension {}, but sees {got}",
                            level - 1
                        ));
                    }
                    level -= 1;
                    self.lexer.bump();
                }
                // XLA does not count commas, not even the one of `constant(,)`.
                Token::Comma => self.lexer.bump(),
                Token::Dots => {
                    if level != 1 {
                        return self.fail("'...' replaces a whole literal: { ... }");
                    }
                    self.lexer.bump();
                    if !self.at(Token::RightBrace) {
                        return self.fail("expects '}' after '...'");
                    }
                    seen[1] = dims[0];
                }
                Token::LeftParen | Token::Int | Token::Decimal | Token::Ident => {
                    self.literal_value(element, dims, level, &mut seen)?;
                }
                _ => return self.fail("unexpected token in a literal"),
            }
            if level == 0 {
                return Ok(());
            }
        }
    }

    fn literal_value(
        &mut self,
        element: ElementType,
        dims: &[i64],
        level: usize,
        seen: &mut [i64],
    ) -> Parsed {
        let is_complex = self.at(Token::LeftParen);
        // XLA accepts a bare value in place of an array (as its first element), but not a complex one.
        if level != dims.len() && (level != 0 || is_complex) {
            return self.fail(format!("expects nested array in rank {}, but sees {level}", dims.len()));
        }
        if level > 0 {
            seen[level] += 1;
            if seen[level] > dims[level - 1] {
                let limit = dims[level - 1];
                return self
                    .fail(format!("expects {limit} elements on the minor-most dimension, but sees more"));
            }
        }
        if is_complex {
            if !matches!(element, ElementType::C64 | ElementType::C128) {
                return self.fail("unexpected '(' in a literal: parentheses are for complex values");
            }
            let part = if element == ElementType::C64 { ElementType::F32 } else { ElementType::F64 };
            self.lexer.bump();
            self.real(part)?;
            self.expect(Token::Comma, "expects ',' between the real and the imaginary part")?;
            self.real(part)?;
            return self.expect(Token::RightParen, "expects ')' at the end of a complex value");
        }
        self.real(element)
    }

    fn real(&mut self, element: ElementType) -> Parsed {
        let span = self.lexer.span;
        let text = span.of(self.text);
        let problem = match self.lexer.token {
            Token::Ident if matches!(text, "true" | "false") => {
                (element != ElementType::Pred).then(|| format!("{text} is no value of {element}"))
            }
            Token::Int => int_problem(text, element),
            Token::Decimal => decimal_problem(text, element),
            _ => return self.fail("unexpected token in a literal"),
        };
        if let Some(problem) = problem {
            self.error_at(span, problem);
            return Err(Reported);
        }
        self.lexer.bump();
        Ok(())
    }

    /// `s32[2] {1, 2}` or `(s32[] 1, f32[1] {2})`, the form of the attribute `literal=`.
    pub(crate) fn shaped_literal(&mut self) -> Parsed {
        if self.at(Token::LeftParen) {
            return self.nested(|p| {
                p.lexer.bump();
                if !p.at(Token::RightParen) {
                    loop {
                        p.shaped_literal()?;
                        if !p.eat(Token::Comma) {
                            break;
                        }
                    }
                }
                p.expect(Token::RightParen, "expects ')' at the end of the tuple")
            });
        }
        let shape = self.shape()?;
        self.literal_of(Some(shape))
    }
}

/// Returns the number of bits of an integer type and whether it is signed.
fn integer(element: ElementType) -> Option<(u32, bool)> {
    use ElementType::*;
    Some(match element {
        S1 => (1, true),
        S2 => (2, true),
        S4 => (4, true),
        S8 => (8, true),
        S16 => (16, true),
        S32 => (32, true),
        S64 => (64, true),
        U1 => (1, false),
        U2 => (2, false),
        U4 => (4, false),
        U8 => (8, false),
        U16 => (16, false),
        U32 => (32, false),
        U64 => (64, false),
        _ => return None,
    })
}

fn int_problem(text: &str, element: ElementType) -> Option<String> {
    let Ok(value) = text.parse::<i128>() else {
        return Some(format!("{text} does not fit 64 bits"));
    };
    if value > i128::from(u64::MAX) || value < i128::from(i64::MIN) {
        return Some(format!("{text} does not fit 64 bits"));
    }
    if let Some((bits, signed)) = integer(element) {
        // XLA keeps 64-bit patterns: 18446744073709551615 as an s64 is -1, and -1 is a valid u64.
        let (low, high) = match (bits, signed) {
            (64, _) => (i128::from(i64::MIN), i128::from(u64::MAX)),
            (_, true) => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
            (_, false) => (0, (1i128 << bits) - 1),
        };
        if value < low || value > high {
            return Some(format!("{text} is out of range for {element}"));
        }
        return None;
    }
    match element {
        ElementType::Pred => None,
        ElementType::C64 | ElementType::C128 => {
            Some(format!("a value of {element} is written (real, imaginary)"))
        }
        _ => decimal_problem(text, element),
    }
}

fn decimal_problem(text: &str, element: ElementType) -> Option<String> {
    let is_complex = matches!(element, ElementType::C64 | ElementType::C128);
    let Some(format) = FloatFormat::of(element).filter(|_| !is_complex) else {
        return Some(match is_complex {
            true => format!("a value of {element} is written (real, imaginary)"),
            false => format!("expects an integer: {text} is no value of {element}"),
        });
    };
    float_problem(text, element, format)
}

fn float_problem(text: &str, element: ElementType, format: FloatFormat) -> Option<String> {
    let word = text.trim_start_matches('-');
    if let Some(payload) = word.strip_prefix("nan") {
        let digits = payload.strip_prefix("(0x")?.strip_suffix(')')?;
        let limit = format.max_nan_payload().unwrap_or_default();
        let fits = u64::from_str_radix(digits, 16).is_ok_and(|payload| payload <= limit);
        return (!fits).then(|| match limit {
            0 => format!("a NaN of {element} has no payload"),
            _ => format!("the NaN payload 0x{digits} is larger than that of {element}, 0x{limit:x}"),
        });
    }
    if word == "inf" {
        return None;
    }
    let Ok(value) = text.parse::<f64>() else {
        return Some(format!("{text} is not a number"));
    };
    format.overflows(value).then(|| format!("{text} is out of range for {element}"))
}
