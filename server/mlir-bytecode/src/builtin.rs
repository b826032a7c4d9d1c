//! Attributes and types of the builtin dialect, by MLIR's `BuiltinDialectBytecode.td`.

use crate::Result;
use crate::bytes::Reader;
use crate::entries::{Attribute, Entries, Location, Type, unknown_code};

/// Floats from code 21 on.
const SMALL_FLOATS: [&str; 12] = [
    "tf32",
    "f8E5M2",
    "f8E4M3",
    "f8E4M3FN",
    "f8E5M2FNUZ",
    "f8E4M3FNUZ",
    "f8E4M3B11FNUZ",
    "f8E3M4",
    "f4E2M1FN",
    "f6E2M3FN",
    "f6E3M2FN",
    "f8E8M0FNU",
];

/// The width of an integer that an attribute has the type of.
fn integer_width(entries: &Entries<'_>, ty: u32, at: &Reader<'_>) -> Result<u32> {
    match &*entries.ty(ty)? {
        Type::Integer { width, .. } if (1..=128).contains(width) => Ok(*width as u32),
        Type::Name("index") => Ok(64),
        found => at.error(format!("an integer of the type {found:?} is not supported")),
    }
}

/// The width of a float that an attribute has the type of.
pub(crate) fn float_width(entries: &Entries<'_>, ty: u32, at: &Reader<'_>) -> Result<u32> {
    let ty = entries.ty(ty)?;
    let name = match &*ty {
        Type::Name(name) => name,
        Type::Text(text) => text.as_str(),
        found => return at.error(format!("a float of the type {found:?} is not supported")),
    };
    match crate::element_text::bit_width(name) {
        Some(width) => Ok(width),
        None => at.error(format!("a float of the type {name} is not supported")),
    }
}

pub(crate) fn integer<'a>(entries: &Entries<'_>, reader: &mut Reader<'_>) -> Result<Attribute<'a>> {
    let ty = reader.index()?;
    let bits = reader.bits(integer_width(entries, ty, reader)?)?;
    Ok(Attribute::Integer { ty, bits })
}

pub(crate) fn float<'a>(entries: &Entries<'_>, reader: &mut Reader<'_>) -> Result<Attribute<'a>> {
    let ty = reader.index()?;
    let bits = reader.bits(float_width(entries, ty, reader)?)?;
    Ok(Attribute::Float { ty, bits })
}

pub(crate) fn attribute<'a>(entries: &Entries<'a>, reader: &mut Reader<'a>) -> Result<Attribute<'a>> {
    let at = *reader;
    let string = |reader: &mut Reader<'a>| {
        let index = reader.index()?;
        entries.file.string(index, reader)
    };
    let location = |location| Ok(Attribute::Location(location));
    match reader.number()? {
        0 => Ok(Attribute::Array(reader.indices()?)),
        1 => Ok(Attribute::Dictionary(reader.list(|reader| Ok((reader.index()?, reader.index()?)))?)),
        2 => Ok(Attribute::String(string(reader)?)),
        3 => Ok(Attribute::TypedString(string(reader)?, reader.index()?)),
        4 => Ok(Attribute::Symbol(vec![reader.index()?])),
        5 => {
            let mut path = vec![reader.index()?];
            for nested in reader.indices()? {
                match &*entries.attribute(nested)? {
                    Attribute::Symbol(names) => path.extend(names),
                    found => return at.error(format!("a symbol is expected, not {found:?}")),
                }
            }
            Ok(Attribute::Symbol(path))
        }
        6 => Ok(Attribute::Type(reader.index()?)),
        7 => Ok(Attribute::Unit),
        8 => integer(entries, reader),
        9 => float(entries, reader),
        10 => location(Location::CallSite { callee: reader.index()?, caller: reader.index()? }),
        11 => {
            let name = reader.index()?;
            location(Location::File { name, numbers: vec![reader.number()?, reader.number()?] })
        }
        12 => location(Location::Fused { locations: reader.indices()?, metadata: None }),
        13 => {
            let locations = reader.indices()?;
            location(Location::Fused { locations, metadata: Some(reader.index()?) })
        }
        14 => location(Location::Name { name: reader.index()?, child: reader.index()? }),
        15 => location(Location::Unknown),
        16 => {
            at.error("elements in a resource of the file are not supported: print the text with `mlir-opt`")
        }
        17 => {
            let element = reader.index()?;
            Ok(Attribute::DenseArray { element, len: reader.number()?, bytes: reader.blob()? })
        }
        18 => Ok(Attribute::Dense { ty: reader.index()?, bytes: reader.blob()? }),
        19 => {
            let ty = reader.index()?;
            let is_splat = reader.number()? == 1;
            Ok(Attribute::DenseStrings { ty, is_splat, strings: reader.list(string)? })
        }
        20 => at.error("sparse elements are not supported: print the text with `mlir-opt`"),
        22 => {
            let name = reader.index()?;
            let numbers = reader.list(Reader::number)?;
            match numbers.len() {
                0..=4 => location(Location::File { name, numbers }),
                _ => at.error("a range of source text has more than four numbers: the file is damaged"),
            }
        }
        code => unknown_code(&at, "an attribute", "builtin", code),
    }
}

pub(crate) fn ty(reader: &mut Reader<'_>) -> Result<Type> {
    let at = *reader;
    match reader.number()? {
        0 => {
            let number = reader.number()?;
            let sign = match number & 3 {
                0 => "i",
                1 => "si",
                _ => "ui",
            };
            Ok(Type::Integer { width: number >> 2, sign })
        }
        1 => Ok(Type::Name("index")),
        2 => Ok(Type::Function { inputs: reader.indices()?, results: reader.indices()? }),
        code @ 3..=8 => Ok(Type::Name(
            ["bf16", "f16", "f32", "f64", "f80", "f128"][usize::try_from(code - 3).unwrap_or(0)],
        )),
        9 => Ok(Type::Complex(reader.index()?)),
        10 => {
            let shape = Some(reader.signed_list()?);
            let element = reader.index()?;
            Ok(Type::MemRef { shape, element, layout: Some(reader.index()?), space: None })
        }
        11 => {
            let space = Some(reader.index()?);
            let shape = Some(reader.signed_list()?);
            let element = reader.index()?;
            Ok(Type::MemRef { shape, element, layout: Some(reader.index()?), space })
        }
        12 => Ok(Type::Name("none")),
        13 => Ok(Type::Tensor { shape: reader.signed_list()?, element: reader.index()?, encoding: None }),
        14 => {
            let encoding = Some(reader.index()?);
            Ok(Type::Tensor { shape: reader.signed_list()?, element: reader.index()?, encoding })
        }
        15 => Ok(Type::Tuple(reader.indices()?)),
        16 => Ok(Type::Unranked(reader.index()?)),
        17 => Ok(Type::MemRef { shape: None, element: reader.index()?, layout: None, space: None }),
        18 => {
            let space = Some(reader.index()?);
            Ok(Type::MemRef { shape: None, element: reader.index()?, layout: None, space })
        }
        19 => {
            Ok(Type::Vector { shape: reader.signed_list()?, element: reader.index()?, scalable: Vec::new() })
        }
        20 => {
            let scalable = reader.list(Reader::number)?.iter().map(|number| *number != 0).collect();
            Ok(Type::Vector { scalable, shape: reader.signed_list()?, element: reader.index()? })
        }
        code @ 21..=32 => Ok(Type::Name(SMALL_FLOATS[usize::try_from(code - 21).unwrap_or(0)])),
        code => unknown_code(&at, "a type", "builtin", code),
    }
}
