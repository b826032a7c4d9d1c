//! `optimize`: passes of XLA on a module.

use crate::run_on;

const MODULE: &str = "\
HloModule m

ENTRY e {
  a = f32[64] parameter(0)
  b = f32[64] parameter(1)
  c = f32[64] power(a, b)
  ROOT q = f32[64] log(c)
}
";

/// Exit code, standard output and standard error.
fn optimize(arguments: &[&str], text: &str) -> (Option<i32>, String, String) {
    let output = run_on(&[&["optimize", "-"], arguments].concat(), text);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn the_module_is_printed_and_what_changed_is_counted() {
    let twice = "HloModule m\n\nENTRY e {\n  p = f32[6] parameter(0)\n  a = f32[6] add(p, p)\n  b = f32[6] add(p, p)\n  \
                 ROOT c = f32[6] multiply(a, b)\n}\n";
    let (code, module, said) = optimize(&["--passes", "cse,dce", "--check"], twice);
    assert_eq!(code, Some(0), "{said}");
    assert!(module.contains("multiply(%a, %a)") && !module.contains("%b"), "{module}");
    assert_eq!(
        said,
        "cse: 1 change\ndce: 0 changes\ncheck: all values are equal; compared 0 elements of 0 instructions\n"
    );
    let (_, diff, _) = optimize(&["--passes", "cse", "--diff"], twice);
    assert!(diff.contains("\n-  %b = f32[6]{0} add(%p, %p)\n"), "{diff}");
}

/// XLA makes `b * log(abs(a))` of it, and the power of a negative number is none.
#[test]
fn a_rule_of_xla_that_changes_values_is_found_out() {
    let (code, _, said) = optimize(&["--passes", "algsimp", "--check"], MODULE);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("error: %q and %select differ: element ") && said.contains("check: values differ"),
        "{said}"
    );
    let (code, ..) = optimize(&["--passes", "algsimp"], MODULE);
    assert_eq!(code, Some(0));
}

#[test]
fn what_cannot_be_optimized_says_why() {
    let (code, module, said) = optimize(&["--passes", "no-such-pass"], MODULE);
    assert_eq!((code, module.as_str()), (Some(1), ""));
    assert_eq!(said, "error: -: unknown pass: no-such-pass\n");
    let (code, _, said) = optimize(&["--passes", "dce"], &MODULE.replace("log(c)", "log(z)"));
    assert_eq!(code, Some(2));
    assert!(said.contains("-:7:") && said.contains("a module with errors is not rewritten"), "{said}");
}
