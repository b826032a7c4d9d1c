//! Classifies words by their role in the structure, in any dialect.

/// Op names without a dialect that may start a line.
const SHORT_OPS: [&str; 9] = [
    "return",
    "call",
    "func",
    "module",
    "br",
    "cond_br",
    "call_indirect",
    "constant",
    "unrealized_conversion_cast",
];

/// Whether a word contains a dot: the name of an op or an attribute.
pub(crate) fn is_dotted(word: &str) -> bool {
    // A word is too short for a search routine made for long texts.
    word.bytes().any(|b| b == b'.')
}

pub(crate) fn is_short_op(word: &str) -> bool {
    SHORT_OPS.contains(&word)
}

/// `func` of `llvm.func`.
pub fn last_segment(name: &str) -> &str {
    name.bytes().rposition(|b| b == b'.').map_or(name, |dot| &name[dot + 1..])
}

/// The call of a function, which a line may name without its dialect.
pub const CALL: &str = "func.call";

/// Whether the op is a [`CALL`].
pub fn is_call(name: &str) -> bool {
    name == CALL || name == last_segment(CALL)
}

/// Whether the op calls the function that it names, or takes it as a value: one must be defined.
pub fn needs_function(name: &str) -> bool {
    is_call(name) || matches!(name, "func.constant" | "xla.pure_call" | "llvm.call" | "tt.call")
}

/// Whether the op is a constant, in any dialect.
pub fn is_constant(name: &str) -> bool {
    last_segment(name) == "constant"
}

/// Whether the op is a terminator; nothing else is spelled like it.
pub(crate) fn is_terminator(name: &str) -> bool {
    matches!(
        last_segment(name),
        "return"
            | "yield"
            | "terminator"
            | "condition"
            | "unreachable"
            | "in_parallel"
            | "end"
            | "br"
            | "cond_br"
    )
}

/// Whether a word with this last letter may be a [terminator][is_terminator] or `return`; it rules out most
/// words.
pub(crate) fn may_end_terminator(last: u8) -> bool {
    matches!(last, b'n' | b'd' | b'r' | b'e' | b'l')
}

/// The name of an op without the quotes of the generic form.
pub(crate) fn unquoted(name: &str) -> &str {
    let bytes = name.as_bytes();
    if bytes.first() == Some(&b'"') || bytes.last() == Some(&b'"') { name.trim_matches('"') } else { name }
}

/// `%a` of `%a#1`.
pub fn without_result(name: &str) -> &str {
    // Names are too short for a search with vector instructions.
    name.bytes().position(|b| b == b'#').map_or(name, |at| &name[..at])
}

/// Whether the op has a body that does not see outside values.
pub fn is_function_like(name: &str) -> bool {
    // The last letters rule out most names.
    name.ends_with("unc") && matches!(last_segment(name), "func" | "entry_func" | "Func")
}

/// Whether the op contains functions.
pub fn is_module_like(name: &str) -> bool {
    matches!(last_segment(name), "module" | "container")
}

/// Whether text that ends in this word continues after it, even across a line break.
pub(crate) fn is_hungry_word(word: &str) -> bool {
    matches!(word, "applies" | "attributes" | "to" | "into" | "step" | "from" | "in" | "at")
}

/// Whether the op names a symbol without defining it.
pub(crate) fn is_symbol_user(name: &str) -> bool {
    let last = last_segment(name);
    ["call", "launch", "invoke", "addressof", "get_", "Call"].iter().any(|part| last.contains(part))
}
