//! The pages of the documentation show what the commands print: each command of a `console` block is run, and each picture is
//! drawn anew. `UPDATE_EXPECT=1` writes them.
//!
//! A picture has its command in a comment: `<!-- $ hlo-analyzer diff yesterday.hlo today.hlo --format svg > pictures/diff.svg -->`.
//! Where the command answers JSON, as `query` does, the picture is the member `svg` of the result.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use hlo_analyzer_tests::binary;
use serde_json::Value;

use super::text;

/// The files that the pages name, and where they are in the project.
const FILES: [(&str, &str); 6] = [
    ("before.hlo", "server/compile-diff/tests/fixtures/before.hlo"),
    ("after.hlo", "server/compile-diff/tests/fixtures/after.hlo"),
    ("yesterday.hlo", "server/compile-diff/tests/fixtures/before.hlo"),
    ("today.hlo", "server/compile-diff/tests/fixtures/after.hlo"),
    ("attention.hlo", "server/memory/tests/fixtures/scores_that_the_gradient_keeps.hlo"),
    ("residuals_of_a_scan.hlo", "server/memory/tests/fixtures/residuals_of_a_scan.hlo"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The folder in which the commands run: [`FILES`], and a dump in `dump`.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("dump")).expect("the folder is made");
        for (name, from) in FILES {
            std::fs::copy(root().join(from), folder.join(name)).expect("the file is copied");
        }
        let dump = std::fs::read_dir(test_files::dump_folder()).expect("the dump is there");
        for file in dump.flatten() {
            std::fs::copy(file.path(), folder.join("dump").join(file.file_name())).expect("it is copied");
        }
        folder
    })
}

/// What a command line prints, errors last.
fn run(line: &str) -> String {
    let programs = binary::hlo_analyzer().parent().expect("the binary is in a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-c", line])
        .current_dir(folder())
        .env("PATH", format!("{}:{path}", programs.display()))
        .output()
        .expect("there is a shell");
    let code = output.status.code();
    // 1 says that something was found.
    assert!(matches!(code, Some(0 | 1)), "`{line}` ends with {code:?}: {}", text(&output.stderr));
    text(&output.stdout) + &text(&output.stderr)
}

/// All pages below a folder.
fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("the folder is there").flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            pages(&entry, found);
        } else if entry.extension().is_some_and(|ending| ending == "md") {
            found.push(entry);
        }
    }
}

/// The page with the output of its commands, and how many these are.
fn with_real_output(page: &str) -> (String, usize) {
    let (mut real, mut commands) = (String::new(), 0);
    let mut is_console = false;
    let mut is_output = false;
    for line in page.lines() {
        if line.trim_end() == "```console" {
            is_console = true;
        } else if line.starts_with("```") {
            (is_console, is_output) = (false, false);
        }
        if !is_output || line.starts_with("$ ") {
            real += &format!("{line}\n");
        }
        if let Some(command) = line.strip_prefix("$ ").filter(|_| is_console) {
            real += &format!("{}\n", run(command).trim_end());
            commands += 1;
            is_output = true;
        }
    }
    (real, commands)
}

/// The pictures of a page: their paths, relative to it, and what is drawn.
fn pictures(page: &str) -> Vec<(String, String)> {
    let comments = page.lines().filter_map(|line| line.strip_prefix("<!-- $ ")?.strip_suffix(" -->"));
    let drawn = comments.map(|command| {
        let (command, path) = command.rsplit_once(" > ").expect("the command writes a picture");
        let output = run(command);
        let svg = match serde_json::from_str::<Value>(&output) {
            Ok(answer) => answer["result"]["svg"].as_str().unwrap_or_default().trim_end().to_owned() + "\n",
            Err(_) => output,
        };
        assert!(svg.starts_with("<svg"), "`{command}` draws nothing: {svg}");
        assert!(page.contains(&format!("]({path})")), "no image of the page is {path}");
        (path.to_owned(), svg)
    });
    drawn.collect()
}

fn expect(path: &Path, real: &str) {
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path, real).expect("the file is written");
        return;
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(written, real, "{} (UPDATE_EXPECT=1 writes it)", path.display());
}

#[test]
fn the_pages_show_real_output() {
    let mut found = Vec::new();
    pages(&root().join("server/docs"), &mut found);
    let (mut commands, mut drawn) = (0, 0);
    for page in found {
        let written = std::fs::read_to_string(&page).expect("the page is text");
        let (real, count) = with_real_output(&written);
        expect(&page, &real);
        commands += count;
        for (path, svg) in pictures(&written) {
            expect(&page.parent().expect("the page is in a folder").join(path), &svg);
            drawn += 1;
        }
    }
    assert!(commands >= 10 && drawn >= 3, "{commands} commands, {drawn} pictures");
}

#[test]
fn output_is_replaced_and_prose_is_kept() {
    let page = "# One\n```console\n$ echo a\nold\nolder\n$ echo b\n```\n\n```sh\n$ echo c\nkept\n```\n";
    let (real, commands) = with_real_output(page);
    let expected = "# One\n```console\n$ echo a\na\n$ echo b\nb\n```\n\n```sh\n$ echo c\nkept\n```\n";
    assert_eq!((real.as_str(), commands), (expected, 2));
}
