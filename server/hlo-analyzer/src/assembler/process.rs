//! Runs a program in its own folder, with limits on time and output.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

pub enum Ended {
    Exited {
        success: bool,
        stdout: String,
        stderr: String,
    },
    TookTooLong,
    /// The caller asked for it.
    Stopped,
    NotStarted(std::io::Error),
}

/// When a program is stopped, and how much it may print.
pub struct Limits<'a> {
    pub patience: Duration,
    /// In bytes per stream; output beyond is read and discarded.
    pub output: usize,
    /// Stops the program when it becomes true.
    pub stop: Option<&'a AtomicBool>,
}

/// Runs a program in `folder`.
pub fn run(program: &Path, arguments: &[&str], folder: &Path, limits: &Limits<'_>) -> Ended {
    let &Limits { patience, output: limit, stop } = limits;
    let is_stopped = || stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
    let child = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return Ended::NotStarted(error),
    };
    let stdout = child.stdout.take().map(|stream| reader(stream, limit));
    let stderr = child.stderr.take().map(|stream| reader(stream, limit));
    let end = Instant::now() + patience;
    let mut pause = Duration::from_millis(1);
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < end && !is_stopped() => {
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(20));
            }
            Ok(None) | Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                return if is_stopped() { Ended::Stopped } else { Ended::TookTooLong };
            }
        }
    };
    // A child process of the program may hold the streams open after the program ends.
    let rest = Duration::from_secs(1);
    let text = |bytes: Option<Receiver<Vec<u8>>>| {
        let bytes = bytes.and_then(|bytes| bytes.recv_timeout(rest).ok()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    Ended::Exited { success: status.success(), stdout: text(stdout), stderr: text(stderr) }
}

/// Reads a stream to its end on a thread of its own.
fn reader(mut stream: impl Read + Send + 'static, limit: usize) -> Receiver<Vec<u8>> {
    let (sender, bytes) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.by_ref().take(limit as u64).read_to_end(&mut bytes);
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
        // The receiver may have stopped waiting.
        let _ = sender.send(bytes);
    });
    bytes
}

/// A private temporary folder, removed on drop.
pub struct WorkFolder(PathBuf);

impl WorkFolder {
    pub fn new() -> std::io::Result<WorkFolder> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        let mut last = None;
        for _ in 0..100 {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            let clock = clock.map_or(0, |time| time.subsec_nanos());
            let name = format!("hlo-analyzer-{}-{number}-{clock}", std::process::id());
            let path = std::env::temp_dir().join(name);
            // Fails if the path exists, whoever created it.
            match builder.create(&path) {
                Ok(()) => return Ok(WorkFolder(path)),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(|| std::io::Error::other("no name is free")))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
