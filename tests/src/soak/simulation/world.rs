//! What the documents and settings of a client are, and how they became so.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::positions::{offset, position};
use crate::soak::requests::Question;
use crate::soak::texts::Language;

/// An open document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Different each time that a document is opened.
    pub opening: u64,
    pub language: Language,
    pub version: i64,
    pub text: Arc<str>,
}

/// All that the answers of a server depend on, except for files.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    pub documents: BTreeMap<String, Document>,
    /// The values of the settings that the server understands.
    pub settings: Value,
}

impl State {
    /// Without documents, and with the default settings.
    pub fn new() -> State {
        let settings = json!({
            "inlayHints": {"domains": true, "everywhere": false, "splits": true, "memory": false},
            "gpu": {"device": "h100-sxm", "coalescingThreshold": 2, "codeLens": true},
            "optimizer": {"hints": true, "codeLens": true},
            "hover": {"readableVariables": true},
            "diagnostics": {"limit": 1000},
            "warnings": {"enable": true, "disabled": [], "unoptimized": false},
        });
        State { documents: BTreeMap::new(), settings }
    }
}

/// Replacements in order: the range in bytes of the text before it, and the length of the new text.
pub type Replaced = Vec<(Range<usize>, usize)>;

/// The states of a client since the last time when no request was unanswered.
pub struct World {
    states: Vec<State>,
    /// The document that was edited between a state and the next one, with the edits. `None` for any other change.
    steps: Vec<Option<(String, Replaced)>>,
    /// Columns are counted in units of this encoding.
    pub encoding: &'static str,
}

impl World {
    pub fn new(encoding: &'static str) -> World {
        World { states: vec![State::new()], steps: Vec::new(), encoding }
    }

    pub fn now(&self) -> &State {
        self.states.last().expect("there is at least one state")
    }

    /// The number of the current state.
    pub fn moment(&self) -> usize {
        self.states.len() - 1
    }

    pub fn at(&self, moment: usize) -> &State {
        &self.states[moment]
    }

    /// Enters the next state.
    pub fn advance(&mut self, edited: Option<(String, Replaced)>, change: impl FnOnce(&mut State)) {
        let mut next = self.now().clone();
        change(&mut next);
        self.states.push(next);
        self.steps.push(edited);
    }

    /// Forgets earlier states, about which no answer is due any more.
    pub fn settle(&mut self) {
        self.states.drain(..self.states.len() - 1);
        self.steps.clear();
    }

    pub fn point(&self, text: &str, at: usize) -> Value {
        let (line, character) = position(text, at, self.encoding);
        json!({"line": line, "character": character})
    }

    /// The parameters of a request with its place moved along with the edits from one state to a later one, as
    /// a server moves it that answers for the later text.
    pub fn moved(&self, question: &Question, from: usize, to: usize) -> Value {
        let mut params = question.params.clone();
        let Some((uri, paths)) = question.places() else { return params };
        let document = |moment: usize| self.at(moment).documents.get(&uri);
        let (Some(before), Some(after)) = (document(from), document(to)) else { return params };
        if before.opening != after.opening {
            return params;
        }
        let (before, after) = (before.text.clone(), after.text.clone());
        let edits = self.steps[from..to].iter().flatten().filter(|(edited, _)| *edited == uri);
        let edits: Vec<&(Range<usize>, usize)> = edits.flat_map(|(_, edits)| edits).collect();
        let shifted = |point: &Value| {
            let at = offset(&before, point, self.encoding);
            let at = edits.iter().fold(at, |at, (replaced, inserted)| shift(at, replaced, *inserted));
            // The new text may have a longer character there.
            let at = (0..=at.min(after.len())).rev().find(|&at| after.is_char_boundary(at)).unwrap_or(0);
            self.point(&after, at)
        };
        for path in paths {
            if let Some(point) = params.pointer_mut(path) {
                *point = shifted(point);
            }
        }
        params
    }
}

/// An offset inside the replaced text keeps its distance from the start, up to the length of the new text.
fn shift(offset: usize, replaced: &Range<usize>, inserted: usize) -> usize {
    if offset < replaced.start {
        offset
    } else if offset >= replaced.end {
        offset - replaced.len() + inserted
    } else {
        offset.min(replaced.start + inserted)
    }
}
