//! Attributes with numbers per dimension: `slice=`, `padding=`, `dim_labels=`, `window=`.

use super::lexer::Token;
use super::parser::{Parsed, Parser, Reported};
use super::tree::ValueNode;
use crate::Span;

impl Parser<'_> {
    /// `{[0:4:2], [1:3]}`; the stride defaults to 1.
    pub(crate) fn slice_ranges(&mut self) -> Parsed<ValueNode> {
        let start = self.out.ints.len();
        self.braced(|p| {
            p.expect(Token::LeftSquare, "expects '[' before a range")?;
            let mut range = [0, 0, 1];
            range[0] = p.int()?;
            p.expect(Token::Colon, "expects ':' between start and limit")?;
            range[1] = p.int()?;
            if p.eat(Token::Colon) {
                range[2] = p.int()?;
            }
            p.expect(Token::RightSquare, "expects ']': a range is [start:limit] or [start:limit:stride]")?;
            p.out.ints.extend(range);
            Ok(())
        })?;
        Ok(ValueNode::Triples { start: start as u32, len: (self.out.ints.len() - start) as u32 })
    }

    /// `0_1x2_3_1`: low, high, interior per dimension.
    pub(crate) fn padding(&mut self) -> Parsed<ValueNode> {
        if !self.at(Token::Pad) {
            return self.fail("expects padding: low_high or low_high_interior per dimension, joined by 'x'");
        }
        let text = self.lexer.text_of();
        let start = self.out.ints.len();
        for group in text.split('x') {
            let mut triple = [0i64; 3];
            for (slot, number) in triple.iter_mut().zip(group.split('_')) {
                let Ok(value) = number.parse() else {
                    return self.fail("the integer does not fit 64 bits");
                };
                *slot = value;
            }
            if triple[2] < 0 {
                return self.fail("interior padding is not negative");
            }
            self.out.ints.extend(triple);
        }
        self.lexer.bump();
        Ok(ValueNode::Triples { start: start as u32, len: (self.out.ints.len() - start) as u32 })
    }

    pub(crate) fn dim_labels(&mut self) -> Parsed<ValueNode> {
        if !self.at(Token::DimLabels) {
            return self.fail("expects dim labels pattern, for example 'b01f_01io->b01f'");
        }
        let span = self.lexer.span;
        let text = self.lexer.text_of();
        if let Some(problem) = dim_labels_problem(text) {
            self.error_at(span, problem);
            return Err(Reported);
        }
        self.lexer.bump();
        Ok(ValueNode::DimLabels(span))
    }

    /// `{size=3x3 stride=2x2 pad=1_1x1_1 lhs_dilate=1x1 rhs_dilate=1x1 rhs_reversal=0x0}`
    pub(crate) fn window(&mut self) -> Parsed<ValueNode> {
        self.expect(Token::LeftBrace, "expects '{' to start window attribute")?;
        let (mut size, mut stride, mut pad) = (None, None, None);
        let (mut lhs, mut rhs, mut reversal) = (None, None, None);
        while !self.at(Token::RightBrace) {
            if !self.at(Token::AttributeName) {
                return self.fail("expects sub-attribute in window");
            }
            let name = self.lexer.text_of();
            let slot = match name {
                "size" => &mut size,
                "stride" => &mut stride,
                "lhs_dilate" => &mut lhs,
                "rhs_dilate" => &mut rhs,
                "rhs_reversal" => &mut reversal,
                "pad" => &mut pad,
                _ => return self.unknown_form(format!("unknown field of window: {name}")),
            };
            let span = self.lexer.span;
            self.lexer.bump();
            let numbers = if name == "pad" { self.window_pad()? } else { self.dxd()? };
            if slot.replace((numbers, span)).is_some() {
                self.error_at(span, format!("{name}= is given twice"));
                return Err(Reported);
            }
        }
        self.lexer.bump();
        let rank = size.as_ref().map_or(0, |(s, _)| s.len());
        for (list, per_dimension) in [(&stride, 1), (&lhs, 1), (&rhs, 1), (&reversal, 1), (&pad, 2)] {
            if let Some((numbers, span)) = list
                && numbers.len() != rank * per_dimension
            {
                let name = span.of(self.text);
                self.error_at(
                    *span,
                    format!("expects '{name}=' to have as many entries as 'size=', which has {rank}"),
                );
                return Err(Reported);
            }
        }
        let get = |list: &Option<(Vec<i64>, Span)>, at: usize, default: i64| {
            list.as_ref().and_then(|(numbers, _)| numbers.get(at).copied()).unwrap_or(default)
        };
        let start = self.out.ints.len() as u32;
        for d in 0..rank {
            self.out.ints.extend([
                get(&size, d, 1),
                get(&stride, d, 1),
                get(&pad, 2 * d, 0),
                get(&pad, 2 * d + 1, 0),
                get(&lhs, d, 1),
                get(&rhs, d, 1),
                get(&reversal, d, 0),
            ]);
        }
        Ok(ValueNode::Window { start, len: 7 * rank as u32 })
    }

    pub(crate) fn dxd(&mut self) -> Parsed<Vec<i64>> {
        if !matches!(self.lexer.token, Token::Int | Token::DxD) {
            return self.fail("expects an integer or integers joined by 'x'");
        }
        let numbers: Result<Vec<i64>, _> = self.lexer.text_of().split('x').map(str::parse).collect();
        let Ok(numbers) = numbers else {
            return self.fail("the integer does not fit 64 bits");
        };
        self.lexer.bump();
        Ok(numbers)
    }

    fn window_pad(&mut self) -> Parsed<Vec<i64>> {
        if !self.at(Token::Pad) {
            return self.fail("expects window pad pattern, for example '0_0x3_3'");
        }
        let text = self.lexer.text_of();
        let mut numbers = Vec::new();
        for group in text.split('x') {
            let pair: Result<Vec<i64>, _> = group.split('_').map(str::parse).collect();
            match pair {
                Ok(pair) if pair.len() == 2 => numbers.extend(pair),
                _ => return self.fail("expects padding low and high, joined by '_'"),
            }
        }
        self.lexer.bump();
        Ok(numbers)
    }
}

/// Checks the labels: characters other than `?` are unique on each side; spatial digits are 0..n, with the
/// same n on all three sides.
fn dim_labels_problem(text: &str) -> Option<String> {
    let (lhs, rest) = text.split_once('_')?;
    let (rhs, out) = rest.split_once("->")?;
    let mut spatial = None;
    for (side, letters) in [(lhs, "bf"), (rhs, "io"), (out, "bf")] {
        let mut digits: Vec<u32> = side.chars().filter_map(|c| c.to_digit(10)).collect();
        digits.sort_unstable();
        if digits.iter().enumerate().any(|(i, &d)| i as u32 != d) {
            return Some(format!("spatial dimensions of '{side}' must be 0, 1, … without gaps, each once"));
        }
        for letter in letters.chars() {
            if side.matches(letter).count() != 1 {
                return Some(format!("'{side}' must contain '{letter}' exactly once"));
            }
        }
        if *spatial.get_or_insert(digits.len()) != digits.len() {
            return Some("the three sides must have equally many spatial dimensions".to_owned());
        }
    }
    None
}
