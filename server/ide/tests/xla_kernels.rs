//! XLA's own kernels beside ours: of the small dump that the project has, and of the kernels of the data beside the checkout.

#![allow(clippy::print_stdout, reason = "the shares are what a run over all kernels is for")]

use std::collections::BTreeMap;
use std::sync::Arc;

use ide::{
    Analysis, AnalysisHost, DumpEntry, FileId, FusionQuery, KernelDocument, Language, ListedFile, ReadDump,
};

struct Texts(BTreeMap<String, String>);

impl ReadDump for Texts {
    fn read(&self, path: &str) -> Result<String, String> {
        self.0.get(path).cloned().ok_or_else(|| format!("cannot read {path}"))
    }
}

/// A folder with these files, of which `open` is open in the editor.
fn opened(texts: BTreeMap<String, String>, open: &str) -> (AnalysisHost, Analysis, FileId) {
    let entry = |path: &String, text: &String| DumpEntry { path: path.clone(), size: text.len() as u64 };
    let listed: Vec<ListedFile> =
        texts.iter().map(|(path, text)| ListedFile { entry: entry(path, text), modified: 1 }).collect();
    let mut host = AnalysisHost::new();
    let file = host.open(open, Language::Hlo, &texts[open]);
    let reader: Arc<dyn ReadDump> = Arc::new(Texts(texts));
    host.list_dumps("dump", &listed, &reader);
    assert!(host.open_dump("dump", open, file), "the folder has it");
    let analysis = host.analysis();
    (host, analysis, file)
}

fn document(analysis: &Analysis, file: FileId, instruction: &str) -> KernelDocument {
    let query = FusionQuery { instruction: instruction.to_owned(), computation: None };
    analysis.xla_kernel_document(file, &query).expect("nobody cancels").expect("it is in the module")
}

/// The names of the instructions of the lines with `code`, each once.
fn origins(document: &KernelDocument, code: &str) -> Vec<String> {
    let lines = document.body.lines().enumerate().filter(|(_, line)| line.contains(code));
    let name =
        |n: usize| document.instruction_of(n).map_or("", |instruction| &instruction.fused_name).to_owned();
    let mut names: Vec<String> = lines.map(|(n, _)| name(n)).collect();
    names.dedup();
    names
}

const MODULE: &str = "module_0001.jit_step.sm_9.0a_gpu_after_optimizations.txt";

fn fixture() -> BTreeMap<String, String> {
    let files = test_files::below(test_files::dump_folder(), "");
    let named = files.into_iter().filter_map(|path| {
        let name = path.file_name()?.to_str()?.to_owned();
        Some((name, std::fs::read_to_string(path).unwrap()))
    });
    named.collect()
}

#[test]
fn a_kernel_stands_beside_ours() {
    let (_host, analysis, file) = opened(fixture(), MODULE);
    let tanh = document(&analysis, file, "loop_tanh_fusion");
    assert_eq!(
        tanh.head,
        [
            "%loop_tanh_fusion · XLA's kernel loop_tanh_fusion · h100-sxm",
            "launch: grid 64 · block 128 · ours is the same",
            "sectors per request, XLA's / ours: %gemm_fusion_dot 32.0 / 32.0 · %bias.1 1.0 / 1.0 · %tanh.3 4.0 / 4.0",
        ]
    );
    assert!(tanh.body.contains(".visible .entry loop_tanh_fusion("));
    assert_eq!(tanh.lines.len(), tanh.body.lines().count());
    assert_eq!(origins(&tanh, "ld.global"), ["param_0.9", "param_1.11"]);
    assert_eq!(origins(&tanh, "st.global"), ["tanh.3"]);
    assert_eq!(origins(&tanh, "setp.lt.f32"), ["tanh.3"]);
    let bias = tanh.body.lines().position(|line| line.contains("ld.global.nc.b32 \t%r21")).expect("a read");
    assert!(tanh.accesses.contains(&(bias, 1)), "{:?}", tanh.accesses);
}

/// XLA's buffer assignment gives the second result the memory of the operand, and the kernel writes through the operand.
#[test]
fn a_result_in_the_memory_of_an_operand_is_found() {
    let (_host, analysis, file) = opened(fixture(), MODULE);
    let reduce = document(&analysis, file, "input_multiply_reduce_fusion");
    assert_eq!(origins(&reduce, "st.global.v2"), ["multiply.3.clone.1"]);
    assert_eq!(origins(&reduce, "st.global.b32"), ["reduce_sum.7.1"]);
    let comparison = reduce.code().and_then(|code| code.comparison.as_ref()).expect("it is compared");
    let arrays = comparison.arrays.as_ref().expect("it is executed");
    let shown: Vec<_> = arrays.iter().map(|a| (a.name.as_str(), a.is_result, a.xla, a.ours)).collect();
    assert_eq!(
        shown,
        [
            ("loop_tanh_fusion", false, 8.0, Some(8.0)),
            ("reduce_sum.7.1", true, 1.0, Some(1.0)),
            ("multiply.3.clone.1", true, 8.0, Some(8.0)),
        ]
    );
}

#[test]
fn what_differs_is_said() {
    let mut texts = fixture();
    let name = "module_0001.jit_step.thunk_sequence.txt";
    let sequence = texts[name].replace("grid: [64, 1, 1] threads: [128", "grid: [32, 1, 1] threads: [128");
    texts.insert(name.to_owned(), sequence);
    let ptx = "module_0001.jit_step.1.ptx";
    let spread = texts[ptx].replace("mul.wide.u32 \t%rd11, %r40, 4;", "mul.wide.u32 \t%rd11, %r40, 8;");
    texts.insert(ptx.to_owned(), spread);
    let (_host, analysis, file) = opened(texts, MODULE);
    let head = document(&analysis, file, "loop_tanh_fusion").head.join("\n");
    assert!(head.contains("launch: grid 32 · block 128 · ours differs: grid 64 · block 128"), "{head}");
    assert!(head.contains("%tanh.3 8.0 / 4.0 (differs)"), "{head}");
}

#[test]
fn what_is_missing_is_said() {
    #[track_caller]
    fn check(remove: &[&str], instruction: &str, expect: &str) {
        let mut texts = fixture();
        texts.retain(|name, _| !remove.iter().any(|end| name.ends_with(end)));
        let (_host, analysis, file) = opened(texts, MODULE);
        let query = FusionQuery { instruction: instruction.to_owned(), computation: None };
        let document = analysis.xla_kernel_document(file, &query).expect("nobody cancels");
        let shown = match document {
            Ok(document) => document.head.join("\n"),
            Err(error) => format!("{error:?}"),
        };
        assert!(shown.contains(expect), "{shown}");
    }
    check(&["thunk_sequence.txt"], "loop_tanh_fusion", "launch: not known · ours: grid 64 · block 128");
    check(&["thunk_sequence.txt"], "loop_tanh_fusion", "not counted: its grid is unknown");
    check(&[".ptx"], "loop_tanh_fusion", "the dump has no PTX of it");
    check(
        &[".ptx"],
        "gemm_fusion_dot",
        "Triton IR of XLA's kernel gemm_fusion_dot; the dump has no PTX of it",
    );
    check(
        &[".ptx", "thunk_sequence.txt"],
        "loop_tanh_fusion",
        "the dump of this compile has no kernel of XLA's",
    );
    check(&[], "x.1", "the dump of this compile has no kernel of XLA's");
    check(&[], "nowhere", "nowhere is not in the module");
}

#[test]
fn a_file_without_a_dump_has_no_kernel_of_xla() {
    let mut host = AnalysisHost::new();
    let file = host.open("a.hlo", Language::Hlo, &fixture()[MODULE]);
    let analysis = host.analysis();
    let query = FusionQuery { instruction: "loop_tanh_fusion".to_owned(), computation: None };
    assert!(!analysis.has_xla_kernel(file, &query).expect("nobody cancels"));
    let document = document(&analysis, file, "loop_tanh_fusion");
    assert!(document.head.join("\n").contains("is in no folder that XLA dumped"), "{:?}", document.head);
}

/// In a stage before the last one the instruction has another name, or none of its kernels: those of what it became are shown.
#[test]
fn an_earlier_stage_shows_the_kernel_of_what_it_became() {
    let stage = "module_0001.jit_step.0005.fusion.after_priority-fusion.before_cse.txt";
    let (_host, analysis, file) = opened(fixture(), stage);
    let text = fixture()[stage].clone();
    let line = text.lines().find(|line| line.contains("kind=kLoop")).expect("a loop fusion");
    let name = line.split('%').nth(1).and_then(|rest| rest.split(' ').next()).expect("its name");
    let shown = document(&analysis, file, name);
    assert!(shown.head[0].contains("XLA's kernel loop_tanh_fusion"), "{:?}", shown.head);
}

#[test]
fn a_text_that_is_no_ptx_is_shown_all_the_same() {
    for spoilt in
        ["", ".visible .entry loop_tanh_fusion(", ".visible .entry loop_tanh_fusion()\n{\n\tfoo.bar;\n}\n"]
    {
        let mut texts = fixture();
        texts.insert("module_0001.jit_step.1.ptx".to_owned(), spoilt.to_owned());
        let (_host, analysis, file) = opened(texts, MODULE);
        let shown = document(&analysis, file, "loop_tanh_fusion");
        assert!(!shown.head.is_empty() && shown.instructions.is_empty(), "{:?}", shown.head);
    }
}

mod needs_shared {
    use agreement::xla_kernels;

    use super::*;

    #[derive(Default)]
    struct Tally {
        kernels: usize,
        same_launch: usize,
        arrays: usize,
        same_sectors: usize,
        /// Lines that compute with data or access arrays, and those that have an instruction.
        lines: usize,
        mapped: usize,
        launches: BTreeMap<String, Vec<String>>,
        sectors: BTreeMap<String, Vec<String>>,
        not_counted: BTreeMap<String, usize>,
    }

    /// The dump of a compile of one fusion.
    fn dump(
        hlo: &str,
        kernel: &str,
        ptx: &str,
        grid: [u32; 3],
        threads: [u32; 3],
    ) -> BTreeMap<String, String> {
        let sequence = format!(
            "001: kCustomKernel [source | sink] {kernel} grid: {grid:?} threads: {threads:?}  shared_memory: 0 bytes\n"
        );
        let metadata = format!(
            "thunk_metadata {{\n  thunk_info {{\n    profile_annotation: \"{kernel}\"\n    thunk_id: 1\n  }}\n  thunk_kind: \"kCustomKernel\"\n}}\n"
        );
        let texts =
            [("thunk_sequence.txt", sequence.as_str()), ("thunk_metadata.txt", &metadata), ("1.ptx", ptx)];
        let mut files: BTreeMap<String, String> =
            texts.map(|(name, text)| (format!("module_0001.m.{name}"), text.to_owned())).into();
        files.insert("module_0001.m.sm_9.0a_gpu_after_optimizations.txt".to_owned(), hlo.to_owned());
        files
    }

    /// Kernels of XLA for the H100 have our launches and our sectors per request. `HLO_ANALYZER_KERNELS=all` takes all of them.
    #[test]
    #[ignore = "needs the shared data beside the checkout: cargo xtask test"]
    fn kernels_have_the_launch_and_the_traffic_of_ours() {
        let mut tally = Tally::default();
        let is_all = std::env::var("HLO_ANALYZER_KERNELS").is_ok_and(|which| which == "all");
        for (nth, pair) in xla_kernels::load().pairs.iter().enumerate() {
            let [launch] = &pair.launches[..] else { continue };
            if !pair.name.ends_with("@h100-sxm") || !is_all && nth % 16 != 5 {
                continue;
            }
            let entry = launch.ptx.split(".visible .entry ").nth(1).and_then(|rest| rest.split('(').next());
            let Some(entry) = entry else { continue };
            let texts = dump(&pair.hlo, entry, &launch.ptx, launch.grid, launch.threads);
            // Kernels are found by the names of instructions.
            let metadata = "module_0001.m.thunk_metadata.txt";
            let mut texts = texts;
            let named = texts[metadata].replace(entry, &pair.fusion);
            texts.insert(metadata.to_owned(), named);
            let (_host, analysis, file) = opened(texts, "module_0001.m.sm_9.0a_gpu_after_optimizations.txt");
            let document = document(&analysis, file, &pair.fusion);
            let Some(comparison) = document.code().and_then(|code| code.comparison.as_ref()) else {
                continue;
            };
            tally.kernels += 1;
            let theirs =
                document.code().and_then(|code| code.launch).map(|launch| (launch.grid, launch.block));
            let own = comparison.launch.map(|launch| (launch.grid, launch.block));
            tally.same_launch += usize::from(theirs == own);
            if theirs != own {
                tally.launches.entry(pair.emitter.clone()).or_default().push(pair.name.clone());
            }
            match &comparison.arrays {
                Err(why) => *tally.not_counted.entry(why.clone()).or_default() += 1,
                Ok(arrays) => {
                    for array in arrays.iter().filter(|array| array.ours.is_some()) {
                        tally.arrays += 1;
                        tally.same_sectors += usize::from(!array.differs());
                        if array.differs() {
                            let words =
                                format!("{} {}: {:.2} {:?}", pair.name, array.name, array.xla, array.ours);
                            tally.sectors.entry(pair.emitter.clone()).or_default().push(words);
                        }
                    }
                }
            }
            let data = document.body.lines().enumerate().filter(|(_, line)| {
                let line = line.trim_start();
                [
                    "ld.global",
                    "st.global",
                    "add.rn",
                    "mul.rn",
                    "fma.rn",
                    "max.",
                    "min.",
                    "ex2",
                    "sub.rn",
                    "div.",
                ]
                .iter()
                .any(|start| line.starts_with(start))
            });
            for (n, _) in data {
                tally.lines += 1;
                tally.mapped += usize::from(document.instruction_of(n).is_some());
            }
        }
        println!(
            "{} of {} kernels have our launch; {} of {} arrays our sectors per request; {} of {} lines an instruction",
            tally.same_launch, tally.kernels, tally.same_sectors, tally.arrays, tally.mapped, tally.lines
        );
        for (what, by_emitter) in [("launch", &tally.launches), ("sectors", &tally.sectors)] {
            for (emitter, list) in by_emitter {
                println!(
                    "{what}, {emitter}: {} differ: {}",
                    list.len(),
                    list[..list.len().min(8)].join("\n  ")
                );
            }
        }
        for (why, count) in &tally.not_counted {
            println!("{count} not counted: {why}");
        }
        assert!(tally.kernels > 0 && tally.same_launch * 100 >= tally.kernels * 99, "launches differ");
        assert!(tally.same_sectors * 100 >= tally.arrays * 85, "sectors differ");
        assert!(tally.mapped * 100 >= tally.lines * 85, "lines are not mapped");
    }
}
