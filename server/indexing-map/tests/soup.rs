//! Random expressions up to the limits of size and depth, on the 2 MiB stack of a worker thread: nothing
//! panics or overflows, and rewrites keep values where there are any.

use indexing_map::{
    BinaryOp, Expr, IndexingMap, Interval, PrintStyle, SimplifyMode, Variable, Verdict, domain_short,
    parse_map, print_map, same_function,
};

/// A small generator; the seed is printed when a test fails.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n.max(1)
    }

    fn constant(&mut self) -> i64 {
        const EXTREMES: [i64; 8] = [i64::MIN, i64::MAX, -1, 0, 1, 1 << 31, -(1 << 62), i64::MAX - 1];
        match self.below(20) {
            0 => EXTREMES[self.below(8)],
            1..4 => -(self.below(9) as i64),
            _ => 1 + self.below(70) as i64,
        }
    }
}

/// Combines random expressions of a pool until one has `nodes` operators or is `depth` deep. Prefers recent
/// ones, so that it gets there.
fn soup(random: &mut Random, variables: usize, nodes: usize, depth: usize) -> Expr {
    let mut pool: Vec<Expr> = (0..variables).map(Expr::var).collect();
    loop {
        let recent = pool.len() - 1 - random.below(3.min(pool.len()));
        let a = pool[recent].clone();
        let b = match random.below(3) {
            0 => pool[random.below(pool.len())].clone(),
            1 => Expr::var(random.below(variables)),
            _ => Expr::Const(random.constant()),
        };
        let op = BinaryOp::ALL[random.below(BinaryOp::ALL.len())];
        let next = if random.below(8) == 0 { Expr::binary(op, b, a) } else { Expr::binary(op, a, b) };
        if next.is_too_large() || next.node_count() > nodes || next.depth() > depth {
            return pool.pop().unwrap_or(Expr::ZERO);
        }
        if next.as_binary().is_some() {
            pool.push(next);
        } else if random.below(64) == 0 {
            pool.truncate(variables);
        }
    }
}

fn stir(seed: u64) {
    let mut random = Random(seed);
    let sizes = [(12, 8), (60, 30), (400, 100), (4000, Expr::MAX_DEPTH), (Expr::MAX_NODES, Expr::MAX_DEPTH)];
    let (nodes, depth) = sizes[(seed % sizes.len() as u64) as usize];
    let n = 1 + random.below(5);
    let variables = (0..n)
        .map(|_| match random.below(10) {
            0 => Variable::from(Interval::ALL),
            1 => Variable::new(random.constant(), i64::MAX),
            _ => Variable::new(-(random.below(5) as i64), random.below(2000) as i64),
        })
        .collect();
    let results = (0..2).map(|_| soup(&mut random, n, nodes, depth)).collect();
    let mut map = IndexingMap::new(variables, vec![], vec![], results);
    for _ in 0..random.below(3) {
        let lower = random.constant();
        let upper = lower.saturating_add(random.below(5000) as i64);
        map.add_constraint(soup(&mut random, n, nodes.min(400), depth), Interval::new(lower, upper));
    }
    let points: Vec<Vec<i64>> = (0..8)
        .map(|_| {
            let within = |v: &Variable| match random.below(3) {
                0 => v.bounds.lower,
                1 => v.bounds.upper,
                _ => {
                    v.bounds.lower.saturating_add(random.below(v.bounds.size().min(1 << 30) as usize) as i64)
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
