//! The order in which a module runs: the entry, with the computations of control flow in front of their callers.

use ir::{Opcode, op_info};

use crate::program::{Id, Program};

/// A position in the schedule: the number of instructions that run before.
pub type Time = u32;

/// Source: `HloLiveRange::FlattenSchedule`, `hlo/utils/hlo_live_range.cc`.
#[derive(Debug, Default)]
pub(crate) struct Schedule {
    /// All instructions that run as steps of the program, with elements that are not written.
    pub(crate) order: Vec<Id>,
    /// Per position, and for the end, how many of the instructions before it are in the text: XLA gives tuple elements
    /// that it does not print a position, too. They are assumed to stand before their first user.
    pub(crate) written: Vec<Time>,
    /// Per instruction, its position; `None` if it runs inside another.
    pub(crate) time: Vec<Option<Time>>,
    /// Per computation, where it starts and ends; `None` if it is no part of the schedule.
    pub(crate) span: Vec<Option<(Time, Time)>>,
    /// Computations in the order in which they end.
    pub(crate) computations: Vec<u32>,
    /// Per computation, the instruction that starts the asynchronous computation around it.
    pub(crate) started_by: Vec<Option<Id>>,
    pub(crate) end: Time,
}

/// A computation that is being added.
struct Open {
    computation: u32,
    /// Position of the next instruction in it.
    next: usize,
    start: Option<Time>,
    /// Whether what the next instruction calls was added.
    has_called: bool,
}

impl Open {
    fn new(computation: u32) -> Open {
        Open { computation, next: 0, start: None, has_called: false }
    }
}

impl Schedule {
    pub(crate) fn of(program: &Program) -> Schedule {
        let computations = program.computations.len();
        let mut schedule = Schedule {
            time: vec![None; program.instructions.len()],
            span: vec![None; computations],
            started_by: vec![None; computations],
            ..Schedule::default()
        };
        let mut is_open = vec![false; computations];
        let mut written = 0;
        let mut open = vec![Open::new(program.entry as u32)];
        is_open[program.entry] = true;
        while let Some(top) = open.last_mut() {
            cancel::tick();
            let start = *top.start.get_or_insert(schedule.end);
            let Some(&id) = program.computations[top.computation as usize].instructions.get(top.next) else {
                schedule.span[top.computation as usize] = Some((start, schedule.end));
                schedule.computations.push(top.computation);
                open.pop();
                continue;
            };
            let instruction = program.instruction(id);
            let has_called = std::mem::replace(&mut top.has_called, false);
            top.next += usize::from(has_called);
            if !has_called {
                let mut called = Vec::new();
                for &key in instruction.opcode.map_or(&[][..], |opcode| op_info(opcode).steps) {
                    let of_key = instruction.callees.iter().filter(|(own, _)| *own == key);
                    called.extend(of_key.map(|&(_, callee)| callee));
                }
                // A computation with several callers runs at the first one; one that calls itself is cut.
                called.retain(|&callee| !std::mem::replace(&mut is_open[callee as usize], true));
                let around = match instruction.opcode {
                    Some(Opcode::AsyncStart) => Some(id),
                    _ => schedule.started_by[top.computation as usize],
                };
                for &callee in called.iter().rev() {
                    schedule.started_by[callee as usize] = around;
                    open.push(Open::new(callee));
                }
                let at = open.len() - 1 - called.len();
                if called.is_empty() {
                    open[at].next += 1;
                } else {
                    open[at].has_called = true;
                    continue;
                }
            }
            schedule.order.push(id);
            schedule.written.push(written);
            written += Time::from(instruction.is_written);
            schedule.time[id as usize] = Some(schedule.end);
            schedule.end += 1;
        }
        schedule.written.push(written);
        schedule
    }

    /// The position of an instruction that is part of the schedule.
    pub(crate) fn at(&self, id: Id) -> Option<Time> {
        self.time[id as usize]
    }
}
