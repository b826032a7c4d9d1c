//! `HloModule name, key=value, …`, and the tables `FileNames`, `FunctionNames`, `FileLocations`, `StackFrames`.

use super::lexer::{Token, is_ident_byte};
use super::parser::{Parsed, Parser};
use super::protobuf::protobuf_start;
use super::tree::ModuleHeader;
use crate::Span;

impl Parser<'_> {
    /// Parses the start of a file. A text without `HloModule` is either bare computations or one instruction.
    pub(crate) fn module_start(&mut self) {
        if self.at_word("HloModule") {
            let start = self.lexer.start;
            let mut header = ModuleHeader { span: Span::new(start, start), ..ModuleHeader::default() };
            let result = self.module_header(&mut header);
            header.span.end = self.lexer.previous_end as u32;
            self.out.header = Some(header);
            if result.is_err() {
                self.skip_header();
            }
            return;
        }
        if self.at(Token::End) {
            return;
        }
        if let Some(start) = protobuf_start(self.text) {
            return self.protobuf(start);
        }
        let mut look = self.lexer;
        look.bump();
        let is_module = self.at_word("ENTRY") || look.token == Token::LeftBrace;
        // XLA parses anything else as one instruction; a header with parameters deserves a better message.
        if !is_module && look.token == Token::LeftParen && self.starts_name() {
            self.error_at(
                self.lexer.full_span(),
                "a text without HloModule starts with ENTRY or with a computation without parameter list",
            );
        } else if !is_module {
            self.bare_instruction();
        }
    }

    /// Skips to the first computation.
    fn skip_header(&mut self) {
        let text = self.text;
        self.skip_lines(0, |at| super::line_forms::looks_like_computation(text, at));
    }

    fn module_header(&mut self, header: &mut ModuleHeader) -> Parsed {
        self.lexer.bump();
        header.name = self.name()?;
        while self.eat(Token::Comma) {
            if !self.at(Token::AttributeName) {
                return self.fail("expects attribute name");
            }
            let key = self.lexer.span;
            self.lexer.bump();
            let from = self.lexer.start;
            self.module_attribute(header, key)?;
            header.attributes.push((key, Span::new(from, self.lexer.previous_end)));
        }
        self.tables(header)
    }

    fn module_attribute(&mut self, header: &mut ModuleHeader, key: Span) -> Parsed {
        match key.of(self.text) {
            "is_scheduled" => header.is_scheduled = self.bool()?,
            "alias_passthrough_params" => drop(self.bool()?),
            "replica_count" => header.replica_count = Some(self.int()?),
            "num_partitions" => header.num_partitions = Some(self.int()?),
            "input_output_alias" => self.aliasing()?,
            "buffer_donor" => self.buffer_donor()?,
            "entry_computation_layout" => self.entry_layout(header)?,
            "frontend_attributes" => self.frontend_attributes()?,
            "allow_spmd_sharding_propagation_to_parameters" | "allow_spmd_sharding_propagation_to_output" => {
                if self.at(Token::LeftBrace) {
                    self.braced(|p| p.bool().map(|_| ()))?;
                } else {
                    self.bool()?;
                }
            }
            "origin_recovery_table" => self.recovery_table()?,
            "debug_attributes" => self.debug_attributes()?,
            name => {
                self.unknown_at(key, format!("unknown module attribute: {name}"));
                self.skip_value()?;
            }
        }
        Ok(())
    }

    /// Skips a dictionary whose strings contain modules of several lines.
    fn recovery_table(&mut self) -> Parsed {
        if !self.at(Token::LeftBrace) {
            return self.fail("expects '{'");
        }
        let mut depth = 0usize;
        let mut in_string = false;
        for (at, byte) in self.text.bytes().enumerate().skip(self.lexer.start) {
            match byte {
                b'"' => in_string = !in_string,
                b'{' if !in_string => depth += 1,
                b'}' if !in_string => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.lexer.jump_behind(at + 1);
                return Ok(());
            }
        }
        self.fail("'{' without its '}'")
    }

    /// `{ {"name"}:({log_mode=default,callback_id=123,partitioned=true}) }`
    fn debug_attributes(&mut self) -> Parsed {
        let start = self.lexer.start;
        self.balanced()?;
        let text = &self.text[start..self.lexer.previous_end];
        const KEY: &str = "log_mode=";
        for (at, _) in text.match_indices(KEY) {
            let mode = &text[at + KEY.len()..];
            let mode = &mode[..mode.find(|c: char| !is_ident_byte(c as u8)).unwrap_or(mode.len())];
            if !matches!(mode, "default" | "fusion_debugger") {
                let from = start + at + KEY.len();
                let message = format!("unknown log mode: {mode}; known: default, fusion_debugger");
                self.error_at(Span::new(from, from + mode.len()), message);
            }
        }
        Ok(())
    }

    /// `{ (0, {0}), (1, {}) }`
    fn buffer_donor(&mut self) -> Parsed {
        self.braced(|p| {
            p.expect(Token::LeftParen, "expects '('")?;
            p.int()?;
            p.expect(Token::Comma, "expects ',' after the parameter number")?;
            p.braced(|p| p.int().map(|_| ()))?;
            p.expect(Token::RightParen, "expects ')'")
        })
    }

    /// `{(param, …)->result}`
    fn entry_layout(&mut self, header: &mut ModuleHeader) -> Parsed {
        self.expect(Token::LeftBrace, "expects '{' at the start of computation layouts")?;
        self.expect(Token::LeftParen, "expects '(' before the parameter shapes")?;
        let mut parameters = Vec::new();
        if !self.at(Token::RightParen) {
            loop {
                parameters.push(self.shape()?);
                if !self.eat(Token::Comma) {
                    break;
                }
            }
        }
        self.expect(Token::RightParen, "expects ',' or ')' after a parameter shape")?;
        self.expect(Token::Arrow, "expects '->' before the result shape")?;
        let result = self.shape()?;
        header.entry_layout = Some((parameters, result));
        self.expect(Token::RightBrace, "expects '}' at the end of computation layouts")
    }

    /// Parses all four tables, in this order, or none.
    fn tables(&mut self, header: &mut ModuleHeader) -> Parsed {
        if !self.eat_word("FileNames") {
            return Ok(());
        }
        while let Some(row) = self.named_row()? {
            header.file_names.push(row);
        }
        self.table("FunctionNames")?;
        while let Some(row) = self.named_row()? {
            header.function_names.push(row);
        }
        self.table("FileLocations")?;
        while let Some((index, f)) = self.row(&["file_name_id", "function_name_id", "line"])? {
            header.file_locations.push([index, f[0], f[1], f[2]]);
        }
        self.table("StackFrames")?;
        while let Some((index, f)) = self.row(&["file_location_id", "parent_frame_id"])? {
            header.stack_frames.push([index, f[0], f[1]]);
        }
        Ok(())
    }

    fn table(&mut self, name: &str) -> Parsed {
        if self.eat_word(name) { Ok(()) } else { self.fail(format!("expects '{name}'")) }
    }

    /// `1 "text"`
    fn named_row(&mut self) -> Parsed<Option<(u32, Span)>> {
        if !self.at(Token::Int) {
            return Ok(None);
        }
        let index = self.int()? as u32;
        Ok(Some((index, self.string()?)))
    }

    /// `1 {key=1 key=2 …}`: returns the values of the given keys, 0 for missing ones.
    fn row(&mut self, keys: &[&str]) -> Parsed<Option<(u32, [u32; 3])>> {
        if !self.at(Token::Int) {
            return Ok(None);
        }
        let index = self.int()? as u32;
        let mut values = [0; 3];
        self.expect(Token::LeftBrace, "expects '{' after the row's index")?;
        while self.at(Token::AttributeName) {
            let slot = keys.iter().position(|&k| k == self.lexer.text_of());
            self.lexer.bump();
            let value = self.int()? as u32;
            if let Some(slot) = slot {
                values[slot] = value;
            }
            self.eat(Token::Comma);
        }
        self.expect(Token::RightBrace, "expects '}' at the end of the row")?;
        Ok(Some((index, values)))
    }
}
