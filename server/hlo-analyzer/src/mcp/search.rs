//! `search`: instructions by name, opcode, framework op and source line.

use ide::{Analysis, DocumentSymbol, FileId, FrameworkOp, SourceFrame, SymbolKind, TextRange, counted};

use super::answer::{Answer, Window};
use super::arguments::{Arguments, invalid};
use super::source::{Asked, definition, line, origin};
use crate::api::{ApiError, Session};

/// What an instruction must be. All that is set must fit.
#[derive(Default)]
struct Wanted<'a> {
    name: Option<String>,
    opcode: Option<&'a str>,
    op_name: Option<String>,
    source: Option<&'a str>,
    computation: Option<&'a str>,
}

struct Found {
    range: TextRange,
    computation: String,
    op: FrameworkOp,
}

pub(super) fn search(
    session: &mut Session,
    arguments: &Arguments,
    window: &Window,
) -> Result<Answer, ApiError> {
    let bare = |text: &str| text.trim_start_matches('%').to_lowercase();
    let wanted = Wanted {
        name: arguments.text("name").map(bare),
        opcode: arguments.text("opcode"),
        op_name: arguments.text("op_name").map(str::to_lowercase),
        source: arguments.text("source"),
        computation: arguments.text("computation").map(|name| name.trim_start_matches('%')),
    };
    let conditions =
        [wanted.name.as_deref(), wanted.opcode, wanted.op_name.as_deref(), wanted.source, wanted.computation];
    if conditions.iter().all(Option::is_none) {
        return Err(invalid("search needs one of name, opcode, op_name, source, computation"));
    }
    let asked = Asked::of(session, arguments)?;
    asked.ask(session, |analysis, file| {
        let mut found = Vec::new();
        let (symbols, _) = analysis.document_symbols(file, usize::MAX)?;
        let mut open: Vec<(String, DocumentSymbol)> =
            symbols.into_iter().rev().map(|symbol| (String::new(), symbol)).collect();
        while let Some((within, symbol)) = open.pop() {
            analysis.check_cancelled()?;
            found.extend(fitting(analysis, file, &wanted, &within, &symbol)?);
            let name = symbol.name;
            open.extend(symbol.children.into_iter().rev().map(|child| (name.clone(), child)));
        }
        let rope = analysis.text(file);
        let page = window.page(&found, "instruction", |one| {
            let at = line(rope, one.range.start);
            let text = definition(rope, &one.range);
            format!("line {at} in %{}: {text}{}", one.computation, origin(&one.op))
        });
        let head = format!("{} in {}", counted(found.len() as u64, "instruction"), asked.path);
        Ok(Answer::new(vec![head], page))
    })
}

/// The symbol, if it is an instruction that is searched for.
fn fitting(
    analysis: &Analysis,
    file: FileId,
    wanted: &Wanted<'_>,
    within: &str,
    symbol: &DocumentSymbol,
) -> ide::Cancellable<Option<Found>> {
    let is_instruction =
        matches!(symbol.kind, SymbolKind::Instruction | SymbolKind::Parameter | SymbolKind::Constant);
    let has_name = wanted.name.as_ref().is_none_or(|name| symbol.name.to_lowercase().contains(name));
    // The detail ends with the opcode; an op of MLIR has it in its name.
    let is_opcode = |opcode: &str| {
        symbol.detail.rsplit(' ').next() == Some(opcode) || symbol.name.split(' ').any(|word| word == opcode)
    };
    let has_opcode = wanted.opcode.is_none_or(is_opcode);
    let is_within = wanted.computation.is_none_or(|computation| within == computation);
    if !(is_instruction && has_name && has_opcode && is_within) {
        return Ok(None);
    }
    let at = symbol.selection_range.start;
    let op = analysis.framework_op(file, at)?;
    if let Some(name) = &wanted.op_name
        && !op.name.as_ref().is_some_and(|own| own.to_lowercase().contains(name))
    {
        return Ok(None);
    }
    if let Some(source) = wanted.source {
        let stack = analysis.source_frames(file, at)?.map(|(_, frames)| frames).unwrap_or_default();
        if !stack.iter().chain(&op.source).any(|frame| is_at(frame, source)) {
            return Ok(None);
        }
    }
    Ok(Some(Found { range: symbol.range.clone(), computation: within.to_owned(), op }))
}

/// Whether a frame is at `model.py`, `models/model.py` or `model.py:83`.
fn is_at(frame: &SourceFrame, wanted: &str) -> bool {
    let (path, line) = match wanted.rsplit_once(':') {
        Some((path, line)) if line.parse::<u32>().is_ok() => (path, line.parse::<u32>().ok()),
        _ => (wanted, None),
    };
    let is_path = frame.path == path
        || frame.path.strip_suffix(path).is_some_and(|front| front.is_empty() || front.ends_with('/'));
    is_path && (line.is_none() || frame.line == line)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::api::Session;
    use crate::mcp::tools::named;

    /// The text for the dump of the test files, without the first line.
    fn found(mut given: Value) -> String {
        given["path"] = json!(test_files::dump_folder());
        let Value::Object(given) = given else { panic!("arguments are an object") };
        let tool = named("search").expect("the tool exists");
        let text = tool.whole(&mut Session::default(), given).expect("the folder has a module");
        text.lines().skip(1).map(|line| format!("{line}\n")).collect::<String>()
    }

    #[test]
    fn conditions_are_combined() {
        let tanh = found(json!({"opcode": "tanh"}));
        assert!(
            tanh.starts_with("line 68 in %fused_tanh: ROOT %tanh.3 = f32[64,128]{1,0} tanh(%add.9)"),
            "{tanh}"
        );
        assert!(tanh.ends_with(" · jit(step)/tanh · layer.py:9\n"), "{tanh}");
        assert_eq!(found(json!({"opcode": "tanh", "name": "add"})), "");
        let of_line = found(json!({"source": "layer.py:5"}));
        assert_eq!(of_line.lines().count(), 5, "{of_line}");
        assert_eq!(found(json!({"source": "ayer.py:5"})), "");
        assert_eq!(found(json!({"op_name": "MUL", "opcode": "multiply"})).lines().count(), 2);
        assert_eq!(found(json!({"computation": "%fused_tanh", "opcode": "reduce"})).lines().count(), 1);
    }
}
