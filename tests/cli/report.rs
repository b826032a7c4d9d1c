//! `report`: one page of HTML of a module or a dump folder.

use super::{run, run_on, text};

#[test]
fn a_folder_is_a_page_that_needs_no_other_file() {
    let folder = test_files::dump_folder();
    let page = std::env::temp_dir().join(format!("hlo-analyzer-report-{}.html", std::process::id()));
    let output = run(&["report", folder.to_str().unwrap(), "--out", page.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(output.stdout.is_empty());
    let html = std::fs::read_to_string(&page).expect("the page is written");
    std::fs::remove_file(&page).expect("the page is there");
    for part in [
        "<h3>Kernels by time</h3>",
        "<code>%loop_tanh_fusion</code>",
        "layer.py:9",
        "<h3>Memory</h3>",
        "data:image/svg+xml,",
        "<h3>Alive at the peak</h3>",
        "jit_step: what each pass changed",
        "<code>priority-fusion</code>",
    ] {
        assert!(html.contains(part), "{part} is missing: {html}");
    }
    let same = run(&["report", folder.to_str().unwrap()]);
    assert_eq!(text(&same.stdout), html);
}

/// A dump is untrusted: its names become neither tags nor links, and the page loads nothing.
#[test]
fn names_are_text() {
    let module = r#"HloModule m, is_scheduled=true

ENTRY e {
  p = f32[8]{0} parameter(0), metadata={op_name="<script>alert(1)</script>" source_file="javascript:alert(2)\"><img src=x>" source_line=3}
  ROOT r = f32[9]{0} negate(p), metadata={op_name="<b>\"'&"}
}
"#;
    let output = run_on(&["report", "-"], module);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let html = text(&output.stdout);
    let tags = html.split('<').skip(1).map(|tag| tag.split(['>', ' ']).next().unwrap_or_default());
    for tag in tags {
        assert!(!["script", "b\"", "iframe", "link", "object"].contains(&tag), "{tag}: {html}");
    }
    assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{html}");
    assert!(html.contains("default-src 'none'"));
    assert!(!html.contains("<img src=x") && !html.contains("href=\"javascript:"), "{html}");
    assert!(html.contains("class=\"finding error\""), "the shape of r is wrong: {html}");
}

#[test]
fn what_is_no_module_is_said() {
    let missing = run(&["report", "nowhere.hlo"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(text(&missing.stderr).contains("nowhere.hlo"), "{}", text(&missing.stderr));
    assert!(missing.stdout.is_empty());
    let mlir = run_on(
        &["report", "-"],
        "func.func @f(%a: tensor<8xf32>) -> tensor<8xf32> { return %a : tensor<8xf32> }",
    );
    assert_eq!(mlir.status.code(), Some(0));
    assert!(text(&mlir.stdout).contains("<h3>Memory</h3>"));
}
