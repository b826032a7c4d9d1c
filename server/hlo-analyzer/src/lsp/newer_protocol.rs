//! Members for which lsp-types 0.94 has no fields: between the reader and the handlers they travel in `experimental`.

use serde_json::{Value, json};
use tower_lsp::jsonrpc::{Request, Response};

/// The members of `workspace`: that of LSP 3.18, and that of LSP 3.17 which lsp-types names `diagnostic`.
const MEMBERS: [&str; 2] = ["textDocumentContent", "diagnostics"];

/// The member of `experimental` that has them.
pub(super) const NEWER: &str = "hlo-analyzer/newer";

/// Copies what the client has to where [`super::capabilities::ClientProfile`] looks for it.
pub(super) fn lift(request: Request) -> Request {
    let (method, id, params) = request.into_parts();
    let mut lifted = Request::build(method);
    if let Some(id) = id {
        lifted = lifted.id(id);
    }
    if let Some(mut params) = params {
        let found: serde_json::Map<String, Value> = MEMBERS
            .iter()
            .filter_map(|member| {
                let value = params.get("capabilities")?.get("workspace")?.get(member)?;
                Some(((*member).to_owned(), value.clone()))
            })
            .collect();
        if !found.is_empty()
            && let Some(capabilities) = params.get_mut("capabilities").and_then(Value::as_object_mut)
        {
            let experimental = capabilities.entry("experimental").or_insert_with(|| json!({}));
            if experimental.is_null() {
                *experimental = json!({});
            }
            if let Some(experimental) = experimental.as_object_mut() {
                experimental.insert(NEWER.to_owned(), found.into());
            }
        }
        lifted = lifted.params(params);
    }
    lifted.finish()
}

/// Moves what the server has to where the client looks for it.
pub(super) fn lower(response: Response) -> Response {
    let (id, result) = response.into_parts();
    let result = result.map(|mut welcome| {
        if let Some(capabilities) = welcome.get_mut("capabilities").and_then(Value::as_object_mut)
            && let Some(Value::Object(experimental)) = capabilities.remove("experimental")
            && let Some(Value::Object(newer)) = experimental.get(NEWER)
            && !newer.is_empty()
            && let Some(workspace) =
                capabilities.entry("workspace").or_insert_with(|| json!({})).as_object_mut()
        {
            workspace.extend(newer.clone());
        }
        welcome
    });
    Response::from_parts(id, result)
}

#[cfg(test)]
mod tests {
    use tower_lsp::jsonrpc::Id;

    use super::*;

    fn lifted(params: Value) -> Value {
        let request = Request::build("initialize").id(1).params(params).finish();
        lift(request).into_parts().2.unwrap()
    }

    #[test]
    fn what_the_client_has_is_lifted() {
        let content = json!({"dynamicRegistration": true});
        let params = json!({"capabilities": {"workspace": {"textDocumentContent": content}, "experimental": {"x": 1}}});
        let found = lifted(params);
        assert_eq!(found["capabilities"]["experimental"][NEWER]["textDocumentContent"], content);
        assert_eq!(found["capabilities"]["experimental"]["x"], 1);
        for other in [json!({}), json!({"capabilities": null}), json!({"capabilities": {"experimental": 5}})]
        {
            assert_eq!(lifted(other.clone()), other);
        }
    }

    #[test]
    fn what_the_server_has_is_lowered() {
        let sent = json!({"capabilities": {
            "workspace": {"workspaceFolders": {}},
            "experimental": {NEWER: {"textDocumentContent": {"schemes": ["a"]}}},
        }});
        let (_, result) = lower(Response::from_ok(Id::Number(1), sent)).into_parts();
        let expect = json!({"capabilities": {
            "workspace": {"workspaceFolders": {}, "textDocumentContent": {"schemes": ["a"]}},
        }});
        assert_eq!(result.unwrap(), expect);
    }
}
