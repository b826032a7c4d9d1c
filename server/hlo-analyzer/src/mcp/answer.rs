//! What a tool answers: a head, a page of items, and how to get the rest.

use ide::{counted, shorten};
use rmcp::model::{CallToolResult, ContentBlock, Resource};
use text::visible;

use super::arguments::Arguments;

/// Bytes of an answer whose call has no `limit`: some 800 tokens.
const SMALL: usize = 3200;
/// Bytes of an answer whose call has one: some 4,000 tokens.
const LARGE: usize = 16_000;
/// Bytes of a resource, and its items.
const WHOLE: usize = 4 << 20;
/// Characters of a line: maps of fusions and types of tuples can be longer.
const LINE: usize = 600;
/// Notes below the items; more are counted.
const NOTES: usize = 5;
/// Characters of an error.
const ERROR: usize = 2000;

/// The part of a list that is asked for.
pub(super) struct Window {
    pub(super) first: usize,
    pub(super) limit: usize,
    budget: usize,
}

impl Window {
    /// The page that a call asks for; `default` items where it does not say how many.
    pub(super) fn of(arguments: &Arguments, default: usize) -> Window {
        let limit = arguments.number("limit");
        Window {
            first: arguments.number("cursor").unwrap_or(0),
            limit: limit.unwrap_or(default).max(1),
            budget: if limit.is_some() { LARGE } else { SMALL },
        }
    }

    /// All of a list, for a resource.
    pub(super) fn whole() -> Window {
        Window { first: 0, limit: usize::MAX, budget: WHOLE }
    }

    /// A page of `all`.
    pub(super) fn page<T>(&self, all: &[T], what: &'static str, show: impl Fn(&T) -> String) -> Page {
        let rest = all.get(self.first..).unwrap_or_default();
        let shown = rest.iter().take(self.limit).map(show).collect();
        Page { first: self.first, shown, total: all.len(), what, budget: self.budget }
    }

    /// A page of the lines of a text.
    pub(super) fn lines(&self, text: &str) -> Page {
        let lines: Vec<&str> = text.lines().collect();
        self.page(&lines, "line", |line| (*line).to_owned())
    }
}

/// Items of a list, from one of them on.
pub(super) struct Page {
    first: usize,
    shown: Vec<String>,
    total: usize,
    /// An item, in the singular.
    what: &'static str,
    budget: usize,
}

/// Something that is too long for an answer.
pub(super) struct Link {
    pub(super) uri: String,
    pub(super) name: String,
    pub(super) mime_type: &'static str,
}

/// What a tool found.
pub(super) struct Answer {
    /// What the items are about, with sums.
    pub(super) head: Vec<String>,
    pub(super) page: Page,
    /// What else is to be known, below the items of the last page.
    pub(super) notes: Vec<String>,
    pub(super) links: Vec<Link>,
}

impl Answer {
    pub(super) fn new(head: Vec<String>, page: Page) -> Answer {
        Answer { head, page, notes: Vec::new(), links: Vec::new() }
    }

    /// The text: as many items as fit, and the cursor of the next one.
    pub(super) fn text(&self) -> String {
        let Page { first, shown, total, what, budget } = &self.page;
        let mut text = String::new();
        for line in self.head.iter().flat_map(|line| line.lines()) {
            push(&mut text, line);
        }
        let mut count = 0;
        for item in shown {
            let before = text.len();
            item.lines().for_each(|line| push(&mut text, line));
            if text.len() > *budget && count > 0 {
                text.truncate(before);
                break;
            }
            count += 1;
        }
        let next = first.saturating_add(count);
        match total.checked_sub(next) {
            Some(more) if more > 0 && *budget < WHOLE => {
                let more = counted(more as u64, &format!("more {what}"));
                push(&mut text, &format!("… {more}: the same call with \"cursor\": {next}"));
            }
            Some(more) if more > 0 => push(&mut text, &format!("… {more} not shown: too long")),
            Some(_) => {
                self.notes.iter().take(NOTES).for_each(|note| push(&mut text, note));
                if let Some(more @ 1..) = self.notes.len().checked_sub(NOTES) {
                    push(&mut text, &format!("and {}", counted(more as u64, "more note")));
                }
            }
            None => {
                push(&mut text, &format!("no more: there are {}", counted(*total as u64, what)));
            }
        }
        text.truncate(text.trim_end().len());
        text
    }

    pub(super) fn into_result(self) -> CallToolResult {
        let text = ContentBlock::text(self.text());
        let link = |link: Link| {
            ContentBlock::ResourceLink(Resource::new(link.uri, link.name).with_mime_type(link.mime_type))
        };
        CallToolResult::success(std::iter::once(text).chain(self.links.into_iter().map(link)).collect())
    }
}

/// Adds a line. Control characters of dumps are shown as pictures.
fn push(text: &mut String, line: &str) {
    *text += &visible(&shorten(line.trim_end(), LINE));
    text.push('\n');
}

/// An answer that is an error: it reaches the model, which can act on it.
pub(super) fn refused(message: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(visible(&shorten(message, ERROR)).into_owned())])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(first: usize, limit: usize, budget: usize) -> Window {
        Window { first, limit, budget }
    }

    fn numbers(window: &Window) -> Answer {
        let all: Vec<usize> = (0..30).collect();
        Answer::new(vec!["numbers".to_owned()], window.page(&all, "number", |n| format!("n{n}")))
    }

    #[test]
    fn pages_end_with_the_cursor_of_the_next() {
        let text = numbers(&window(0, 2, SMALL)).text();
        assert_eq!(text, "numbers\nn0\nn1\n… 28 more numbers: the same call with \"cursor\": 2");
        let text = numbers(&window(29, 2, SMALL)).text();
        assert_eq!(text, "numbers\nn29");
        assert_eq!(numbers(&window(31, 2, SMALL)).text(), "numbers\nno more: there are 30 numbers");
    }

    #[test]
    fn a_page_is_cut_to_its_bytes_and_has_an_item() {
        let text = numbers(&window(10, 30, 20)).text();
        assert_eq!(text, "numbers\nn10\nn11\nn12\n… 17 more numbers: the same call with \"cursor\": 13");
        let text = numbers(&window(10, 30, 1)).text();
        assert!(text.starts_with("numbers\nn10\n… 19 more"), "{text}");
    }

    #[test]
    fn all_pages_together_have_each_item_once() {
        let mut next = Some(0);
        let mut seen = Vec::new();
        while let Some(cursor) = next {
            let text = numbers(&window(cursor, 7, 25)).text();
            seen.extend(text.lines().filter_map(|line| line.strip_prefix('n')?.parse::<usize>().ok()));
            next = text.lines().find_map(|line| line.split_once("\"cursor\": ")?.1.parse().ok());
        }
        assert_eq!(seen, (0..30).collect::<Vec<_>>());
    }

    #[test]
    fn notes_follow_the_last_page_and_control_characters_are_pictures() {
        let mut answer = numbers(&window(28, 5, SMALL));
        answer.notes.push("a\u{1b}[2J note".to_owned());
        assert!(answer.text().ends_with("n29\na␛[2J note"), "{}", answer.text());
    }
}
