//! Bytes and times of a kernel: every feature shows the same figures, and they equal the sums over the
//! kernel's requests.

use ide::{Analysis, BufferReply, FileId, FusionQuery, HeavyKernel, HoverConfig};

use crate::modules;

const SAID: &str = "nobody cancels";
/// The relative error of rounding to three digits.
const ROUNDING: f64 = 0.006;

/// The bytes in a text such as `12.6 MB`.
fn bytes(text: &str) -> Option<f64> {
    let (number, unit) = text.trim().split_once(' ')?;
    let scale = match unit {
        "B" => 1.0,
        "kB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        _ => return None,
    };
    Some(number.parse::<f64>().ok()? * scale)
}

fn is_near(shown: f64, exact: u64) -> bool {
    (shown - exact as f64).abs() <= exact as f64 * ROUNDING
}

/// A kernel's figures in its hover: `25.2 MB needed, 201 MB moved` and `≈ 4.1 µs` of its summary line, and
/// the lines about arrays.
struct Shown {
    traffic: String,
    time: String,
    arrays: Vec<String>,
}

fn shown(hover: &str) -> Option<Shown> {
    let line = hover.lines().find(|line| line.starts_with("**") && line.contains("** on "))?;
    let fact = |is_it: &dyn Fn(&str) -> bool| line.split(" · ").find(|part| is_it(part)).map(str::to_owned);
    let is_array = |line: &&str| line.starts_with("- reads ") || line.starts_with("- writes ");
    Some(Shown {
        traffic: fact(&|part| bytes(part).is_some() || part.contains(" needed"))?,
        time: fact(&|part| part.starts_with(['≈', '≥']))?,
        arrays: hover.lines().filter(is_array).map(str::to_owned).collect(),
    })
}

/// The way in which the requests of an array are counted, which determines the bounds of its figure.
enum Counted {
    /// Each instruction is a separate request: the figure is their sum.
    OneByOne,
    /// Instructions at adjacent addresses are one request: the figure is at most the sum, and at least the
    /// bytes that the lanes use.
    WithReuse,
    /// The addresses of a gather depend on data: the figure is at most the worst case and at least the best.
    AtWorst,
}

fn counted(buffer: &BufferReply) -> Option<Counted> {
    let (best, worst) = buffer.with_reuse?;
    Some(match () {
        () if buffer.judged? != best => Counted::AtWorst,
        () if Some(best) != buffer.best || Some(worst) != buffer.worst => Counted::WithReuse,
        () => Counted::OneByOne,
    })
}

/// Checks the requests of `buffers` and counts in `seen` how each was counted.
fn check_requests(
    what: &str,
    buffers: &[BufferReply],
    shown: &Shown,
    heavy: &HeavyKernel,
    seen: &mut [usize; 3],
) {
    let moved = heavy.figures.bytes_moved;
    let is_accessed = |b: &&BufferReply| !b.maps.is_empty() || b.is_predicted && !b.widths.is_empty();
    let arrays: Vec<&BufferReply> = buffers.iter().filter(is_accessed).collect();
    let mut sum = Some(0);
    for buffer in &arrays {
        let (Some(judged), Some(best), Some(worst)) = (buffer.judged, buffer.best, buffer.worst) else {
            sum = None;
            continue;
        };
        let own = judged.bytes_moved();
        sum = sum.map(|sum| sum + own);
        match counted(buffer).expect("it is judged") {
            Counted::OneByOne => {
                assert_eq!(judged, best, "{what}, {}", buffer.name);
                seen[0] += 1;
            }
            Counted::WithReuse => {
                assert!(own <= best.bytes_moved(), "{what}, {}: {own} of {best:?}", buffer.name);
                assert!(own >= judged.bytes_used, "{what}, {}: {judged:?}", buffer.name);
                seen[1] += 1;
            }
            Counted::AtWorst => {
                let least = buffer.with_reuse.expect("it is judged").0;
                assert!(own <= worst.bytes_moved() && own >= least.bytes_moved(), "{what}, {}", buffer.name);
                seen[2] += 1;
            }
        }
        // The hover's line about the array, whose figures a warning repeats.
        let figures = |line: &&String| {
            let (_, figures) = line.split_once("), ")?;
            let figures = figures.split(" — ").next()?.split("; cause: ").next()?;
            let (moved, used) = figures.split_once(" moved")?;
            let (_, used) = used.split_once(" for ")?;
            Some((bytes(moved)?, bytes(used.split(", ").next()?)?))
        };
        let name = format!("`%{}`", buffer.name);
        let of_array: Vec<(f64, f64)> =
            shown.arrays.iter().filter(|line| line.contains(&name)).filter_map(|l| figures(&l)).collect();
        assert!(
            of_array.iter().any(|&(moved, used)| is_near(moved, own) && is_near(used, judged.bytes_used)),
            "{what}: {name} moves {own} for {}, shown is {:?}",
            judged.bytes_used,
            shown.arrays
        );
    }
    if arrays.is_empty() || buffers.iter().any(|b| b.unknown.is_some()) {
        assert_eq!(moved, None, "{what}");
        return;
    }
    assert_eq!(moved, sum, "{what}");
}

/// Returns the number of kernels compared.
fn check(name: &str, text: &str, seen: &mut [usize; 3]) -> usize {
    let (analysis, file) = modules::open(text);
    let heaviest = analysis.heaviest_kernels(file, 10_000).expect(SAID);
    let mut explained = String::new();
    analysis.annotate(file, &mut |chunk| explained += chunk).expect(SAID);
    let mut compared = 0;
    for place in modules::instructions(&analysis, file) {
        let what = format!("{name}, %{}", place.name);
        let Some(lens) = analysis.code_lens(file, place.at, false).expect(SAID).filter(|lens| lens.is_kernel)
        else {
            continue;
        };
        let hover = analysis.hover_with(file, place.at, &HoverConfig::default()).expect(SAID);
        let Some(shown) = hover.and_then(|hover| shown(&hover.markdown())) else { continue };
        assert_eq!(Some(&shown.time), lens.time.as_ref(), "{what}");
        // The lens has only the parts that fit.
        let in_lens = lens.title.split(" · ").find(|part| {
            bytes(part.trim_end_matches(" moved").trim_end_matches(" needed")).is_some()
                || part.contains(" needed, ")
        });
        assert!(in_lens.is_none_or(|part| shown.traffic.contains(part)), "{what}: {in_lens:?}");
        let own =
            |kernel: &&HeavyKernel| kernel.name == place.name && kernel.computation == place.computation;
        let Some(heavy) = heaviest.kernels.iter().find(own) else { continue };
        assert_eq!(heavy.figures.traffic(), shown.traffic, "{what}");
        assert_eq!(heavy.figures.time(), shown.time, "{what}");
        let facts = format!("· {} · {}\n", shown.traffic, shown.time);
        assert!(explained.contains(&facts), "{what}: {facts} is not explained");
        check_warnings(&analysis, file, &what, &place, &shown);
        let query =
            FusionQuery { instruction: place.name.clone(), computation: Some(place.computation.clone()) };
        let Ok(buffers) = analysis.coalescing(file, &query, None).expect(SAID) else { continue };
        check_requests(&what, &buffers, &shown, heavy, seen);
        let needed = heavy.figures.bytes_needed;
        if let Some(moved) = heavy.figures.bytes_moved {
            assert!(needed <= moved, "{what}: {needed} bytes needed, {moved} moved");
        }
        compared += 1;
    }
    compared
}

/// A warning at the launch has the bytes of the hover's line about that array.
fn check_warnings(analysis: &Analysis, file: FileId, what: &str, place: &modules::Place, shown: &Shown) {
    let config = ide::CoalescingConfig { marks_causes: false, ..ide::CoalescingConfig::default() };
    let found = analysis.coalescing_warnings(file, &config, 1000).expect(SAID).shown;
    for warning in found.iter().filter(|w| (place.at..place.end).contains(&w.range.start)) {
        let head = warning.message.lines().next().unwrap_or_default();
        let figures = head.rsplit("; ").next().unwrap_or_default().trim_end_matches(" (sampled)");
        let line = figures.trim_end_matches(" used").replacen(", ", " for ", 1);
        assert!(shown.arrays.iter().any(|array| array.contains(&line)), "{what}: {line}, {:?}", shown.arrays);
    }
}

#[test]
fn bytes_and_times_do_not_contradict_each_other() {
    let mut seen = [0; 3];
    let compared: usize = modules::all(11).iter().map(|(name, text)| check(name, text, &mut seen)).sum();
    let [one_by_one, with_reuse, at_worst] = seen;
    eprintln!(
        "{compared} kernels compared; arrays: {one_by_one} counted one by one, {with_reuse} with reuse, {at_worst} at worst"
    );
    assert!(compared >= 6 && one_by_one > 0 && with_reuse > 0 && at_worst > 0, "{compared}, {seen:?}");
}
