//! Shardings and replica groups: the tile form, the iota form and the mesh form. They are checked and kept as
//! text.
//!
//! Source: XLA `hlo_parser.cc` ParseSharding, ParseSingleSharding, ParseCollectiveDeviceList.

use super::lexer::Token;
use super::parser::{Parsed, Parser};

impl Parser<'_> {
    /// `{replicated}`, `{devices=[2,1]0,1}`, `{mesh['x'=2], [{'x'}]}`, or `{ {…}, {…} }` for a tuple.
    pub(crate) fn sharding(&mut self) -> Parsed {
        if !self.at(Token::LeftBrace) {
            return self.fail("expected '{' to start sharding attribute");
        }
        let mut look = self.lexer;
        look.bump();
        if look.token == Token::LeftBrace {
            return self.braced(Self::single_sharding);
        }
        self.single_sharding()
    }

    fn single_sharding(&mut self) -> Parsed {
        self.expect(Token::LeftBrace, "expected '{' to start sharding attribute")?;
        if self.at_word("mesh") || self.is_at_single_device() {
            self.named_sharding()?;
        } else {
            while !self.at(Token::RightBrace) {
                self.sharding_word()?;
            }
        }
        self.expect(Token::RightBrace, "expected '}' at the end of sharding")
    }

    fn sharding_word(&mut self) -> Parsed {
        match self.lexer.token {
            Token::Ident => match self.lexer.text_of() {
                "replicated" | "manual" | "maximal" | "unknown" | "unreduced" | "last_tile_dim_replicate" => {
                    self.lexer.bump();
                    Ok(())
                }
                "shard_as" | "shard_like" => {
                    self.lexer.bump();
                    self.int().map(|_| ())
                }
                word => self.unknown_form(format!("unknown word in sharding: {word}")),
            },
            Token::AttributeName => match self.lexer.text_of() {
                "device" => {
                    self.lexer.bump();
                    self.int().map(|_| ())
                }
                "devices" => {
                    self.lexer.bump();
                    self.tile_assignment()
                }
                "last_tile_dims" => {
                    self.lexer.bump();
                    self.braced(|p| {
                        for word in ["manual", "maximal", "replicated", "unreduced"] {
                            if p.eat_word(word) {
                                return Ok(());
                            }
                        }
                        if p.at(Token::Ident) {
                            let word = p.lexer.text_of();
                            return p.unknown_form(format!("unknown kind of subgroup: {word}"));
                        }
                        p.fail("expects a kind of subgroup: manual, maximal, replicated or unreduced")
                    })
                }
                "metadata" => {
                    self.lexer.bump();
                    self.sharding_metadata()
                }
                word => self.unknown_form(format!("unknown field of sharding: {word}")),
            },
            _ => self.fail("unexpected token in sharding"),
        }
    }

    fn sharding_metadata(&mut self) -> Parsed {
        let mut look = self.lexer;
        look.bump();
        if look.token == Token::LeftBrace { self.braced(Self::metadata) } else { self.metadata() }
    }

    /// `[2,2]0,1,2,3` or `[2,2]<=[4]` or `[2,2]<=[2,2]T(1,0)`
    fn tile_assignment(&mut self) -> Parsed {
        let from = self.lexer.start;
        let tiles = self.square_ints()?.iter().try_fold(1i64, |n, &d| n.checked_mul(d));
        let devices = if self.eat(Token::LessEqual) {
            self.iota_behind_arrow()?.iter().try_fold(1i64, |n, &d| n.checked_mul(d))
        } else {
            if !self.at(Token::Int) {
                return self.fail("expects devices");
            }
            let mut devices = 0;
            loop {
                self.int()?;
                devices += 1;
                if !self.eat(Token::Comma) {
                    break Some(devices);
                }
            }
        };
        if tiles != devices || tiles.is_none() {
            let count = |n: Option<i64>| n.map_or("too many".to_owned(), |n| n.to_string());
            let message = format!("{} tiles, but {} devices", count(tiles), count(devices));
            self.error_at(crate::Span::new(from, self.lexer.previous_end), message);
            return Err(super::parser::Reported);
        }
        Ok(())
    }

    /// `[4]` or `[2,2]T(1,0)`, after `<=`.
    fn iota_behind_arrow(&mut self) -> Parsed<Vec<i64>> {
        let dims = self.square_ints()?;
        if self.eat_word("T") {
            self.paren_ints()?;
        }
        Ok(dims)
    }

    fn square_ints(&mut self) -> Parsed<Vec<i64>> {
        self.expect(Token::LeftSquare, "expects '['")?;
        let mut numbers = Vec::new();
        loop {
            numbers.push(self.int()?);
            if !self.eat(Token::Comma) {
                break;
            }
        }
        self.expect(Token::RightSquare, "expects ']'")?;
        Ok(numbers)
    }

    fn paren_ints(&mut self) -> Parsed {
        self.expect(Token::LeftParen, "expects '('")?;
        loop {
            self.int()?;
            if !self.eat(Token::Comma) {
                break;
            }
        }
        self.expect(Token::RightParen, "expects ')'")
    }

    /// `single_device[device_id=3]`, or its old name `maximal_mesh[…]`.
    fn is_at_single_device(&self) -> bool {
        self.at_word("maximal_mesh") || self.at_word("single_device")
    }

    /// `mesh['a'=2,'b'=4], device_ids=(…), [{'a'}, {'b', ?}], replicated={…}, unreduced={…}, manual={…}`. The
    /// comma after the mesh is optional.
    fn named_sharding(&mut self) -> Parsed {
        let is_single = self.mesh()?;
        let mut is_first = !is_single;
        while self.eat(Token::Comma) || is_first && !self.at(Token::RightBrace) {
            is_first = false;
            match self.lexer.token {
                Token::LeftSquare => self.dimension_shardings()?,
                Token::Ident => {
                    if !(self.eat_word("replicated") || self.eat_word("manual") || self.eat_word("unreduced"))
                    {
                        let word = self.lexer.text_of();
                        return self.unknown_form(format!("unknown word in a mesh sharding: {word}"));
                    }
                }
                Token::AttributeName => match self.lexer.text_of() {
                    "device_ids" => {
                        self.lexer.bump();
                        self.device_ids()?;
                    }
                    "replicated" | "manual" => {
                        self.lexer.bump();
                        self.braced(Self::axis)?;
                    }
                    "unreduced" => {
                        self.lexer.bump();
                        // `unreduced=max{'x'}`: the reduction is optional.
                        if self.at(Token::Ident) {
                            self.lexer.bump();
                        }
                        self.braced(Self::axis)?;
                    }
                    "metadata" => {
                        self.lexer.bump();
                        self.sharding_metadata()?;
                    }
                    word => {
                        return self.unknown_form(format!("unknown field of a mesh sharding: {word}"));
                    }
                },
                _ => return self.fail("unexpected token in a mesh sharding"),
            }
        }
        Ok(())
    }

    /// `mesh['a'=2,'b'=4]`, or `single_device[device_id=3]` (true).
    fn mesh(&mut self) -> Parsed<bool> {
        let is_maximal = self.is_at_single_device();
        self.lexer.bump();
        self.expect(Token::LeftSquare, "expects '[' after mesh")?;
        if is_maximal {
            if !(self.at(Token::AttributeName) && self.lexer.text_of() == "device_id") {
                return self.fail("expects device_id=");
            }
            self.lexer.bump();
            self.int()?;
        } else if !self.at(Token::RightSquare) {
            loop {
                if self.at(Token::AttributeName) {
                    self.lexer.bump();
                } else {
                    self.string()?;
                    self.expect(Token::Equal, "expects '=' after the axis")?;
                }
                self.int()?;
                if !self.eat(Token::Comma) {
                    break;
                }
            }
        }
        self.expect(Token::RightSquare, "expects ']' at the end of the mesh")?;
        Ok(is_maximal)
    }

    /// `(0,2,1,3)` or `([4,16]T(1,0))`
    fn device_ids(&mut self) -> Parsed {
        self.expect(Token::LeftParen, "expects '(' before device ids")?;
        if self.at(Token::LeftSquare) {
            let _dims = self.iota_behind_arrow()?;
        } else {
            loop {
                self.int()?;
                if !self.eat(Token::Comma) {
                    break;
                }
            }
        }
        self.expect(Token::RightParen, "expects ')' after device ids")
    }

    /// `[{'a'}, {'c', ?}]`
    fn dimension_shardings(&mut self) -> Parsed {
        self.lexer.bump();
        if !self.at(Token::RightSquare) {
            loop {
                self.braced(|p| if p.eat(Token::Question) { Ok(()) } else { p.axis() })?;
                // An optional priority: `{'a'}p1`.
                if self.at(Token::Ident) {
                    self.lexer.bump();
                }
                if !self.eat(Token::Comma) {
                    break;
                }
            }
        }
        self.expect(Token::RightSquare, "expects ']' at the end of dimension shardings")
    }

    /// `'a'`, `"a"`, an index, or a part of an axis `'a':(2)4`.
    fn axis(&mut self) -> Parsed {
        match self.lexer.token {
            Token::String | Token::Int => self.lexer.bump(),
            _ => return self.fail("expects an axis"),
        }
        if self.eat(Token::Colon) {
            self.expect(Token::LeftParen, "expects '(' before the pre-size of a sub-axis")?;
            self.int()?;
            self.expect(Token::RightParen, "expects ')' after the pre-size of a sub-axis")?;
            self.int()?;
        }
        Ok(())
    }

    /// `{{0,1},{2,3}}`, `[2,4]<=[8]`, `[2,4]<=[4,2]T(1,0)`, `mesh['a'=2] {'a'}`
    pub(crate) fn replica_groups(&mut self) -> Parsed {
        match self.lexer.token {
            Token::LeftSquare => {
                let from = self.lexer.full_span();
                let tile = self.square_ints()?;
                self.expect(Token::LessEqual, "expects '<=' after the group shape")?;
                let reshape = self.square_ints()?;
                if self.eat_word("T") {
                    self.paren_ints()?;
                }
                let product = |dims: &[i64]| dims.iter().try_fold(1i64, |n, &d| n.checked_mul(d));
                if tile.len() != 2 || product(&tile) != product(&reshape) || product(&tile).is_none() {
                    let span = crate::Span { start: from.start, end: self.lexer.previous_end as u32 };
                    self.error_at(
                        span,
                        "groups are [count,size]<=[…] with equally many devices on both sides",
                    );
                    return Err(super::parser::Reported);
                }
                Ok(())
            }
            Token::Ident if self.at_word("mesh") || self.is_at_single_device() => {
                let from = self.lexer.start;
                self.mesh()?;
                let mesh = &self.text[from..self.lexer.previous_end];
                if self.eat(Token::Comma) {
                    if !(self.at(Token::AttributeName) && self.lexer.text_of() == "device_ids") {
                        return self.fail("expects device_ids=");
                    }
                    self.lexer.bump();
                    self.device_ids()?;
                }
                self.braced(|p| {
                    let span = p.lexer.full_span();
                    let axis = p.lexer.text_of();
                    p.axis()?;
                    if !is_axis_of(mesh, axis) {
                        let message = format!("{axis} is no axis of {mesh}, and no index of one");
                        p.error_at(span, message);
                        return Err(super::parser::Reported);
                    }
                    Ok(())
                })
            }
            Token::Ident | Token::AttributeName => {
                let word = self.lexer.text_of();
                self.unknown_form(format!("unknown form of replica groups: {word}"))
            }
            _ => self.braced(|p| p.braced(|p| p.int().map(|_| ()))),
        }
    }
}

/// Whether `mesh['a'=2,'b'=4]` has an axis with this name or number.
fn is_axis_of(mesh: &str, axis: &str) -> bool {
    let axes = || mesh.split_once('[').map_or("", |(_, axes)| axes).trim_end_matches(']').split(',');
    let names =
        || axes().filter_map(|a| a.split_once('=')).map(|(name, _)| name.trim().trim_matches(['\'', '"']));
    match axis.parse::<usize>() {
        Ok(index) => index < names().count() || names().any(|name| name == axis),
        Err(_) => names().any(|name| name == axis),
    }
}
