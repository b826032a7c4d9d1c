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
    word.contains('.')
}

pub(crate) fn is_short_op(word: &str) -> bool {
    SHORT_OPS.contains(&word)
}

/// `func` of `llvm.func`.
pub fn last_segment(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
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

/// Whether the op holds a body that sees no values of the outside.
pub fn is_function_like(name: &str) -> bool {
    let last = last_segment(name);
    last == "func" || last == "entry_func" || last == "Func"
}

/// Whether the op holds functions.
pub fn is_module_like(name: &str) -> bool {
    let last = last_segment(name);
    last == "module" || last == "container"
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
