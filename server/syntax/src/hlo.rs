//! HLO text: the vocabulary, the lexer, the parser and the flat arrays of its result.
//!
//! Source of the grammar: XLA `hlo/parser/hlo_lexer.cc`, `hlo/parser/hlo_parser.cc`, `hlo/ir/hlo_opcode.h`.

mod attributes;
mod cursor;
pub mod float_format;
mod fragments;
mod instruction;
mod layout;
mod lexer;
mod line_forms;
mod literal;
mod metadata;
mod module_header;
mod numbers;
mod operands;
mod parser;
mod pieces;
mod protobuf;
mod segments;
mod sharding;
mod source_metadata;
mod stack_frames;
mod suggestions;
mod tokens;
mod tree;
mod vocabulary;
mod windows;

pub use cursor::{Cursor, CursorPlace, cursor};
pub use float_format::{FloatFormat, Specials};
pub use fragments::{Fragment, parse_fragment};
pub use lexer::unescape;
pub use parser::{is_reserved, parse, parse_units};
pub use pieces::{Cuts, PieceStart, PieceState, split};
pub use source_metadata::{SourceFrame, SourceMetadata, source_metadata};
pub use stack_frames::{Stack, StackEnd, StackFrame};
pub use tokens::{TextToken, TokenClass, tokens};
pub use tree::{
    Attribute, Computation, ComputationId, ComputationKind, Instruction, InstructionId, LayoutNode,
    ModuleHeader, Operand, OperandKind, Parameter, Parse, ShapeId, ShapeNode, ValueNode,
};
pub use vocabulary::{AttributeKey, ElementType, Opcode};
