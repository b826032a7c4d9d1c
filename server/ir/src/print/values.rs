//! Values of attributes that are kept as text, in canonical form.

use super::escape::{requote, requote_or_json};
use super::float::general;
use super::shapes::separate;
use super::tokens::{Token, Tokens, bracketed, split_top_level};

/// Without any blanks: lists of numbers and pairs.
pub(super) fn write_dense(out: &mut String, text: &str) {
    for token in Tokens::new(text) {
        write_token(out, token);
    }
}

/// A blank after each comma and between fields, but not inside of an index like `{0,1}`.
pub(super) fn write_spaced(out: &mut String, text: &str) {
    let mut last = Token::Punctuation('{');
    let is_number = |t: Token<'_>| matches!(t, Token::Word(w) if w.starts_with(|c: char| c.is_ascii_digit()));
    let mut tokens = Tokens::new(text).peekable();
    while let Some(token) = tokens.next() {
        let is_field = matches!(token, Token::Word(_) | Token::String(_) | Token::Punctuation('{'));
        let was_end = matches!(last, Token::Word(_) | Token::String(_) | Token::Punctuation('}' | ':'));
        let opens = matches!((last, token), (Token::Word(_), Token::Punctuation('{' | '(')));
        if (is_field && was_end && !opens) || matches!((last, token), (Token::Punctuation(':'), _)) {
            out.push(' ');
        }
        write_token(out, token);
        let is_index = is_number(last) && tokens.peek().is_some_and(|&t| is_number(t));
        if token == Token::Punctuation(',') && !is_index {
            out.push(' ');
            last = Token::Punctuation('{');
        } else {
            last = token;
        }
    }
}

fn write_token(out: &mut String, token: Token<'_>) {
    match token {
        Token::Word(word) | Token::String(word) => out.push_str(word),
        Token::Punctuation(c) => out.push(c),
    }
}

fn inner(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix('{').and_then(|t| t.strip_suffix('}')).unwrap_or(text)
}

/// `{k="v",k2={…}}`, sorted by key. Source: `FrontendAttributesToString`.
pub(super) fn write_frontend_attributes(out: &mut String, text: &str) {
    let mut fields: Vec<_> = fields(inner(text)).collect();
    fields.sort_unstable();
    out.push('{');
    for (i, (key, value)) in fields.into_iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        out.push_str(key);
        out.push('=');
        write_string_or_json(out, value);
    }
    out.push('}');
}

pub(super) fn write_string_or_json(out: &mut String, value: &str) {
    match quoted(value) {
        Some(string) => requote_or_json(out, string),
        None => out.push_str(value),
    }
}

fn quoted(value: &str) -> Option<&str> {
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    value.strip_prefix(quote)?.strip_suffix(quote)
}

/// `key=value` with blanks or commas between.
fn fields(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut tokens = Tokens::new(rest);
        let mut key = tokens.next()?;
        if key == Token::Punctuation(',') {
            key = tokens.next()?;
        }
        let Token::Word(key) = key else { return None };
        // `composite.attributes={…}`: the sign follows at once.
        let behind = rest[tokens.end()..].strip_prefix('=')?;
        let behind = behind.trim_start();
        let (value, next) = if behind.starts_with('{') {
            bracketed(behind)?
        } else {
            let mut tokens = Tokens::new(behind);
            tokens.next()?;
            behind.split_at(tokens.end())
        };
        rest = next;
        Some((key, value))
    })
}

/// Fields in XLA's order, with blanks between. Source: `OpMetadataToString`.
pub(super) fn write_metadata(out: &mut String, text: &str) {
    const ORDER: &[&str] = &[
        "op_type",
        "op_name",
        "source_file",
        "source_line",
        "source_end_line",
        "source_column",
        "source_end_column",
        "profile_type",
        "deduplicated_name",
        "preserve_layout",
        "scheduling_name",
        "stack_frame_id",
    ];
    let mut fields: Vec<_> = fields(inner(text)).collect();
    fields.sort_by_key(|(key, _)| ORDER.iter().position(|k| k == key).unwrap_or(ORDER.len()));
    out.push('{');
    let mut is_first = true;
    for (key, value) in fields {
        // Values that mean the same as an absent field: an empty string, line 0.
        if matches!(value, "\"\"" | "''" | "0") || value == "false" {
            continue;
        }
        if !std::mem::take(&mut is_first) {
            out.push(' ');
        }
        out.push_str(key);
        out.push('=');
        match (key, quoted(value)) {
            ("metadata_payload", _) => write_string_or_json(out, value),
            (_, Some(string)) => requote(out, string),
            (_, None) => write_dense(out, value),
        }
    }
    out.push('}');
}

/// `{visualizing_index=1,stat-1=33}`
pub(super) fn write_statistics(out: &mut String, text: &str) {
    out.push('{');
    for (i, (key, value)) in fields(inner(text)).enumerate() {
        if i > 0 {
            out.push(',');
        }
        out.push_str(key);
        out.push('=');
        write_number(out, value);
    }
    out.push('}');
}

/// Six digits. Source: `absl::StrCat` of a float.
pub(super) fn write_number(out: &mut String, text: &str) {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => out.push_str(&general(value, 6)),
        _ => out.push_str(text),
    }
}

/// `{mode=highest}`, `{tolerance={atol=0.5,rtol=1,ulps=2}}`
pub(super) fn write_result_accuracy(out: &mut String, text: &str) {
    for (key, value) in fields(inner(text)) {
        match key {
            "tolerance" => {
                out.push_str("{tolerance={");
                for (i, (key, value)) in fields(inner(value)).enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    out.push_str(key);
                    out.push('=');
                    write_number(out, value);
                }
                out.push_str("}}");
            }
            _ => {
                out.push_str("{mode=");
                out.push_str(&value.to_ascii_lowercase());
                out.push('}');
            }
        }
    }
}

/// A sharding, of one array or of the parts of a tuple.
pub(super) fn write_sharding(out: &mut String, text: &str, metadata: bool) {
    let parts = split_top_level(inner(text));
    if parts.first().is_some_and(|p| p.starts_with('{')) {
        out.push('{');
        for (i, part) in parts.into_iter().enumerate() {
            separate(out, i, true);
            write_one_sharding(out, part, metadata);
        }
        out.push('}');
        return;
    }
    write_one_sharding(out, text, metadata);
}

fn write_one_sharding(out: &mut String, text: &str, metadata: bool) {
    let fields = inner(text).trim();
    if let Some(end) = fields.find(']')
        && ["mesh", "maximal_mesh", "single_device"].iter().any(|kind| fields.starts_with(kind))
    {
        // The comma after the mesh may be left out.
        let (mesh, rest) = fields.split_at(end + 1);
        let rest = rest.trim_start().trim_start_matches(',').trim();
        let mut parts = vec![mesh];
        if !rest.is_empty() {
            parts.extend(split_top_level(rest));
        }
        return write_mesh_sharding(out, &parts, metadata);
    }
    // One part; its fields are separated by blanks, numbers of devices by commas.
    out.push('{');
    let mut tokens = Tokens::new(inner(text)).peekable();
    let mut last = None;
    let mut depth = 0usize;
    while let Some(token) = tokens.next() {
        let is_next = matches!(last, Some(Token::Word(_) | Token::Punctuation(']' | ')' | '}')));
        if token == Token::Word("metadata") {
            let mut rest = String::new();
            tokens.next();
            let mut open = 0usize;
            for token in tokens.by_ref() {
                match token {
                    Token::Punctuation('{') => open += 1,
                    Token::Punctuation('}') => open -= 1,
                    _ => {}
                }
                if token == Token::Punctuation('{') && open == 1 && !rest.is_empty() {
                    rest.push_str(", ");
                }
                if !rest.is_empty() && matches!(token, Token::Word(_)) && rest.ends_with(['"', '}']) {
                    rest.push(' ');
                }
                write_token(&mut rest, token);
                if open == 0 {
                    break;
                }
            }
            if metadata {
                out.push_str(if is_next { " metadata=" } else { "metadata=" });
                out.push_str(&rest);
            }
            last = Some(Token::Punctuation('}'));
            continue;
        }
        let glues = last == Some(Token::Punctuation(']')) && depth == 0 && is_digit(token);
        // `T` of a transposition stands at the bracket.
        let is_transposition = token == Token::Word("T") && last == Some(Token::Punctuation(']'));
        if is_next && depth == 0 && matches!(token, Token::Word(_)) && !glues && !is_transposition {
            out.push(' ');
        }
        match token {
            Token::Punctuation('{') => depth += 1,
            Token::Punctuation('}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        write_token(out, token);
        if token == Token::Punctuation(',') && depth > 0 {
            out.push(' ');
        }
        last = Some(token);
    }
    out.push('}');
}

fn is_digit(token: Token<'_>) -> bool {
    matches!(token, Token::Word(w) if w.starts_with(|c: char| c.is_ascii_digit()))
}

/// What a mesh adds nothing to is written without it. Source: XLA `named_sharding.cc`.
fn write_mesh_sharding(out: &mut String, parts: &[&str], metadata: bool) {
    let (mesh, rest) = (parts[0], &parts[1..]);
    let mut sizes = mesh.split('=').skip(1);
    let axes = sizes.clone().count();
    // A mesh of one device stays; one without axes is of any.
    let is_single =
        axes > 0 && sizes.all(|size| size.trim_end_matches([']', ' ']).split(',').next() == Some("1"));
    match rest {
        ["replicated"] if !is_single => return out.push_str("{replicated}"),
        [only] if only.starts_with("unreduced") => {
            // All axes: the mesh does not matter any more.
            let (kind, list) = only.split_once('{').unwrap_or((only, ""));
            if split_top_level(list.trim_end_matches('}')).len() == axes {
                out.push('{');
                out.push_str(kind.trim_end_matches('='));
                return out.push('}');
            }
        }
        _ => {}
    }
    out.push('{');
    write_dense(out, mesh);
    for part in rest {
        if part.starts_with("metadata") && !metadata {
            continue;
        }
        out.push_str(", ");
        match part.strip_prefix("metadata=") {
            Some(value) if split_top_level(inner(value)).iter().all(|p| p.starts_with('{')) => {
                out.push_str("metadata={");
                for (i, one) in split_top_level(inner(value)).into_iter().enumerate() {
                    out.push_str(if i > 0 { ", " } else { "" });
                    write_metadata(out, one);
                }
                out.push('}');
            }
            Some(value) => {
                out.push_str("metadata=");
                write_metadata(out, value);
            }
            None if part.starts_with("device_ids") => write_dense(out, part),
            None => {
                for token in Tokens::new(part) {
                    write_token(out, token);
                    if token == Token::Punctuation(',') {
                        out.push(' ');
                    }
                }
            }
        }
    }
    out.push('}');
}

/// `{{0,1},{2,3}}`, `[2,4]<=[4,2]T(1,0)`, `mesh['a'=2] {'a'}`
pub(super) fn write_replica_groups(out: &mut String, text: &str) {
    match text.find('{').filter(|_| text.contains("mesh")) {
        Some(at) => {
            write_dense(out, &text[..at]);
            out.push(' ');
            write_dense(out, &text[at..]);
        }
        None => write_dense(out, text),
    }
}

/// `{{0}: (1, {}), {1,0}: (0, {0}, may-alias)}`, without the outer braces.
pub(super) fn write_aliasing(out: &mut String, text: &str, with_kind: bool) {
    for (i, entry) in split_top_level(inner(text)).into_iter().enumerate() {
        if entry.is_empty() {
            continue;
        }
        if i > 0 {
            out.push_str(", ");
        }
        let (index, target) = entry.split_once(':').unwrap_or((entry, ""));
        write_dense(out, index);
        out.push_str(": (");
        let target = target.trim().trim_start_matches('(').trim_end_matches(')');
        let mut parts = split_top_level(target);
        if parts.len() == 1 {
            parts.push("{}");
        }
        if with_kind && parts.len() == 2 {
            parts.push("may-alias");
        }
        for (i, part) in parts.into_iter().enumerate() {
            out.push_str(if i > 0 { ", " } else { "" });
            write_dense(out, part);
        }
        out.push(')');
    }
}

/// `{kind="sharding", entry={…}, exit={…}}`
pub(super) fn write_domain(out: &mut String, text: &str, metadata: bool) {
    out.push('{');
    for (i, part) in split_top_level(inner(text)).into_iter().enumerate() {
        out.push_str(if i > 0 { ", " } else { "" });
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        out.push_str(key.trim_end());
        out.push('=');
        match quoted(value.trim()) {
            Some(string) => requote(out, string),
            None => write_sharding(out, value.trim(), metadata),
        }
    }
    out.push('}');
}

/// Precisions, in lower case; nothing where all are the default.
pub(super) fn precisions(text: &str) -> Option<String> {
    let words: Vec<_> = split_top_level(inner(text)).into_iter().map(str::to_ascii_lowercase).collect();
    words.iter().any(|w| w != "default").then(|| format!("{{{}}}", words.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(write: impl Fn(&mut String, &str), text: &str, expect: &str) {
        let mut out = String::new();
        write(&mut out, text);
        assert_eq!(out, expect);
        let mut again = String::new();
        write(&mut again, &out);
        assert_eq!(again, out, "a fixpoint");
    }

    #[test]
    fn shardings() {
        let write = |out: &mut String, text: &str| write_sharding(out, text, true);
        for same in [
            "{maximal device=42}",
            "{devices=[2,2]0,1,2,3 last_tile_dim_replicate}",
            "{devices=[2,2,2,2]<=[2,2,4]T(2,1,0) last_tile_dims={manual, replicated}}",
            "{devices=[2,2,2,2]<=[16] last_tile_dims={manual, replicated} shard_like 1}",
            "{mesh['a'=2,'b'=4,'c'=3,'d'=8], [{'b':(2)2}, {'d':(4)2, 'c', ?}]}",
            "{mesh['a'=2,'b'=4], manual}",
            "{mesh['x'=2,'y'=2], device_ids=(0,2,1,3), [{'x'}]}",
            "{maximal_mesh[device_id=5]}",
            "{mesh['a'=2,'b'=4], [{'a'}], metadata={{op_name=\"foo\"}, {op_name=\"bar\"}}}",
            "{{maximal device=1}, {replicated}}",
            "{replicated metadata={op_name=\"a\"}}",
            "{mesh['x'=1], replicated}",
            "{{replicated}, {replicated}, {replicated}, {replicated}, {replicated}, /*index=5*/{replicated}}",
            "{}",
        ] {
            check(write, same, same);
        }
        check(write, "{ devices = [2,2] 0, 1,2, 3 }", "{devices=[2,2]0,1,2,3}");
        check(write, "{mesh['a'=2,'b'=4], replicated}", "{replicated}");
        check(write, "{mesh['x'=2,'y'=2], unreduced=max{'x', 'y'}}", "{unreduced=max}");
    }

    #[test]
    fn metadata_has_one_order() {
        check(
            write_metadata,
            "{source_line=3, op_name='it\\'s' op_type=\"t\" stack_frame_id=0}",
            "{op_type=\"t\" op_name=\"it\\'s\" source_line=3}",
        );
        check(write_frontend_attributes, "{b={\"x\": 1}, a.c=\"v\"}", "{a.c=\"v\",b={\"x\": 1}}");
        check(write_statistics, "{ visualizing_index=1, stat-1=33.50 }", "{visualizing_index=1,stat-1=33.5}");
    }

    #[test]
    fn lists() {
        check(write_dense, "{ {0, 1}, {2,3} }", "{{0,1},{2,3}}");
        check(write_replica_groups, "mesh['a'=2, 'b'=2]{'b'}", "mesh['a'=2,'b'=2] {'b'}");
        check(
            |o, t| write_aliasing(o, t, true),
            "{ {}: (0), {1, 0} : (1,{2}, must-alias) }",
            "{}: (0, {}, may-alias), {1,0}: (1, {2}, must-alias)",
        );
        check(write_spaced, "{(({},{\"v2\" {0,1}}),{\"v3\"})}", "{(({}, {\"v2\" {0,1}}), {\"v3\"})}");
        assert_eq!(precisions("{DEFAULT, high}").as_deref(), Some("{default,high}"));
        assert_eq!(precisions("{default,default}"), None);
    }
}
