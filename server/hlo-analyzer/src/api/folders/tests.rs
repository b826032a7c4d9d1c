use std::fs;
use std::path::PathBuf;

use super::*;

/// A folder of the given name with files of the small dump, each under a changed name or with a changed text.
fn copied(name: &str, change: impl Fn(&str, String) -> Vec<(String, String)>) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("hlo-analyzer-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for path in test_files::below(test_files::dump_folder(), "") {
        let name = path.file_name().unwrap().to_str().unwrap();
        for (name, text) in change(name, fs::read_to_string(&path).unwrap()) {
            fs::write(folder.join(name), text).unwrap();
        }
    }
    folder
}

fn ask(query: fn(&mut AnalysisHost, &Value) -> Answer, request: Value) -> Value {
    query(&mut AnalysisHost::new(), &request).unwrap_or_else(|error| panic!("{request}: {}", error.message))
}

fn refused(query: fn(&mut AnalysisHost, &Value) -> Answer, request: Value) -> ApiError {
    query(&mut AnalysisHost::new(), &request).expect_err("it is refused")
}

fn dump() -> String {
    test_files::dump_folder().display().to_string()
}

#[test]
fn a_folder_is_reported_with_changes_flags_device_and_launches() {
    let answer = ask(compiles, json!({"folder": dump()}));
    let compile = &answer["compiles"][0];
    assert_eq!((&compile["title"], &compile["id"]), (&json!("jit_step"), &json!(1)));
    assert_eq!(compile["device"], "h100-sxm");
    assert_eq!(compile["flags"]["changed"][1], json!({"name": "xla_gpu_autotune_level", "value": "0"}));
    let stages = compile["stages"].as_array().unwrap();
    assert_eq!(stages.len(), 8);
    assert_eq!(stages[2]["title"], "layout-assignment");
    assert_eq!(
        (&stages[2]["changes"]["gap_after"], &stages[0]["changes"]["summary"]),
        (&json!(null), &json!("21 instructions"))
    );
    assert_eq!(stages[3]["changes"]["gap_after"], "0001.layout_assignment.after_layout-assignment");
    let launched: Vec<&Value> =
        compile["thunks"].as_array().unwrap().iter().map(|thunk| &thunk["instruction"]).collect();
    assert_eq!(launched, ["gemm_fusion_dot", "loop_tanh_fusion", "input_multiply_reduce_fusion"]);
    assert_eq!(compile["thunks"][0]["kernel"]["shared_bytes"], 768);
    let ttir = compile["artefacts"].as_array().unwrap().iter().find(|found| found["title"] == "Triton IR");
    assert_eq!(ttir.expect("a file of Triton's IR")["kernel"], "gemm_fusion_dot");
    let names = ask(compiles, json!({"folder": dump(), "changes": false, "compile": "jit_step"}));
    assert_eq!(names["compiles"][0]["stages"][2]["changes"], json!(null));
}

#[test]
fn lineage_and_blame_of_a_folder_are_those_of_its_texts() {
    let report = ask(compiles, json!({"folder": dump(), "changes": false}));
    let stages: Value = (report["compiles"][0]["stages"].as_array().unwrap().iter())
        .map(|stage| {
            let path = test_files::dump_folder().join(stage["path"].as_str().unwrap());
            json!({"name": stage["name"], "hlo": fs::read_to_string(path).unwrap()})
        })
        .collect();
    let of_texts = json!({"stages": stages});
    let of_folder = ask(lineage, json!({"folder": dump()}));
    assert_eq!(of_folder["instructions"], super::super::compile::lineage(&of_texts).unwrap()["instructions"]);
    assert_eq!(of_folder["problems"], json!([]));
    let of_folder = ask(blame, json!({"folder": dump()}));
    let of_texts = super::super::compile::blame(&of_texts).unwrap();
    assert_eq!(of_folder["introduced"], of_texts["introduced"]);
    let one = ask(blame, json!({"folder": dump(), "instruction": "%gemm_fusion_dot"}));
    assert_eq!(
        one["introduced"],
        json!({"gemm_fusion_dot": "0003.hlo_normalization.after_triton-gemm-rewriter"})
    );
    assert_eq!(one["gaps"], json!({}));
    let one = ask(blame, json!({"folder": dump(), "instruction": "loop_tanh_fusion"}));
    assert_eq!(one["gaps"], json!({"loop_tanh_fusion": "0005.fusion.after_priority-fusion"}));
}

#[test]
fn one_instruction_has_its_history() {
    let first = json!({"folder": dump(), "stage": "before optimizations", "instruction": "tanh.1"});
    let answer = ask(lineage, first);
    assert_eq!(answer["became"], json!([{"instruction": "loop_tanh_fusion", "is_part": true}]));
    assert_eq!(answer["instructions"], json!({"tanh.1": ["tanh.1"]}));
    assert!(answer["history"].as_array().is_some_and(|steps| steps.len() > 2), "{answer}");
    assert_eq!(answer["history"][0]["what"], "there from the start");
    let file = test_files::dump_folder().join("module_0001.jit_step.before_optimizations.txt");
    let gone = ask(lineage, json!({"folder": file, "instruction": "add.4"}));
    assert_eq!(gone["stage"], "before_optimizations");
    assert_eq!(gone["removed"], "between before optimizations and flatten-call-graph (dumped stages only)");
}

#[test]
fn one_instruction_has_its_source_lines() {
    let answer = ask(lineage, json!({"folder": dump(), "instruction": "gemm_fusion_dot"}));
    let frame =
        |function: &str, file: &str, line: u32| json!({"function": function, "file": file, "line": line});
    let stack = json!([
        frame("scores", "layer.py", 5),
        frame("step", "layer.py", 9),
        frame("<module>", "compile.py", 15)
    ]);
    assert_eq!((&answer["op_name"], &answer["frames"]), (&json!("jit(step)/dot_general"), &stack));
    let op = json!({
        "path": "jax_ir0001_jit_step_compile.mlir",
        "line": 7,
        "op": "stablehlo.dot_general",
        "frames": stack,
    });
    let origin = json!({
        "instruction": "dot_general.1",
        "op_name": "jit(step)/dot_general",
        "frames": stack,
        "problem": null,
        "stablehlo": [op],
    });
    assert_eq!(answer["origins"], json!([origin]));
    let without = copied("no-stablehlo", |name, text| match name.ends_with(".mlir") {
        true => Vec::new(),
        false => vec![(name.to_owned(), text)],
    });
    let answer = ask(lineage, json!({"folder": without, "instruction": "gemm_fusion_dot"}));
    assert_eq!((&answer["frames"], &answer["origins"][0]["stablehlo"]), (&stack, &json!([])));
    fs::remove_dir_all(without).unwrap();
}

#[test]
fn bad_requests_say_what_there_is() {
    let cases = [
        (json!({}), ErrorKind::InvalidParams, "missing field `folder`"),
        (json!({"folder": "/no/such/folder"}), ErrorKind::NotFound, "cannot list /no/such/folder"),
        (
            json!({"folder": env!("CARGO_MANIFEST_DIR")}),
            ErrorKind::NotFound,
            "has no modules that XLA dumped",
        ),
        (
            json!({"folder": dump(), "compile": 7}),
            ErrorKind::NotFound,
            "no such compile; the folder has jit_step",
        ),
        (
            json!({"folder": dump(), "stage": "dce"}),
            ErrorKind::NotFound,
            "jit_step has no stage dce; it has 8 stages",
        ),
        (json!({"folder": dump(), "instruction": "x.9"}), ErrorKind::NotFound, "has no instruction x.9"),
    ];
    for (request, kind, message) in cases {
        for query in [lineage, blame] {
            let error = refused(query, request.clone());
            assert_eq!(error.kind, kind, "{request}");
            assert!(error.message.contains(message), "{}", error.message);
        }
    }
}

#[test]
fn bad_folders_are_answered_in_words() {
    let truncated = copied("truncated", |name, text| {
        let text = match name {
            _ if name.contains("0002.") => text[..text.len() / 2].to_owned(),
            _ if name.contains("0004.") => "def f(): pass\n".to_owned(),
            _ => text,
        };
        vec![(name.to_owned(), text)]
    });
    let answer = ask(lineage, json!({"folder": truncated}));
    assert_eq!(answer["instructions"]["gemm_fusion_dot"], json!(["dot_general.1"]));
    let problems = answer["problems"].as_array().unwrap();
    assert!(
        problems.len() == 2 && problems[1].as_str().unwrap().contains("no module of HLO"),
        "{problems:?}"
    );
    let report = ask(compiles, json!({"folder": truncated}));
    assert!(report["compiles"][0]["stages"][3]["changes"]["problem"].is_string());
    assert_eq!(report["compiles"][0]["problems"].as_array().unwrap().len(), 2);

    let half = copied("half", |name, text| match name.contains("optimizations") {
        true => Vec::new(),
        false => vec![(name.to_owned(), text)],
    });
    let report = ask(compiles, json!({"folder": half, "changes": false}));
    assert_eq!(report["compiles"][0]["problems"].as_array().unwrap().len(), 2, "{report}");
    assert_eq!(ask(blame, json!({"folder": half}))["stage"], "0005.fusion.after_priority-fusion");

    let two = copied("two", |name, text| {
        vec![(name.replace("jit_step", "jit_other"), text.clone()), (name.to_owned(), text)]
    });
    let report = ask(compiles, json!({"folder": two, "changes": false}));
    assert_eq!(report["compiles"].as_array().unwrap().len(), 2);
    assert!(report["problems"][0].as_str().unwrap().contains("both have the module id 1"), "{report}");
    let error = refused(blame, json!({"folder": two}));
    assert_eq!(error.kind, ErrorKind::InvalidParams);
    assert!(
        error.message.contains("2 compiles") && error.message.contains("jit_other, jit_step"),
        "{}",
        error.message
    );
    assert!(ask(blame, json!({"folder": two, "compile": "jit_other"}))["introduced"].is_object());

    let none = copied("none", |name, _| vec![(name.to_owned(), String::new())]);
    let error = refused(lineage, json!({"folder": none}));
    assert!(error.message.contains("no stage that is a module"), "{}", error.message);
    for folder in [truncated, half, two, none] {
        fs::remove_dir_all(folder).unwrap();
    }
}
