//! Origins and blame over the compile of `test_files::dump_folder`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use compile::Entry;
use expect_test::{Expect, expect};

use crate::{AnalysisHost, FileId, HoverConfig, Language, ListedFile, ReadDump, StagePlace, TextEdit};

const FOLDER: &str = "/dump";
const FIRST: &str = "module_0001.jit_step.before_optimizations.txt";
const LAYOUTS: &str =
    "module_0001.jit_step.0001.layout_assignment.after_layout-assignment.before_sub-byte-size-setter.txt";
const LAST: &str = "module_0001.jit_step.sm_9.0a_gpu_after_optimizations.txt";

struct Texts(BTreeMap<String, String>);

impl ReadDump for Texts {
    fn read(&self, path: &str) -> Result<String, String> {
        self.0.get(path).cloned().ok_or_else(|| format!("cannot open {path}"))
    }
}

/// A host that has listed these files as `/dump`, and opened one of them.
fn open(texts: BTreeMap<String, String>, path: &str) -> (AnalysisHost, FileId, String) {
    open_in(AnalysisHost::new(), texts, path)
}

fn open_in(
    mut host: AnalysisHost,
    texts: BTreeMap<String, String>,
    path: &str,
) -> (AnalysisHost, FileId, String) {
    let listed: Vec<_> = (texts.iter())
        .map(|(path, text)| ListedFile {
            entry: Entry { path: path.clone(), size: text.len() as u64 },
            modified: 1,
        })
        .collect();
    let text = texts[path].clone();
    let reader: Arc<dyn ReadDump> = Arc::new(Texts(texts));
    host.list_dumps(FOLDER, &listed, &reader);
    let file = host.open(path, Language::Hlo, &text);
    assert!(host.open_dump(FOLDER, path, file));
    (host, file, text)
}

fn texts() -> BTreeMap<String, String> {
    let named = |path: PathBuf| {
        let name = path.file_name().expect("a file").to_str().expect("UTF-8").to_owned();
        (name, std::fs::read_to_string(path).expect("it is text"))
    };
    test_files::below(test_files::dump_folder(), "").into_iter().map(named).collect()
}

/// The part of the hover about the compile.
fn section(texts: BTreeMap<String, String>, path: &str, name: &str, patience: Option<Duration>) -> String {
    let (host, file, text) = open(texts, path);
    let at = text.find(&format!("%{name} = ")).expect(name) + 1;
    let config = HoverConfig { patience, ..HoverConfig::default() };
    let hover =
        host.analysis().hover_with(file, at, &config).expect("nobody cancels").expect("an instruction");
    let hover = hover.markdown();
    hover.rsplit_once("---\n").map(|(_, section)| section.to_owned()).unwrap_or(hover)
}

fn check(path: &str, name: &str, expect: Expect) {
    expect.assert_eq(&section(texts(), path, name, None));
}

#[test]
fn hovers_name_the_pass_and_the_origins() {
    check(
        LAST,
        "loop_tanh_fusion",
        expect![[r#"
            - introduced between `priority-fusion` and `after optimizations` (dumped stages only): it comes from `%fusion.3` of `priority-fusion`, which joins `%reduce.2`, `%add.2`, `%tanh.2`, `%bitcast.24` and `%broadcast.3.0`
            - before optimizations: [%dot\_general.1](file:///dump/module_0001.jit_step.before_optimizations.txt#L40), [%add.6](file:///dump/module_0001.jit_step.before_optimizations.txt#L45), [%add.7](file:///dump/module_0001.jit_step.before_optimizations.txt#L46), [%tanh.1](file:///dump/module_0001.jit_step.before_optimizations.txt#L47), [%constant.3](file:///dump/module_0001.jit_step.before_optimizations.txt#L53)
            - StableHLO: [stablehlo.dot\_general](file:///dump/jax_ir0001_jit_step_compile.mlir#L7), [stablehlo.broadcast\_in\_dim](file:///dump/jax_ir0001_jit_step_compile.mlir#L9), [stablehlo.add](file:///dump/jax_ir0001_jit_step_compile.mlir#L10), [stablehlo.tanh](file:///dump/jax_ir0001_jit_step_compile.mlir#L11)
        "#]],
    );
    check(
        LAST,
        "gemm_fusion_dot",
        expect![[r#"
            - introduced by `triton-gemm-rewriter` (stage 5 of 8): it joins `%dot`, `%reshape.3` and `%reshape.4`
            - before optimizations: [%dot\_general.1](file:///dump/module_0001.jit_step.before_optimizations.txt#L40)
            - StableHLO: [stablehlo.dot\_general](file:///dump/jax_ir0001_jit_step_compile.mlir#L7)
        "#]],
    );
    check(
        LAST,
        "input_multiply_reduce_fusion",
        expect![[r#"
            - introduced between `priority-fusion` and `after optimizations` (dumped stages only): it joins `%fusion.4` and `%fusion.2`
            - before optimizations: [%constant.2](file:///dump/module_0001.jit_step.before_optimizations.txt#L49), [%mul.3](file:///dump/module_0001.jit_step.before_optimizations.txt#L50), [%mul.4](file:///dump/module_0001.jit_step.before_optimizations.txt#L51), [%mul.5](file:///dump/module_0001.jit_step.before_optimizations.txt#L52), [%constant.3](file:///dump/module_0001.jit_step.before_optimizations.txt#L53), [%reduce\_sum.7](file:///dump/module_0001.jit_step.before_optimizations.txt#L54)
            - StableHLO: [stablehlo.broadcast\_in\_dim](file:///dump/jax_ir0001_jit_step_compile.mlir#L14), [stablehlo.multiply](file:///dump/jax_ir0001_jit_step_compile.mlir#L15), [stablehlo.multiply](file:///dump/jax_ir0001_jit_step_compile.mlir#L19), [stablehlo.reduce](file:///dump/jax_ir0001_jit_step_compile.mlir#L21)
        "#]],
    );
}

#[test]
fn hovers_of_earlier_stages_name_what_became_of_it() {
    check(
        FIRST,
        "dot_general.1",
        expect![[r#"
            - StableHLO: [stablehlo.dot\_general](file:///dump/jax_ir0001_jit_step_compile.mlir#L7)
            - after optimizations: part of [%gemm\_fusion\_dot](file:///dump/module_0001.jit_step.sm_9.0a_gpu_after_optimizations.txt#L77), [%loop\_tanh\_fusion](file:///dump/module_0001.jit_step.sm_9.0a_gpu_after_optimizations.txt#L78), [%bitcast.11.0](file:///dump/module_0001.jit_step.sm_9.0a_gpu_after_optimizations.txt#L74), [%bitcast.12.0](file:///dump/module_0001.jit_step.sm_9.0a_gpu_after_optimizations.txt#L76)
        "#]],
    );
    check(
        FIRST,
        "tanh.1",
        expect![[r#"
            - StableHLO: [stablehlo.tanh](file:///dump/jax_ir0001_jit_step_compile.mlir#L11)
            - after optimizations: part of [%loop\_tanh\_fusion](file:///dump/module_0001.jit_step.sm_9.0a_gpu_after_optimizations.txt#L78)
        "#]],
    );
    check(
        FIRST,
        "add.4",
        expect![[r#"
            - StableHLO: [stablehlo.broadcast\_in\_dim](file:///dump/jax_ir0001_jit_step_compile.mlir#L9)
            - after optimizations: gone; removed between `before optimizations` and `flatten-call-graph` (dumped stages only)
        "#]],
    );
    check(
        LAYOUTS,
        "transpose.3",
        expect![[r#"
            - introduced between `before optimizations` and `flatten-call-graph` (dumped stages only): it permutes `%mul.0` by {1,0} for element 0 of `%tuple.1`
            - before optimizations: [%mul.4](file:///dump/module_0001.jit_step.before_optimizations.txt#L51)
            - StableHLO: [stablehlo.multiply](file:///dump/jax_ir0001_jit_step_compile.mlir#L15)
            - after optimizations: part of [%input\_multiply\_reduce\_fusion](file:///dump/module_0001.jit_step.sm_9.0a_gpu_after_optimizations.txt#L79), [%get-tuple-element.1](file:///dump/module_0001.jit_step.sm_9.0a_gpu_after_optimizations.txt#L80)
        "#]],
    );
}

#[test]
fn hovers_do_not_wait_for_the_matching() {
    let shown = section(texts(), LAST, "loop_tanh_fusion", Some(Duration::ZERO));
    assert!(shown.contains("matching stages: ") && shown.contains(" of 8 done"), "{shown}");
}

#[test]
fn hovers_of_a_prepared_stage_compute_no_origins() {
    let ran: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = ran.clone();
    let host = AnalysisHost::observed(move |query| log.lock().expect("no panic").push(query));
    let (mut host, file, text) = open_in(host, texts(), LAST);
    let ran = || {
        let queries = std::mem::take(&mut *ran.lock().expect("no panic"));
        let of = |name: &str| queries.iter().filter(|query| query.starts_with(name)).count();
        [of("stage_links("), of("in_first_stage(") + of("of_last_stage(")]
    };
    let prepare = |host: &AnalysisHost| host.analysis().prepare_origins(file).expect("nobody cancels");
    prepare(&host);
    assert_eq!(ran(), [8, 2]);
    let analysis = host.analysis();
    for (at, _) in text.match_indices(" = ") {
        analysis.hover(file, at).expect("nobody cancels");
    }
    drop(analysis);
    assert_eq!(ran(), [0, 0]);
    // Only the pair with the stage is matched again.
    let at = text.find("tanh(").expect("it is there");
    host.apply(file, &[TextEdit { range: at..at + 4, insert: "exponential".into() }]);
    prepare(&host);
    assert_eq!(ran(), [1, 2]);
}

#[test]
fn preparing_a_file_without_a_compile_does_nothing() {
    let mut host = AnalysisHost::new();
    let file =
        host.open("m.hlo", Language::Hlo, "HloModule m\n\nENTRY e {\n  ROOT p = f32[] parameter(0)\n}\n");
    assert!(!host.is_stage(file));
    assert_eq!(host.analysis().prepare_origins(file), Ok(()));
    let analysis = host.analysis();
    analysis.cancellation().cancel();
    assert!(analysis.prepare_origins(file).is_err());
}

#[test]
fn two_stages_are_less_certain_and_one_is_no_compile() {
    let mut texts = texts();
    texts.retain(|path, _| [FIRST, LAST].contains(&path.as_str()));
    let shown = section(texts.clone(), LAST, "loop_tanh_fusion", None);
    assert!(shown.contains("less certain") && shown.contains("tanh.1"), "{shown}");
    texts.retain(|path, _| path == LAST);
    let shown = section(texts, LAST, "loop_tanh_fusion", None);
    assert!(!shown.contains("certain") && !shown.contains("introduced by"), "{shown}");
}

#[test]
fn stages_that_are_no_modules_are_left_out() {
    let mut texts = texts();
    texts.insert(LAYOUTS.to_owned(), "HloModule m\n\nENTRY e {\n  a = f32[".to_owned());
    let shown = section(texts.clone(), LAST, "loop_tanh_fusion", None);
    assert!(shown.contains("1 stage cannot be read") && shown.contains("introduced between"), "{shown}");
    texts.insert(FIRST.to_owned(), "nothing".to_owned());
    let shown = section(texts, LAST, "loop_tanh_fusion", None);
    assert!(shown.contains("2 stages cannot be read"), "{shown}");
}

fn targets(found: &[StagePlace]) -> Vec<String> {
    let shown = |target: &StagePlace| {
        let stage = target.path.rsplit('.').nth(1).unwrap_or_default();
        format!("{} in {stage}", &target.text()[target.range.clone()])
    };
    found.iter().map(shown).collect()
}

#[test]
fn declarations_are_before_optimizations_and_implementations_after() {
    let (host, file, text) = open(texts(), LAST);
    let at = |name: &str| text.find(&format!("%{name} = ")).expect(name) + 1;
    let analysis = host.analysis();
    let declared = |name| targets(&analysis.goto_declaration(file, at(name)).expect("nobody cancels"));
    assert_eq!(declared("gemm_fusion_dot"), ["dot_general.1 in before_optimizations"]);
    assert!(declared("loop_tanh_fusion").contains(&"tanh.1 in before_optimizations".to_owned()));
    assert!(analysis.goto_implementation(file, at("gemm_fusion_dot")).expect("nobody cancels").is_empty());
    let (host, file, text) = open(texts(), FIRST);
    let at = |name: &str| text.find(&format!("%{name} = ")).expect(name) + 1;
    let analysis = host.analysis();
    let implemented = |name| targets(&analysis.goto_implementation(file, at(name)).expect("nobody cancels"));
    assert_eq!(implemented("dot_general.1")[0], "gemm_fusion_dot in 0a_gpu_after_optimizations");
    assert_eq!(implemented("tanh.1"), ["loop_tanh_fusion in 0a_gpu_after_optimizations"]);
    let declared = |name| targets(&analysis.goto_declaration(file, at(name)).expect("nobody cancels"));
    assert_eq!(declared("tanh.1"), ["stablehlo.tanh in jax_ir0001_jit_step_compile"]);
    assert!(declared("constant.2").is_empty(), "it has no location");
    let mut alone = texts();
    alone.retain(|path, _| !path.ends_with(".mlir"));
    let (host, file, _) = open(alone, FIRST);
    assert!(host.analysis().goto_declaration(file, at("tanh.1")).expect("nobody cancels").is_empty());
}

#[test]
fn blame_lists_the_instructions_of_the_entry() {
    let (host, ..) = open(texts(), LAST);
    let mut shown = String::new();
    for compile in host.analysis().blame(FOLDER, None).expect("nobody cancels") {
        writeln!(shown, "{}", compile.title).expect("text is written");
        for row in compile.instructions {
            let reason = row.reason.unwrap_or_default();
            let by = row.introducer.map(|introducer| introducer.text()).unwrap_or_default();
            writeln!(shown, "{} | {} | {by} {} | {reason}", row.name, row.opcode, row.number)
                .expect("text is written");
        }
    }
    expect![[r#"
        jit_step: after optimizations (stage 8 of 8)
        bitcast.11.0 | bitcast | between triton-gemm-rewriter and sort-iota-fusion (dumped stages only) 6 | it reads the bytes of the module's parameter `%w.1`, `bf16[256,64]`, as `bf16[8,32,64]` for operand 1 of `%gemm_fusion_dot`
        bitcast.12.0 | bitcast | between triton-gemm-rewriter and sort-iota-fusion (dumped stages only) 6 | it reads the bytes of the module's parameter `%x.1`, `bf16[128,256]`, as `bf16[128,8,32]` for operand 0 of `%gemm_fusion_dot`
        gemm_fusion_dot | fusion | triton-gemm-rewriter 5 | it joins `%dot`, `%reshape.3` and `%reshape.4`
        loop_tanh_fusion | fusion | between priority-fusion and after optimizations (dumped stages only) 8 | it comes from `%fusion.3` of `priority-fusion`, which joins `%reduce.2`, `%add.2`, `%tanh.2`, `%bitcast.24` and `%broadcast.3.0`
        input_multiply_reduce_fusion | fusion | between priority-fusion and after optimizations (dumped stages only) 8 | it joins `%fusion.4` and `%fusion.2`
    "#]].assert_eq(&shown);
    let analysis = host.analysis();
    assert!(analysis.blame("/elsewhere", None).expect("nobody cancels").is_empty());
    assert!(analysis.blame(FOLDER, Some("nothing.txt")).expect("nobody cancels").is_empty());
    assert_eq!(analysis.blame(FOLDER, Some(LAYOUTS)).expect("nobody cancels").len(), 1);
}
