//! Texts on which requests take long, made of inputs that once froze an editor.

use std::borrow::Cow;
use std::fmt::Write as _;

/// A text, and the position for requests.
pub struct Busy {
    pub name: Cow<'static, str>,
    pub language: &'static str,
    pub text: String,
    pub line: usize,
}

impl Busy {
    fn hlo(name: &'static str, text: String) -> Busy {
        let line = text.lines().count() - 2;
        Busy { name: name.into(), language: "hlo", text, line }
    }

    pub fn uri(&self) -> String {
        format!("file:///dump/busy.{}", self.language)
    }
}

/// The inputs beside the checkout that once froze or crashed the server, for the tests in modules
/// `needs_shared`.
///
/// # Panics
///
/// Panics if they are missing.
pub fn of_the_past() -> Vec<Busy> {
    let folder = test_files::needs::shared("repros/robustness");
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let busy = paths.iter().filter_map(|path| {
        let language = match path.extension()?.to_str()? {
            "hlo" => "hlo",
            "mlir" => "mlir",
            _ => return None,
        };
        let text = String::from_utf8_lossy(&std::fs::read(path).ok()?).into_owned();
        let name = path.file_name()?.to_string_lossy().into_owned().into();
        let line = text.lines().count().saturating_sub(2);
        Some(Busy { name, language, text, line })
    });
    let busy: Vec<Busy> = busy.collect();
    assert!(!busy.is_empty(), "this test needs modules in shared/repros/robustness");
    busy
}

/// A dot of 800³ products, reduced to one number.
pub fn products() -> Busy {
    let text = "\
HloModule m

%s {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] add(%a, %b)
}

ENTRY %e {
  %i = f32[] constant(0)
  %z = f32[800,800] iota(), iota_dimension=0
  %x = f32[800,800] dot(%z, %z), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %r = f32[] reduce(%x, %i), dimensions={0,1}, to_apply=%s
}
";
    Busy::hlo("dot of 800³", text.to_owned())
}

/// A sort of a million numbers.
pub fn sorted() -> Busy {
    let text = "\
HloModule m

%less {
  %a = s32[] parameter(0)
  %b = s32[] parameter(1)
  ROOT %c = pred[] compare(%a, %b), direction=LT
}

%s {
  %a = s32[] parameter(0)
  %b = s32[] parameter(1)
  ROOT %c = s32[] maximum(%a, %b)
}

ENTRY %e {
  %i = s32[] constant(0)
  %z = s32[1000000] iota(), iota_dimension=0
  %x = s32[1000000] sort(%z), dimensions={0}, to_apply=%less
  ROOT %r = s32[] reduce(%x, %i), dimensions={0}, to_apply=%s
}
";
    Busy::hlo("sort of 10⁶", text.to_owned())
}

/// Nested fusions that call two fusions each, `depth` levels deep.
pub fn nested(depth: usize) -> Busy {
    let mut text = "\
HloModule m

%c0 {
  %p = f32[8,128] parameter(0)
  ROOT %r = f32[8,128] tanh(%p)
}
"
    .to_owned();
    for n in 1..depth {
        let fusion = |name| format!("  %{name} = f32[8,128] fusion(%p), kind=kLoop, calls=%c{}\n", n - 1);
        let (q, s) = (fusion("q"), fusion("s"));
        _ = write!(
            text,
            "\
%c{n} {{
  %p = f32[8,128] parameter(0)
{q}{s}  ROOT %r = f32[8,128] add(%q, %s)
}}
"
        );
    }
    _ = write!(
        text,
        "\
ENTRY %e {{
  %p = f32[8,128] parameter(0)
  ROOT %r = f32[8,128] fusion(%p), kind=kLoop, calls=%c{}
}}
",
        depth - 1
    );
    Busy::hlo("nested fusions", text)
}

/// A tuple of many elements, each extracted and inserted again.
pub fn wide_tuple(elements: usize) -> Busy {
    let shape = format!("({})", vec!["f32[4]"; elements].join(", "));
    let mut text = format!("HloModule m\n\nENTRY %e {{\n  %p = {shape} parameter(0)\n");
    let mut operands = Vec::new();
    for n in 0..elements {
        _ = writeln!(text, "  %g{n} = f32[4] get-tuple-element(%p), index={n}");
        operands.push(format!("%g{n}"));
    }
    _ = write!(text, "  ROOT %r = {shape} tuple({})\n}}\n", operands.join(", "));
    Busy::hlo("tuple of 8,000", text)
}

/// A chain of additions of an index to itself, each of the previous sum, and a load at each.
pub fn chain(length: usize) -> Busy {
    let mut text =
        "func.func @f(%a: index, %m: memref<4xf32>) {\n  %0 = arith.addi %a, %a : index\n".to_owned();
    for n in 1..length {
        _ = writeln!(text, "  %{n} = arith.addi %{}, %{} : index", n - 1, n - 1);
    }
    for n in 0..length {
        _ = writeln!(text, "  %v{n} = memref.load %m[%{n}] : memref<4xf32>");
    }
    text += "  return\n}\n";
    Busy { name: "chain of 12,000".into(), language: "mlir", text, line: 2 * length }
}
