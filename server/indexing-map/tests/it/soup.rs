//! Random expressions up to the limits of size and depth, on the 2 MiB stack of a worker thread: nothing
//! panics or overflows, and rewrites keep values where there are any.

use indexing_map::{
    BinaryOp, Expr, IndexingMap, Interval, PrintStyle, SimplifyMode, Variable, Verdict, domain_short,
    parse_map, print_map, same_function,
};
use random::Rng;

fn constant(random: &mut Rng) -> i64 {
    const EXTREMES: [i64; 8] = [i64::MIN, i64::MAX, -1, 0, 1, 1 << 31, -(1 << 62), i64::MAX - 1];
    match random.index(20) {
        0 => *random.pick(&EXTREMES),
        1..4 => -random.range(0, 8),
        _ => random.range(1, 70),
    }
}

/// Combines random expressions of a pool until one has `nodes` operators or is `depth` deep. Prefers recent
/// ones, so that it gets there.
fn soup(random: &mut Rng, variables: usize, nodes: usize, depth: usize) -> Expr {
    let mut pool: Vec<Expr> = (0..variables).map(Expr::var).collect();
    loop {
        let recent = pool.len() - 1 - random.index(3.min(pool.len()));
        let a = pool[recent].clone();
        let b = match random.index(3) {
            0 => pool[random.index(pool.len())].clone(),
            1 => Expr::var(random.index(variables)),
            _ => Expr::Const(constant(random)),
        };
        let op = BinaryOp::ALL[random.index(BinaryOp::ALL.len())];
        let next = if random.index(8) == 0 { Expr::binary(op, b, a) } else { Expr::binary(op, a, b) };
        if next.is_too_large() || next.node_count() > nodes || next.depth() > depth {
            return pool.pop().unwrap_or(Expr::ZERO);
        }
        if next.as_binary().is_some() {
            pool.push(next);
        } else if random.index(64) == 0 {
            pool.truncate(variables);
        }
    }
}

fn stir(seed: u64) {
    let mut random = Rng::new(seed);
    let sizes = [(12, 8), (60, 30), (400, 100), (4000, Expr::MAX_DEPTH), (Expr::MAX_NODES, Expr::MAX_DEPTH)];
    let (nodes, depth) = sizes[(seed % sizes.len() as u64) as usize];
    let n = 1 + random.index(5);
    let variables = (0..n)
        .map(|_| match random.index(10) {
            0 => Variable::from(Interval::ALL),
            1 => Variable::new(constant(&mut random), i64::MAX),
            _ => Variable::new(-(random.index(5) as i64), random.index(2000) as i64),
        })
        .collect();
    let results = (0..2).map(|_| soup(&mut random, n, nodes, depth)).collect();
    let mut map = IndexingMap::new(variables, vec![], vec![], results);
    for _ in 0..random.index(3) {
        let lower = constant(&mut random);
        let upper = lower.saturating_add(random.index(5000) as i64);
        map.add_constraint(soup(&mut random, n, nodes.min(400), depth), Interval::new(lower, upper));
    }
    let points: Vec<Vec<i64>> = (0..8)
        .map(|_| {
            let within = |v: &Variable| match random.index(3) {
                0 => v.bounds.lower,
                1 => v.bounds.upper,
                _ => {
                    v.bounds.lower.saturating_add(random.index(v.bounds.size().min(1 << 30) as usize) as i64)
                }
            };
            map.variables().iter().map(within).collect()
        })
        .collect();
    let simple = map.clone().simplified(SimplifyMode::Replace);
    for p in &points {
        if let (Some(a), Some(b)) = (map.evaluate(p), simple.evaluate(p)) {
            assert_eq!(a, b, "seed {seed} at {p:?}");
        }
    }
    for m in [&map, &simple] {
        let text = print_map(m, PrintStyle::Symbolic);
        // Nesting beyond the parser's limit is refused, not dropped.
        if let Ok(again) = parse_map(&text)
            && m.is_mapped()
        {
            assert_eq!(&again, m, "seed {seed}");
        }
        domain_short(m, PrintStyle::Floordiv);
        m.clone().tighten_bounds();
        m.clone().remove_unused_vars();
        m.clone().rescale_symbols();
        if let Verdict::No { witness } = m.is_empty(20) {
            assert!(m.contains(&witness), "seed {seed}");
        }
    }
    assert!(!matches!(same_function(&map, &simple, 20), Verdict::No { .. }), "seed {seed}");
    drop(map.compose(&map.symbols_to_dims()));
    map.result_ranges();
    for r in map.results() {
        r.canonicalize();
    }
}

/// Runs 60 seeds, or `SOUP_SEEDS`.
#[test]
fn nothing_overflows_or_panics() {
    let seeds = std::env::var("SOUP_SEEDS").ok().and_then(|s| s.parse().ok()).unwrap_or(60);
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(move || (0..seeds).for_each(stir));
    assert!(thread.unwrap().join().is_ok());
}
