//! Compiles of dump folders: origins, blame, and what an edit costs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use compile::Entry;
use db::compiles::{
    DumpFolder, DumpFolders, DumpedCompile, DumpedStage, Fated, ListedFile, ReadDump, compile_device,
    descendants, fate_in, first_stage, introduced_for, last_stage, match_ahead, sources, stablehlo_links,
    stage_changes, stage_links, stage_program,
};
use db::{Database, Documents, Language};
use matching::{Blame, Lineage, Matching, Relation, match_programs, outermost_fusions};

/// A folder in memory.
#[derive(Default)]
struct Texts {
    texts: Mutex<BTreeMap<String, String>>,
    /// Paths in the order in which they were read.
    read: Mutex<Vec<String>>,
}

impl ReadDump for Texts {
    fn read(&self, path: &str) -> Result<String, String> {
        self.read.lock().unwrap().push(path.to_owned());
        self.texts.lock().unwrap().get(path).cloned().ok_or_else(|| format!("cannot read {path}"))
    }
}

struct Fixture {
    db: Database,
    documents: Documents,
    folders: DumpFolders,
    texts: Arc<Texts>,
    /// The names of the queries that ran.
    ran: Arc<Mutex<Vec<String>>>,
    time: u64,
}

impl Fixture {
    fn new(texts: impl IntoIterator<Item = (String, String)>) -> Fixture {
        let ran: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = ran.clone();
        let db = Database::observed(move |query| log.lock().unwrap().push(query));
        let texts =
            Arc::new(Texts { texts: Mutex::new(texts.into_iter().collect()), read: Mutex::default() });
        let mut fixture = Fixture {
            db,
            documents: Documents::default(),
            folders: DumpFolders::default(),
            texts,
            ran,
            time: 1,
        };
        fixture.list();
        fixture
    }

    /// The compile of `test_files::dump_folder`.
    fn dumped() -> Fixture {
        let files = test_files::below(test_files::dump_folder(), "");
        Fixture::new(files.into_iter().map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(path).unwrap())
        }))
    }

    fn list(&mut self) -> DumpFolder {
        let listed: Vec<ListedFile> = (self.texts.texts.lock().unwrap().iter())
            .map(|(path, text)| ListedFile {
                entry: Entry { path: path.clone(), size: text.len() as u64 },
                modified: self.time,
            })
            .collect();
        let reader: Arc<dyn ReadDump> = self.texts.clone();
        self.folders.list(&mut self.db, "dump", &listed, &reader)
    }

    fn compile(&self) -> DumpedCompile {
        self.folders.folder("dump").unwrap().compiles(&self.db)[0]
    }

    /// The stage whose file has this in its name.
    fn stage(&self, part: &str) -> DumpedStage {
        let stages = self.compile().stages(&self.db);
        *stages.iter().find(|stage| stage.file(&self.db).path(&self.db).contains(part)).expect(part)
    }

    fn find(&self, stage: DumpedStage, name: &str) -> u32 {
        let program = stage_program(&self.db, stage).unwrap();
        let at = program.program().instructions.iter().position(|instruction| instruction.name == name);
        at.unwrap_or_else(|| panic!("no {name}")) as u32
    }

    fn name(&self, stage: DumpedStage, id: u32) -> String {
        stage_program(&self.db, stage).unwrap().program().unique_name(id)
    }

    /// How often each query about stages and compiles ran since the last call.
    fn ran(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for query in self.ran.lock().unwrap().drain(..) {
            let name = query.split('(').next().unwrap_or_default().to_owned();
            *counts.entry(name).or_default() += 1;
        }
        counts
    }
}

const FIRST: &str = "before_optimizations";
const LAST: &str = "after_optimizations";

#[test]
fn instructions_are_traced_to_their_origin_and_back() {
    let fixture = Fixture::dumped();
    let db = &fixture.db;
    let (first, last) = (fixture.stage(FIRST), fixture.stage(LAST));
    let program = stage_program(db, last).unwrap();
    let of = |name: &str| {
        let found = sources(db, last, program.program(), fixture.find(last, name));
        found.into_iter().map(|source| fixture.name(first, source)).collect::<Vec<_>>()
    };
    assert_eq!(of("gemm_fusion_dot"), ["dot_general.1"]);
    assert_eq!(of("loop_tanh_fusion"), ["dot_general.1", "add.6", "add.7", "tanh.1", "constant.3"]);
    assert_eq!(of("get-tuple-element"), ["reduce_sum.7"]);
    assert_eq!(of("tuple"), Vec::<String>::new());

    let fusions = outermost_fusions(program.program());
    let became = |name: &str| match fate_in(db, first, fixture.find(first, name), last) {
        Some(Fated::Is(id)) => {
            let computation = program.program().instruction(id).computation;
            fixture.name(last, fusions[computation as usize].unwrap_or(id))
        }
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!(became("dot_general.1"), "gemm_fusion_dot");
    assert_eq!(became("tanh.1"), "loop_tanh_fusion");
    assert_eq!(became("reduce_sum.5"), "input_multiply_reduce_fusion");
    assert_eq!(became("x.1"), "x.1");

    let by = |name: &str| {
        let introduced = introduced_for(db, last, fixture.find(last, name));
        introduced.stage.description(db).unwrap().title()
    };
    assert_eq!(by("x.1"), "before optimizations");
    assert_eq!(by("gemm_fusion_dot"), "triton-gemm-rewriter");
    assert_eq!(by("reduce_sum.7.1"), "priority-fusion");
}

#[test]
fn every_stage_is_traced_as_step_by_step() {
    let fixture = Fixture::dumped();
    let db = &fixture.db;
    let stages = fixture.compile().stages(db);
    let (first, last) = (fixture.stage(FIRST), fixture.stage(LAST));
    assert_eq!((first_stage(db, last), last_stage(db, first)), (Some(first), Some(last)));
    let programs: Vec<_> = stages.iter().map(|stage| stage_program(db, *stage).unwrap()).collect();
    let matchings: Vec<Matching> =
        programs.windows(2).map(|pair| match_programs(pair[0].program(), pair[1].program())).collect();
    let mut lineage = Lineage::new(programs[0].program());
    let mut blame = Blame::new(programs[0].program());
    for (at, &stage) in stages.iter().enumerate() {
        if let Some(matching) = at.checked_sub(1).map(|before| &matchings[before]) {
            lineage.step(matching);
            blame.step(matching);
            let is_introduced = |id: &usize| {
                let relation = matching.origins[*id].relation;
                let opcode = programs[at].program().instructions[*id].opcode_text;
                !matches!(relation, Relation::Same | Relation::Renamed | Relation::Moved)
                    && opcode != "parameter"
            };
            let introduced = (0..matching.origins.len()).filter(is_introduced).count() as u32;
            let changes = stage_changes(db, stage);
            assert_eq!(changes.added + changes.cloned + changes.split + changes.replaced, introduced);
        }
        let program = programs[at].program();
        let mut onwards = Lineage::new(program);
        matchings[at..].iter().for_each(|matching| onwards.step(matching));
        let count = programs.last().unwrap().program().instructions.len() as u32;
        for id in 0..program.instructions.len() as u32 {
            let name = fixture.name(stage, id);
            assert_eq!(sources(db, stage, program, id), lineage.sources(program, id), "{name}");
            let expected: Vec<u32> = (0..count).filter(|later| onwards.source(*later) == Some(id)).collect();
            assert_eq!(descendants(db, stage, id), expected, "{name}");
            assert_eq!(
                introduced_for(db, stage, id).stage.index(db),
                blame.introduced(id) as usize,
                "{name}"
            );
            if let Some(Fated::RemovedBy(stage)) = fate_in(db, stage, id, last) {
                assert!(stage_changes(db, stage).removed > 0, "{name}");
            }
        }
    }
}

#[test]
fn the_device_is_that_of_the_compile() {
    let fixture = Fixture::dumped();
    assert_eq!(compile_device(&fixture.db, fixture.compile()).unwrap().name, "h100-sxm");
    assert_eq!(fixture.texts.read.lock().unwrap().len(), 1);
}

#[test]
fn an_edit_matches_two_pairs_again() {
    let mut fixture = Fixture::dumped();
    match_ahead(&fixture.db, fixture.compile());
    let stages = fixture.compile().stages(&fixture.db).len();
    assert_eq!(stages, 8);
    assert_eq!(fixture.ran()["stage_links"], stages);

    // A file that is saved again with the same text is read, and nothing else is done.
    let path = fixture.stage("0003").file(&fixture.db).path(&fixture.db).to_string();
    fixture.time += 1;
    let folder = fixture.list();
    assert_eq!(folder.compiles(&fixture.db).len(), 1);
    match_ahead(&fixture.db, fixture.compile());
    let ran = fixture.ran();
    assert_eq!(ran.get("stage_links"), None, "{ran:?}");

    // An edit in the editor, and then the same text saved.
    let text = fixture.texts.texts.lock().unwrap()[&path].clone();
    let id = fixture.documents.open(&mut fixture.db, Language::Hlo, &text);
    let file = fixture.documents.view(id).unwrap().file;
    assert!(fixture.folders.open(&mut fixture.db, "dump", &path, file));
    assert_eq!(db::compiles::stage_of(&fixture.db, file), Some(fixture.stage("0003")));
    match_ahead(&fixture.db, fixture.compile());
    assert_eq!(fixture.ran().get("stage_links"), None);
    let at = text.find("tanh(").unwrap();
    let edit = text::Edit { range: at..at + 4, insert: "exponential".into() };
    fixture.documents.edit(&mut fixture.db, id, &[edit]);
    match_ahead(&fixture.db, fixture.compile());
    assert_eq!(fixture.ran()["stage_links"], 2);
    fixture.texts.texts.lock().unwrap().insert(path, text.replacen("tanh(", "exponential(", 1));
    fixture.list();
    fixture.folders.close(&mut fixture.db, file);
    fixture.documents.close(&mut fixture.db, id);
    match_ahead(&fixture.db, fixture.compile());
    assert_eq!(fixture.ran().get("stage_links"), None);
    assert_eq!(fixture.folders.folder("dump"), Some(folder));
}

/// The ops of the instruction of a name in the first stage, each with its line from 1.
fn ops(fixture: &Fixture, name: &str) -> Vec<String> {
    let first = fixture.stage(FIRST);
    let links = stablehlo_links(&fixture.db, first).unwrap();
    let ops = links.ops_of(fixture.find(first, name));
    ops.map(|op| format!("{}:{}", op.name, op.line + 1)).collect()
}

#[test]
fn instructions_lead_to_the_ops_of_stablehlo() {
    let mut fixture = Fixture::dumped();
    assert_eq!(ops(&fixture, "dot_general.1"), ["stablehlo.dot_general:7"]);
    // One location, told apart by the opcode.
    assert_eq!(ops(&fixture, "add.6"), ["stablehlo.broadcast_in_dim:9"]);
    assert_eq!(ops(&fixture, "add.7"), ["stablehlo.add:10"]);
    // Neither has the opcode.
    assert_eq!(ops(&fixture, "add.5"), ["stablehlo.broadcast_in_dim:9", "stablehlo.add:10"]);
    assert!(ops(&fixture, "constant.2").is_empty() && ops(&fixture, "x.1").is_empty());

    // The text of the editor counts while it is open.
    let path = "jax_ir0001_jit_step_compile.mlir";
    let text = fixture.texts.texts.lock().unwrap()[path].clone();
    let edited = text.replacen("module @jit_step", "\nmodule @jit_step", 1);
    let id = fixture.documents.open(&mut fixture.db, Language::Mlir, &edited);
    let file = fixture.documents.view(id).unwrap().file;
    assert!(fixture.folders.open(&mut fixture.db, "dump", path, file));
    assert_eq!(ops(&fixture, "dot_general.1"), ["stablehlo.dot_general:8"]);
    fixture.folders.close(&mut fixture.db, file);
    fixture.documents.close(&mut fixture.db, id);
    assert_eq!(ops(&fixture, "dot_general.1"), ["stablehlo.dot_general:7"]);
}

#[test]
fn ops_that_nothing_tells_apart_are_all_named_unless_they_are_many() {
    let path = "jax_ir0001_jit_step_compile.mlir";
    let tanh = "    %4 = stablehlo.tanh %3 : tensor<128x64xf32> loc(#loc36)\n";
    let linked = |change: &dyn Fn(&str) -> String| {
        let mut fixture = Fixture::dumped();
        let text = fixture.texts.texts.lock().unwrap()[path].clone();
        assert!(text.contains(tanh));
        fixture.texts.texts.lock().unwrap().insert(path.to_owned(), change(&text));
        fixture.time += 1;
        fixture.list();
        ops(&fixture, "tanh.1").len()
    };
    let repeated = |count: usize| move |text: &str| text.replacen(tanh, &tanh.repeat(count), 1);
    assert_eq!(linked(&repeated(1)), 1);
    assert_eq!(linked(&repeated(3)), 3);
    assert_eq!(linked(&repeated(16)), 16);
    assert_eq!(linked(&repeated(17)), 0);
    assert_eq!(linked(&repeated(5000)), 0);
    // Another call of the function, and another line.
    let other_stack = "#loc99 = loc(\"jit(step)/tanh\"(\"layer.py\":9:8))\n";
    let others = [("#loc36)\n", "#loc99)\n"), (":9:8))", ":99:8))")];
    let one_more = |text: &str| {
        let (from, to) = others[0];
        text.replacen(tanh, &(tanh.to_owned() + &tanh.replace(from, to)), 1) + other_stack
    };
    assert_eq!(linked(&one_more), 1);
    assert_eq!(linked(&|text: &str| one_more(text).replace(others[1].0, others[1].1)), 1);
}

#[test]
fn stages_that_come_and_go_match_their_neighbours() {
    let mut fixture = Fixture::dumped();
    match_ahead(&fixture.db, fixture.compile());
    let path = fixture.stage("0002").file(&fixture.db).path(&fixture.db).to_string();
    let text = fixture.texts.texts.lock().unwrap().remove(&path).unwrap();
    let read = |fixture: &Fixture| std::mem::take(&mut *fixture.texts.read.lock().unwrap());
    _ = (fixture.ran(), read(&fixture));

    fixture.list();
    match_ahead(&fixture.db, fixture.compile());
    assert_eq!(fixture.compile().stages(&fixture.db).len(), 7);
    assert_eq!(fixture.ran()["stage_links"], 1, "that of the stage behind");
    assert!(read(&fixture).iter().all(|path| path.contains("0001.") || path.contains("0003.")));

    fixture.texts.texts.lock().unwrap().insert(path.clone(), text);
    fixture.list();
    match_ahead(&fixture.db, fixture.compile());
    assert_eq!(fixture.compile().stages(&fixture.db).len(), 8);
    assert_eq!(fixture.ran()["stage_links"], 2, "its own, and that of the stage behind");
    assert!(read(&fixture).contains(&path));
}

#[test]
fn stages_of_equal_text_are_not_matched() {
    let mut fixture = Fixture::dumped();
    let texts = fixture.texts.clone();
    let path = fixture.stage("0005").file(&fixture.db).path(&fixture.db).to_string();
    let copy =
        path.replace("0005.fusion.after_priority-fusion.before_cse", "0006.fusion.after_cse.before_dce");
    let text = texts.texts.lock().unwrap()[&path].clone();
    texts.texts.lock().unwrap().insert(copy, text);
    fixture.list();
    let links = stage_links(&fixture.db, fixture.stage("0006"));
    assert!(links.is_equal());
    assert_eq!(links.before(), Some(fixture.stage("0005")));
    assert_eq!(
        links.origin(3).map(|origin| (origin.relation, origin.source)),
        Some((Relation::Same, Some(3)))
    );
    assert_eq!(links.origin(links.instructions()), None);
    let changes = stage_changes(&fixture.db, fixture.stage("0006"));
    assert!(!changes.has_changes() && !changes.is_text_changed);
    // What that stage has more are clones and parameters.
    let changes = stage_changes(&fixture.db, fixture.stage("0005"));
    assert_eq!((changes.added, changes.cloned > 0), (0, true));
}

#[test]
fn a_stage_that_is_no_module_is_passed_over() {
    let mut fixture = Fixture::dumped();
    let names = |fixture: &Fixture| {
        let (db, first, last) = (&fixture.db, fixture.stage(FIRST), fixture.stage(LAST));
        let program = stage_program(db, last).unwrap();
        let ids = 0..program.program().instructions.len() as u32;
        let of = |id| {
            let found = sources(db, last, program.program(), id).into_iter();
            (fixture.name(last, id), found.map(|source| fixture.name(first, source)).collect::<Vec<_>>())
        };
        ids.map(of).collect::<BTreeMap<_, _>>()
    };
    let before = names(&fixture);
    let path = fixture.stage("0004").file(&fixture.db).path(&fixture.db).to_string();
    for broken in ["", "def f():\n  return 1\n", "HloModule m\n\nENTRY main {\n  x = f32[] parameter("] {
        fixture.texts.texts.lock().unwrap().insert(path.clone(), broken.to_owned());
        fixture.time += 1;
        fixture.list();
        let problem = stage_links(&fixture.db, fixture.stage("0004"));
        assert!(problem.problem().is_some_and(|problem| !problem.message.is_empty()), "{broken}");
        assert_eq!(stage_links(&fixture.db, fixture.stage("0005")).before(), Some(fixture.stage("0003")));
        let after = names(&fixture);
        let same = before.iter().filter(|(name, source)| after.get(*name) == Some(*source)).count();
        assert!(same + 3 >= before.len(), "{same} of {}", before.len());
        // It is gone.
        fixture.texts.texts.lock().unwrap().remove(&path);
        let folder = fixture.list();
        assert_eq!(folder.listing(&fixture.db).problems.len(), 1);
        assert_eq!(stage_links(&fixture.db, fixture.stage("0005")).before(), Some(fixture.stage("0003")));
    }
}
