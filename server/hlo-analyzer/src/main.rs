//! The program `hlo-analyzer`.

use std::process::ExitCode;

fn main() -> ExitCode {
    hlo_analyzer::main()
}
