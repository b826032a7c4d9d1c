//! The text of StableHLO's attributes that name the roles of dimensions, and of channels.

/// A part of an attribute.
pub(crate) enum Part {
    List(Vec<i64>),
    Number(i64),
}

/// The parts of `#stablehlo.gather<…>` in their order.
pub(crate) const GATHER: &[&str] = &[
    "offset_dims",
    "collapsed_slice_dims",
    "operand_batching_dims",
    "start_indices_batching_dims",
    "start_index_map",
    "index_vector_dim",
];
/// The parts of `#stablehlo.scatter<…>`.
pub(crate) const SCATTER: &[&str] = &[
    "update_window_dims",
    "inserted_window_dims",
    "input_batching_dims",
    "scatter_indices_batching_dims",
    "scatter_dims_to_operand_dims",
    "index_vector_dim",
];
/// The parts of `#stablehlo.dot<…>`.
pub(crate) const DOT: &[&str] = &[
    "lhs_batching_dimensions",
    "rhs_batching_dimensions",
    "lhs_contracting_dimensions",
    "rhs_contracting_dimensions",
];
/// The parts of `#stablehlo.dot_algorithm<…>`: types, then numbers, then a truth value.
pub(crate) const DOT_ALGORITHM: &[&str] = &[
    "lhs_precision_type",
    "rhs_precision_type",
    "accumulation_type",
    "lhs_component_count",
    "rhs_component_count",
    "num_primitive_operations",
    "allow_imprecise_accumulation",
];

impl Part {
    pub(crate) fn text(&self) -> String {
        match self {
            Part::List(numbers) => format!("{numbers:?}"),
            Part::Number(number) => number.to_string(),
        }
    }
}

/// `#stablehlo.gather<offset_dims = [0], …>`
pub(crate) fn named_parts(attribute: &str, names: &[&str], texts: &[String]) -> String {
    let parts: Vec<String> = names.iter().zip(texts).map(|(name, text)| format!("{name} = {text}")).collect();
    format!("#stablehlo.{attribute}<{}>", parts.join(", "))
}

/// The roles of the dimensions of an array of a convolution: which is batch or input feature, which is feature or output feature, and
/// the spatial ones in order.
pub(crate) struct Side {
    pub(crate) first: i64,
    pub(crate) second: i64,
    pub(crate) spatial: Vec<i64>,
}

/// `#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>`, or the dimension that does not exist or has two roles.
pub(crate) fn convolution(sides: &[Side; 3]) -> Result<String, i64> {
    let side = |side: &Side, names: [&str; 2]| {
        let mut roles: Vec<Option<String>> = vec![None; side.spatial.len() + 2];
        let places = [(side.first, names[0].to_owned()), (side.second, names[1].to_owned())];
        let spatial = side.spatial.iter().enumerate().map(|(n, place)| (*place, n.to_string()));
        for (place, role) in places.into_iter().chain(spatial) {
            match usize::try_from(place).ok().and_then(|place| roles.get_mut(place)) {
                Some(slot) if slot.is_none() => *slot = Some(role),
                _ => return Err(place),
            }
        }
        let roles: Vec<String> = roles.into_iter().flatten().collect();
        Ok(format!("[{}]", roles.join(", ")))
    };
    let [input, kernel, output] = sides;
    let (input, kernel) = (side(input, ["b", "f"])?, side(kernel, ["i", "o"])?);
    Ok(format!("#stablehlo.conv<{input}x{kernel}->{}>", side(output, ["b", "f"])?))
}

pub(crate) fn channel(handle: i64, kind: i64) -> String {
    format!("#stablehlo.channel_handle<handle = {handle}, type = {kind}>")
}
