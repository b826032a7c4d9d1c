//! The memory of this process.

use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

#[derive(Default)]
pub struct ProcessMemory {
    system: System,
}

impl ProcessMemory {
    /// The bytes in memory (resident, or the working set); `None` where the system does not tell.
    pub fn resident(&mut self) -> Option<u64> {
        let process = Pid::from_u32(std::process::id());
        let memory = ProcessRefreshKind::nothing().with_memory().without_tasks();
        self.system.refresh_processes_specifics(ProcessesToUpdate::Some(&[process]), false, memory);
        Some(self.system.process(process)?.memory()).filter(|bytes| *bytes > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::ProcessMemory;

    #[test]
    fn memory_that_is_written_to_is_counted() {
        let mut memory = ProcessMemory::default();
        let before = memory.resident().expect("this system tells");
        let bytes = std::hint::black_box(vec![1_u8; 256 << 20]);
        let after = memory.resident().expect("this system tells");
        assert!(after > before + (200 << 20), "{before} {after} {}", bytes.len());
    }
}
