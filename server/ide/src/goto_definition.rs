//! Go to definition of names. In HLO also from `parameter(n)` to the operands passed for it at calls of its
//! computation, and from `get-tuple-element`, its index or a `#n` suffix to the element of the tuple.

use crate::NavigationTarget;
use crate::file_context::FileContext;

/// The definitions of the name at `offset`; several if several modules define a symbol.
pub(crate) fn goto_definition(context: &FileContext<'_>, offset: usize) -> Vec<NavigationTarget> {
    let semantics = context.semantics();
    let Some(name) = semantics.name_at(context, offset) else {
        return semantics.targets_beside_names(context, offset);
    };
    let origin = context.range(name.at.piece, name.at.span);
    let found = semantics.definitions(context, &name.symbol).into_iter();
    let target = |defined: crate::symbol::Defined| NavigationTarget {
        origin: origin.clone(),
        range: defined.range,
        selection_range: defined.name,
    };
    found.map(target).collect()
}

#[cfg(test)]
mod tests {
    use crate::fixture::{in_entry, open, open_mlir};

    fn check(lines: &str, expect: &str) {
        check_text(&in_entry(lines), expect);
    }

    fn check_text(text: &str, expect: &str) {
        let (analysis, file, offset) = open(text);
        let text = analysis.text(file).to_string();
        let targets = analysis.goto_definition(file, offset).expect("nobody cancels");
        let lines: Vec<String> = targets
            .iter()
            .map(|t| {
                assert!(t.range.start <= t.selection_range.start && t.selection_range.end <= t.range.end);
                let line = text[t.range.start..].lines().next().unwrap_or_default();
                let at = t.selection_range.start - t.range.start;
                match at > 20 {
                    // Not the defined name, but an operand.
                    true => format!("{line} at {}", &text[t.selection_range.clone()]),
                    false => line.to_owned(),
                }
            })
            .collect();
        assert_eq!(if lines.is_empty() { "nothing".to_owned() } else { lines.join("; ") }, expect);
    }

    #[test]
    fn names_lead_to_what_has_them() {
        check("  p = f32[8] parameter(0)\n  ROOT n = f32[8] negate($0p)", "p = f32[8] parameter(0)");
        check("  p = f32[8] parameter(0)\n  ROOT n = f32[8] negate(f32[8] $0%p)", "p = f32[8] parameter(0)");
        check(
            "  p = f32[8] parameter(0)\n  z = f32[] constant(0)\n  ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply=%s$0um",
            "%sum {",
        );
        check(
            "  p = f32[8] parameter(0)\n  q = f32[8] negate(p)\n  ROOT n = f32[8] negate(p), control-predecessors={$0q}",
            "q = f32[8] negate(p)",
        );
    }

    const CALLS: &str = "HloModule m

f (a: f32[8], b: f32[8]) -> f32[8] {
  a = f32[8] parameter(0)
  b = f32[8] parameter(1)
  ROOT s = f32[8] add(a, b)
}

ENTRY e (x: f32[8], y: f32[8]) -> f32[8] {
  x = f32[8] parameter(0)
  y = f32[8] parameter(1)
  g = f32[8] fusion(x, y), kind=kLoop, calls=f
  h = f32[8] fusion(g, x), kind=kLoop, calls=f
  t = (f32[8], f32[8]) tuple(g, h)
  o = (f32[8], f32[8]) opt-barrier(t)
  ROOT r = f32[8] get-tuple-element(o), index=1
}
";

    fn check_calls(from: &str, to: &str, expect: &str) {
        assert_eq!(CALLS.matches(from).count(), 1, "{from}");
        check_text(&CALLS.replace(from, to), expect);
    }

    #[test]
    fn headers_parameters_and_elements_lead_on() {
        check_calls("(a: f32", "($0a: f32", "a = f32[8] parameter(0)");
        check_calls(
            "b = f32[8] parameter(1)\n  ROOT s",
            "b = f32[8] param$0eter(1)\n  ROOT s",
            "g = f32[8] fusion(x, y), kind=kLoop, calls=f at y; h = f32[8] fusion(g, x), kind=kLoop, calls=f at x",
        );
        check_calls("index=1", "index=$01", "h = f32[8] fusion(g, x), kind=kLoop, calls=f");
        check_calls("get-tuple-element(o)", "get-tuple-element($0o)", "o = (f32[8], f32[8]) opt-barrier(t)");
        check_calls("ROOT s", "ROOT $0s", "ROOT s = f32[8] add(a, b)");
        check_calls("ENTRY e", "ENTRY $0e", "ENTRY e (x: f32[8], y: f32[8]) -> f32[8] {");
    }

    #[test]
    fn other_places_lead_nowhere() {
        check("  p = f32[8] parameter(0)\n  ROOT n = f32[8] neg$0ate(p)", "nothing");
        check("  p = f32[8] parameter(0)\n  ROOT n = f32[8] negate($0unknown)", "nothing");
    }

    fn check_mlir(text: &str, expect: &str) {
        let (analysis, file, offset) = open_mlir(text);
        let text = analysis.text(file).to_string();
        let targets = analysis.goto_definition(file, offset).expect("nobody cancels");
        let line = |t: &crate::NavigationTarget| {
            assert!(t.range.start <= t.selection_range.start && t.selection_range.end <= t.range.end);
            format!(
                "{} in {}",
                &text[t.selection_range.clone()],
                text[t.range.start..].lines().next().unwrap_or_default()
            )
        };
        assert_eq!(targets.iter().map(line).collect::<Vec<_>>().join("; "), expect);
    }

    const MLIR: &str = "#map = affine_map<(d0) -> (d0)>
module @m {
  func.func @f(%a: f32) -> f32 {
    %0:2 = x.y %a {m = #map} : f32, f32
    cf.br ^bb1(%0#1 : f32)
  ^bb1(%b: f32):
    %1 = func.call @g(%b) : (f32) -> f32
    return %1 : f32
  }
  func.func private @g(f32) -> f32
}
// -----
func.func private @g(f32) -> f32
";

    #[test]
    fn names_of_mlir_lead_to_what_has_them() {
        check_mlir(&MLIR.replace("x.y %a", "x.y $0%a"), "%a in %a: f32) -> f32 {");
        check_mlir(&MLIR.replace("%0#1 :", "%0#$01 :"), "%0 in %0:2 = x.y %a {m = #map} : f32, f32");
        check_mlir(&MLIR.replace("br ^bb1", "br ^$0bb1"), "^bb1 in ^bb1(%b: f32):");
        check_mlir(&MLIR.replace("@g(%b)", "@$0g(%b)"), "@g in func.func private @g(f32) -> f32");
        check_mlir(&MLIR.replace("= #map}", "= $0#map}"), "#map in #map = affine_map<(d0) -> (d0)>");
        check_mlir(&MLIR.replace("return %1", "return %1$0"), "%1 in %1 = func.call @g(%b) : (f32) -> f32");
        check_mlir(&MLIR.replace("x.y", "x.$0y"), "");
    }
}
