//! Compiles of a dump folder: the small one that the project has, as XLA dumped it.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use ide::{
    Analysis, AnalysisHost, FileId, HoverConfig, Language, ListedFile, ReadDump, StageRole, StepDirection,
};

#[derive(Default)]
struct Folder(PathBuf, Mutex<Vec<String>>);

impl ReadDump for Folder {
    fn read(&self, path: &str) -> Result<String, String> {
        self.1.lock().unwrap().push(path.to_owned());
        fs::read_to_string(self.0.join(path)).map_err(|why| why.to_string())
    }
}

const FOLDER: &str = "dump";
const FUSED: &str = "0005.fusion.after_priority-fusion";
const LAST: &str = "gpu_after_optimizations.txt";

fn listed() -> AnalysisHost {
    listed_and_read().0
}

/// The paths that are read are in [`Folder`].
fn listed_and_read() -> (AnalysisHost, Arc<Folder>) {
    let folder = test_files::dump_folder();
    let files = test_files::below(&folder, "");
    let files: Vec<ListedFile> = (files.iter())
        .map(|path| ListedFile {
            entry: ide::DumpEntry {
                path: path.file_name().unwrap().to_string_lossy().into_owned(),
                size: path.metadata().unwrap().len(),
            },
            modified: 0,
        })
        .collect();
    let folder = Arc::new(Folder(folder, Mutex::default()));
    let reader: Arc<dyn ReadDump> = folder.clone();
    let mut host = AnalysisHost::new();
    host.list_dumps(FOLDER, &files, &reader);
    (host, folder)
}

#[test]
fn the_costs_of_a_stage_are_computed_once() {
    let (host, folder) = listed_and_read();
    let analysis = host.analysis();
    let (last, before) = (path(&analysis, LAST), path(&analysis, FUSED));
    let costs = analysis.stage_costs(FOLDER, &last).unwrap().expect("it has kernels");
    assert!(!folder.1.lock().unwrap().is_empty());
    // All its neighbours are matched; what is left to read are texts to analyse.
    _ = analysis.stage_summary(FOLDER, &before).unwrap();
    let read = |path: &str| folder.1.lock().unwrap().iter().filter(|read| *read == path).count();
    let reads = [read(&last), read(&before)];
    assert!(analysis.stage_costs(FOLDER, &before).unwrap().is_some());
    assert_eq!(analysis.stage_costs(FOLDER, &last).unwrap(), Some(costs));
    assert_eq!([read(&last), read(&before)], reads);
}

/// The path of the stage with this in its name.
fn path(analysis: &Analysis, part: &str) -> String {
    let (pipelines, _) = analysis.compile_pipelines(FOLDER, 0).unwrap().expect("a compile");
    let mut stages = pipelines.into_iter().flat_map(|pipeline| pipeline.stages);
    stages.find(|stage| stage.path.contains(part)).unwrap_or_else(|| panic!("no stage {part}")).path
}

/// Opens a stage; the offset of a text in it.
fn open(host: &mut AnalysisHost, part: &str, at: &str) -> (FileId, usize) {
    let path = path(&host.analysis(), part);
    let text = fs::read_to_string(test_files::dump_folder().join(&path)).unwrap();
    let file = host.open(&path, Language::Hlo, &text);
    assert!(host.open_dump(FOLDER, &path, file));
    (file, text.find(at).unwrap_or_else(|| panic!("no {at} in {path}")) + 1)
}

#[test]
fn a_folder_lists_its_compiles_without_reading() {
    let analysis = listed().analysis();
    let summary = analysis.dump_summary(FOLDER).unwrap().expect("it was listed");
    let [compile] = &summary.compiles[..] else { panic!("{summary:?}") };
    assert_eq!(compile.title, "jit_step");
    assert!(compile.description.starts_with("module 1 · 8 stages · "), "{}", compile.description);
    let (pipelines, artefacts) = analysis.compile_pipelines(FOLDER, 0).unwrap().expect("a compile");
    let names: Vec<(&str, usize)> =
        pipelines.iter().map(|pipeline| (&*pipeline.name, pipeline.stages.len())).collect();
    assert_eq!(names, [("", 1), ("layout_assignment", 2), ("hlo_normalization", 2), ("fusion", 2), ("", 1)]);
    let layouts = &pipelines[1].stages[1];
    assert_eq!(
        (layouts.title.as_str(), layouts.index, layouts.role),
        ("layout-assignment", 2, StageRole::Pass)
    );
    assert!(layouts.sentence.expect("a known pass").starts_with("Chooses the layout"));
    assert!(artefacts.iter().any(|(_, title)| *title == "PTX"), "{artefacts:?}");
    assert!(analysis.dump_summary("elsewhere").unwrap().is_none());
    assert!(analysis.compile_pipelines(FOLDER, 1).unwrap().is_none());
}

#[test]
fn a_pass_says_what_it_changed() {
    let analysis = listed().analysis();
    let summary = |part: &str| analysis.stage_summary(FOLDER, &path(&analysis, part)).unwrap().unwrap();
    assert_eq!(summary("before_optimizations").text, "21 instructions");
    let fused = summary(FUSED);
    // The parameters of the new computations do not count.
    assert_eq!((fused.is_changed, fused.text.as_str()), (true, "+8 instructions, 9 moved"));
    let text = fs::read_to_string(test_files::dump_folder().join(path(&analysis, FUSED))).unwrap();
    let line = text.lines().nth(fused.first_line.expect("it is changed") as usize).unwrap();
    assert!(line.contains("%multiply.1.1 = "), "{line}");
    assert_eq!(summary("before_optimizations").first_line, None);
    let costs = analysis.stage_costs(FOLDER, &path(&analysis, LAST)).unwrap().expect("it has kernels");
    assert_eq!(costs.launches, 3);
    assert!(costs.text.starts_with("3 kernels · ") && costs.text.ends_with("h100-sxm"), "{}", costs.text);
    assert!(costs.change.starts_with("−1 kernel · −"), "{}", costs.change);
    assert!(analysis.stage_costs(FOLDER, &path(&analysis, "before_optimizations")).unwrap().is_none());
    assert!(analysis.stage_summary(FOLDER, "nowhere.txt").unwrap().is_none());
}

#[test]
fn a_stage_is_compared_with_the_one_before() {
    let analysis = listed().analysis();
    let compared =
        analysis.compare_stages(FOLDER, &path(&analysis, FUSED), None).unwrap().expect("a stage before");
    assert_eq!(compared.title, "priority-fusion (stage 7 of 8)");
    assert_eq!(compared.problem, None);
    assert!(compared.texts[1].contains(" fusion(") && !compared.texts[1].contains("metadata="));
    let first = path(&analysis, "before_optimizations");
    assert_eq!(analysis.compare_stages(FOLDER, &first, None).unwrap(), None);
    let whole = analysis.compare_stages(FOLDER, &path(&analysis, LAST), Some(&first)).unwrap().unwrap();
    assert_eq!(&*whole.paths[0], first);
}

#[test]
fn the_cursor_stays_on_an_instruction_from_pass_to_pass() {
    let mut host = listed();
    let (file, at) = open(&mut host, FUSED, "%gemm_fusion_dot = ");
    let back =
        host.analysis().step_stage(file, at, StepDirection::Previous).unwrap().expect("a stage before");
    assert!(back.title.starts_with("stage 6 of 8: "), "{}", back.title);
    assert_eq!(&back.place.text()[back.place.range.clone()], "gemm_fusion_dot");
    assert_eq!(back.note, None);
    let (first, at) = open(&mut host, "before_optimizations", "%tanh.1 = ");
    let analysis = host.analysis();
    assert!(analysis.step_stage(first, at, StepDirection::Previous).unwrap().is_none());
    let next = analysis.step_stage(first, at, StepDirection::Next).unwrap().expect("a stage after");
    assert!(next.place.text()[next.place.range.clone()].starts_with("tanh"));
    drop(analysis);
    let (last, at) = open(&mut host, LAST, "%loop_tanh_fusion = ");
    assert!(host.analysis().step_stage(last, at, StepDirection::Next).unwrap().is_none());
}

#[test]
fn an_instruction_has_a_history() {
    let mut host = listed();
    let (file, at) = open(&mut host, FUSED, "%gemm_fusion_dot = ");
    let history = host.analysis().instruction_history(file, at).unwrap().expect("an instruction");
    assert_eq!(history.instruction, "gemm_fusion_dot");
    let titles: Vec<&str> = history.stages.iter().map(|stage| stage.title.as_str()).collect();
    assert!(titles.is_sorted(), "{titles:?}");
    assert!(titles.iter().any(|title| title.ends_with("triton-gemm-rewriter")), "{titles:?}");
    assert!(history.stages.iter().all(|stage| !stage.what.is_empty()));
}

#[test]
fn the_hover_of_a_module_names_its_stage() {
    let mut host = listed();
    let (file, at) = open(&mut host, FUSED, "HloModule");
    let hover = host.analysis().hover_with(file, at, &HoverConfig::default()).unwrap().expect("a hover");
    let text = hover.markdown();
    assert!(text.contains("stage 7 of 8: `priority-fusion` in `fusion`"), "{text}");
    assert!(text.contains("XLA's main fusion pass on GPUs"), "{text}");
    host.close(file);
    let (file, at) = open(&mut host, LAST, "HloModule");
    assert!(host.analysis().hover_with(file, at, &HoverConfig::default()).unwrap().is_some());
}

#[test]
fn a_folder_of_a_cpu_has_no_gpu_kernels() {
    let text = fs::read_to_string(test_files::below(test_files::dump_folder(), LAST).remove(0)).unwrap();
    let launches = |device: &str| {
        let path = format!("module_0001.jit_step.{device}_after_optimizations.txt");
        let entry = ide::DumpEntry { path: path.clone(), size: text.len() as u64 };
        let reader: Arc<dyn ReadDump> = Arc::new(Folder::default());
        let mut host = AnalysisHost::new();
        host.list_dumps(FOLDER, &[ListedFile { entry, modified: 0 }], &reader);
        let file = host.open(&path, Language::Hlo, &text);
        assert!(host.open_dump(FOLDER, &path, file) && host.is_stage(file));
        let report = host.analysis().heaviest_kernels(file, 9).unwrap();
        (report.launches, report.why_none)
    };
    assert_eq!(launches("sm_9.0a_gpu"), (3, ""));
    assert_eq!(launches("cpu"), (0, "compiled for a CPU: no GPU kernels"));
}
