//! What a conversion could not take over, by name.

use std::collections::BTreeMap;

use crate::messages::Described;
use crate::wire::names_of_fields;

/// Sentences with the number of times that each applies.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    counted: BTreeMap<String, u64>,
}

impl Notes {
    pub(crate) fn add(&mut self, note: impl Into<String>) {
        self.add_many(note, 1);
    }

    pub(crate) fn add_many(&mut self, note: impl Into<String>, times: u64) {
        *self.counted.entry(note.into()).or_default() += times;
    }

    /// Names the fields that are left in a message after what was understood has been taken out.
    pub(crate) fn left<M: Described>(&mut self, message: &M, of: &str) {
        if *message == M::default() {
            return;
        }
        for name in fields_left(message) {
            self.add(format!("{of} has {name}, which HLO text has no place for"));
        }
    }

    /// The sentences in order, with the number of times where there are several.
    pub(crate) fn into_lines(self) -> Vec<String> {
        let line =
            |(note, times): (String, u64)| if times > 1 { format!("{note} ({times} times)") } else { note };
        self.counted.into_iter().map(line).collect()
    }
}

/// The names of the fields of a message that say something. Messages in it that say nothing are none.
pub(crate) fn fields_left<M: Described>(message: &M) -> Vec<&'static str> {
    names_of_fields(&message.encode_to_vec(), M::schema())
}
