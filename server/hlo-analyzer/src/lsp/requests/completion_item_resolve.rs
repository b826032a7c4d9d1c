//! The documentation of a completion.

use tower_lsp::lsp_types::CompletionItem;

use crate::lsp::to_proto::documentation;

/// Adds the documentation to the item. Needs no document: keywords of the language have one meaning.
pub(in crate::lsp) fn resolved(mut item: CompletionItem) -> CompletionItem {
    let data = item.data.as_ref();
    let text = data.and_then(|data| ide::completion_documentation(data[0].as_str()?));
    let markdown = data.is_some_and(|data| data[1] == true);
    item.documentation =
        text.and_then(|text| documentation(text.for_client(markdown), markdown)).or(item.documentation);
    item
}
