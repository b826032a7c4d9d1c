//! The bounds of lists in responses, and what the user is told of the rest.

use ide::TextRange;
use tower_lsp::lsp_types::{self, Url};

use super::mailbox::Event;
use super::snapshot::View;

/// References, highlights and hints in one response. Their number grows with the text, and no editor shows more of them usefully.
pub(super) const MAX_PLACES: usize = 10_000;
/// Definitions, declarations, implementations and type definitions of one name.
pub(super) const MAX_TARGETS: usize = 1_000;
/// Callers, callees, and calls of one of them.
pub(super) const MAX_CALLS: usize = 1_000;

impl View {
    /// The first items of a list for which the user asked. Of a longer one, the client shows how many there are.
    pub(super) fn first<T>(&self, most: usize, what: &str, mut all: Vec<T>) -> Vec<T> {
        if all.len() > most {
            let text = format!("{}: the first {most} of {} {what} are listed", self.name(), all.len());
            self.session.mailbox.post(Event::WarnOnce(text));
            all.truncate(most);
        }
        all
    }

    /// The same for a list that editors ask for by themselves, perhaps at each key. The message has no number that changes with the
    /// text, so that it is shown once.
    pub(super) fn first_shown<T>(&self, most: usize, what: &str, mut all: Vec<T>) -> Vec<T> {
        if all.len() > most {
            self.say_more(most, what);
            all.truncate(most);
        }
        all
    }

    pub(super) fn say_more(&self, most: usize, what: &str) {
        let text = format!("{}: the first {most} {what} are shown; there are more", self.name());
        self.session.mailbox.post(Event::WarnOnce(text));
    }

    /// The places of the calls between two computations.
    pub(super) fn call_places(&self, places: Vec<TextRange>) -> Vec<lsp_types::Range> {
        let places = self.first(MAX_CALLS, "calls of one computation", places);
        places.into_iter().map(|range| self.range(range)).collect()
    }

    fn name(&self) -> &str {
        file_name(&self.uri)
    }
}

/// The name of a file, for messages.
pub(super) fn file_name(uri: &Url) -> &str {
    let path = uri.path();
    path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use ide::{AnalysisHost, Language};

    use super::*;
    use crate::lsp::mailbox::Mailbox;
    use crate::lsp::requests::METHODS;
    use crate::lsp::snapshot::Session;

    /// The names in the first cells of the tables that begin with this head.
    fn named_in(head: &str) -> BTreeSet<String> {
        let page = include_str!("../../../docs/protocol.md");
        let lines = page.lines().skip_while(|line| !line.starts_with(head)).skip(2);
        let cells = lines.take_while(|line| line.starts_with('|')).filter_map(|line| line.split('|').nth(1));
        cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
    }

    #[test]
    fn the_page_has_the_bounds_of_each_request_and_no_other() {
        let own = ["textDocument/", "hlo-analyzer/", "callHierarchy/"];
        let short = |method: &&str| {
            own.iter().find_map(|prefix| method.strip_prefix(prefix)).unwrap_or(method).to_owned()
        };
        assert_eq!(named_in("| request | at most"), METHODS.iter().map(short).collect());
    }

    #[test]
    fn the_page_has_the_bounds_of_each_method_of_query_and_no_other() {
        let methods = crate::api::METHODS.iter().map(|(name, _)| (*name).to_owned());
        assert_eq!(named_in("| method | at most"), methods.collect());
    }

    #[test]
    fn a_list_that_is_cut_says_of_how_many() {
        let (mailbox, events) = Mailbox::new();
        let uri = Url::parse("file:///dump/a.hlo").unwrap();
        let file = AnalysisHost::new().open(uri.as_str(), Language::Hlo, "");
        let view = View::without_document(Arc::new(Session::new(mailbox)), uri, file, Vec::new());
        assert_eq!(view.first(3, "references", vec![1, 2, 3]), [1, 2, 3]);
        assert!(events.try_recv().is_err(), "nothing is left out");
        assert_eq!(view.first(3, "references", (1..=100_000).collect()), [1, 2, 3]);
        assert_eq!(view.first_shown(2, "highlights", vec![1, 2, 3]), [1, 2]);
        let said: Vec<String> = std::iter::from_fn(|| events.try_recv().ok())
            .map(|event| match event {
                Event::WarnOnce(text) => text,
                _ => panic!("another event"),
            })
            .collect();
        assert_eq!(
            said,
            [
                "a.hlo: the first 3 of 100000 references are listed",
                "a.hlo: the first 2 highlights are shown; there are more"
            ]
        );
    }
}
