//! Stacks of source frames: from `stack_frame_id=28` in metadata through the tables at the head of the module.

use crate::Span;
use crate::hlo::ModuleHeader;

/// The largest number of frames of a stack.
const MAX_FRAMES: usize = 256;

/// The calls that led to an instruction, innermost first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stack {
    pub frames: Vec<StackFrame>,
    pub end: StackEnd,
}

/// A row of `StackFrames` with what its numbers refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StackFrame {
    /// Without the quotes.
    pub file: Span,
    /// Empty if the table names none.
    pub function: Span,
    pub line: u32,
}

/// Why a stack has no further frame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StackEnd {
    /// The last frame has no caller.
    #[default]
    Outermost,
    /// `table` has no row `row`.
    Missing { table: &'static str, row: u32 },
    /// Frame `frame` calls itself, directly or through others.
    Cycle { frame: u32 },
    /// The stack has more frames than are read.
    Deep,
}

impl ModuleHeader {
    /// The stack whose innermost frame is row `innermost` of `StackFrames`; 0 is no stack.
    pub fn stack(&self, innermost: u32) -> Stack {
        let mut stack = Stack::default();
        let mut seen = Vec::new();
        let mut next = innermost;
        while next != 0 {
            if seen.contains(&next) {
                stack.end = StackEnd::Cycle { frame: next };
                break;
            }
            if seen.len() == MAX_FRAMES {
                stack.end = StackEnd::Deep;
                break;
            }
            seen.push(next);
            match self.frame(next) {
                Ok((frame, caller)) => {
                    stack.frames.push(frame);
                    next = caller;
                }
                Err(missing) => {
                    stack.end = missing;
                    break;
                }
            }
        }
        stack
    }

    /// The first frame of [`Self::stack`].
    pub fn innermost_frame(&self, number: u32) -> Option<StackFrame> {
        Some(self.frame(number).ok()?.0)
    }

    /// A frame and the number of its caller, 0 if it has none.
    fn frame(&self, number: u32) -> Result<(StackFrame, u32), StackEnd> {
        let missing = |table, row| StackEnd::Missing { table, row };
        let [_, location, parent] =
            row(&self.stack_frames, number, |row| row[0]).ok_or(missing("StackFrames", number))?;
        let [_, file, function, line] =
            row(&self.file_locations, location, |row| row[0]).ok_or(missing("FileLocations", location))?;
        let (_, file) = row(&self.file_names, file, |row| row.0).ok_or(missing("FileNames", file))?;
        let function = row(&self.function_names, function, |row| row.0).map_or(Span::default(), |row| row.1);
        // XLA counts frames from 1 and prints the number of the caller plus 1: 1 is no caller.
        Ok((StackFrame { file, function, line }, parent.saturating_sub(1)))
    }
}

/// The row with a number, in a table whose rows are in the order of their numbers, as XLA prints them.
fn row<T: Copy>(rows: &[T], number: u32, number_of: impl Fn(&T) -> u32) -> Option<T> {
    let at = rows.binary_search_by_key(&number, number_of).ok()?;
    Some(rows[at])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hlo::{PieceState, parse};

    /// The rows of `StackFrames`, and those of `FileLocations` for files 1 and 2 of two, and 3, which is none.
    fn stack(frames: &str, innermost: u32) -> (Vec<String>, StackEnd) {
        let text = format!(
            r#"HloModule m

FileNames
1 "a.py"
2 "b.py"

FunctionNames
1 "f"

FileLocations
1 {{file_name_id=1 function_name_id=1 line=7}}
2 {{file_name_id=2 function_name_id=9 line=8}}
3 {{file_name_id=3 function_name_id=1 line=9}}

StackFrames
{frames}

ENTRY e {{
  ROOT c = f32[] constant(1)
}}
"#
        );
        let parse = parse(&text, PieceState::HEADER);
        assert!(parse.errors.is_empty(), "{:?}", parse.errors);
        let stack = parse.header.expect("there is one").stack(innermost);
        let frame = |frame: &StackFrame| {
            format!("{} {}:{}", frame.function.of(&text), frame.file.of(&text), frame.line)
        };
        (stack.frames.iter().map(frame).collect(), stack.end)
    }

    fn rows(rows: &[(u32, u32, u32)]) -> String {
        let row = |&(number, location, parent): &(u32, u32, u32)| {
            format!("{number} {{file_location_id={location} parent_frame_id={parent}}}\n")
        };
        rows.iter().map(row).collect()
    }

    #[test]
    fn callers_are_one_less_than_printed() {
        let (frames, end) = stack(&rows(&[(1, 1, 1), (2, 2, 2), (3, 1, 2)]), 3);
        assert_eq!((frames, end), (vec!["f a.py:7".into(), "f a.py:7".into()], StackEnd::Outermost));
        let (frames, end) = stack(&rows(&[(1, 1, 1), (2, 2, 2)]), 2);
        assert_eq!((frames, end), (vec![" b.py:8".into(), "f a.py:7".into()], StackEnd::Outermost));
        // Gaps, and a caller of 0.
        let (frames, end) = stack(&rows(&[(5, 1, 0), (8, 2, 6)]), 8);
        assert_eq!((frames, end), (vec![" b.py:8".into(), "f a.py:7".into()], StackEnd::Outermost));
        assert_eq!(stack(&rows(&[(1, 1, 1)]), 0), (Vec::new(), StackEnd::Outermost));
    }

    #[test]
    fn bad_tables_end_the_stack() {
        let end = |frames: &[(u32, u32, u32)], innermost| {
            let (frames, end) = stack(&rows(frames), innermost);
            (frames.len(), end)
        };
        assert_eq!(end(&[(1, 1, 1)], 9), (0, StackEnd::Missing { table: "StackFrames", row: 9 }));
        assert_eq!(end(&[(1, 1, 7)], 1), (1, StackEnd::Missing { table: "StackFrames", row: 6 }));
        assert_eq!(end(&[(1, 5, 1)], 1), (0, StackEnd::Missing { table: "FileLocations", row: 5 }));
        assert_eq!(end(&[(1, 3, 1)], 1), (0, StackEnd::Missing { table: "FileNames", row: 3 }));
        assert_eq!(end(&[(1, 1, 2)], 1), (1, StackEnd::Cycle { frame: 1 }));
        assert_eq!(end(&[(1, 1, 3), (2, 1, 2)], 1), (2, StackEnd::Cycle { frame: 1 }));
        assert_eq!(end(&[(1, 1, u32::MAX)], u32::MAX).0, 0);
        let long: Vec<_> = (1..=400).map(|number| (number, 1, number)).collect();
        assert_eq!(end(&long, 400), (MAX_FRAMES, StackEnd::Deep));
    }
}
