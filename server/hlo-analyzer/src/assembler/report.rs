//! The output of `ptxas -v`.

use super::{Assembled, AssemblerError};

/// Errors beyond this number are not listed.
const MAX_ERRORS: usize = 100;

/// Reads lines like `ptxas info    : Used 30 registers, used 1 barriers` and `ptxas kernel.ptx, line 34;
/// error   : …`; ignores all others.
pub fn read(text: &str) -> Assembled {
    let mut assembled = Assembled::default();
    let before = |line: &str, what: &str| -> Option<u32> {
        let (front, _) = line.split_once(what)?;
        front.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    };
    for line in text.lines() {
        // With several kernels, report the largest register count.
        assembled.registers = before(line, " registers").max(assembled.registers);
        assembled.spill_stores = assembled.spill_stores.max(before(line, " bytes spill stores").unwrap_or(0));
        assembled.spill_loads = assembled.spill_loads.max(before(line, " bytes spill loads").unwrap_or(0));
        if assembled.errors.len() < MAX_ERRORS {
            assembled.errors.extend(error(line));
        }
    }
    assembled
}

fn error(line: &str) -> Option<AssemblerError> {
    let (_, rest) = line.split_once(", line ")?;
    let (number, rest) = rest.split_once(';')?;
    let message = rest.trim_start().strip_prefix("error")?.trim_start().strip_prefix(':')?;
    let number: usize = number.trim().parse().ok()?;
    Some(AssemblerError { line: number.saturating_sub(1), message: message.trim().to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_and_spills() {
        let text = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'f' for 'sm_90a'
ptxas info    : Function properties for f
    8 bytes stack frame, 16 bytes spill stores, 24 bytes spill loads
ptxas info    : Used 30 registers, used 1 barriers, 4224 bytes smem
";
        let read = read(text);
        assert_eq!((read.registers, read.spill_stores, read.spill_loads), (Some(30), 16, 24));
        assert!(read.errors.is_empty());
    }

    #[test]
    fn errors_have_lines() {
        let text = "\
ptxas bad.ptx, line 34; error   : Unknown modifier '.globl'
ptxas bad.ptx, line 9; warning : odd
ptxas fatal   : Ptx assembly aborted due to errors
, line x; error : y";
        let expect = AssemblerError { line: 33, message: "Unknown modifier '.globl'".to_owned() };
        assert_eq!(read(text).errors, [expect]);
    }
}
