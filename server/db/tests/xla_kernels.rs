//! XLA's own kernels in a dump folder: the small one that the project has, and changed copies of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use compile::{ArtefactKind, Entry};
use db::Database;
use db::compiles::{DumpFolders, DumpedCompile, ListedFile, ReadDump, XlaKernel, artefacts_of_kernel};

const PREFIX: &str = "module_0001.jit_step.";

struct Texts(BTreeMap<String, String>);

impl ReadDump for Texts {
    fn read(&self, path: &str) -> Result<String, String> {
        self.0.get(path).cloned().ok_or_else(|| format!("cannot read {path}"))
    }
}

/// The texts of the folder by their names without the prefix.
fn texts() -> BTreeMap<String, String> {
    let files = test_files::below(test_files::dump_folder(), "");
    let named = files.into_iter().filter_map(|path| {
        let name = path.file_name()?.to_str()?.strip_prefix(PREFIX)?.to_owned();
        Some((name, std::fs::read_to_string(path).unwrap()))
    });
    named.collect()
}

fn listed(texts: BTreeMap<String, String>) -> (Database, DumpedCompile) {
    let texts: BTreeMap<String, String> =
        texts.into_iter().map(|(name, text)| (format!("{PREFIX}{name}"), text)).collect();
    let listed: Vec<ListedFile> = (texts.iter())
        .map(|(path, text)| ListedFile {
            entry: Entry { path: path.clone(), size: text.len() as u64 },
            modified: 1,
        })
        .collect();
    let mut db = Database::default();
    let reader: Arc<dyn ReadDump> = Arc::new(Texts(texts));
    let folder = DumpFolders::default().list(&mut db, "dump", &listed, &reader);
    let compile = folder.compiles(&db)[0];
    (db, compile)
}

/// The only kernel of an instruction, its grid and block, and its PTX.
fn only(db: &Database, compile: DumpedCompile, instruction: &str) -> (XlaKernel, [[u64; 3]; 2], String) {
    let kernels = artefacts_of_kernel(db, compile, instruction);
    let [kernel] = &kernels[..] else { panic!("{kernels:?}") };
    let launch = kernel.launch.as_ref().expect("it is launched");
    let ptx = kernel.ptx().expect("it has PTX");
    assert!(ptx.is_complete);
    (kernel.clone(), [launch.grid, launch.block], ptx.read(db).unwrap())
}

#[test]
fn a_kernel_has_its_launch_and_its_code() {
    let (db, compile) = listed(texts());
    let (tanh, sizes, ptx) = only(&db, compile, "loop_tanh_fusion");
    assert_eq!((&*tanh.name, sizes), ("loop_tanh_fusion", [[64, 1, 1], [128, 1, 1]]));
    assert_eq!(tanh.launch.unwrap().shared_bytes, Some(0));
    assert!(ptx.starts_with(".visible .entry loop_tanh_fusion(") && ptx.ends_with("\n}"), "{ptx}");
    let (gemm, sizes, ptx) = only(&db, compile, "gemm_fusion_dot");
    assert_eq!((sizes, gemm.launch.as_ref().unwrap().shared_bytes), ([[512, 1, 1], [64, 1, 1]], Some(768)));
    assert!(ptx.contains(".reqntid 64, 1, 1"));
    let ttir = gemm.text(&ArtefactKind::Ttir { kernel: "gemm_fusion_dot".to_owned() }).expect("Triton's IR");
    assert!(ttir.read(&db).unwrap().contains("tt.dot"));
    for name in ["bias.1", "tuple.1.0", "nothing", ""] {
        assert_eq!(artefacts_of_kernel(&db, compile, name), [], "{name}");
    }
}

#[test]
fn kernels_share_a_file_and_instructions_share_a_kernel() {
    let mut texts = texts();
    let shards = ["1.ptx", "3.ptx", "5.ptx"].map(|name| texts.remove(name).unwrap());
    texts.insert("ptx".to_owned(), shards.concat());
    let launch = "grid: [64, 1, 1] threads: [128, 1, 1]  shared_memory: 0 bytes";
    let sequence = texts.get_mut("thunk_sequence.txt").unwrap();
    sequence.push_str(&format!("004: kCustomKernel [source | sink] loop_tanh_fusion {launch}\n"));
    sequence.push_str(&format!("005: kCustomKernel [source | sink] second_1 {launch}\n"));
    let metadata = texts.get_mut("thunk_metadata.txt").unwrap();
    for id in [4, 5] {
        metadata.push_str(&format!(
            r#"thunk_metadata {{
  thunk_info {{
    profile_annotation: "again.7"
    thunk_id: {id}
  }}
  thunk_kind: "kCustomKernel"
}}
"#
        ));
    }
    let (db, compile) = listed(texts);
    let (tanh, _, ptx) = only(&db, compile, "loop_tanh_fusion");
    let (_, _, other) = only(&db, compile, "input_multiply_reduce_fusion");
    assert!(ptx.contains("loop_tanh_fusion_param_0") && !ptx.contains("input_multiply_reduce_fusion"));
    assert!(other.contains("input_multiply_reduce_fusion_param_0") && !other.contains("loop_tanh_fusion"));
    let [first, second] = &artefacts_of_kernel(&db, compile, "again.7")[..] else { panic!("two kernels") };
    assert_eq!((&first.name, &first.texts), (&tanh.name, &tanh.texts));
    assert_eq!((&*second.name, second.texts.len()), ("second_1", 0));
}

#[test]
fn half_a_folder_gives_what_it_has() {
    let mut unnamed = texts();
    unnamed.remove("thunk_metadata.txt");
    let (db, compile) = listed(unnamed.clone());
    let (_, sizes, _) = only(&db, compile, "loop_tanh_fusion");
    assert_eq!(sizes, [[64, 1, 1], [128, 1, 1]]);

    unnamed.remove("thunk_sequence.txt");
    let ptx = unnamed.get_mut("1.ptx").unwrap();
    ptx.truncate(ptx.rfind("ret;").unwrap());
    let (db, compile) = listed(unnamed);
    let kernels = artefacts_of_kernel(&db, compile, "loop_tanh_fusion");
    let [kernel] = &kernels[..] else { panic!("{kernels:?}") };
    assert_eq!(kernel.launch, None);
    assert!(!kernel.ptx().unwrap().is_complete);

    let mut stages = texts();
    stages.retain(|name, _| name.ends_with("optimizations.txt"));
    let (db, compile) = listed(stages);
    assert_eq!(artefacts_of_kernel(&db, compile, "loop_tanh_fusion"), []);
}
