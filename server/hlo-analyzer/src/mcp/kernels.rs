//! `kernels`: the kernels of a module by time.

use ide::{HeavyKernel, bound, duration};
use ropey::Rope;

use super::answer::{Answer, Window};
use super::arguments::Arguments;
use super::source::{Asked, line, origin};
use crate::api::{ApiError, Session};

pub(super) fn kernels(
    session: &mut Session,
    arguments: &Arguments,
    window: &Window,
) -> Result<Answer, ApiError> {
    let asked = Asked::of(session, arguments)?;
    let kind = arguments.text("kind");
    asked.ask(session, |analysis, file| {
        let heaviest = analysis.heaviest_kernels(file, usize::MAX)?;
        let rope = analysis.text(file);
        let of_kind: Vec<&HeavyKernel> =
            heaviest.kernels.iter().filter(|one| kind.is_none_or(|kind| one.kind.contains(kind))).collect();
        let head = vec![asked.path.clone(), heaviest.summary()];
        Ok(Answer::new(head, window.page(&of_kind, "kernel", |kernel| row(rope, kernel))))
    })
}

/// `%fusion.3 (loop) line 41 · ≈ 8.2 µs, 61.2 % · bound by memory · 3 runs · 25.2 MB needed, 201 MB moved · jit(step)/tanh · layer.py:9`
pub(super) fn row(rope: &Rope, kernel: &HeavyKernel) -> String {
    let figures = &kernel.figures;
    let sign = ide::time_sign(figures.is_at_least);
    let runs = match kernel.executions {
        1 => String::new(),
        runs => format!(" in {runs} runs"),
    };
    format!(
        "%{} ({}) line {} · {sign} {}{runs}, {:.1} % of the module · bound by {} · {}{}",
        kernel.name,
        kernel.kind,
        line(rope, kernel.range.start),
        duration(kernel.total_us),
        kernel.share * 100.0,
        bound(figures.bound),
        figures.traffic(),
        origin(&kernel.origin),
    )
}
