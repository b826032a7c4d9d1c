//! Bytes and times of a kernel: what stands on one line does not contradict itself, and the places agree.

use ide::{FusionQuery, HoverConfig};

use crate::modules;

/// Bytes of `12.6 MB`.
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

/// The part of a line of facts that `is_it`.
fn fact(line: &str, is_it: impl Fn(&str) -> bool) -> Option<&str> {
    line.split(" · ").find(|part| is_it(part))
}

fn check(name: &str, text: &str) -> usize {
    let (analysis, file) = modules::open(text);
    let said = "nobody cancels";
    let mut compared = 0;
    for place in modules::instructions(&analysis, file) {
        let Some(lens) = analysis.code_lens(file, place.at).expect(said).filter(|lens| lens.is_kernel) else {
            continue;
        };
        let hover = analysis.hover_with(file, place.at, &HoverConfig::default()).expect(said);
        let hover = hover.map(|hover| hover.markdown).unwrap_or_default();
        let Some(line) = hover.lines().find(|line| line.starts_with("**") && line.contains("** on ")) else {
            continue;
        };
        let is_traffic = |part: &str| bytes(part).is_some() || part.contains(" needed, ");
        let is_time = |part: &str| part.starts_with('≈') || part.starts_with("at least");
        assert_eq!(fact(line, is_time), lens.time.as_deref(), "{name}, %{}: {line}", place.name);
        // As much of it as fits.
        let in_lens = lens
            .title
            .split(" · ")
            .find(|part| bytes(part.trim_end_matches(" moved")).is_some() || is_traffic(part));
        if let (Some(told), Some(traffic)) = (in_lens, fact(line, is_traffic)) {
            assert!(traffic.contains(told), "{name}, %{}: {told} is not in {traffic}", place.name);
        }
        // The line names no more than the sum of what the arrays move at worst.
        let query =
            FusionQuery { instruction: place.name.clone(), computation: Some(place.computation.clone()) };
        let Ok(buffers) = analysis.coalescing(file, &query, None).expect(said) else { continue };
        let moved: Option<u64> =
            buffers.iter().filter(|b| !b.maps.is_empty()).map(|b| Some(b.worst?.bytes_moved())).sum();
        let (Some(moved), Some(traffic)) = (moved, fact(line, is_traffic)) else { continue };
        let told = match traffic.split_once(" needed, ") {
            Some((_, told)) => bytes(told.trim_end_matches(" moved")),
            None => bytes(traffic),
        };
        let told = told.unwrap_or_else(|| panic!("{name}: {traffic}"));
        // Neighbouring instructions of a thread share sectors, so the kernel can move less than its accesses counted one by
        // one. The slack is the rounding of the printed number.
        assert!(
            told <= moved as f64 * 1.06 + 64.0,
            "{name}, %{}: {moved} bytes moved beside {traffic}",
            place.name
        );
        compared += 1;
    }
    compared
}

#[test]
fn bytes_and_times_do_not_contradict_each_other() {
    let compared: usize = modules::all(11).iter().map(|(name, text)| check(name, text)).sum();
    eprintln!("{compared} kernels compared");
    assert!(compared >= 6);
}
