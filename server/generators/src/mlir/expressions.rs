//! Affine expressions.

use random::Rng;

/// A number as a function of the values of names.
pub type Value = dyn Fn(&dyn Fn(&str) -> i64) -> i64;

/// A random affine expression over names, as text and as a function of their values.
pub fn expression(random: &mut Rng, names: &[&str], depth: u32) -> (String, Box<Value>) {
    let leaf = depth == 0 || random.below(0..3) == 0;
    if leaf && random.below(0..4) > 0 {
        let name = names[random.below(0..names.len() as i64) as usize].to_owned();
        return (name.clone(), Box::new(move |v| v(&name)));
    }
    let c = random.below(1..6);
    if leaf {
        return (c.to_string(), Box::new(move |_| c));
    }
    let (a, f) = expression(random, names, depth - 1);
    match random.below(0..5) {
        0 => {
            let (b, g) = expression(random, names, depth - 1);
            (format!("({a} + {b})"), Box::new(move |v| f(v) + g(v)))
        }
        1 => {
            let (b, g) = expression(random, names, depth - 1);
            (format!("({a} - {b})"), Box::new(move |v| f(v) - g(v)))
        }
        2 => (format!("{a} * {c}"), Box::new(move |v| f(v) * c)),
        3 => (format!("{a} floordiv {c}"), Box::new(move |v| f(v).div_euclid(c))),
        _ => (format!("{a} mod {c}"), Box::new(move |v| f(v).rem_euclid(c))),
    }
}
