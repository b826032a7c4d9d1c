//! Watches the process that started the server, so that the server does not outlive it. Its exit usually
//! closes the input as well, except where another process has inherited that pipe.

use std::thread;
use std::time::Duration;

use sysinfo::{Pid, ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System};

const INTERVAL: Duration = Duration::from_secs(1);

/// Calls `on_end` once when the process exits, or at once if it does not exist. LSP: "If the parent process
/// is not alive then the server should exit".
pub(super) fn watch(process_id: u32, on_end: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let watch = move || {
        let mut system = System::new();
        let pid = Pid::from_u32(process_id);
        let mut started = None;
        while let Some(start) = start_of(&mut system, pid) {
            // The process id may be reused by another process.
            if *started.get_or_insert(start) != start {
                break;
            }
            thread::sleep(INTERVAL);
        }
        tracing::error!("the client's process {process_id} is gone");
        on_end();
    };
    thread::Builder::new().name("client process".into()).spawn(watch).map(drop)
}

/// The start time of a live process; `None` for a zombie.
fn start_of(system: &mut System, pid: Pid) -> Option<u64> {
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), true, ProcessRefreshKind::nothing());
    let process = system.process(pid)?;
    let is_alive = !matches!(process.status(), ProcessStatus::Zombie | ProcessStatus::Dead);
    is_alive.then(|| process.start_time())
}
