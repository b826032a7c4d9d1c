//! What features ask of a text's language. Each language implements [`Semantics`] once; features are written
//! over it, and none asks which language a file has.

use mlir::{BlockId, ValueId};
use syntax::Span;

use crate::call_hierarchy::{CallDirection, CallItem};
use crate::hlo::Hlo;
use crate::locate::{FileContext, InstructionRef};
use crate::mlir::Mlir;
use crate::{Language, NavigationTarget, RenameError, TextRange};

/// The definition that a name refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Symbol {
    /// An instruction of HLO.
    Instruction(InstructionRef),
    /// A computation of HLO, by its index in the module.
    Computation(usize),
    /// A result or an argument in MLIR: `%name`.
    Value { piece: usize, value: ValueId },
    /// A block of MLIR, for example `^bb0`.
    Block { piece: usize, block: BlockId },
    /// `@name`, stored without `@`, in a part of an MLIR file.
    Global { part: usize, name: String },
    /// `#map` or `!array`, stored with its sign, in a part of an MLIR file.
    Alias { part: usize, name: String },
}

impl Symbol {
    /// The sign that starts its name.
    pub(crate) fn sign(&self) -> char {
        match self {
            Symbol::Instruction(_) | Symbol::Computation(_) | Symbol::Value { .. } => '%',
            Symbol::Block { .. } => '^',
            Symbol::Global { .. } => '@',
            Symbol::Alias { name, .. } if name.starts_with('!') => '!',
            Symbol::Alias { .. } => '#',
        }
    }
}

/// What a name does at one of its occurrences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Definition,
    /// `(p: f32[8])` in the header of a computation, for its parameter.
    Header,
    /// An operand, or the name of a called computation.
    Use,
    ControlPredecessor,
    /// `scheduling_name="…"` in the metadata of the instruction with this name.
    SchedulingName,
}

/// An occurrence of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Occurrence {
    pub(crate) piece: usize,
    /// The name: of HLO without `%`, of MLIR with its sign and without the `#1` of a result pack.
    pub(crate) span: Span,
    pub(crate) role: Role,
}

impl Occurrence {
    pub(crate) fn is_definition(&self) -> bool {
        self.role == Role::Definition
    }
}

/// The name under the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) at: Occurrence,
    pub(crate) symbol: Symbol,
}

/// The place of a definition in the file.
pub(crate) struct Defined {
    /// The whole definition.
    pub(crate) range: TextRange,
    pub(crate) name: TextRange,
}

/// A computation of HLO, by its first part, or a function of MLIR, by the op that starts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Function {
    pub(crate) piece: usize,
    pub(crate) id: u32,
}

/// A language's answers. All are about one file, `context`, in this language.
pub(crate) trait Semantics {
    /// The text of a piece.
    fn text<'a>(&self, context: &FileContext<'a>, piece: usize) -> &'a str;

    /// The name at `offset`, if it refers to a definition.
    fn name_at(&self, context: &FileContext<'_>, offset: usize) -> Option<Name>;

    /// All occurrences of a symbol, including its definitions, in text order.
    fn occurrences(&self, context: &FileContext<'_>, symbol: &Symbol) -> Vec<Occurrence>;

    /// The definitions of a symbol; several if several modules of a file define it.
    fn definitions(&self, context: &FileContext<'_>, symbol: &Symbol) -> Vec<Defined>;

    /// The targets of a position that is no name.
    fn targets_beside_names(&self, context: &FileContext<'_>, offset: usize) -> Vec<NavigationTarget>;

    /// The operands that are passed for a parameter at calls, and so name the same value.
    fn passed_for(&self, context: &FileContext<'_>, symbol: &Symbol) -> Vec<TextRange>;

    /// Why there is no name at `offset`, for the user.
    fn why_no_name(&self, context: &FileContext<'_>, offset: usize) -> RenameError;

    /// Whether all occurrences of a name are known and mean the same.
    fn check_occurrences(&self, name: &Name, occurrences: &[Occurrence]) -> Result<(), RenameError>;

    /// Whether `new`, without its sign, can be the name of a symbol at its occurrences.
    fn check_new_name(
        &self,
        context: &FileContext<'_>,
        symbol: &Symbol,
        occurrences: &[Occurrence],
        new: &str,
    ) -> Result<(), RenameError>;

    /// The function that a symbol names.
    fn function_named(&self, context: &FileContext<'_>, symbol: &Symbol) -> Option<Function>;

    /// The function that encloses `offset`.
    fn function_around(&self, context: &FileContext<'_>, offset: usize) -> Option<Function>;

    /// The function as an item of a call hierarchy.
    fn call_item(&self, context: &FileContext<'_>, function: Function) -> Option<CallItem>;

    /// The callers or callees of a function, each with the name of the called function at the call, in text
    /// order.
    fn calls(
        &self,
        context: &FileContext<'_>,
        function: Function,
        direction: CallDirection,
    ) -> Vec<(Function, TextRange)>;
}

impl FileContext<'_> {
    /// The semantics of the file's language: the one place that asks for it.
    pub(crate) fn semantics(&self) -> &'static dyn Semantics {
        match self.view.file.language(self.db) {
            Language::Hlo => &Hlo,
            Language::Mlir => &Mlir,
        }
    }
}
