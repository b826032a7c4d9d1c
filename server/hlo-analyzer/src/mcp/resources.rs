//! Resources: all of an answer that comes in pages, and pictures. An address is `hlo-analyzer:/TOOL?path=…&instruction=…`.

use ide::{memory_picture, percent_encoded};
use rmcp::model::{ResourceContents, ResourceTemplate};
use serde_json::{Map, Value};

use super::arguments::{Arguments, invalid};
use super::source::Asked;
use super::tools::{Kind, TOOLS, Tool, named};
use super::{kernel, memory};
use crate::api::{ApiError, ErrorKind, Session};

const SCHEME: &str = "hlo-analyzer:/";
pub(super) const SVG: &str = "image/svg+xml";

/// Pictures, with the tools that have their parameters.
const PICTURES: [(&str, &str); 2] = [("access_pattern.svg", "access_pattern"), ("memory.svg", "memory")];

/// The address of a resource with the arguments of a call, in the order of their names.
pub(super) fn uri(name: &str, arguments: &Arguments) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let pairs = arguments.without_page();
    let pairs = pairs.map(|(name, value)| format!("{name}={}", percent_encoded(&text(value))));
    format!("{SCHEME}{name}?{}", pairs.collect::<Vec<_>>().join("&"))
}

/// A template for each tool and picture.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let template = |name: &str, tool: &Tool, mime_type: &str| {
        let own = tool.parameters().map(|one| one.name).filter(|name| !matches!(*name, "limit" | "cursor"));
        let uri = format!("{SCHEME}{name}{{?{}}}", own.collect::<Vec<_>>().join(","));
        ResourceTemplate::new(uri, name).with_mime_type(mime_type)
    };
    let tools = TOOLS.iter().map(|tool| template(tool.name, tool, "text/plain"));
    let pictures = PICTURES.iter().filter_map(|(name, tool)| Some(template(name, named(tool)?, SVG)));
    tools.chain(pictures).collect()
}

/// # Errors
/// The address names no resource, or its tool refuses the arguments.
pub(super) fn read(session: &mut Session, uri: &str) -> Result<ResourceContents, ApiError> {
    let unknown = || {
        let message = format!(
            "no resource {uri}: addresses are {SCHEME}TOOL?argument=value&…, as in the links of answers"
        );
        ApiError::new(ErrorKind::NotFound, message)
    };
    let (name, query) = uri.strip_prefix(SCHEME).ok_or_else(unknown)?.split_once('?').ok_or_else(unknown)?;
    let picture = PICTURES.iter().find(|(picture, _)| *picture == name);
    let tool = named(picture.map_or(name, |(_, tool)| tool)).ok_or_else(unknown)?;
    let given = given(tool, query)?;
    if picture.is_none() {
        return Ok(ResourceContents::text(tool.whole(session, given)?, uri));
    }
    let arguments = Arguments::checked(tool, given)?;
    let svg = match tool.name {
        "access_pattern" => {
            let (found, _) = kernel::pattern(session, &arguments)?;
            found["svg"].as_str().unwrap_or_default().to_owned()
        }
        _ => {
            let asked = Asked::of(session, &arguments)?;
            memory_picture(&memory::report(session, &asked)?)
        }
    };
    Ok(ResourceContents::text(svg, uri).with_mime_type(SVG))
}

/// The arguments of a query, with the types of the tool's parameters.
fn given(tool: &Tool, query: &str) -> Result<Map<String, Value>, ApiError> {
    let mut given = Map::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let text = percent_decoded(value);
        let kind = tool.parameters().find(|one| one.name == name).map(|one| one.kind);
        let value = match kind {
            Some(Kind::Number | Kind::Flag) => {
                serde_json::from_str(&text).map_err(|_| invalid(format!("\"{name}\" is not {text}")))?
            }
            _ => Value::String(text),
        };
        given.insert(name.to_owned(), value);
    }
    Ok(given)
}

/// Bytes that are no UTF-8 are replaced.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).filter(|_| *first == b'%').and_then(|two| std::str::from_utf8(two).ok());
        match digits.and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn addresses_are_read_back() {
        let tool = named("kernel_code").expect("the tool exists");
        let Value::Object(all) = json!({
            "path": "/a b/ü&%=?.hlo", "instruction": "%fusion.1", "emit": "mlir", "cursor": 40,
        }) else {
            panic!("it is an object")
        };
        let arguments = Arguments::checked(tool, all.clone()).expect("the arguments fit");
        let uri = uri(tool.name, &arguments);
        let query = uri.strip_prefix("hlo-analyzer:/kernel_code?").expect("the tool is named");
        let mut expected = all;
        expected.remove("cursor");
        assert_eq!(given(tool, query).expect("it is a query"), expected);
        assert_eq!(percent_decoded("%zz%4"), "%zz%4");
    }

    #[test]
    fn a_resource_is_the_whole_answer() {
        let folder = percent_encoded(&test_files::dump_folder().display().to_string());
        let mut session = Session::default();
        let mut text = |uri: &str| match read(&mut session, uri) {
            Ok(ResourceContents::TextResourceContents { text, mime_type, .. }) => (text, mime_type),
            other => panic!("{other:?}"),
        };
        let (ptx, _) = text(&format!("hlo-analyzer:/kernel_code?path={folder}&instruction=loop_tanh_fusion"));
        assert!(ptx.contains(".visible .entry") && ptx.ends_with('}'), "{ptx}");
        for picture in ["access_pattern.svg", "memory.svg"] {
            let instruction =
                if picture.starts_with('a') { "&instruction=loop_tanh_fusion&array=0" } else { "" };
            let (svg, mime_type) = text(&format!("hlo-analyzer:/{picture}?path={folder}{instruction}"));
            assert!(svg.starts_with("<svg") && mime_type.as_deref() == Some(SVG), "{svg}");
        }
        for uri in ["file:///etc/passwd", "hlo-analyzer:/nothing?path=x", "hlo-analyzer:/memory"] {
            let error = read(&mut session, uri).expect_err("there is no such resource");
            assert!(error.message.contains("no resource"), "{}", error.message);
        }
    }
}
