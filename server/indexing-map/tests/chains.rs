//! Long chains of reshapes and transposes: the map stays as small as the function is, and so does the cost of a step.

use std::time::{Duration, Instant};

use indexing_map::{Expr, IndexingMap, SimplifyMode, Verdict, same_function};

/// The element of `input` behind each element of `output`, both row-major.
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

/// Composes and simplifies step by step; the time of each quarter.
fn run(steps: &[IndexingMap], length: usize) -> (IndexingMap, Vec<Duration>) {
    let mut map =
        IndexingMap::identity(&steps[0].dims().iter().map(|d| d.bounds.upper + 1).collect::<Vec<_>>());
    let mut quarters = Vec::new();
    let mut start = Instant::now();
    for k in 0..length {
        map = map.compose(&steps[k % steps.len()]);
        assert!(!map.simplify(SimplifyMode::Replace).bound_reached);
        if (k + 1) % (length / 4) == 0 {
            quarters.push(start.elapsed());
            start = Instant::now();
        }
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

/// Each round through the shapes mixes the bits of the index further; 16 bits are 16 digits at most.
#[test]
fn mixed_digits_stay_few() {
    let steps = [
        reshape(&[64, 1024], &[64, 16, 64]),
        transpose(&[64, 16, 64], &[2, 1, 0]),
        reshape(&[64, 16, 64], &[8, 8, 1024]),
        transpose(&[8, 8, 1024], &[2, 1, 0]),
        reshape(&[1024, 8, 8], &[64, 1024]),
    ];
    let (map, _) = run(&steps, 400);
    assert!(map.is_mapped() && map.node_count() <= 120, "{} nodes: {map}", map.node_count());
    let again = map.clone().simplified(SimplifyMode::Replace);
    assert_eq!(same_function(&map, &again, 100), Verdict::Yes);
}

/// The last quarter of a chain costs no more than the first. Generous, and tried again, because machines are shared.
#[test]
fn cost_is_flat_along_the_chain() {
    let flat = (0..5).any(|_| {
        let (_, quarters) = run(&heads(), 2400);
        quarters[3] < quarters[0] * 3
    });
    assert!(flat);
}
