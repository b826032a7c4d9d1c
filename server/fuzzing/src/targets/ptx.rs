//! Text of PTX, and the executor.

use executor::{Argument, Contents, Launch, Memory, Program, run as execute};

/// The bytes of each buffer.
const BUFFER: u64 = 4096;

pub fn run(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(module) = ptx::parse(&text) {
        let first = module.to_string();
        match ptx::parse(&first) {
            Ok(again) => assert_eq!(again.to_string(), first),
            Err(why) => panic!("{why:?}\n{first}"),
        }
    }
    let Ok(program) = Program::new(&text, None) else { return false };
    let mut memory = Memory::new(1 << 20);
    let arguments = (0..program.parameter_count().min(64)).map(|number| {
        let fill = move |offset: u64, bytes: &mut [u8]| {
            bytes.iter_mut().zip(offset..).for_each(|(byte, at)| *byte = (at + number as u64) as u8);
        };
        Argument::Buffer(memory.add(BUFFER, Contents::Known(Box::new(fill))))
    });
    let arguments = arguments.collect();
    let threads = program.threads().unwrap_or([32, 1, 1]);
    let launch = Launch {
        max_steps: 20_000,
        enough_steps: 10_000,
        traces: true,
        dynamic_shared: 1024,
        ..Launch::new([2, 1, 1], threads, arguments)
    };
    // Of what the text does, nothing is known.
    _ = execute(&program, &launch, &mut memory);
    true
}
