//! Ops of the vector dialect.
//!
//! Source: mlir.llvm.org/docs/Dialects/Vector.

use indexing_map::{Expr, Interval};

use crate::access::{OpMaps, Role};
use crate::array_type::ArrayType;
use crate::linalg_ops::written_maps;
use crate::map_builder::MapBuilder;
use crate::op_text::{Mixed, OpText};
use crate::structured::Structured;
use crate::{elements, reshapes, transfers};

pub(crate) fn maps(text: &OpText<'_>, op: &str) -> Option<Result<OpMaps, String>> {
    Some(match op {
        "transfer_read" => transfers::transfer_read(text),
        "transfer_write" => transfers::transfer_write(text),
        "load" => transfers::plain(text, Role::Read),
        "store" => transfers::plain(text, Role::Write),
        "extract" => extract(text),
        "insert" => insert(text),
        "broadcast" | "splat" => broadcast(text),
        "transpose" => {
            let order = text.list(&["permutation", "transp"]).or_else(|| {
                mlir::integers(&format!("[{}]", text.text_of(text.squares().into_iter().next()?)))
            });
            order.ok_or("its permutation is not read".to_owned()).and_then(|o| elements::transpose(text, &o))
        }
        "shape_cast" => reshapes::reshape(text),
        "bitcast" => bitcast(text),
        "extract_strided_slice" => extract_strided(text),
        "insert_strided_slice" => insert_strided(text),
        "multi_reduction" | "reduction" => reduction(text, op == "reduction"),
        "contract" => contract(text),
        "outerproduct" => outer_product(text),
        "gather" => gather(text),
        "fma" => elements::elementwise(text, 0, 3),
        "interleave" => interleave(text),
        "shuffle" => Err("which element it takes a list tells, and no map".to_owned()),
        "from_elements" => elements::from_elements(text),
        _ => return None,
    })
}

/// The position in brackets, of an op whose first operands are no indices.
fn position(builder: &mut MapBuilder<'_>, text: &OpText<'_>, fixed: usize) -> Result<Vec<Expr>, String> {
    let entries: Option<Vec<Mixed>> = match text.is_generic() {
        true => text
            .generic_mixed(fixed, &["static_position"])
            .and_then(|lists| lists.into_iter().next())
            .or_else(|| Some(text.list(&["position"])?.into_iter().map(Mixed::Static).collect())),
        false => match text.squares().into_iter().next() {
            Some(list) => text.mixed(list),
            None => Some(Vec::new()),
        },
    };
    let entries = entries.ok_or("its position is not read")?;
    Ok(entries.iter().map(|e| builder.mixed(e)).collect())
}

/// `%v[0, %i] : vector<8xf32> from vector<4x2x8xf32>`
fn extract(text: &OpText<'_>) -> Result<OpMaps, String> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let ty = text.array_of(&source)?;
    let position = position(&mut builder, text, 1)?;
    if position.len() > ty.rank() {
        return Err("its position has more entries than the vector has dimensions".to_owned());
    }
    for (k, at) in position.iter().enumerate() {
        builder.narrow(at, ty.extents[k].map_or(Interval::ALL, Interval::from_size));
    }
    let extents: Vec<Expr> = (position.len()..ty.rank()).map(|k| builder.extent(&source, &ty, k)).collect();
    let dims = builder.dimensions(&extents);
    let index = position.into_iter().chain(dims).collect();
    Ok(OpMaps::of_result(0, vec![builder.access(&source, Role::Read, index, Vec::new())]))
}

/// `%s, %d[0, %i] : vector<8xf32> into vector<4x2x8xf32>`
fn insert(text: &OpText<'_>) -> Result<OpMaps, String> {
    let mut builder = MapBuilder::new(text.source);
    let (part, whole) = (text.operand(0)?, text.operand(1)?);
    let ty = text.array_of(&whole)?;
    let position = position(&mut builder, text, 2)?;
    if position.len() > ty.rank() {
        return Err("its position has more entries than the vector has dimensions".to_owned());
    }
    let extents = builder.extents(&whole, &ty);
    let dims = builder.dimensions(&extents);
    let when = dims.iter().zip(&position).map(|(d, p)| (d.clone() - p.clone(), Interval::point(0))).collect();
    let of_part = builder.access(&part, Role::Read, dims[position.len()..].to_vec(), when);
    let mut of_whole = builder.access(&whole, Role::Read, dims, Vec::new());
    of_whole.note = Some("outside of what is inserted".to_owned());
    Ok(OpMaps::of_result(0, vec![of_part, of_whole]))
}

/// The last dimensions are the operand's; one of one element repeats it.
fn broadcast(text: &OpText<'_>) -> Result<OpMaps, String> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let result = text.result_array(0)?;
    let extents = builder.result_extents(text, 0, &result, &[]);
    let dims = builder.dimensions(&extents);
    let index = match text.is_scalar(&source) {
        true => Vec::new(),
        false => {
            let ty = text.array_of(&source)?;
            let first = result.rank().checked_sub(ty.rank()).ok_or("its operand has more dimensions")?;
            let of = |k: usize| match ty.extents[k] == Some(1) && result.extents[first + k] != Some(1) {
                true => Expr::ZERO,
                false => dims[first + k].clone(),
            };
            (0..ty.rank()).map(of).collect()
        }
    };
    Ok(OpMaps::of_result(0, vec![builder.access(&source, Role::Read, index, Vec::new())]))
}

/// The last dimension in other units of bits.
fn bitcast(text: &OpText<'_>) -> Result<OpMaps, String> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let (from, to) = (text.array_of(&source)?, text.result_array(0)?);
    if from.rank() != to.rank() || from.rank() == 0 {
        return Err("its vectors are not of one rank".to_owned());
    }
    let last = from.rank() - 1;
    let (Some(old), Some(new)) = (from.extents[last], to.extents[last]) else {
        return Err("an extent is not known".to_owned());
    };
    let extents = builder.result_extents(text, 0, &to, &[]);
    let mut index = builder.dimensions(&extents);
    index[last] = match () {
        () if old > 0 && new % old == 0 => index[last].clone().floor_div(new / old),
        () if new > 0 && old % new == 0 => {
            let parts = old / new;
            index[last].clone() * parts + builder.range(None, &Expr::Const(parts))
        }
        () => return Err("the widths of its elements are no multiples of each other".to_owned()),
    };
    Ok(OpMaps::of_result(0, vec![builder.access(&source, Role::Read, index, Vec::new())]))
}

fn needed(text: &OpText<'_>, name: &str) -> Result<Vec<i64>, String> {
    text.list(&[name]).ok_or_else(|| format!("its {name} are not read"))
}

/// `{offsets = [0, 2], sizes = [2, 4], strides = [1, 1]}`; dimensions behind the lists are whole.
fn extract_strided(text: &OpText<'_>) -> Result<OpMaps, String> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let (ty, result) = (text.array_of(&source)?, text.result_array(0)?);
    let (offsets, strides) = (needed(text, "offsets")?, needed(text, "strides")?);
    if result.rank() != ty.rank() || offsets.len() > ty.rank() || strides.len() != offsets.len() {
        return Err("its lists have not the dimensions of the vector".to_owned());
    }
    let extents = builder.result_extents(text, 0, &result, &[]);
    let mut index = builder.dimensions(&extents);
    for (index, (offset, stride)) in index.iter_mut().zip(offsets.iter().zip(&strides)) {
        *index = index.clone() * *stride + *offset;
    }
    Ok(OpMaps::of_result(0, vec![builder.access(&source, Role::Read, index, Vec::new())]))
}

/// `%s, %d {offsets = [0, 2], strides = [1]}`: strides are of the dimensions of `%s`, which are the last ones of `%d`.
fn insert_strided(text: &OpText<'_>) -> Result<OpMaps, String> {
    let mut builder = MapBuilder::new(text.source);
    let (part, whole) = (text.operand(0)?, text.operand(1)?);
    let (part_type, ty) = (text.array_of(&part)?, text.array_of(&whole)?);
    let (offsets, strides) = (needed(text, "offsets")?, needed(text, "strides")?);
    let first = ty.rank().checked_sub(part_type.rank()).ok_or("the part has more dimensions")?;
    if offsets.len() != ty.rank() || strides.len() != part_type.rank() {
        return Err("its lists have not the dimensions of the vectors".to_owned());
    }
    let extents = builder.extents(&whole, &ty);
    let dims = builder.dimensions(&extents);
    let (mut when, mut index) = (Vec::new(), Vec::new());
    for (k, d) in dims.iter().enumerate() {
        let distance = d.clone() - offsets[k];
        if k < first {
            when.push((distance, Interval::point(0)));
            continue;
        }
        let stride = strides[k - first];
        let extent = builder.extent(&part, &part_type, k - first);
        when.push((distance.clone().modulo(stride), Interval::point(0)));
        when.extend(MapBuilder::within(&distance, &(extent * stride)));
        index.push(distance.floor_div(stride));
    }
    let of_part = builder.access(&part, Role::Read, index, when);
    let mut of_whole = builder.access(&whole, Role::Read, dims, Vec::new());
    of_whole.note = Some("outside of what is inserted".to_owned());
    Ok(OpMaps::of_result(0, vec![of_part, of_whole]))
}

/// `<add>, %v, %acc [1] : A to B`, and `<add>, %v : vector<16xf32> into f32`.
fn reduction(text: &OpText<'_>, all: bool) -> Result<OpMaps, String> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let ty = text.array_of(&source)?;
    let reduced: Vec<i64> = match all {
        true => (0..ty.rank() as i64).collect(),
        false => text
            .list(&["reduction_dims"])
            .or_else(|| mlir::integers(&format!("[{}]", text.text_of(text.squares().into_iter().next()?))))
            .ok_or("its dimensions are not read")?,
    };
    let is_reduced = |k: usize| reduced.contains(&(k as i64));
    let extents = builder.extents(&source, &ty);
    let mut kept = Vec::new();
    let mut index = Vec::new();
    for (k, extent) in extents.iter().enumerate() {
        index.push(match is_reduced(k) {
            true => builder.range(None, extent),
            false => {
                let d = builder.dimension(extent);
                kept.push(d.clone());
                d
            }
        });
    }
    let mut accesses = vec![builder.access(&source, Role::Read, index, Vec::new())];
    if let Ok(accumulator) = text.operand(1) {
        accesses.push(builder.access(&accumulator, Role::Read, kept, Vec::new()));
    }
    Ok(OpMaps::of_result(0, accesses))
}

fn contract(text: &OpText<'_>) -> Result<OpMaps, String> {
    let mut builder = MapBuilder::new(text.source);
    let maps = written_maps(text).ok_or("its indexing_maps are not read")??;
    let operands = text.operands();
    if maps.len() != 3 || operands.len() < 3 {
        return Err("it takes three operands, each with a map".to_owned());
    }
    let loops = vec![String::new(); maps[0].dims.len()];
    let mut read = Vec::new();
    for (operand, map) in operands.into_iter().zip(maps) {
        read.push(Structured::operand(&mut builder, text, operand, map, true)?);
    }
    let outputs = read.pop().into_iter().collect();
    Structured { loops, inputs: read, outputs }.maps(builder, 0, true)
}

/// `%a, %b, %acc`: element `(i, j)` of elements i and j; or all of `%a` times one number.
fn outer_product(text: &OpText<'_>) -> Result<OpMaps, String> {
    let mut builder = MapBuilder::new(text.source);
    let operands = text.operands();
    let (left, right) = (text.operand(0)?, text.operand(1)?);
    let left_type = text.array_of(&left)?;
    let is_outer = !text.is_scalar(&right);
    let mut extents = builder.extents(&left, &left_type);
    if is_outer {
        let right_type: ArrayType = text.array_of(&right)?;
        extents.extend(builder.extents(&right, &right_type));
    }
    let dims = builder.dimensions(&extents);
    let split = left_type.rank();
    let mut accesses = vec![
        builder.access(&left, Role::Read, dims[..split].to_vec(), Vec::new()),
        builder.access(&right, Role::Read, dims[split..].to_vec(), Vec::new()),
    ];
    if let Some(accumulator) = operands.get(2) {
        accesses.push(builder.access(accumulator, Role::Read, dims, Vec::new()));
    }
    Ok(OpMaps::of_result(0, accesses))
}

/// `%base[%i, %j] [%idx], %mask, %pass`: the last index plus an element of `%idx`.
fn gather(text: &OpText<'_>) -> Result<OpMaps, String> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let ty = text.array_of(&source)?;
    let operands = text.operands();
    let [indices, mask, otherwise] = operands.get(1 + ty.rank()..).unwrap_or_default() else {
        return Err("its operands are not read".to_owned());
    };
    let result = text.result_array(0)?;
    let mut index: Vec<Expr> = operands[1..=ty.rank()].iter().map(|o| builder.index_value(o)).collect();
    let extents = builder.result_extents(text, 0, &result, &[]);
    let dims = builder.dimensions(&extents);
    let element = builder.element(indices, 0, dims.clone(), Interval::ALL);
    if let Some(last) = index.last_mut() {
        *last = last.clone() + element;
    }
    let when = index
        .iter()
        .enumerate()
        .flat_map(|(k, i)| {
            let extent = builder.extent(&source, &ty, k);
            MapBuilder::within(i, &extent)
        })
        .collect();
    let mut accesses = vec![builder.access(&source, Role::Read, index, when)];
    accesses[0].note = Some("where the mask says so".to_owned());
    for operand in [indices, mask, otherwise] {
        accesses.push(builder.access(operand, Role::Read, dims.clone(), Vec::new()));
    }
    Ok(OpMaps::of_result(0, accesses))
}

/// Elements of the two operands in turn, along the last dimension.
fn interleave(text: &OpText<'_>) -> Result<OpMaps, String> {
    let mut builder = MapBuilder::new(text.source);
    let result = text.result_array(0)?;
    let extents = builder.result_extents(text, 0, &result, &[]);
    let dims = builder.dimensions(&extents);
    let last = dims.last().ok_or("its vector has no dimension")?.clone();
    let mut index = dims.clone();
    index[dims.len() - 1] = last.clone().floor_div(2);
    let accesses = [0, 1]
        .iter()
        .map(|&nth| {
            let when = vec![(last.clone().modulo(2), Interval::point(nth as i64))];
            Ok(builder.access(&text.operand(nth)?, Role::Read, index.clone(), when))
        })
        .collect::<Result<Vec<_>, String>>()?;
    Ok(OpMaps::of_result(0, accesses))
}
