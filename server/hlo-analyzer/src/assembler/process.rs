//! A program that is run with limits on its time and on what it prints, in a folder of its own.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

pub enum Ended {
    Exited { success: bool, stdout: String, stderr: String },
    TookTooLong,
    NotStarted(std::io::Error),
}

/// Runs a program in `folder`. What it prints beyond `limit` bytes a stream is read and dropped.
pub fn run(program: &Path, arguments: &[&str], folder: &Path, patience: Duration, limit: usize) -> Ended {
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
            Ok(None) if Instant::now() < end => {
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(20));
            }
            Ok(None) | Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                return Ended::TookTooLong;
            }
        }
    };
    // What the program started itself may hold the streams open longer than it lives.
    let rest = Duration::from_secs(1);
    let text = |bytes: Option<Receiver<Vec<u8>>>| {
        let bytes = bytes.and_then(|bytes| bytes.recv_timeout(rest).ok()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    Ended::Exited { success: status.success(), stdout: text(stdout), stderr: text(stderr) }
}

/// Takes in a stream on a thread of its own, until it ends.
fn reader(mut stream: impl Read + Send + 'static, limit: usize) -> Receiver<Vec<u8>> {
    let (sender, bytes) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.by_ref().take(limit as u64).read_to_end(&mut bytes);
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
        // Nobody may wait any more.
        let _ = sender.send(bytes);
    });
    bytes
}

/// A private folder; dropped with this value.
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
            // Fails where there is something already, whoever made it.
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
