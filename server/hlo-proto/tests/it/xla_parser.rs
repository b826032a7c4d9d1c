//! Texts and messages under XLA's own parser (jaxlib): the module of a text is the same as that of our message of it, and as that of
//! our text of XLA's message.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use hlo_proto::messages::encoded;

use crate::text_of;

/// XLA in a process of Python.
struct Xla {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Xla {
    fn start(python: &Path) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/xla_parser.py");
        let mut command = Command::new(python);
        command.arg(script).env("JAX_PLATFORMS", "cpu").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.stderr(Stdio::null()).spawn().expect("Python starts");
        let input = process.stdin.take().expect("it is piped");
        let output = BufReader::new(process.stdout.take().expect("it is piped"));
        Self { process, input, output }
    }

    /// Says whether the elements of large constants are printed.
    fn print_large_constants(&mut self, are_printed: bool) -> Result<(), String> {
        self.ask(if are_printed { "all" } else { "elided" }, &[])
    }

    fn ask(&mut self, kind: &str, paths: &[&Path]) -> Result<(), String> {
        let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        writeln!(self.input, "{kind}\t{}", paths.join("\t")).map_err(|error| error.to_string())?;
        let mut answer = String::new();
        self.output.read_line(&mut answer).map_err(|error| error.to_string())?;
        match answer.trim_end() {
            "ok" => Ok(()),
            "" => Err("XLA ended the process".to_owned()),
            message => Err(message.to_owned()),
        }
    }

    /// What XLA prints of a text, after its message was written to a file.
    fn text(&mut self, text: &Path, message: &Path) -> Result<String, String> {
        let out = text.with_extension("printed");
        self.ask("text", &[text, message, &out])?;
        std::fs::read_to_string(out).map_err(|error| error.to_string())
    }

    fn message(&mut self, message: &Path) -> Result<String, String> {
        let out = message.with_extension("printed");
        self.ask("message", &[message, &out])?;
        std::fs::read_to_string(out).map_err(|error| error.to_string())
    }
}

impl Drop for Xla {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// What XLA prints, without what depends on the order in which it read a module: computations are sorted, and stack frames are written
/// where they are used rather than as numbers of tables.
fn canonical(printed: &str) -> String {
    let (tables, body) = match printed.find("\nFileNames\n") {
        None => ("", printed),
        Some(start) => {
            let frames = printed[start..].find("\nStackFrames\n").map_or(start, |frames| start + frames + 1);
            let end = printed[frames..].find("\n\n").map_or(printed.len(), |end| frames + end);
            (&printed[start..end], &printed[end..])
        }
    };
    let header = printed.lines().next().unwrap_or_default();
    let mut frames: HashMap<&str, String> = HashMap::new();
    let rows = |title: &str| {
        let start = tables.find(title).map_or(tables.len(), |start| start + title.len());
        tables[start..].lines().take_while(|line| !line.is_empty()).filter_map(|line| line.split_once(' '))
    };
    let [names, functions, locations] = ["\nFileNames\n", "\nFunctionNames\n", "\nFileLocations\n"]
        .map(|title| rows(title).collect::<HashMap<&str, &str>>());
    let number = |row: &str, field: &str| {
        let rest = row.split_once(field).map_or("", |(_, rest)| rest);
        rest.split([' ', '}']).next().unwrap_or_default().to_owned()
    };
    // A frame's parent comes before it, and is written as its number plus one: that of the outermost frame is 1.
    for (id, row) in rows("\nStackFrames\n") {
        let location = locations.get(number(row, "file_location_id=").as_str()).copied().unwrap_or_default();
        let file = names.get(number(location, "file_name_id=").as_str()).copied().unwrap_or_default();
        let function =
            functions.get(number(location, "function_name_id=").as_str()).copied().unwrap_or_default();
        let place = location.split_once(" line=").map_or("", |(_, place)| place);
        let parent =
            number(row, "parent_frame_id=").parse().map_or(0, |parent: u32| parent.saturating_sub(1));
        let parent = frames.get(parent.to_string().as_str()).cloned().unwrap_or_default();
        frames.insert(id, format!("<{file} {function} {place} {parent}>"));
    }
    let mut computations: Vec<String> = Vec::new();
    for computation in body.trim_start_matches(header).split("\n\n").map(str::trim) {
        let mut out = String::new();
        for (n, part) in computation.split("stack_frame_id=").enumerate() {
            let digits = part.bytes().take_while(u8::is_ascii_digit).count();
            match n {
                0 => out.push_str(part),
                _ => {
                    let frame = frames.get(&part[..digits]).map_or("(none)", String::as_str);
                    out.push_str(&format!("stack_frame={frame}{}", &part[digits..]));
                }
            }
        }
        computations.push(complex_nans(&out));
    }
    computations.sort();
    format!("{header}\n{}\n", computations.join("\n"))
}

/// XLA's parser makes the imaginary part of a complex number a NaN where the real one is (`SetValueInLiteralHelper` in
/// `hlo_parser.cc`); our message has the numbers of the text.
fn complex_nans(text: &str) -> String {
    let mut parts = text.split("(nan, ");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(')').unwrap_or(part.len());
        out.push_str("(nan, nan");
        out.push_str(&part[end..]);
    }
    out
}

/// What happened to a module on both ways.
enum Outcome {
    Same,
    /// XLA does not read the text.
    Refused(String),
    Different(String),
}

/// The first line that differs, shortened around the first character that differs.
fn first_difference(a: &str, b: &str) -> Option<String> {
    if a == b {
        return None;
    }
    let (mut a, mut b) = (a.lines(), b.lines());
    loop {
        match (a.next(), b.next()) {
            (a, b) if a == b && a.is_some() => {}
            (a, b) => {
                let (a, b) = (a.unwrap_or("(end)"), b.unwrap_or("(end)"));
                let same = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
                let near =
                    |line: &str| line.chars().skip(same.saturating_sub(80)).take(240).collect::<String>();
                return Some(format!("\n  XLA  {}\n  ours {}", near(a), near(b)));
            }
        }
    }
}

/// Takes a text through our message and XLA's, each read by XLA. What the message of a module alone has no place for, such as the
/// number of partitions, XLA loses in its own one, too; our `HloProto` keeps it.
fn round_trip(xla: &mut Xla, folder: &Path, text: &str) -> Outcome {
    let path = |name: &str| folder.join(name);
    let write = |name: &str, bytes: &[u8]| std::fs::write(path(name), bytes).expect("it can be written");
    write("module.hlo", text.as_bytes());
    // XLA makes up the elements of `{...}`.
    if let Err(why) = xla.print_large_constants(!text.contains("constant({...})")) {
        return Outcome::Different(why);
    }
    let of_text = match xla.text(&path("module.hlo"), &path("xla.pb")) {
        Ok(text) => text,
        Err(why) => return Outcome::Refused(why),
    };
    let mut differences = || -> Result<(), String> {
        let same = |what: &str, expected: &str, found: &str| match first_difference(
            &canonical(expected),
            &canonical(found),
        ) {
            None => Ok(()),
            Some(difference) => Err(format!("{what} is another module: {difference}")),
        };
        let of_message = xla.message(&path("xla.pb"))?;
        let ours = hlo_proto::module_proto(text)?;
        write("ours.pb", &encoded(&ours.module));
        let printed =
            xla.message(&path("ours.pb")).map_err(|why| format!("XLA refuses our message: {why}"))?;
        same("our message", &of_message, &printed)?;

        write("back.hlo", text_of(&encoded(&ours.into_hlo()))?.text.as_bytes());
        let printed = xla
            .text(&path("back.hlo"), &path("back.pb"))
            .map_err(|why| format!("XLA refuses the text of our message: {why}"))?;
        same("the text of our message", &of_text, &printed)?;

        let message = std::fs::read(path("xla.pb")).map_err(|error| error.to_string())?;
        write("back.hlo", text_of(&message)?.text.as_bytes());
        let printed = xla
            .text(&path("back.hlo"), &path("back.pb"))
            .map_err(|why| format!("XLA refuses the text of its message: {why}"))?;
        same("our text of XLA's message", &of_message, &printed)
    };
    match differences() {
        Ok(()) => Outcome::Same,
        Err(why) => Outcome::Different(why),
    }
}

/// Unpacks an archive into a folder of its own, and returns the modules in it.
fn unpacked(archive: &Path, folder: &Path) -> Vec<PathBuf> {
    let out = folder.join("unpacked").join(archive.file_name().expect("a file has a name"));
    std::fs::create_dir_all(&out).expect("it can be made");
    let status = Command::new("tar").arg("-xf").arg(archive).arg("-C").arg(&out).status();
    assert!(status.is_ok_and(|status| status.success()), "tar cannot unpack {}", archive.display());
    let mut files = test_files::below(&out, ".hlo");
    files.extend(test_files::below(&out, ".txt"));
    files
}

mod needs_shared {
    use test_files::needs::{print_once, shared};

    use super::*;

    /// All modules of the corpus: of the benchmarks of XLA, of models at all stages, and of whole compiles.
    #[test]
    #[ignore = "needs shared: cargo xtask test"]
    fn modules_are_the_same_under_xlas_parser() {
        let Some(python) = std::env::var_os("HLO_ANALYZER_PYTHON") else {
            print_once(
                "modules_are_the_same_under_xlas_parser is left out: HLO_ANALYZER_PYTHON names no Python with jaxlib",
            );
            return;
        };
        let folder = std::env::temp_dir().join(format!("hlo-proto-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("it can be made");
        let mut files = test_files::below(shared("corpus/hlo"), ".gz");
        files.extend(test_files::below(shared("corpus/scale"), ".gz"));
        files.extend(unpacked(&shared("corpus/jax-dev.tar.gz"), &folder));
        for archive in test_files::below(shared("corpus/compiles"), ".tar.xz") {
            files.extend(unpacked(&archive, &folder));
        }
        let mut xla = Xla::start(Path::new(&python));
        let (mut same, mut refused, mut different) = (0, Vec::new(), Vec::new());
        for path in files {
            let text = match path.extension().is_some_and(|ending| ending == "gz") {
                true => test_files::gzip_text(&path).expect("it opens"),
                false => std::fs::read_to_string(&path).expect("it is text"),
            };
            if !text.trim_start().starts_with("HloModule") {
                continue;
            }
            let name = path.strip_prefix(&folder).unwrap_or(&path).display().to_string();
            match round_trip(&mut xla, &folder, &text) {
                Outcome::Same => same += 1,
                Outcome::Refused(why) => refused.push(format!("{name}: {why}")),
                Outcome::Different(why) => different.push(format!("{name}: {why}")),
            }
        }
        std::fs::remove_dir_all(&folder).expect("it can be removed");
        print_once(&format!(
            "under XLA's parser: {same} of {} modules are the same, and XLA refuses the text of {} more",
            same + different.len(),
            refused.len()
        ));
        refused.iter().for_each(|line| print_once(line));
        assert!(different.is_empty(), "{} modules differ:\n{}", different.len(), different.join("\n"));
        assert!(same >= 100, "{same}");
    }
}
