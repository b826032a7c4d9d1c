//! The grammar of every attribute's value. Which opcode takes which attribute is `ir`'s table.
//!
//! Source: XLA `hlo_parser.cc` ParseAttributeHelper and the functions it calls.

use super::lexer::Token;
use super::parser::{Parsed, Parser, Reported};
use super::tree::{Computation, ComputationKind, InstructionId, Value};
use super::vocabulary::{AttributeKey, Opcode};
use crate::Span;

impl Parser<'_> {
    pub(crate) fn attribute_value(&mut self, key: AttributeKey, opcode: Option<Opcode>) -> Parsed<Value> {
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
            | Largest => self.bool().map(Value::Bool),
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
            | CrossProgramPrefetchIndex => self.int().map(Value::Int),
            Epsilon => self.float().map(|()| Value::Text),
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
            | ScatterIndicesBatchingDims => self.int_list(),
            SliceSizes => match opcode {
                Some(Opcode::CollectivePermute | Opcode::CollectivePermuteStart) => {
                    self.braced(|p| p.int_list().map(|_| ())).map(|()| Value::Text)
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
                self.string().map(Value::String)
            }
            BackendConfig => self.string_or_json(),
            Kind => self.one_of(&["kLoop", "kInput", "kOutput", "kCustom"], false, "fusion kind"),
            Direction => self.one_of(&["EQ", "NE", "GE", "GT", "LE", "LT"], false, "comparison direction"),
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
                .map(|()| Value::Text),
            Sharding => self.sharding().map(|()| Value::Text),
            ReplicaGroups => self.replica_groups().map(|()| Value::Text),
            SourceTargetPairs => self.pairs().map(|()| Value::Text),
            ParameterReplication => self.braced(|p| p.bool().map(|_| ())).map(|()| Value::Text),
            FrontendAttributes => self.frontend_attributes().map(|()| Value::Text),
            Metadata => self.metadata().map(|()| Value::Text),
            Statistics => self.statistics().map(|()| Value::Text),
            ResultAccuracy => self.result_accuracy().map(|()| Value::Text),
            Origin => self.origin().map(|()| Value::Text),
            ControlPredecessors => self.name_list(),
            OutputToOperandAliasing => self.aliasing().map(|()| Value::Text),
            OperandLayoutConstraints => self.braced(|p| p.shape().map(|_| ())).map(|()| Value::Text),
            OutfeedShape => self.shape().map(Value::Shape),
            Literal => self.shaped_literal().map(|()| Value::Text),
            Domain => self.domain().map(|()| Value::Text),
            SparsityConfig => self.sparsity_config().map(|()| Value::Text),
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

    fn int_list(&mut self) -> Parsed<Value> {
        let start = self.out.ints.len();
        self.braced(|p| {
            let value = p.int()?;
            p.out.ints.push(value);
            Ok(())
        })?;
        Ok(Value::Ints { start: start as u32, len: (self.out.ints.len() - start) as u32 })
    }

    fn name_list(&mut self) -> Parsed<Value> {
        let mut names = Vec::new();
        self.braced(|p| {
            names.push(p.name()?);
            Ok(())
        })?;
        let start = self.out.spans.len() as u32;
        self.out.spans.extend(&names);
        Ok(Value::Names { start, len: names.len() as u32 })
    }

    fn one_of(&mut self, words: &[&str], any_case: bool, what: &str) -> Parsed<Value> {
        if !self.at(Token::Ident) {
            return self.fail(format!("expects {what}"));
        }
        let word = self.lexer.text_of();
        let known = |w: &&str| *w == word || (any_case && w.eq_ignore_ascii_case(word));
        if !words.iter().any(|w| known(&w)) {
            return self.fail(format!("unknown {what}: {word}; known: {}", words.join(", ")));
        }
        let span = self.lexer.span;
        self.lexer.bump();
        Ok(Value::Name(span))
    }

    fn float(&mut self) -> Parsed {
        if matches!(self.lexer.token, Token::Int | Token::Decimal) {
            self.lexer.bump();
            return Ok(());
        }
        self.fail("expects decimal or integer")
    }

    // ---- computations ----

    fn computation_value(&mut self) -> Parsed<Value> {
        if self.at(Token::LeftBrace) {
            return self.inline_body().map(Value::Inline);
        }
        self.name().map(Value::Computation)
    }

    fn computation_list(&mut self) -> Parsed<Value> {
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
        Ok(Value::Computations { start, len: names.len() as u32 })
    }

    /// Sets the body aside; it is parsed behind the computation that holds it.
    fn inline_body(&mut self) -> Parsed<u32> {
        let start = self.lexer.start;
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
        });
        self.inline_bodies.push_back((id, span));
        self.lexer.jump_behind(end);
        Ok(id)
    }

    // ---- structured values ----

    /// `{[0:4:2], [1:3]}`; the stride defaults to 1.
    fn slice_ranges(&mut self) -> Parsed<Value> {
        let start = self.out.ints.len();
        self.braced(|p| {
            p.expect(Token::LeftSquare, "expects '[' in front of a range")?;
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
        Ok(Value::Triples { start: start as u32, len: (self.out.ints.len() - start) as u32 })
    }

    /// `0_1x2_3_1`: low, high, interior per dimension.
    fn padding(&mut self) -> Parsed<Value> {
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
        Ok(Value::Triples { start: start as u32, len: (self.out.ints.len() - start) as u32 })
    }

    fn dim_labels(&mut self) -> Parsed<Value> {
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
        Ok(Value::DimLabels(span))
    }

    /// `{size=3x3 stride=2x2 pad=1_1x1_1 lhs_dilate=1x1 rhs_dilate=1x1 rhs_reversal=0x0}`
    fn window(&mut self) -> Parsed<Value> {
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
                _ => return self.fail(format!("unexpected attribute name in window: {name}")),
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
        Ok(Value::Window { start, len: 7 * rank as u32 })
    }

    fn dxd(&mut self) -> Parsed<Vec<i64>> {
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

    pub(crate) fn pairs(&mut self) -> Parsed {
        let from = self.lexer.start;
        self.braced(|p| {
            let Value::Ints { len, .. } = p.int_list()? else { return Ok(()) };
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
            if !(self.at(Token::AttributeName) && keys.contains(&name)) {
                return self.fail(format!("expects one of {}", keys.join("=, ") + "="));
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
                    if !(self.at_word("may-alias") || self.at_word("must-alias")) {
                        return self.fail("expects may-alias or must-alias");
                    }
                    self.lexer.bump();
                }
            }
            self.expect(Token::RightParen, "expects ')' at the end of an aliasing entry")?;
            if !self.eat(Token::Comma) {
                break;
            }
        }
        self.expect(Token::RightBrace, "expects '}' at the end of aliasing description")
    }

    // ---- free-form values ----

    fn string_or_json(&mut self) -> Parsed<Value> {
        if self.at(Token::LeftBrace) {
            self.balanced()?;
            return Ok(Value::Text);
        }
        self.string().map(Value::String)
    }

    /// A balanced dictionary, kept as text.
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

    /// The value of an attribute that nobody knows.
    pub(crate) fn skip_value(&mut self) -> Parsed {
        match self.lexer.token {
            Token::LeftBrace => self.balanced(),
            Token::LeftParen => self.shape().map(|_| ()),
            Token::Comma | Token::End | Token::RightBrace => self.fail("expects a value"),
            _ => {
                self.lexer.bump();
                Ok(())
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
                _ => return self.fail(format!("unexpected metadata field \"{name}\"")),
            }
            self.eat(Token::Comma);
        }
        self.lexer.bump();
        Ok(())
    }

    /// `{visualizing_index=1,stat-1=33}`
    fn statistics(&mut self) -> Parsed {
        self.braced(|p| {
            if !p.at(Token::AttributeName) {
                return p.fail("expects a statistic's name");
            }
            p.lexer.bump();
            p.float()
        })
    }

    /// `{mode=highest}` or `{tolerance={atol=1.0, rtol=0.5, ulps=2}}`
    fn result_accuracy(&mut self) -> Parsed {
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
            _ => return self.fail("expects mode= or tolerance="),
        }
        self.expect(Token::RightBrace, "expects '}' at the end of result accuracy")
    }

    /// `{{"name" {0}}}`, `{({"a"}, {})}`, `{[synthetic_call]}`
    fn origin(&mut self) -> Parsed {
        self.expect(Token::LeftBrace, "expects '{' at the start of the origin")?;
        if self.eat(Token::LeftSquare) {
            if !self.eat_word("synthetic_call") {
                return self.fail("expects synthetic_call");
            }
            self.expect(Token::RightSquare, "expects ']' behind synthetic_call")?;
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

/// Characters are unique on each side but for `?`; spatial digits are 0..n, the same n on all three sides.
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
