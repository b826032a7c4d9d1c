//! Attributes and types of StableHLO and CHLO in the encodings of these dialects, which `write_bytecode` and `--emit-bytecode` write for
//! modules that are not made portable.
//!
//! Source: StableHLO's `StablehloBytecode.cpp` and `ChloBytecode.cpp`.

use crate::Result;
use crate::bytes::Reader;
use crate::dimension_numbers::{
    DOT, DOT_ALGORITHM, GATHER, Part, SCATTER, Side, channel, convolution, named_parts,
};
use crate::entries::{Attribute, Entries, Enum, Type, unknown_code};

pub(crate) fn stablehlo_attribute<'a>(
    entries: &Entries<'a>,
    reader: &mut Reader<'a>,
) -> Result<Attribute<'a>> {
    let at = *reader;
    let case = |reader: &mut Reader<'a>, of| Ok(Attribute::Enum { of, number: reader.number()? });
    let string = |reader: &mut Reader<'a>| {
        let index = reader.index()?;
        entries.file.string(index, reader)
    };
    let side = |reader: &mut Reader<'a>| {
        let (first, second) = (reader.signed()?, reader.signed()?);
        Ok(Side { first, second, spatial: reader.signed_list()? })
    };
    match reader.number()? {
        1 => Ok(Attribute::Text(channel(reader.signed()?, reader.signed()?))),
        2 => case(reader, Enum::ComparisonDirection),
        3 => case(reader, Enum::ComparisonType),
        4 => match convolution(&[side(reader)?, side(reader)?, side(reader)?]) {
            Ok(text) => Ok(Attribute::Text(text)),
            Err(place) => {
                at.error(format!("dimension {place} does not exist or has two roles: the file is damaged"))
            }
        },
        5 => lists(reader, "dot", DOT),
        6 => case(reader, Enum::FftType),
        7 => lists(reader, "gather", GATHER),
        8 => case(reader, Enum::Precision),
        9 => case(reader, Enum::RngAlgorithm),
        10 => case(reader, Enum::RngDistribution),
        11 => lists(reader, "scatter", SCATTER),
        12 => case(reader, Enum::Transpose),
        13 => Ok(Attribute::Bounds(reader.signed_list()?)),
        14 => Ok(Attribute::OutputAlias {
            output: reader.signed_list()?,
            operand: reader.signed()?,
            operand_tuple: reader.signed_list()?,
        }),
        15 => {
            let mut texts = Vec::new();
            for _ in 0..3 {
                let index = reader.index()?;
                texts.push(element_name(entries, index, &at)?);
            }
            for _ in 0..3 {
                texts.push(reader.signed()?.to_string());
            }
            texts.push((reader.byte()? != 0).to_string());
            Ok(Attribute::Text(named_parts("dot_algorithm", DOT_ALGORITHM, &texts)))
        }
        16 => case(reader, Enum::AccuracyMode),
        17 => Ok(Attribute::Accuracy {
            atol: reader.double()?,
            rtol: reader.double()?,
            ulps: reader.signed()?,
            mode: reader.index()?,
        }),
        18 => Ok(Attribute::MeshAxisList { mesh: reader.index()?, axes: reader.indices()? }),
        19 => Ok(Attribute::SubAxis { pre: reader.signed()?, size: reader.signed()? }),
        20 => {
            let name = string(reader)?;
            let sub = if reader.byte()? != 0 { Some(reader.index()?) } else { None };
            Ok(Attribute::NamedAxis { name, sub })
        }
        21 => Ok(Attribute::NamedMeshAxis { name: string(reader)?, size: reader.signed()? }),
        22 => {
            let axes = reader.index()?;
            let devices = if reader.byte()? != 0 { Some(reader.index()?) } else { None };
            Ok(Attribute::Mesh { axes, devices })
        }
        code => unknown_code(&at, "an attribute", "stablehlo", code),
    }
}

/// Lists of dimensions; the vector dimension of indices is a number.
fn lists<'a>(reader: &mut Reader<'_>, attribute: &str, names: &[&str]) -> Result<Attribute<'a>> {
    let mut texts = Vec::new();
    for name in names {
        let part = match *name {
            "index_vector_dim" => Part::Number(reader.signed()?),
            _ => Part::List(reader.signed_list()?),
        };
        texts.push(part.text());
    }
    Ok(Attribute::Text(named_parts(attribute, names, &texts)))
}

/// The name of a type without parts: those with parts may refer to the attribute that is read.
fn element_name(entries: &Entries<'_>, index: u32, at: &Reader<'_>) -> Result<String> {
    match &*entries.ty(index)? {
        Type::Name(name) => Ok((*name).to_owned()),
        Type::Text(name) => Ok(name.clone()),
        Type::Integer { width, sign } => Ok(format!("{sign}{width}")),
        _ => at.error("the type of an algorithm for dots has parts: the file is damaged"),
    }
}

pub(crate) fn chlo_attribute<'a>(reader: &mut Reader<'_>) -> Result<Attribute<'a>> {
    let at = *reader;
    let of = match reader.number()? {
        0 => Enum::ChloComparisonDirection,
        1 => Enum::ChloComparisonType,
        code => return unknown_code(&at, "an attribute", "chlo", code),
    };
    Ok(Attribute::Enum { of, number: reader.number()? })
}

pub(crate) fn stablehlo_type(reader: &mut Reader<'_>) -> Result<Type> {
    let at = *reader;
    match reader.number()? {
        0 => Ok(Type::Name("!stablehlo.token")),
        1 => Ok(Type::Future(reader.indices()?)),
        code => unknown_code(&at, "a type", "stablehlo", code),
    }
}
