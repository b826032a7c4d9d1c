//! Inlay hints with derived numbers: products of reassociations, weights of digits, counts of tiles.

use mlir::OpId;
use mlir_ops::{OpKind, OpText, Source};

use crate::reshapes::groups;

/// The inlay hints of an op: the byte offset after which each one is shown, and its text.
pub fn op_hints(source: &Source<'_>, id: OpId) -> Vec<(u32, String)> {
    let hint: fn(&OpText<'_>) -> Option<(u32, String)> = match source.op(id) {
        OpKind::Collapse => |text| reassociation(text, true),
        OpKind::Expand => |text| reassociation(text, false),
        OpKind::Delinearize | OpKind::Linearize => weights,
        OpKind::ExtractTile | OpKind::InsertTile | OpKind::ExtractPointedTile | OpKind::InsertPointedTile => {
            tiles
        }
        OpKind::Pack | OpKind::Unpack => packed,
        _ => return Vec::new(),
    };
    let Some(text) = OpText::new(source, id).filter(|text| !text.is_generic()) else { return Vec::new() };
    hint(&text).into_iter().collect()
}

fn behind(text: &OpText<'_>, list: &std::ops::Range<usize>) -> Option<u32> {
    text.tokens.get(list.end).map(|t| t.span.end)
}

/// `[0,1,2] = 3*5*7 = 105`
fn reassociation(text: &OpText<'_>, is_collapse: bool) -> Option<(u32, String)> {
    let operand = text.operand(0).ok()?;
    let wide = if is_collapse { text.array_of(&operand) } else { text.result_array(0) }.ok()?;
    let mut parts = Vec::new();
    for group in groups(text, wide.rank()).ok()?.iter().filter(|g| g.len() > 1) {
        let names: Vec<String> = group.iter().map(usize::to_string).collect();
        let extents: Vec<String> = group
            .iter()
            .map(|&k| wide.extents[k].map_or_else(|| "?".to_owned(), |n| n.to_string()))
            .collect();
        let product = group.iter().try_fold(1i64, |n, &k| n.checked_mul(wide.extents[k]?));
        let product = product.map_or_else(String::new, |n| format!(" = {n}"));
        parts.push(format!("[{}] = {}{product}", names.join(","), extents.join("*")));
    }
    let list = text.squares().into_iter().next()?;
    (!parts.is_empty()).then_some((behind(text, &list)?, parts.join(", ")))
}

/// The weight of each digit: `weights 35, 7, 1`.
fn weights(text: &OpText<'_>) -> Option<(u32, String)> {
    let list = text.basis_list()?;
    let basis: Vec<Option<i64>> =
        text.items(list.clone()).into_iter().map(|item| text.text_of(item).trim().parse().ok()).collect();
    let digits = match text.op {
        OpKind::Linearize => text.items(text.squares().into_iter().next()?).len(),
        _ => text.source.result_count(text.id),
    };
    // With one basis element per digit, the first is not needed.
    let inner = match basis.len() {
        n if n == digits => &basis[1..],
        n if n + 1 == digits => &basis[..],
        _ => return None,
    };
    let mut weights = vec!["1".to_owned()];
    let mut weight = Some(1i64);
    for extent in inner.iter().rev() {
        weight = weight.and_then(|w| w.checked_mul((*extent)?));
        weights.push(weight.map_or_else(|| "?".to_owned(), |w| w.to_string()));
    }
    weights.reverse();
    (weights.len() > 1).then_some((behind(text, &list)?, format!("weights {}", weights.join(", "))))
}

/// The number of tiles: `4 x 8 tiles`.
fn tiles(text: &OpText<'_>) -> Option<(u32, String)> {
    let buffer = match text.op {
        OpKind::ExtractTile => text.array_of(&text.operand(0).ok()?).ok()?,
        OpKind::InsertTile => text.array_of(&text.operand(1).ok()?).ok()?,
        _ => text.pointed_to().ok()?.1,
    };
    let list = text.squares().into_iter().nth(1)?;
    let sizes: Vec<Option<i64>> =
        text.items(list.clone()).into_iter().map(|item| text.text_of(item).trim().parse().ok()).collect();
    if sizes.len() != buffer.rank() {
        return None;
    }
    let counts = sizes.iter().zip(&buffer.extents).map(|(size, whole)| {
        let (size, whole) = ((*size)?, (*whole)?);
        (size > 0).then(|| (whole + size - 1).checked_div(size)).flatten()
    });
    let counts: Vec<String> = counts.map(|n| n.map_or_else(|| "?".to_owned(), |n| n.to_string())).collect();
    (!counts.is_empty()).then_some((behind(text, &list)?, format!("{} tiles", counts.join(" x "))))
}

/// The number of tiles along each dimension of the packed array.
fn packed(text: &OpText<'_>) -> Option<(u32, String)> {
    let list = text.inner_tiles()?;
    let tiles = text.items(list.clone()).len();
    let packed = match text.op {
        OpKind::Pack => text.result_array(0),
        _ => text.operand(0).and_then(|o| text.array_of(&o)),
    }
    .ok()?;
    let outer = packed.extents.get(..packed.rank().checked_sub(tiles)?)?;
    let counts: Vec<String> =
        outer.iter().map(|n| n.map_or_else(|| "?".to_owned(), |n| n.to_string())).collect();
    Some((behind(text, &list)?, format!("{} tiles", counts.join(" x "))))
}
