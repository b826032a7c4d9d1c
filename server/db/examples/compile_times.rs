//! Time and memory of the origins of a dump folder: `compile_times FOLDER`.

#![allow(clippy::print_stdout)]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use compile::Entry;
use db::Database;
use db::compiles::{
    DumpFolders, ListedFile, ReadDump, blame, introduced, lineage, match_ahead, sources, stage_program,
};

struct Folder(PathBuf);

impl ReadDump for Folder {
    fn read(&self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(self.0.join(path)).map_err(|why| why.to_string())
    }
}

/// Resident memory and its maximum so far, in MB.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("0 kB");
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) / 1024
    };
    format!("{} MB resident, {} MB at most", field("VmRSS:"), field("VmHWM:"))
}

fn main() {
    let folder = PathBuf::from(std::env::args().nth(1).expect("a folder"));
    let paths = test_files::below(&folder, "");
    let listed: Vec<ListedFile> = (paths.iter())
        .map(|path| ListedFile {
            entry: Entry {
                path: path.strip_prefix(&folder).unwrap().to_string_lossy().into_owned(),
                size: path.metadata().unwrap().len(),
            },
            modified: 0,
        })
        .collect();
    let bytes: u64 = listed.iter().map(|file| file.entry.size).sum();
    println!("{} files of {} MB; {}", listed.len(), bytes >> 20, memory());
    let mut db = Database::default();
    let reader: Arc<dyn ReadDump> = Arc::new(Folder(folder));
    let mut folders = DumpFolders::default();
    let start = Instant::now();
    let opened = folders.list(&mut db, "dump", &listed, &reader);
    println!("listed in {:?}; {}", start.elapsed(), memory());
    println!("problems: {:?}", opened.listing(&db).problems);
    let mut times: Vec<Duration> = Vec::new();
    for &compile in opened.compiles(&db) {
        let start = Instant::now();
        match_ahead(&db, compile);
        let (lineage, blame) = (lineage(&db, compile), blame(&db, compile));
        let first = start.elapsed();
        let Some(whole) = lineage.zip(blame).map(|(lineage, _)| lineage) else { continue };
        let title = compile.description(&db).title();
        let count = whole.sources.len();
        println!(
            "{title}: {} stages, {count} instructions, first answer in {first:?}; {}",
            compile.stages(&db).len(),
            memory()
        );
        for id in (0..count).step_by(count.div_ceil(500)) {
            let start = Instant::now();
            let program = stage_program(&db, whole.last).expect("it was read");
            let first = stage_program(&db, whole.first).expect("it was read");
            let names = sources(&db, whole.last, program.program(), id as u32, whole.first).into_iter();
            let _: Vec<String> = names.map(|id| first.program().unique_name(id)).collect();
            introduced(&db, whole.last, id as u32);
            times.push(start.elapsed());
        }
    }
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!(
        "{} later answers: p50 {:?}, p99 {:?}, at most {:?}; {}",
        times.len(),
        at(0.5),
        at(0.99),
        at(1.0),
        memory()
    );
}
