//! Types of arrays as text.

use random::Rng;

pub(super) const ELEMENTS: [&str; 5] = ["f32", "i8", "complex<f32>", "index", "bf16"];

/// An array type with some extents replaced by `?`.
pub fn ty(kind: &str, shape: &[i64], element: &str, dynamic: &[bool]) -> String {
    let is_dynamic = |k: usize| dynamic.get(k) == Some(&true);
    let known: Vec<_> = shape.iter().enumerate().map(|(k, &n)| (!is_dynamic(k)).then_some(n)).collect();
    array(kind, &known, element)
}

fn array(kind: &str, extents: &[Option<i64>], element: &str) -> String {
    let extents: String = extents.iter().map(|e| e.map_or("?x".into(), |e| format!("{e}x"))).collect();
    format!("{kind}<{extents}{element}>")
}

/// A tensor type with an encoding, as it is written behind the type of the elements.
pub(super) fn partial(shape: &[Option<i64>], element: &str, encoding: &str) -> String {
    array("tensor", shape, &format!("{element}{encoding}"))
}

/// `tensor<2x3xf32>`
pub fn tensor(shape: &[i64]) -> String {
    ty("tensor", shape, "f32", &[])
}

/// `vector<2x3xf32>`, or a scalar type for rank 0.
pub fn vector(shape: &[i64]) -> String {
    match shape {
        [] => "f32".to_owned(),
        _ => ty("vector", shape, "f32", &[]),
    }
}

/// Flags for `n` extents, a third of which are dynamic.
pub fn flags(random: &mut Rng, n: usize) -> Vec<bool> {
    (0..n).map(|_| random.below(0..3) == 0).collect()
}

/// All indices of an array, in row-major order.
pub fn indices(shape: &[i64]) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    for &n in shape {
        all = all.into_iter().flat_map(|i| (0..n).map(move |x| [i.clone(), vec![x]].concat())).collect();
    }
    all
}
