//! What words tell of the structure, without any dialect being known.

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

/// Words with a dot are names of ops, or of attributes.
pub(crate) fn is_dotted(word: &str) -> bool {
    // Shorter than what a search of a long text is worth.
    word.bytes().any(|b| b == b'.')
}

pub(crate) fn is_short_op(word: &str) -> bool {
    SHORT_OPS.contains(&word)
}

/// `func` of `llvm.func`.
pub fn last_segment(name: &str) -> &str {
    name.bytes().rposition(|b| b == b'.').map_or(name, |dot| &name[dot + 1..])
}

/// Whether the op ends a block: nothing else is written like it.
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

/// Whether a word that ends in this letter may be a [terminator][is_terminator], or `return`: most are told apart by it.
pub(crate) fn may_end_terminator(last: u8) -> bool {
    matches!(last, b'n' | b'd' | b'r' | b'e' | b'l')
}

/// The name of an op without the quotes of the generic form.
pub(crate) fn unquoted(name: &str) -> &str {
    let bytes = name.as_bytes();
    if bytes.first() == Some(&b'"') || bytes.last() == Some(&b'"') { name.trim_matches('"') } else { name }
}

/// `%a` of `%a#1`.
pub(crate) fn without_result(name: &str) -> &str {
    name.bytes().position(|b| b == b'#').map_or(name, |at| &name[..at])
}

/// Whether the op holds a body that sees no values of the outside.
pub fn is_function_like(name: &str) -> bool {
    // Most names are told apart by how they end.
    name.ends_with("unc") && matches!(last_segment(name), "func" | "entry_func" | "Func")
}

/// Whether the op holds functions.
pub fn is_module_like(name: &str) -> bool {
    matches!(last_segment(name), "module" | "container")
}

/// Whether text that ends in this word goes on behind it, were a new line to begin.
pub(crate) fn is_hungry_word(word: &str) -> bool {
    matches!(word, "applies" | "attributes" | "to" | "into" | "step" | "from" | "in" | "at")
}

/// Ops that name a symbol and do not define it.
pub(crate) fn is_symbol_user(name: &str) -> bool {
    let last = last_segment(name);
    ["call", "launch", "invoke", "addressof", "get_", "Call"].iter().any(|part| last.contains(part))
}
