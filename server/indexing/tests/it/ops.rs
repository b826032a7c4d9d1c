//! One op at a time, with random shapes and attributes, in both directions.

use proptest::prelude::*;

use crate::compare::{check_input_to_output, check_output_to_input};
use crate::generate::Program;

fn check(seed: u64, build: impl Fn(&mut Program)) {
    let mut program = Program::new(seed);
    build(&mut program);
    check_output_to_input(&program);
    check_input_to_output(&program);
}

fn operand(program: &mut Program, rank: std::ops::RangeInclusive<i64>) -> usize {
    let rank = program.random.range(*rank.start(), *rank.end());
    let dims = program.random.sizes(rank, 5);
    program.parameter(&dims)
}

/// One test per op: `name: ranks of its first operand, constructor`.
macro_rules! ops {
    ($($name:ident: $rank:expr, $build:expr;)*) => {
        proptest! {
            #![proptest_config(crate::cases(200))]
            $(
                #[test]
                fn $name(seed in any::<u64>()) {
                    check(seed, |program| {
                        let first = operand(program, $rank);
                        let build: fn(&mut Program, usize) = $build;
                        build(program, first);
                    });
                }
            )*
        }
    };
}

ops! {
    elementwise: 0..=3, |p, a| {
        let b = p.parameter(&p.dims(a));
        p.elementwise(a, b);
    };
    broadcast: 0..=2, |p, a| _ = p.broadcast(a);
    transpose: 0..=4, |p, a| _ = p.transpose(a);
    reverse: 0..=3, |p, a| _ = p.reverse(a);
    slice: 0..=3, |p, a| _ = p.slice(a);
    reshape: 0..=4, |p, a| _ = p.reshape(a);
    concatenate: 1..=3, |p, a| {
        let dims = p.dims(a);
        let dim = p.random.range(0, dims.len() as i64 - 1) as usize;
        let mut operands = vec![a];
        for _ in 0..p.random.range(0, 2) {
            let mut other = dims.clone();
            other[dim] = p.random.range(1, 3);
            operands.push(p.parameter(&other));
        }
        p.concatenate(&operands, dim);
    };
    pad: 0..=2, |p, a| _ = p.pad(a);
    dynamic_slice: 1..=3, |p, a| _ = p.dynamic_slice(a);
    dynamic_update_slice: 1..=2, |p, a| _ = p.dynamic_update_slice(a);
    reduce: 0..=3, |p, a| _ = p.reduce(a);
    reduce_window: 1..=2, |p, a| _ = p.reduce_window(a);
    dot: 0..=3, |p, a| _ = p.dot(a, false);
    scaled_dot: 1..=3, |p, a| _ = p.dot(a, true);
    gather: 1..=3, |p, a| _ = p.gather(a);
    scatter: 1..=3, |p, a| _ = p.scatter(a);
    sort: 1..=3, |p, a| _ = p.sort(a);
    topk: 1..=3, |p, a| _ = p.topk(a);
    scan: 1..=3, |p, a| _ = p.scan(a);
    select_and_scatter: 1..=2, |p, a| _ = p.select_and_scatter(a);
    batch_norm: 1..=3, |p, a| _ = p.batch_norm(a);
    fft: 1..=3, |p, a| _ = p.fft(a);
    dynamic_reshape: 0..=3, |p, a| _ = p.dynamic_reshape(a);
}

proptest! {
    #![proptest_config(crate::cases(200))]

    #[test]
    fn bitcast(seed in any::<u64>()) {
        check(seed, |p| {
            let rank = p.random.range(0, 4);
            let dims = p.random.sizes(rank, 4);
            let order = p.random.permutation(dims.len());
            let a = p.parameter_in(&dims, order);
            p.bitcast(a);
        });
    }

    #[test]
    fn bitcast_between_widths(seed in any::<u64>()) {
        check(seed, |p| _ = p.bitcast_width());
    }

    #[test]
    fn cholesky(seed in any::<u64>()) {
        check(seed, |p| _ = p.cholesky());
    }

    #[test]
    fn triangular_solve(seed in any::<u64>()) {
        check(seed, |p| _ = p.triangular_solve());
    }

    #[test]
    fn ragged_dot(seed in any::<u64>()) {
        check(seed, |p| _ = p.ragged_dot());
    }

    #[test]
    fn convolution(seed in any::<u64>()) {
        check(seed, |p| _ = p.convolution());
    }
}
