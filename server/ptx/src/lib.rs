//! PTX as data: typed opcodes and operands, instructions, functions and modules, and the parser and the printer of
//! their text.
//!
//! * [`Opcode`]: a [`Name`] and the words after it, each an enum. [`Arithmetic`] sorts the words of an arithmetic
//!   opcode by what they say.
//! * [`Instruction`], [`Operand`], [`Statement`], [`Function`], [`Module`]: the structure of a text over any type
//!   of name: text while it is read, numbered registers while code is generated.
//! * [`parse()`]: the structure of a text; names are not resolved. What it returns prints itself, in the layout of
//!   LLVM's NVPTX back end. Debug information, pragmas and comments are skipped.
//!
//! Architecture Invariant: a text is data; whatever it says, nothing panics, hangs or grows without bound.

mod bodies;
mod error;
mod instruction;
mod module;
mod opcode;
mod parse;
mod print;
mod tokens;
mod variables;
mod vocabulary;

pub use error::{Error, ErrorKind, Position};
pub use instruction::{Guard, Instruction, Operand};
pub use module::{Attribute, Function, Linkage, Module, Statement, Variable};
pub use opcode::{Arithmetic, Opcode, Word, cvt, rounding_cvt, setp};
pub use parse::parse;
pub use vocabulary::{Comparison, Modifier, Name, Rounding, Shape, Space, Type};
