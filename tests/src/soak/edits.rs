//! Random edits of a text, like those of users, merges and formatters.

use std::ops::Range;

use crate::soak::texts::{ANY_WORDS, Language, texts, words};
use random::Rng;

/// One replacement, in bytes of the text before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub range: Range<usize>,
    pub insert: String,
}

impl Edit {
    pub fn apply(&self, text: &mut String) {
        text.replace_range(self.range.clone(), &self.insert);
    }
}

/// The nearest offset at or below `at` that an editor can express: none is between `\r` and `\n`.
fn place(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) || text[..at].ends_with('\r') && text[at..].starts_with('\n') {
        at -= 1;
    }
    at
}

/// The whole line around an offset, with its line end.
fn line(text: &str, at: usize) -> Range<usize> {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
    start..end
}

/// A word of the text: from `at` on, letters, digits and other characters of names.
fn word(text: &str, at: usize) -> Range<usize> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '%' | '-' | '#' | '@');
    let start = text[..at]
        .rfind(|c| !is_part(c))
        .map_or(0, |n| n + text[n..].chars().next().map_or(0, char::len_utf8));
    let end = text[at..].find(|c| !is_part(c)).map_or(text.len(), |n| at + n);
    start..end
}

pub fn random_edit(random: &mut Rng, text: &str, language: Language) -> Edit {
    let at = place(text, random.index(text.len() + 1));
    let near = place(text, at + random.index(30)).max(at);
    let any_word = |random: &mut Rng| match random.index(3) {
        0 => (*random.pick(ANY_WORDS)).to_owned(),
        1 => {
            let at = place(text, random.index(text.len() + 1));
            text[word(text, at)].to_owned()
        }
        _ => (*random.pick(words(language))).to_owned(),
    };
    match random.index(16) {
        // Typing and deleting.
        0..3 => Edit { range: at..at, insert: any_word(random) },
        3 => Edit { range: at..place(text, at + 1).max(at), insert: String::new() },
        4 => Edit { range: at..near, insert: String::new() },
        5 => Edit { range: at..near, insert: any_word(random) },
        6..8 => Edit { range: word(text, at), insert: any_word(random) },
        8 => {
            let len = random.index(3);
            Edit { range: at..at, insert: (0..=len).map(|_| *random.pick(ANY_WORDS)).collect() }
        }
        // Removed, duplicated or moved lines.
        9 => Edit { range: line(text, at), insert: String::new() },
        10 => {
            let line = line(text, at);
            Edit { range: line.end..line.end, insert: text[line].to_owned() }
        }
        11 => {
            let from = line(text, place(text, random.index(text.len() + 1)));
            let start = line(text, at).start;
            Edit { range: start..start, insert: text[from].to_owned() }
        }
        // A removed block.
        12 => {
            let end = line(text, place(text, at + random.index(400)).max(at)).end;
            Edit { range: line(text, at).start..end, insert: String::new() }
        }
        // A block of a different file.
        13 => {
            let other = random.pick(texts(language));
            let start = line(other, place(other, random.index(other.len() + 1))).start;
            let end = line(other, place(other, start + random.index(400)).max(start)).end;
            let at = line(text, at).start;
            Edit { range: at..at, insert: other[start..end].to_owned() }
        }
        // A different number.
        14 => {
            let digits = text[at..].find(|c: char| c.is_ascii_digit()).map_or(at..at, |n| {
                let start = at + n;
                let end = text[start..].find(|c: char| !c.is_ascii_digit()).map_or(text.len(), |n| start + n);
                start..end
            });
            let number =
                *random.pick(&["0", "1", "2", "-1", "7", "64", "1000000", "9223372036854775807", "?"]);
            Edit { range: digits, insert: number.to_owned() }
        }
        // An unfinished end.
        _ => Edit { range: at..text.len(), insert: String::new() },
    }
}
