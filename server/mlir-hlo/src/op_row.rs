//! What a row of the op table says.

use ir::{AttributeKey, Opcode};

/// An op of StableHLO or MHLO, and the instruction of HLO that does the same.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpRow {
    /// Without its dialect.
    pub name: &'static str,
    pub opcode: Opcode,
    pub dialect: Dialect,
    pub how: How,
    pub pretty: Pretty,
    pub attributes: &'static [AttributeRow],
    /// The attributes of HLO that name a computation where the op has a region, in the order of the regions.
    pub regions: &'static [AttributeKey],
}

/// The dialect in which the op is written. Ops of the first are read in the second, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Stablehlo,
    Mhlo,
}

/// How the op and the instruction are converted into each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// Operand by operand, attribute by attribute, region by region.
    Row,
    /// The same, and several results are several arrays: HLO has a tuple where there is more than one.
    /// The op is read, and another one is written for its opcode.
    ReadOnly,
    Special(Special),
}

/// Ops and instructions that do not go by rows alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Special {
    AllToAll,
    AsyncDone,
    AsyncStart,
    Broadcast,
    BroadcastInDim,
    Call,
    Case,
    Composite,
    Constant,
    CreateToken,
    CrossReplicaSum,
    CustomCall,
    Dot,
    /// Shapes are operands: the static op where they are known.
    Dynamic(Dynamic),
    /// A dot whose dimensions a string names.
    Einsum,
    GetTupleElement,
    If,
    Infeed,
    OptimizationBarrier,
    Outfeed,
    Recv,
    Reduce,
    Scan,
    Send,
    TorchIndexSelect,
    Tuple,
    While,
}

/// Ops with shapes or places as operands, by the instruction that has them as attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dynamic {
    Broadcast,
    Convolution,
    Gather,
    Iota,
    Pad,
    Reshape,
    Slice,
}

/// How an op is printed. Each is read in the generic form, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pretty {
    /// `"stablehlo.sort"(%a) <{…}> ({…}) : (A) -> B`
    No,
    /// `stablehlo.add %a, %b : T`, or `: (A, B) -> C` where the types differ.
    Same,
    /// `stablehlo.transpose %a, dims = [1, 0] : (A) -> B`
    Functional,
    /// `stablehlo.compare LT, %a, %b, FLOAT : (A, B) -> C`
    Compare,
    /// `stablehlo.select %p, %a, %b : P, T`
    Select,
    /// `stablehlo.slice %a [0:4:2] : (A) -> B`
    Slice,
    /// `stablehlo.iota dim = 0 : T`
    Iota,
    /// `stablehlo.constant dense<0> : T`
    Constant,
    /// `stablehlo.reduce_precision %a, format = e5m10 : T`
    ReducePrecision,
}

/// An attribute in both languages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AttributeRow {
    /// In the generic form.
    pub name: &'static str,
    /// The clause of the custom form; empty where there is none.
    pub clause: &'static str,
    pub key: AttributeKey,
    pub form: Form,
    pub need: Need,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// Both languages have it always.
    Always,
    /// Omitted where it says nothing.
    Sometimes,
    /// MLIR has it always, HLO where it is not this.
    Unless(i64),
    /// HLO has it always, MLIR where it says something else than no.
    HloAlways,
}

/// How the value of an attribute is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `array<i64: 1, 0>`, `{1,0}`
    Ints,
    /// `1 : i64`, `{1}`
    OneInt,
    /// `1 : i64`, `1`
    Int,
    /// `true`, `true`
    Bool,
    /// A unit attribute, `true`
    Flag,
    /// `1.0e-3 : f32`, `0.001`
    Float,
    /// `#stablehlo<comparison_direction LT>`, `LT`: the name of the enumeration.
    Word(&'static str),
    /// `#stablehlo<rng_algorithm THREE_FRY>`, `rng_three_fry`: the name of the enumeration, and what HLO has in front.
    LowerWord(&'static str, &'static str),
    /// A string, a string.
    Text,
    /// `[2:8:2]`, three lists; `{[2:8:2]}`
    Slice,
    /// Three lists; `1_0_0x0_2_0`
    Padding,
    /// Lists and strides of a window, `{size=2x2 …}`
    Window,
    /// The same of a convolution, whose window has the sizes of its kernel.
    ConvolutionWindow,
    /// `[b, 0, f]x[0, i, o]->[b, 0, f]`, `b0f_0io->b0f`
    ConvolutionNumbers,
    /// `#stablehlo.dot<…>`, four lists
    DotNumbers,
    /// `#stablehlo.gather<…>`, five lists and a number
    GatherNumbers,
    /// `#stablehlo.scatter<…>`, the same
    ScatterNumbers,
    /// `#mhlo.ragged_dot<…>`, six lists
    RaggedNumbers,
    /// `[#stablehlo<precision HIGH>, …]`, `{high,default}`
    Precision,
    /// `#stablehlo.dot_algorithm<…>`, `dot_bf16_bf16_f32_x3`
    DotAlgorithm,
    /// `dense<[[0, 1]]> : tensor<1x2xi64>`, `{{0,1}}`
    Groups,
    /// `dense<[[0, 1]]> : tensor<1x2xi64>`, `{{0,1}}`: pairs
    Pairs,
    /// `#stablehlo.channel_handle<handle = 1, type = 0>`, `1`
    Channel,
    /// `#stablehlo.result_accuracy<…>`, `{mode=highest}`
    Accuracy,
    /// Shardings in three attributes; `{kind="sharding", entry={replicated}, exit={manual}}`.
    Domain,
    /// `exponent_bits` and `mantissa_bits`, or `e5m10`: the first of the two keys of HLO.
    Float2,
}

impl OpRow {
    /// With its dialect.
    pub fn full_name(&self) -> String {
        format!("{}.{}", self.dialect.name(), self.name)
    }
}

impl Dialect {
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Stablehlo => "stablehlo",
            Dialect::Mhlo => "mhlo",
        }
    }
}

impl Need {
    /// The value that HLO omits.
    pub fn usual(self) -> Option<i64> {
        match self {
            Need::Unless(usual) => Some(usual),
            Need::Always | Need::Sometimes | Need::HloAlways => None,
        }
    }
}

impl AttributeRow {
    /// The names under which MLIR may have it, the generic one first.
    pub fn names(&self) -> [&'static str; 2] {
        [self.name, if self.clause.is_empty() { self.name } else { self.clause }]
    }
}
