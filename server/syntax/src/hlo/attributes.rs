//! The grammar of every attribute's value. The table in `ir` lists the attributes of each opcode.
//!
//! Source: XLA `hlo_parser.cc` ParseAttributeHelper and the functions it calls.

use super::lexer::Token;
use super::parser::{Parsed, Parser, Reported, few_digits};
use super::tree::{Computation, ComputationKind, InstructionId, ValueNode};
use super::vocabulary::{AttributeKey, Opcode};
use crate::Span;

impl Parser<'_> {
    pub(crate) fn attribute_value(&mut self, key: AttributeKey, opcode: Option<Opcode>) -> Parsed<ValueNode> {
        use AttributeKey::*;
        match key {
            ConstrainLayout
            | UseGlobalDeviceIds
            | HasDynamicRoot
            | IsComposite
            | Lower
            | LeftSide
            | UnitDiagonal
            | IsHostTransfer
            | IsReverse
            | IsAssociative
            | IndicesAreSorted
            | UniqueIndices
            | CustomCallHasSideEffect
            | IsStable
            | Largest => self.bool().map(ValueNode::Bool),
            ChannelId
            | FeatureGroupCount
            | BatchGroupCount
            | Index
            | IndexVectorDim
            | IotaDimension
            | InferredDimension
            | Delta
            | ExponentBits
            | MantissaBits
            | FeatureIndex
            | K
            | NumCarries
            | CrossProgramPrefetchIndex => self.int().map(ValueNode::Int),
            Epsilon => self.float().map(|()| ValueNode::Text),
            Dimensions
            | FftLength
            | OffsetDims
            | CollapsedSliceDims
            | StartIndexMap
            | UpdateWindowDims
            | InsertedWindowDims
            | ScatterDimsToOperandDims
            | LhsContractingDims
            | RhsContractingDims
            | LhsBatchDims
            | RhsBatchDims
            | LhsRaggedDims
            | RhsGroupDims
            | DynamicSliceSizes
            | OperandBatchingDims
            | StartIndicesBatchingDims
            | InputBatchingDims
            | ScatterIndicesBatchingDims
            | Shifts => self.int_list(),
            SliceSizes => match opcode {
                Some(Opcode::CollectivePermute | Opcode::CollectivePermuteStart) => {
                    self.braced(|p| p.int_list().map(|_| ())).map(|()| ValueNode::Text)
                }
                _ => self.int_list(),
            },
            ToApply | Calls | Condition | Body | Select | Scatter | TrueComputation | FalseComputation => {
                self.computation_value()
            }
            BranchComputations | CalledComputations => self.computation_list(),
            Slice => self.slice_ranges(),
            Window => self.window(),
            Padding => self.padding(),
            DimLabels => self.dim_labels(),
            CustomCallTarget | InfeedConfig | OutfeedConfig | AsyncExecutionThread => {
                self.string().map(ValueNode::String)
            }
            BackendConfig => self.string_or_json(),
            Kind => self.one_of(&["kLoop", "kInput", "kOutput", "kCustom"], false, "fusion kind"),
            Direction => self.one_of(&["EQ", "NE", "GE", "GT", "LE", "LT"], false, "comparison direction"),
            Order => self.one_of(&["TOTAL", "PARTIAL"], false, "comparison order"),
            Type => self.one_of(&["FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"], false, "comparison type"),
            FftType => self.one_of(&["FFT", "IFFT", "RFFT", "IRFFT"], false, "fft type"),
            Distribution => self.one_of(&["rng_uniform", "rng_normal"], true, "random distribution"),
            TransposeA => self.one_of(&["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"], false, "transpose value"),
            PaddingType => self.one_of(&["PADDING_VALID", "PADDING_SAME"], false, "padding type"),
            ConvolutionKind => self.one_of(&["fprop", "wgrad", "dgrad", "unset"], false, "convolution kind"),
            Schedule => self.one_of(
                &["SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"],
                true,
                "custom-call schedule",
            ),
            ApiVersion => self.one_of(
                &[
                    "API_VERSION_ORIGINAL",
                    "API_VERSION_STATUS_RETURNING",
                    "API_VERSION_STATUS_RETURNING_UNIFIED",
                    "API_VERSION_TYPED_FFI",
                ],
                true,
                "custom-call API version",
            ),
            Mode if opcode == Some(Opcode::Shuffle) => self.one_of(&["rotate"], false, "shuffle mode"),
            Mode => self.one_of(
                &["cross_replica", "cross_partition", "cross_replica_and_partition", "flattened_id"],
                false,
                "collective mode",
            ),
            Algorithm => match opcode {
                Some(Opcode::RngBitGenerator) => {
                    self.one_of(&["rng_default", "rng_three_fry", "rng_philox"], true, "algorithm")
                }
                _ => self.one_of(DOT_ALGORITHMS, true, "dot algorithm"),
            },
            OperandPrecision => self
                .braced(|p| {
                    p.one_of(&["default", "high", "highest", "packed_nibble"], true, "precision").map(|_| ())
                })
                .map(|()| ValueNode::Text),
            Sharding => self.sharding().map(|()| ValueNode::Text),
            ReplicaGroups => self.replica_groups().map(|()| ValueNode::Text),
            SourceTargetPairs => self.pairs().map(|()| ValueNode::Text),
            ParameterReplication => self.braced(|p| p.bool().map(|_| ())).map(|()| ValueNode::Text),
            FrontendAttributes => self.frontend_attributes().map(|()| ValueNode::Text),
            Metadata => self.metadata().map(|()| ValueNode::Text),
            Statistics => self.statistics().map(|()| ValueNode::Text),
            ResultAccuracy => self.result_accuracy().map(|()| ValueNode::Text),
            Origin => self.origin().map(|()| ValueNode::Text),
            ControlPredecessors => self.name_list(),
            OutputToOperandAliasing => self.aliasing().map(|()| ValueNode::Text),
            OperandLayoutConstraints => self.braced(|p| p.shape().map(|_| ())).map(|()| ValueNode::Text),
            OutfeedShape => self.shape().map(ValueNode::Shape),
            Literal => self.shaped_literal().map(|()| ValueNode::Text),
            Domain => self.domain().map(|()| ValueNode::Text),
            SparsityConfig => self.sparsity_config().map(|()| ValueNode::Text),
            BlockScalingConfig => self.balanced().map(|()| ValueNode::Text),
        }
    }

    // ---- lists and words ----

    /// `{ item, item }`
    pub(crate) fn braced(&mut self, mut item: impl FnMut(&mut Self) -> Parsed) -> Parsed {
        self.expect(Token::LeftBrace, "expects a list starting with '{'")?;
        if !self.at(Token::RightBrace) {
            loop {
                item(self)?;
                if !self.eat(Token::Comma) {
                    break;
                }
            }
        }
        self.expect(Token::RightBrace, "expects a list to end with '}'")
    }

    pub(crate) fn int_list(&mut self) -> Parsed<ValueNode> {
        let start = self.out.ints.len();
        if let Some(end) = self.printed_ints() {
            self.lexer.jump_behind(end);
            return Ok(ValueNode::Ints { start: start as u32, len: (self.out.ints.len() - start) as u32 });
        }
        self.out.ints.truncate(start);
        self.braced(|p| {
            let value = p.int()?;
            p.out.ints.push(value);
            Ok(())
        })?;
        Ok(ValueNode::Ints { start: start as u32, len: (self.out.ints.len() - start) as u32 })
    }

    /// Parses `{1,2}` in the form that XLA prints, and returns its end. Any other form is left to the
    /// grammar.
    fn printed_ints(&mut self) -> Option<usize> {
        let bytes = self.text.as_bytes();
        if !self.at(Token::LeftBrace) {
            return None;
        }
        let mut at = self.lexer.end();
        loop {
            let end = super::numbers::digits_end(bytes, at);
            self.out.ints.push(few_digits(&bytes[at..end])?);
            at = end + 1;
            match bytes.get(end)? {
                b',' => {}
                b'}' => return Some(at),
                _ => return None,
            }
        }
    }

    pub(crate) fn name_list(&mut self) -> Parsed<ValueNode> {
        let mut names = Vec::new();
        self.braced(|p| {
            names.push(p.name()?);
            Ok(())
        })?;
        let start = self.out.spans.len() as u32;
        self.out.spans.extend(&names);
        Ok(ValueNode::Names { start, len: names.len() as u32 })
    }

    pub(crate) fn one_of(&mut self, words: &[&str], any_case: bool, what: &str) -> Parsed<ValueNode> {
        if !self.at(Token::Ident) {
            return self.fail(format!("expects {what}"));
        }
        let word = self.lexer.text_of();
        let span = self.lexer.span;
        if !words.iter().any(|w| *w == word || (any_case && w.eq_ignore_ascii_case(word))) {
            self.unknown_at(span, format!("unknown {what}: {word}; known: {}", words.join(", ")));
        }
        self.lexer.bump();
        Ok(ValueNode::Name(span))
    }

    pub(crate) fn float(&mut self) -> Parsed {
        if matches!(self.lexer.token, Token::Int | Token::Decimal) {
            self.lexer.bump();
            return Ok(());
        }
        self.fail("expects decimal or integer")
    }

    // ---- computations ----

    fn computation_value(&mut self) -> Parsed<ValueNode> {
        if self.at(Token::LeftBrace) {
            return self.inline_body().map(ValueNode::Inline);
        }
        self.name().map(ValueNode::Computation)
    }

    fn computation_list(&mut self) -> Parsed<ValueNode> {
        let mut names = Vec::new();
        self.braced(|p| {
            if p.at(Token::LeftBrace) {
                p.inline_body()?;
                names.push(Span::new(p.lexer.previous_end, p.lexer.previous_end));
            } else {
                names.push(p.name()?);
            }
            Ok(())
        })?;
        let start = self.out.spans.len() as u32;
        self.out.spans.extend(&names);
        Ok(ValueNode::Computations { start, len: names.len() as u32 })
    }

    /// Queues the body, which is parsed after the computation that contains it.
    fn inline_body(&mut self) -> Parsed<u32> {
        let start = self.lexer.start;
        // Each level scans the text of all levels nested in it once more.
        if self.inline_depth >= crate::MAX_DEPTH {
            return self.fail(format!("inline computations nested deeper than {} levels", crate::MAX_DEPTH));
        }
        let Some(end) = self.lexer.balanced_braces() else {
            return self.fail("the computation is not closed");
        };
        let bodies_deep = self.inline_bodies.len();
        if bodies_deep > 10_000 {
            return self.fail("too many inline computations in one computation");
        }
        let id = self.out.computations.len() as u32;
        let span = Span::new(start, end);
        self.out.computations.push(Computation {
            name: Span::new(start, start),
            kind: ComputationKind::Inline(InstructionId::MAX),
            is_entry: false,
            parameters: None,
            result: None,
            instructions: 0..0,
            span,
            is_closed: true,
            execution_thread: Span::default(),
        });
        self.inline_bodies.push_back((id, span, self.inline_depth + 1));
        self.lexer.jump_behind(end);
        Ok(id)
    }

    // ---- pairs, domains, aliasing ----

    pub(crate) fn pairs(&mut self) -> Parsed {
        let from = self.lexer.start;
        self.braced(|p| {
            let ValueNode::Ints { len, .. } = p.int_list()? else { return Ok(()) };
            if len != 2 {
                p.error_at(Span::new(from, p.lexer.previous_end), "expects a list of pairs");
                return Err(Reported);
            }
            Ok(())
        })
    }

    /// `{kind="sharding", entry={…}, exit={…}}`
    fn domain(&mut self) -> Parsed {
        self.expect(Token::LeftBrace, "expects '{' to start sub attributes")?;
        for name in ["kind", "entry", "exit"] {
            if !(self.at(Token::AttributeName) && self.lexer.text_of() == name) {
                return self.fail(format!("expects {name}= in a domain"));
            }
            self.lexer.bump();
            match name {
                "kind" => drop(self.string()?),
                _ => self.sharding()?,
            }
            if name != "exit" {
                self.expect(Token::Comma, "expects ',' in a domain")?;
            }
        }
        self.expect(Token::RightBrace, "expects '}' to end sub attributes")
    }

    /// `{lhs={sparsity=1x4 dimension=1 stride=1} rhs={…}}`
    fn sparsity_config(&mut self) -> Parsed {
        self.fields(&["lhs", "rhs"], |p, _| {
            p.fields(&["sparsity", "dimension", "stride", "idx"], |p, name| match name {
                "sparsity" => p.dxd().map(|_| ()),
                _ => p.int().map(|_| ()),
            })
        })
    }

    /// `{key=value key=value}` with any of `keys`; commas are tolerated.
    fn fields(&mut self, keys: &[&str], mut value: impl FnMut(&mut Self, &str) -> Parsed) -> Parsed {
        self.expect(Token::LeftBrace, "expects '{'")?;
        while !self.at(Token::RightBrace) {
            let name = self.lexer.text_of();
            if !self.at(Token::AttributeName) {
                return self.fail(format!("expects one of {}", keys.join("=, ") + "="));
            }
            if !keys.contains(&name) {
                return self.unknown_form(format!("unknown field: {name}; known: {}", keys.join(", ")));
            }
            self.lexer.bump();
            value(self, name)?;
            self.eat(Token::Comma);
        }
        self.lexer.bump();
        Ok(())
    }

    /// `{ {out}: (operand, {index}), … }`
    pub(crate) fn aliasing(&mut self) -> Parsed {
        self.expect(Token::LeftBrace, "expects '{' at the start of aliasing description")?;
        while !self.at(Token::RightBrace) {
            self.int_list()?;
            self.expect(Token::Colon, "expected format: <output index>: (<operand>, <operand index>)")?;
            self.expect(Token::LeftParen, "expects '('")?;
            self.int()?;
            if self.eat(Token::Comma) {
                self.int_list()?;
                if self.eat(Token::Comma) {
                    self.one_of(&["may-alias", "must-alias"], false, "kind of alias")?;
                }
            }
            self.expect(Token::RightParen, "expects ')' at the end of an aliasing entry")?;
            if !self.eat(Token::Comma) {
                break;
            }
        }
        self.expect(Token::RightBrace, "expects '}' at the end of aliasing description")
    }
}

const DOT_ALGORITHMS: &[&str] = &[
    "unset",
    "dot_any_f8_any_f8_f32",
    "dot_any_f8_any_f8_f32_fast_accum",
    "dot_any_f8_any_f8_any",
    "dot_any_f8_any_f8_any_fast_accum",
    "dot_f16_f16_f16",
    "dot_f16_f16_f32",
    "dot_bf16_bf16_bf16",
    "dot_bf16_bf16_f32",
    "dot_bf16_bf16_f32_x3",
    "dot_bf16_bf16_f32_x6",
    "dot_bf16_bf16_f32_x9",
    "dot_tf32_tf32_f32",
    "dot_tf32_tf32_f32_x3",
    "dot_f32_f32_f32",
    "dot_f64_f64_f64",
];
