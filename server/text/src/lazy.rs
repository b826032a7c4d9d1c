//! The text of a document, as a rope that is made when it is first read.

use std::ops::{Deref, Range};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ropey::{Rope, RopeBuilder};

/// A rope that is built when it is first read. Until then it shares the memory of the document's pieces: a check without findings
/// needs no lines. Clones share the rope.
#[derive(Debug, Clone, Default)]
pub struct Text(Arc<Lazy>);

#[derive(Debug, Default)]
struct Lazy {
    bytes: usize,
    /// Empty once the rope is made.
    parts: Mutex<Vec<Arc<str>>>,
    rope: OnceLock<Rope>,
}

impl Text {
    pub fn of_parts(parts: Vec<Arc<str>>) -> Text {
        let bytes = parts.iter().map(|part| part.len()).sum();
        Text(Arc::new(Lazy { bytes, parts: Mutex::new(parts), rope: OnceLock::new() }))
    }

    /// Known without the rope.
    pub fn len_bytes(&self) -> usize {
        self.0.bytes
    }

    /// Replaces `range`, clamped to the text and to character boundaries; returns the bytes that were replaced.
    pub fn replace(&mut self, range: Range<usize>, insert: &str) -> Range<usize> {
        let mut rope = Rope::clone(self);
        let start = rope.byte_to_char(range.start.min(rope.len_bytes()));
        let end = rope.byte_to_char(range.end.min(rope.len_bytes())).max(start);
        let bytes = rope.char_to_byte(start)..rope.char_to_byte(end);
        rope.remove(start..end);
        rope.insert(start, insert);
        *self = Text::from(rope);
        bytes
    }
}

impl From<Rope> for Text {
    fn from(rope: Rope) -> Text {
        Text(Arc::new(Lazy { bytes: rope.len_bytes(), parts: Mutex::default(), rope: rope.into() }))
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text::of_parts(vec![text.into()])
    }
}

impl Deref for Text {
    type Target = Rope;

    fn deref(&self) -> &Rope {
        self.0.rope.get_or_init(|| {
            let parts = std::mem::take(&mut *self.0.parts.lock().unwrap_or_else(PoisonError::into_inner));
            let mut rope = RopeBuilder::new();
            parts.iter().for_each(|part| rope.append(part));
            rope.finish()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn a_rope_of_parts_is_that_of_the_text(parts in proptest::collection::vec("[a\r\n😀]{0,5}", 0..6)) {
            let text = Text::of_parts(parts.iter().map(|part| Arc::from(part.as_str())).collect());
            let whole = Rope::from_str(&parts.concat());
            proptest::prop_assert_eq!(text.len_bytes(), whole.len_bytes());
            proptest::prop_assert_eq!(&*text, &whole);
            proptest::prop_assert_eq!(text.len_lines(), whole.len_lines());
        }
    }

    #[test]
    fn a_replacement_leaves_other_clones() {
        let mut text = Text::from("a😀b");
        let before = text.clone();
        // 3 is inside of the second character.
        assert_eq!(text.replace(3..9, "x\n"), 1..6);
        assert_eq!((text.to_string(), before.to_string()), ("ax\n".to_owned(), "a😀b".to_owned()));
        assert_eq!(text.len_bytes(), 3);
    }
}
