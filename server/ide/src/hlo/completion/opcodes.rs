//! Opcodes, with placeholders for their operands and required attributes.

use ir::{Opcode, op_info};

use crate::completion::{CompletionItem, CompletionKind};
use crate::hlo::reference::{self, Form};
use crate::hlo::scope::Scope;

pub(super) fn items(scope: &Scope<'_>, wanted: impl Fn(Opcode) -> bool, rank: &str) -> Vec<CompletionItem> {
    let offered = Opcode::ALL.iter().copied().filter(|&opcode| wanted(opcode));
    offered.map(|opcode| item(scope, opcode, rank)).collect()
}

fn item(scope: &Scope<'_>, opcode: Opcode, rank: &str) -> CompletionItem {
    let name = opcode.name();
    // Opcodes that can have the written shape come first, then prefix matches, then common opcodes.
    let element = scope.declared().and_then(|shape| Some(shape.as_array()?.element));
    let order = [
        element.is_some_and(|element| !ir::has_result_of(opcode, element)),
        !name.starts_with(scope.prefix()),
        !is_common(opcode),
    ];
    let order: String = order.map(|is_later| if is_later { '1' } else { '0' }).into_iter().collect();
    let called = scope.cursor.is_called;
    CompletionItem {
        detail: op_info(opcode).summary.to_owned(),
        insert: if called { name.to_owned() } else { format!("{name}(") },
        snippet: (!called).then(|| snippet(scope, opcode)),
        sort: format!("{rank}{order}{name}"),
        documentation: Some(format!("opcode/{name}")),
        ..scope.item(name, CompletionKind::Opcode)
    }
}

/// Opcodes that make up most instructions in dumps; they come first among names with one prefix.
fn is_common(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(
        opcode,
        Add | AllGather
            | AllReduce
            | And
            | Bitcast
            | Broadcast
            | Call
            | Compare
            | Concatenate
            | Constant
            | Convert
            | Convolution
            | Copy
            | CustomCall
            | Divide
            | Dot
            | DynamicSlice
            | DynamicUpdateSlice
            | Exponential
            | Fusion
            | Gather
            | GetTupleElement
            | Iota
            | Log
            | Maximum
            | Minimum
            | Multiply
            | Negate
            | Or
            | Pad
            | Parameter
            | Reduce
            | Reshape
            | Rsqrt
            | Scatter
            | Select
            | Slice
            | Sort
            | Sqrt
            | Subtract
            | Tanh
            | Transpose
            | Tuple
            | While
    )
}

fn snippet(scope: &Scope<'_>, opcode: Opcode) -> String {
    let mut places = 0;
    let mut place = |text: &str| {
        places += 1;
        format!("${{{places}:{}}}", text.replace('}', "\\}"))
    };
    let info = op_info(opcode);
    let operands: Vec<String> = match opcode {
        Opcode::Parameter => {
            let parameters = scope.above().filter(|at| {
                scope.context.block(at.piece).instruction(at.id).opcode == Some(Opcode::Parameter)
            });
            vec![place(&parameters.count().to_string())]
        }
        Opcode::Constant => vec![place("0")],
        _ => info.operands.iter().map(|role| place(role.trim_end_matches('…'))).collect(),
    };
    let mut out = format!("{}({})", opcode.name(), operands.join(", "));
    for &key in info.required.iter().chain(info.usual) {
        let Some(attribute) = reference::attribute(key) else { continue };
        out += &format!(", {key}={}", value(attribute.form, opcode, &mut place));
    }
    out + "$0"
}

/// A value with a placeholder for the part to fill in.
pub(super) fn value(form: Form, opcode: Opcode, place: &mut impl FnMut(&str) -> String) -> String {
    match form {
        Form::Ints(example) => format!("{{{}}}", place(example)),
        Form::WordList(words) => format!("{{{}}}", place(words.first().unwrap_or(&""))),
        Form::Text(_) => format!("\"{}\"", place("")),
        Form::Computation => place("computation"),
        Form::Computations => format!("{{{}}}", place("computations")),
        Form::Instructions => format!("{{{}}}", place("instruction")),
        Form::Other(example) => match example.strip_prefix('{').and_then(|e| e.strip_suffix('}')) {
            Some(inside) => format!("{{{}}}", place(inside)),
            None => place(example),
        },
        Form::Bool | Form::Words(_) => place(form.words(opcode).first().unwrap_or(&"")),
        Form::Int(example) => place(example),
    }
}
