//! Attributes and types of VHLO, by StableHLO's `VhloBytecode.cpp`, as what they are in StableHLO.

use crate::Result;
use crate::builtin::{float, integer};
use crate::bytes::Reader;
use crate::entries::{Attribute, Entries, Enum, Quantized, Type};

pub(crate) fn attribute<'a>(entries: &Entries<'a>, reader: &mut Reader<'a>) -> Result<Attribute<'a>> {
    let at = *reader;
    let case = |reader: &mut Reader<'a>, of| Ok(Attribute::Enum { of, number: reader.number()? });
    match reader.number()? {
        1 => Ok(Attribute::Array(reader.indices()?)),
        2 => match reader.number()? {
            number @ 0..=1 => Ok(Attribute::Bool(number == 1)),
            number => at.error(format!("the truth value {number}: the file is damaged")),
        },
        3 => case(reader, Enum::ComparisonDirection),
        4 => case(reader, Enum::ComparisonType),
        5 => case(reader, Enum::ApiVersion),
        6 => Ok(Attribute::Dictionary(reader.list(|reader| Ok((reader.index()?, reader.index()?)))?)),
        7 => case(reader, Enum::FftType),
        8 => float(entries, reader),
        9 => integer(entries, reader),
        10 => Ok(Attribute::OutputAlias {
            output: reader.signed_list()?,
            operand: reader.signed()?,
            operand_tuple: reader.signed_list()?,
        }),
        11 => case(reader, Enum::Precision),
        12 => case(reader, Enum::RngAlgorithm),
        13 => case(reader, Enum::RngDistribution),
        14 => {
            let index = reader.index()?;
            Ok(Attribute::String(entries.file.string(index, reader)?))
        }
        15 => Ok(Attribute::Dense { ty: reader.index()?, bytes: reader.blob()? }),
        16 => case(reader, Enum::Transpose),
        17 => Ok(Attribute::Type(reader.index()?)),
        18 => Ok(Attribute::Bounds(reader.signed_list()?)),
        19 => case(reader, Enum::AccuracyMode),
        20 => Ok(Attribute::Accuracy {
            atol: reader.double()?,
            rtol: reader.double()?,
            ulps: reader.signed()?,
            mode: reader.index()?,
        }),
        21 => Ok(Attribute::SubAxis { pre: reader.signed()?, size: reader.signed()? }),
        22 => {
            let name = reader.index()?;
            let sub = match reader.number()? {
                0 => None,
                _ => Some(reader.index()?),
            };
            Ok(Attribute::Axis { name, sub })
        }
        23 => Ok(Attribute::MeshAxes { mesh: reader.index()?, axes: reader.index()? }),
        24 => Ok(Attribute::MeshAxis { name: reader.index()?, size: reader.signed()? }),
        25 => {
            let axes = reader.index()?;
            let (devices, is_present) = reader.flagged()?;
            let devices = u32::try_from(devices).ok().filter(|_| is_present);
            Ok(Attribute::Mesh { axes, devices })
        }
        code => at.error(format!(
            "an attribute of VHLO with the unknown code {code}: the file is newer; write it for an older version \
             (`stablehlo-translate --serialize --target=1.9.0`)"
        )),
    }
}

pub(crate) fn ty(reader: &mut Reader<'_>) -> Result<Type> {
    let at = *reader;
    let integer = |width, sign| Ok(Type::Integer { width, sign });
    match reader.number()? {
        0 => integer(1, "i"),
        1 => Ok(Type::Complex(reader.index()?)),
        2 => Ok(Type::Name("bf16")),
        3 => Ok(Type::Name("f16")),
        4 => Ok(Type::Name("f32")),
        5 => Ok(Type::Name("f64")),
        6 => Ok(Type::Name("f8E4M3FN")),
        7 => Ok(Type::Name("f8E5M2")),
        8 => Ok(Type::Function { inputs: reader.indices()?, results: reader.indices()? }),
        9 => Ok(Type::Name("index")),
        10 => integer(4, "i"),
        11 => integer(8, "i"),
        12 => integer(16, "i"),
        13 => integer(32, "i"),
        14 => integer(64, "i"),
        15 => integer(4, "ui"),
        16 => integer(8, "ui"),
        17 => integer(16, "ui"),
        18 => integer(32, "ui"),
        19 => integer(64, "ui"),
        20 => Ok(Type::Tensor { shape: reader.signed_list()?, element: reader.index()?, encoding: None }),
        21 => {
            let encoding = Some(reader.index()?);
            Ok(Type::Tensor { shape: reader.signed_list()?, element: reader.index()?, encoding })
        }
        22 => Ok(Type::Name("!stablehlo.token")),
        23 => Ok(Type::Tuple(reader.indices()?)),
        24 => {
            // Flags say that the storage is signed, which its type says, too.
            reader.number()?;
            let (storage, expressed) = (reader.index()?, reader.index()?);
            let scales = vec![reader.double()?];
            let zero_points = vec![reader.signed()?];
            let (min, max, dimension) = (reader.signed()?, reader.signed()?, None);
            let quantized = Quantized { storage, expressed, dimension, scales, zero_points, min, max };
            Ok(Type::Quantized(Box::new(quantized)))
        }
        25 => Ok(Type::Unranked(reader.index()?)),
        26 => Ok(Type::Name("!shape.witness")),
        27 => Ok(Type::Name("f8E4M3FNUZ")),
        28 => Ok(Type::Name("f8E5M2FNUZ")),
        29 => Ok(Type::Name("f8E4M3B11FNUZ")),
        30 => {
            reader.number()?;
            let (storage, expressed) = (reader.index()?, reader.index()?);
            let dimension = Some(reader.number()?);
            let (min, max) = (reader.signed()?, reader.signed()?);
            let scales = reader.list(Reader::double)?;
            let zero_points = reader.signed_list()?;
            let quantized = Quantized { storage, expressed, dimension, scales, zero_points, min, max };
            Ok(Type::Quantized(Box::new(quantized)))
        }
        31 => integer(2, "i"),
        32 => integer(2, "ui"),
        33 => Ok(Type::Name("none")),
        34 => Ok(Type::Name("tf32")),
        35 => Ok(Type::Name("f8E4M3")),
        36 => Ok(Type::Name("f8E3M4")),
        37 => Ok(Type::Name("f4E2M1FN")),
        38 => Ok(Type::Name("f6E2M3FN")),
        39 => Ok(Type::Name("f6E3M2FN")),
        40 => Ok(Type::Name("f8E8M0FNU")),
        41 => {
            let shape = Some(reader.signed_list()?);
            Ok(Type::MemRef { shape, element: reader.index()?, layout: None, space: None })
        }
        42 => Ok(Type::Future(reader.indices()?)),
        code => at.error(format!(
            "a type of VHLO with the unknown code {code}: the file is newer; write it for an older version \
             (`stablehlo-translate --serialize --target=1.9.0`)"
        )),
    }
}
