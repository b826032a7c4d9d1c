//! The expressions of a map: sums, products, parentheses, `min` and `max`.

use crate::expr::{BinaryOp, Expr};
use crate::text::parse::{MAX_NESTING, Names, Parsed, Parser, TOO_LARGE, plain_number, to_i64};

impl Parser<'_> {
    pub(super) fn limited_sum(&mut self) -> Parsed<Expr> {
        let start = self.at;
        let e = self.sum()?;
        if e.is_too_large() {
            self.at = start;
            return self.fail(TOO_LARGE);
        }
        Ok(e)
    }

    pub(super) fn sum(&mut self) -> Parsed<Expr> {
        let mut e = self.product(false)?;
        loop {
            match self.peek() {
                b'+' => {
                    self.at += 1;
                    self.skip_space();
                    e = e + self.product(false)?;
                }
                b'-' => {
                    self.at += 1;
                    self.skip_space();
                    e = e + self.product(true)?;
                }
                _ => return Ok(e),
            }
        }
    }

    /// Parses a product, negated if it follows a minus.
    fn product(&mut self, negated: bool) -> Parsed<Expr> {
        // `- 9223372036854775808` fits only with its sign.
        let alone = negated && self.peek().is_ascii_digit();
        if alone {
            let start = self.at;
            let c = self.number()?;
            if self.multiplicative().is_none() {
                return match to_i64(true, c) {
                    Some(c) => Ok(Expr::Const(c)),
                    None => self.fail("the number does not fit 64 bits"),
                };
            }
            self.at = start;
        }
        let mut e = self.primary()?;
        while let Some((op, len)) = self.multiplicative() {
            self.at += len;
            self.skip_space();
            let rhs = self.primary()?;
            e = Expr::binary(op, e, rhs);
        }
        Ok(if negated { -e } else { e })
    }

    fn multiplicative(&self) -> Option<(BinaryOp, usize)> {
        match self.peek() {
            b'*' => Some((BinaryOp::Mul, 1)),
            b'/' => Some((BinaryOp::FloorDiv, 1)),
            b'm' | b'f' | b'c' => match self.word() {
                "mod" => Some((BinaryOp::Mod, 3)),
                "floordiv" | "floorDiv" => Some((BinaryOp::FloorDiv, 8)),
                "ceildiv" | "ceilDiv" => Some((BinaryOp::CeilDiv, 7)),
                _ => None,
            },
            _ => None,
        }
    }

    fn primary(&mut self) -> Parsed<Expr> {
        if self.nesting >= MAX_NESTING {
            return self.fail(format!("nested deeper than {MAX_NESTING}"));
        }
        self.nesting += 1;
        let e = recursion::grow(|| self.primary_inner());
        self.nesting -= 1;
        e
    }

    fn primary_inner(&mut self) -> Parsed<Expr> {
        match self.peek() {
            b'(' => {
                self.expect(b'(')?;
                let e = self.sum()?;
                self.expect(b')')?;
                Ok(e)
            }
            b'-' => {
                self.at += 1;
                self.skip_space();
                if self.peek().is_ascii_digit() {
                    let start = self.at;
                    let c = self.number()?;
                    return match to_i64(true, c) {
                        Some(c) => Ok(Expr::Const(c)),
                        None => {
                            self.at = start;
                            self.fail("the number does not fit 64 bits")
                        }
                    };
                }
                Ok(-self.primary()?)
            }
            b'0'..=b'9' => {
                let start = self.at;
                let c = self.number()?;
                match to_i64(false, c) {
                    Some(c) => Ok(Expr::Const(c)),
                    None => {
                        self.at = start;
                        self.fail("the number does not fit 64 bits")
                    }
                }
            }
            _ => self.named(),
        }
    }

    fn named(&mut self) -> Parsed<Expr> {
        let word = self.word();
        let extremum = match word {
            "min" => Some(BinaryOp::Min),
            "max" => Some(BinaryOp::Max),
            _ => None,
        };
        if let Some(op) = extremum {
            let start = self.at;
            self.at += word.len();
            self.skip_space();
            if self.peek() == b'(' {
                self.expect(b'(')?;
                let mut e = self.sum()?;
                self.expect(b',')?;
                e = Expr::binary(op, e, self.sum()?);
                while self.eat(b",") {
                    e = Expr::binary(op, e, self.sum()?);
                }
                self.expect(b')')?;
                return Ok(e);
            }
            self.at = start;
        }
        let id = match &self.names {
            Names::Declared(names) => names.iter().position(|n| *n == word),
            Names::Flat => word.strip_prefix(['v', 'd']).and_then(plain_number),
        };
        match id {
            Some(id) => {
                self.at += word.len();
                self.skip_space();
                Ok(Expr::var(id))
            }
            None if word.is_empty() && self.at >= self.bytes.len() => {
                self.fail("unexpected end of the expression")
            }
            None if word.is_empty() => self.fail("expected an expression"),
            None => self.fail(format!("unknown variable `{word}`")),
        }
    }
}
