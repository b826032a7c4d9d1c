//! `explain --blame`, and hovers of files in a dump folder.

use expect_test::expect;

use super::{run, text};

const LAST: &str = "module_0001.jit_step.sm_9.0a_gpu_after_optimizations.txt";

#[test]
fn blame_names_the_pass_of_each_instruction() {
    let folder = test_files::dump_folder();
    let output = run(&["explain", "--blame", folder.to_str().expect("the path is text")]);
    assert_eq!(text(&output.stderr), "");
    expect![[r#"
        jit_step: after optimizations (stage 8 of 8)
          %bitcast.11.0                  bitcast  between triton-gemm-rewriter and sort-iota-fusion (dumped stages only)  it reads the bytes of the module's parameter %w.1, bf16[256,64], as bf16[8,32,64] for operand 1 of %gemm_fusion_dot
          %bitcast.12.0                  bitcast  between triton-gemm-rewriter and sort-iota-fusion (dumped stages only)  it reads the bytes of the module's parameter %x.1, bf16[128,256], as bf16[128,8,32] for operand 0 of %gemm_fusion_dot
          %gemm_fusion_dot               fusion   triton-gemm-rewriter (stage 5)  it joins %dot, %reshape.3 and %reshape.4
          %loop_tanh_fusion              fusion   between priority-fusion and after optimizations (dumped stages only)  it comes from %fusion.3 of priority-fusion, which joins %reduce.2, %add.2, %tanh.2, %bitcast.24 and %broadcast.3.0
          %input_multiply_reduce_fusion  fusion   between priority-fusion and after optimizations (dumped stages only)  it joins %fusion.4 and %fusion.2
    "#]].assert_eq(&text(&output.stdout));
    // A file finds the other stages beside it.
    let file = folder.join(LAST);
    let of_file = run(&["explain", "--blame", file.to_str().expect("the path is text")]);
    assert_eq!(text(&of_file.stdout), text(&output.stdout));
}

#[test]
fn hovers_in_a_dump_folder_have_origins() {
    let file = test_files::dump_folder().join(LAST);
    let output =
        run(&["explain", file.to_str().expect("the path is text"), "--instruction", "gemm_fusion_dot"]);
    let shown = text(&output.stdout);
    assert!(shown.contains("introduced by triton-gemm-rewriter (stage 5 of 8)"), "{shown}");
}

#[test]
fn a_named_device_counts_before_that_of_the_dump() {
    let file = test_files::dump_folder().join(LAST);
    let file = file.to_str().expect("the path is text");
    for (device, shown_as) in [(&[][..], "on h100-sxm"), (&["--device", "b200"], "on b200")] {
        let named = [&["explain", file, "--instruction", "gemm_fusion_dot"][..], device].concat();
        let shown = text(&run(&named).stdout);
        assert!(shown.contains(shown_as), "{shown}");
    }
}

#[test]
fn other_files_and_folders_are_refused() {
    let cases = [
        ("/no/such/folder", "XLA gives no dump such a name"),
        ("/no/such/folder/module_0001.jit_f.before_optimizations.txt", "cannot list /no/such/folder"),
        (env!("CARGO_MANIFEST_DIR"), "has no modules that XLA dumped"),
    ];
    for (path, message) in cases {
        let output = run(&["explain", "--blame", path]);
        assert!(!output.status.success());
        assert!(text(&output.stderr).contains(message), "{}", text(&output.stderr));
    }
}

#[test]
fn analysis_stats_time_a_folder() {
    let folder = test_files::dump_folder();
    let folder = folder.to_str().expect("the path is text");
    let output = run(&["analysis-stats", "--json", folder]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let compile = &report["files"][0];
    assert_eq!((compile["compile"].as_str(), compile["stages"].as_u64()), (Some("jit_step"), Some(8)));
    assert!(compile["hovers"].as_u64() > Some(50), "{compile}");
    let shown = run(&["analysis-stats", folder]);
    let shown = String::from_utf8_lossy(&shown.stdout);
    assert!(shown.contains("jit_step") && shown.contains("  hover "), "{shown}");
}
