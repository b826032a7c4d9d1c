//! Why an op has no map.

use std::fmt;

use mlir::{EinsumError, NoArrayType};

use crate::affine_expr::NoAffineText;

/// Its `Display` is what users read. Parts of an op are noun phrases: `its position`, `the slice`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoMap {
    /// A part of the op is missing or has an unknown form.
    NotRead(&'static str),
    /// The same of a list, by its name.
    ListNotRead(&'static str),
    /// The op has none of this part: `operand`, `output`.
    Without(&'static str),
    /// The op has no operand of this number.
    NoOperand(usize),
    MapText(NoAffineText),
    ArrayType(NoArrayType),
    /// The type of a value is not known.
    UnknownType(Box<str>),
    UnknownShape,
    UnknownExtent,
    /// The bytes of an element of this type depend on the target.
    UnknownBytes(Box<str>),
    /// No operand has the extent of a loop.
    UnknownLoop(usize),
    /// An array of this rank has another number of subscripts.
    Subscripts {
        has: usize,
        rank: usize,
    },
    /// Fewer operands than the array has dimensions.
    Indices {
        rank: usize,
    },
    /// Lists with another number of entries than the array has dimensions.
    ListLengths {
        rank: usize,
    },
    /// Dimensions and symbols of a map, and its arguments.
    Arguments {
        takes: (usize, usize),
        given: (usize, usize),
    },
    OtherArguments,
    MapDimensions {
        has: usize,
        given: usize,
    },
    MapResults {
        operand: Box<str>,
        has: usize,
        rank: usize,
    },
    MapCount {
        has: usize,
        operands: usize,
    },
    /// The maps of an op are not all over the same loops.
    OtherLoops,
    /// A `permutation_map` between arrays of other ranks.
    PermutationMap,
    WritesTwice,
    /// A map without a domain where one is needed.
    NoDomain,
    /// A list that names something else than dimensions.
    NoDimensions(&'static str),
    /// A list or map that is no permutation of the dimensions.
    NoPermutation(&'static str),
    GroupOrder,
    GroupedDimensions {
        has: usize,
        rank: usize,
    },
    GroupCount {
        has: usize,
        rank: usize,
    },
    /// Parts that should be of one rank or shape.
    OtherRanks(&'static str),
    OtherShapes,
    /// Two parts that should have the same dimensions.
    OtherDimensions {
        of: &'static str,
        from: &'static str,
    },
    MoreDimensions {
        of: &'static str,
        than: &'static str,
    },
    TwoRanks {
        input: usize,
        output: usize,
    },
    SliceShape,
    DynamicSizes,
    ElementCount {
        from: i64,
        to: i64,
    },
    ElementWidths,
    /// A list names elements that its vectors do not have.
    UnknownElement,
    /// The inputs that an op takes, beside one output.
    Inputs(usize),
    ThreeMaps,
    OneDimension(&'static str),
    OneMaskedOp,
    /// The op of this name takes no mask.
    Unmasked(Box<str>),
    BatchPairs,
    /// The blocks of this scale do not divide the contracted dimension.
    Blocks(Box<str>),
    TooManyElements(usize),
    /// The elements of a shuffle follow no rule with fewer pieces.
    Irregular {
        pieces: usize,
    },
    Einsum(EinsumError),
}

impl fmt::Display for NoMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoMap::NotRead(part) => write!(f, "{part} is not read"),
            NoMap::ListNotRead(list) => write!(f, "its {list} are not read"),
            NoMap::Without(part) => write!(f, "it has no {part}"),
            NoMap::NoOperand(nth) => write!(f, "it has no operand {nth}"),
            NoMap::MapText(why) => why.fmt(f),
            NoMap::ArrayType(why) => why.fmt(f),
            NoMap::UnknownType(of) => write!(f, "the type of {of} is not known"),
            NoMap::UnknownShape => f.write_str("its shape is not known"),
            NoMap::UnknownExtent => f.write_str("an extent is not known"),
            NoMap::UnknownBytes(element) => {
                write!(f, "how many bytes one {element} has depends on the target")
            }
            NoMap::UnknownLoop(nth) => write!(f, "no operand has the extent of loop {nth}"),
            NoMap::Subscripts { has, rank } => write!(f, "it has {has} subscripts for {rank} dimensions"),
            NoMap::Indices { rank } => write!(f, "it does not have an index for each of {rank} dimensions"),
            NoMap::ListLengths { rank } => {
                write!(f, "its lists do not have {rank} entries, one per dimension")
            }
            NoMap::Arguments { takes: (d, s), given: (dims, symbols) } => {
                write!(f, "the map takes {d} and {s} arguments, not {dims} and {symbols}")
            }
            NoMap::OtherArguments => f.write_str("its map takes other arguments"),
            NoMap::MapDimensions { has, given } => write!(f, "its map has {has} dimensions, not {given}"),
            NoMap::MapResults { operand, has, rank } => {
                write!(f, "the map of {operand} has {has} results for {rank} dimensions")
            }
            NoMap::MapCount { has, operands } => write!(f, "it has {has} maps for {operands} operands"),
            NoMap::OtherLoops => f.write_str("its maps do not have the same dimensions"),
            NoMap::PermutationMap => {
                f.write_str("its permutation_map does not have the dimensions of the array and of the vector")
            }
            NoMap::WritesTwice => f.write_str("its permutation_map writes one place several times"),
            NoMap::NoDomain => f.write_str("its map has no domain"),
            NoMap::NoDimensions(list) => write!(f, "its {list} are no dimensions"),
            NoMap::NoPermutation(list) => write!(f, "its {list} does not name each dimension once"),
            NoMap::GroupOrder => f.write_str("its reassociation does not name the dimensions in order"),
            NoMap::GroupedDimensions { has, rank } => {
                write!(f, "its reassociation names {has} of {rank} dimensions")
            }
            NoMap::GroupCount { has, rank } => {
                write!(f, "its reassociation has {has} groups for {rank} dimensions")
            }
            NoMap::OtherRanks(parts) => write!(f, "its {parts} are not of one rank"),
            NoMap::OtherShapes => f.write_str("its operands and its result are not of one shape"),
            NoMap::OtherDimensions { of, from } => {
                write!(f, "the dimensions of {of} are not those of {from}")
            }
            NoMap::MoreDimensions { of, than } => write!(f, "{of} has more dimensions than {than}"),
            NoMap::TwoRanks { input, output } => {
                write!(f, "its operands do not have {input} and {output} dimensions")
            }
            NoMap::SliceShape => f.write_str("the shape of the slice is not that of its sizes"),
            NoMap::DynamicSizes => f.write_str("it does not have one size for each dynamic extent"),
            NoMap::ElementCount { from, to } => write!(f, "its operand has {from} elements, its result {to}"),
            NoMap::ElementWidths => f.write_str("the widths of its elements are no multiples of each other"),
            NoMap::UnknownElement => f.write_str("its list names elements that do not exist"),
            NoMap::Inputs(1) => f.write_str("it takes one operand and one output"),
            NoMap::Inputs(count) => write!(f, "it takes {count} inputs and one output"),
            NoMap::ThreeMaps => f.write_str("it takes three operands, each with a map"),
            NoMap::OneDimension(part) => write!(f, "{part} does not have one dimension"),
            NoMap::OneMaskedOp => f.write_str("it does not have one op to mask"),
            NoMap::Unmasked(op) => write!(f, "{op} takes no mask"),
            NoMap::BatchPairs => f.write_str("its batches do not come in pairs"),
            NoMap::Blocks(scale) => write!(f, "the blocks of {scale} do not divide what is contracted"),
            NoMap::TooManyElements(most) => write!(f, "it has more than {most} elements"),
            NoMap::Irregular { pieces } => write!(f, "its list follows no rule: {pieces} pieces"),
            NoMap::Einsum(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for NoMap {}

impl From<NoArrayType> for NoMap {
    fn from(why: NoArrayType) -> Self {
        NoMap::ArrayType(why)
    }
}

impl From<NoAffineText> for NoMap {
    fn from(why: NoAffineText) -> Self {
        NoMap::MapText(why)
    }
}

impl From<EinsumError> for NoMap {
    fn from(why: EinsumError) -> Self {
        NoMap::Einsum(why)
    }
}
