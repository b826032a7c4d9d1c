//! What verifying costs beside parsing and lowering: `verify_cost FILE…`. Times are the fastest of five.

use std::io::{Write, stdout};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ir::Surroundings;
use syntax::hlo::PieceState;

fn fastest<T>(mut f: impl FnMut() -> T) -> (Duration, T) {
    let mut best: Option<(Duration, T)> = None;
    for _ in 0..5 {
        let started = Instant::now();
        let value = f();
        let elapsed = started.elapsed();
        if best.as_ref().is_none_or(|(least, _)| elapsed < *least) {
            best = Some((elapsed, value));
        }
    }
    best.expect("it ran")
}

fn main() {
    for path in std::env::args().skip(1) {
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => Arc::<str>::from(text),
            Err(error) => {
                eprintln!("{path}: {error}");
                continue;
            }
        };
        let (parse, parsed) = fastest(|| Arc::new(syntax::hlo::parse(&text, PieceState::HEADER)));
        let (lower, block) = fastest(|| ir::lower(text.clone(), parsed.clone()));
        let around = Surroundings::alone(&block);
        let (verify, findings) = fastest(|| ir::verify(&block, &around));
        _ = writeln!(
            stdout(),
            "{path}: {} instructions, parse {parse:?}, lower {lower:?}, verify {verify:?} ({:.1} % of parse), {} findings",
            block.parse.instructions.len(),
            100.0 * verify.as_secs_f64() / parse.as_secs_f64(),
            findings.len(),
        );
    }
}
