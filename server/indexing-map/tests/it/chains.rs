//! Long chains of reshapes and transposes: neither the map nor the cost of a step grows along the chain.

use indexing_map::{Expr, IndexingMap, SimplifyMode, Verdict, same_function};

/// The map from elements of `output` to elements of `input`, both row-major.
fn reshape(output: &[i64], input: &[i64]) -> IndexingMap {
    let linear = output.iter().enumerate().fold(Expr::ZERO, |sum, (i, size)| sum * *size + Expr::var(i));
    let mut stride: i64 = input.iter().product();
    let along = |size: &i64| {
        let whole = stride;
        stride /= size;
        linear.clone().modulo(whole).floor_div(stride)
    };
    IndexingMap::from_sizes(output, &[], input.iter().map(along).collect())
}

fn transpose(output: &[i64], order: &[usize]) -> IndexingMap {
    IndexingMap::from_sizes(output, &[], order.iter().map(|&i| Expr::var(i)).collect())
}

/// Composes and simplifies step by step; returns the map and the rewrite steps of each quarter.
fn run(steps: &[IndexingMap], length: usize) -> (IndexingMap, [u64; 4]) {
    let mut map =
        IndexingMap::identity(&steps[0].dims().iter().map(|d| d.bounds.upper + 1).collect::<Vec<_>>());
    let mut quarters = [0; 4];
    for k in 0..length {
        map = map.compose(&steps[k % steps.len()]);
        let outcome = map.simplify(SimplifyMode::Replace);
        assert!(!outcome.bound_reached);
        quarters[k * 4 / length] += outcome.steps;
    }
    (map, quarters)
}

fn heads() -> Vec<IndexingMap> {
    vec![
        reshape(&[8, 128, 1024], &[8, 128, 16, 64]),
        transpose(&[8, 128, 16, 64], &[0, 2, 1, 3]),
        reshape(&[8, 16, 128, 64], &[128, 128, 64]),
        reshape(&[128, 128, 64], &[8, 16, 128, 64]),
        transpose(&[8, 16, 128, 64], &[0, 2, 1, 3]),
        reshape(&[8, 128, 16, 64], &[8, 128, 1024]),
    ]
}

#[test]
fn there_and_back_is_the_identity() {
    let (map, _) = run(&heads(), 600);
    assert!(map.is_identity(), "{map}");
}

fn mixed() -> Vec<IndexingMap> {
    vec![
        reshape(&[64, 1024], &[64, 16, 64]),
        transpose(&[64, 16, 64], &[2, 1, 0]),
        reshape(&[64, 16, 64], &[8, 8, 1024]),
        transpose(&[8, 8, 1024], &[2, 1, 0]),
        reshape(&[1024, 8, 8], &[64, 1024]),
    ]
}

/// Each round through the shapes mixes the bits of the index further, but 16 bits have at most 16 digits.
#[test]
fn mixed_digits_stay_few() {
    let (map, _) = run(&mixed(), 400);
    assert!(map.is_mapped() && map.node_count() <= 120, "{} nodes: {map}", map.node_count());
    let again = map.clone().simplified(SimplifyMode::Replace);
    assert_eq!(same_function(&map, &again, 100), Verdict::Yes);
}

/// A step at the end of a chain costs as much as one in its middle. Steps are counted, not timed. (The first
/// quarter of the second chain is cheaper because its digits are not yet mixed.)
#[test]
fn cost_is_flat_along_the_chain() {
    for steps in [heads(), mixed()] {
        let (_, [_, second, third, fourth]) = run(&steps, 2400);
        assert!(
            second > 0 && third <= second + second / 4 && fourth <= second + second / 4,
            "{second} {third} {fourth}"
        );
    }
}
