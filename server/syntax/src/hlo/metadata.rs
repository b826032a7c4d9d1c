//! Values about the origin and treatment of instructions: metadata, frontend attributes, backend
//! configuration, statistics, accuracy, origin. They are checked and kept as text.

use super::lexer::{Token, string_end};
use super::numbers::digits_end;
use super::parser::{Parsed, Parser};
use super::tree::ValueNode;

impl Parser<'_> {
    pub(crate) fn string_or_json(&mut self) -> Parsed<ValueNode> {
        if self.at(Token::LeftBrace) {
            self.balanced()?;
            return Ok(ValueNode::Text);
        }
        self.string().map(ValueNode::String)
    }

    /// Parses a balanced dictionary, kept as text.
    pub(crate) fn balanced(&mut self) -> Parsed {
        if !self.at(Token::LeftBrace) {
            return self.fail("expects '{'");
        }
        let Some(end) = self.lexer.balanced_braces() else {
            return self.fail("'{' without its '}'");
        };
        self.lexer.jump_behind(end);
        Ok(())
    }

    /// Skips a value of unknown grammar: up to the next comma outside of its brackets, or the end of the
    /// line.
    pub(crate) fn skip_value(&mut self) -> Parsed {
        let is_end = |token| {
            matches!(
                token,
                Token::Comma
                    | Token::End
                    | Token::RightBrace
                    | Token::RightParen
                    | Token::RightSquare
                    | Token::AttributeName
            )
        };
        if is_end(self.lexer.token) || self.is_at_next_instruction() {
            return self.fail("expects a value");
        }
        loop {
            self.skip_token("expects a value")?;
            let between = self.text.get(self.lexer.previous_end..self.lexer.start).unwrap_or_default();
            if is_end(self.lexer.token) || between.contains('\n') {
                return Ok(());
            }
        }
    }

    /// Skips a token, or everything from an opening bracket to its closing one.
    pub(crate) fn skip_token(&mut self, message: &str) -> Parsed {
        let mut open = Vec::new();
        loop {
            match self.lexer.token {
                Token::End | Token::Bad => return self.fail(message),
                _ if self.is_at_next_instruction() => return self.fail(message),
                // Braces may contain JSON, which need not consist of tokens.
                Token::LeftBrace => {
                    self.balanced()?;
                    if open.is_empty() {
                        return Ok(());
                    }
                    continue;
                }
                Token::LeftParen => open.push(Token::RightParen),
                Token::LeftSquare => open.push(Token::RightSquare),
                close @ (Token::RightParen | Token::RightSquare | Token::RightBrace)
                    if open.pop() != Some(close) =>
                {
                    return self.fail(message);
                }
                _ => {}
            }
            self.lexer.bump();
            if open.is_empty() {
                return Ok(());
            }
        }
    }

    /// `{k="v", k2={json}, "quoted.key"="v"}`
    pub(crate) fn frontend_attributes(&mut self) -> Parsed {
        self.expect(Token::LeftBrace, "expected '{' to start frontend attributes")?;
        if self.eat(Token::RightBrace) {
            return Ok(());
        }
        loop {
            match self.lexer.token {
                Token::AttributeName => self.lexer.bump(),
                _ => return self.fail("expects attribute name"),
            }
            self.string_or_json()?;
            if !self.eat(Token::Comma) {
                break;
            }
        }
        self.expect(Token::RightBrace, "expects '}' at the end of frontend attributes")
    }

    /// `{op_name="…" source_file="…" source_line=1 …}`; commas are tolerated.
    pub(crate) fn metadata(&mut self) -> Parsed {
        if self.at(Token::LeftBrace)
            && let Some(end) = printed_metadata(self.text, self.lexer.end())
        {
            self.lexer.jump_behind(end);
            return Ok(());
        }
        self.expect(Token::LeftBrace, "expects '{' to start metadata")?;
        while !self.at(Token::RightBrace) {
            if !self.at(Token::AttributeName) {
                return self.fail("expects a metadata field");
            }
            let name = self.lexer.text_of();
            match name {
                "op_type" | "op_name" | "source_file" | "deduplicated_name" | "scheduling_name" => {
                    self.lexer.bump();
                    self.string()?;
                }
                "source_line" | "source_end_line" | "source_column" | "source_end_column"
                | "stack_frame_id" => {
                    self.lexer.bump();
                    self.int()?;
                }
                "profile_type" => {
                    self.lexer.bump();
                    self.int_list()?;
                }
                "preserve_layout" => {
                    self.lexer.bump();
                    self.bool()?;
                }
                "metadata_payload" => {
                    self.lexer.bump();
                    self.string_or_json()?;
                }
                _ => return self.unknown_form(format!("unknown metadata field: {name}")),
            }
            self.eat(Token::Comma);
        }
        self.lexer.bump();
        Ok(())
    }

    /// `{visualizing_index=1,stat-1=33}`
    pub(crate) fn statistics(&mut self) -> Parsed {
        self.braced(|p| {
            if !p.at(Token::AttributeName) {
                return p.fail("expects a statistic's name");
            }
            p.lexer.bump();
            p.float()
        })
    }

    /// `{mode=highest}` or `{tolerance={atol=1.0, rtol=0.5, ulps=2}}`
    pub(crate) fn result_accuracy(&mut self) -> Parsed {
        self.expect(Token::LeftBrace, "expects '{' to start result accuracy")?;
        if !self.at(Token::AttributeName) {
            return self.fail("expects mode= or tolerance=");
        }
        match self.lexer.text_of() {
            "mode" => {
                self.lexer.bump();
                self.one_of(&["default", "highest"], true, "result accuracy mode")?;
            }
            "tolerance" => {
                self.lexer.bump();
                self.braced(|p| {
                    if !(p.at(Token::AttributeName) && matches!(p.lexer.text_of(), "atol" | "rtol" | "ulps"))
                    {
                        return p.fail("expects atol=, rtol= or ulps=");
                    }
                    p.lexer.bump();
                    p.float()
                })?;
            }
            name => return self.unknown_form(format!("unknown field of result_accuracy: {name}")),
        }
        self.expect(Token::RightBrace, "expects '}' at the end of result accuracy")
    }

    /// `{{"name" {0}}}`, `{({"a"}, {})}`, `{[synthetic_call]}`
    pub(crate) fn origin(&mut self) -> Parsed {
        self.expect(Token::LeftBrace, "expects '{' at the start of the origin")?;
        if self.eat(Token::LeftSquare) {
            if !self.eat_word("synthetic_call") {
                return self.fail("expects synthetic_call");
            }
            self.expect(Token::RightSquare, "expects ']' after synthetic_call")?;
        } else {
            self.origin_tree()?;
        }
        self.expect(Token::RightBrace, "expects '}' at the end of the origin")
    }

    fn origin_tree(&mut self) -> Parsed {
        if self.at(Token::LeftParen) {
            return self.nested(|p| {
                p.lexer.bump();
                if !p.at(Token::RightParen) {
                    loop {
                        p.origin_tree()?;
                        if !p.eat(Token::Comma) {
                            break;
                        }
                    }
                }
                p.expect(Token::RightParen, "expects ')' at the end of an origin tuple")
            });
        }
        self.expect(Token::LeftBrace, "expects '[synthetic_call]' or a tree of original arrays")?;
        if self.at(Token::String) {
            self.lexer.bump();
            if self.at(Token::LeftBrace) {
                self.int_list()?;
            }
        }
        self.expect(Token::RightBrace, "expects '}' at the end of an original array")
    }
}

/// Returns the end of metadata whose fields start at `at`, in the form that XLA prints. Metadata makes up
/// half of many dumps. Any other form is left to the grammar, which reports its errors.
fn printed_metadata(text: &str, mut at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    const STRINGS: [&[u8]; 3] = [b"op_name=", b"source_file=", b"op_type="];
    const NUMBERS: [&[u8]; 5] =
        [b"stack_frame_id=", b"source_line=", b"source_end_line=", b"source_column=", b"source_end_column="];
    loop {
        let rest = &bytes[at..];
        let starts = |key: &&[u8]| rest.starts_with(key);
        let end = if let Some(key) = STRINGS.iter().copied().find(|key| starts(key)) {
            let quote = at + key.len();
            if bytes.get(quote) != Some(&b'"') {
                return None;
            }
            string_end(text, quote).ok()?
        } else {
            let number = at + NUMBERS.iter().copied().find(|key| starts(key))?.len();
            let end = digits_end(bytes, number);
            if !(1..=18).contains(&(end - number)) {
                return None;
            }
            end
        };
        match bytes.get(end)? {
            b'}' => return Some(end + 1),
            b' ' => at = end + 1,
            _ => return None,
        }
    }
}
