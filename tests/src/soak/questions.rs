//! All requests of an editor about a document, with follow-up requests.

use std::time::Duration;

use serde_json::{Value, json};

use crate::lsp_client::{LspClient, NoAnswer};
use crate::positions::position;
use crate::soak::requests::{self, OF_DOCUMENTS, OF_PLACES, Question};
use crate::soak::{Failure, Kind, PATIENCE};
use random::Rng;

/// The requests about a document.
pub struct Questions<'a> {
    pub text: &'a str,
    /// Byte offsets in the text.
    pub places: Vec<usize>,
    /// Only this method, or all.
    pub only: Option<&'a str>,
}

/// A request in words, and its response.
pub type Answered = (String, Value);

impl<'a> Questions<'a> {
    /// Random offsets, and some around the last edit.
    pub fn random(random: &mut Rng, text: &'a str, near: usize, count: usize) -> Questions<'a> {
        let mut places: Vec<usize> = (0..count)
            .map(|n| match n {
                0 => near,
                _ => random.index(text.len() + 1),
            })
            .collect();
        for place in &mut places {
            *place = (*place).min(text.len());
            while !text.is_char_boundary(*place) {
                *place -= 1;
            }
        }
        places.dedup();
        Questions { text, places, only: None }
    }

    /// One method, at offsets across the text.
    pub fn everywhere(text: &'a str, method: &'a str) -> Questions<'a> {
        let step = (text.len() / 100).max(1);
        let places = (0..=text.len()).step_by(step).filter(|&at| text.is_char_boundary(at)).collect();
        Questions { text, places, only: Some(method) }
    }

    /// Sends the requests for a document with this text.
    pub fn ask(&self, client: &mut LspClient, uri: &str) -> Result<Vec<Answered>, Failure> {
        let mut asked = Asked { client, answers: Vec::new() };
        let wanted = |method: &&&str| self.only.is_none_or(|only| only == **method);
        let end = position(self.text, self.text.len(), "utf-16");
        for method in OF_DOCUMENTS.iter().filter(wanted) {
            asked.with_follow_ups(&requests::of_document(method, uri, end))?;
        }
        for &place in &self.places {
            let at = position(self.text, place, "utf-16");
            for method in OF_PLACES.iter().filter(wanted) {
                asked.with_follow_ups(&requests::of_place(method, uri, at))?;
            }
        }
        Ok(asked.answers)
    }
}

struct Asked<'a> {
    client: &'a mut LspClient,
    answers: Vec<Answered>,
}

impl Asked<'_> {
    /// Sends a request and those that follow from its response.
    fn with_follow_ups(&mut self, question: &Question) -> Result<(), Failure> {
        let answer = self.one(question)?;
        requests::follow_ups(question, &answer).iter().try_for_each(|next| self.one(next).map(drop))
    }

    /// Sends one request and records the response.
    fn one(&mut self, Question { label, method, params }: &Question) -> Result<Value, Failure> {
        let answer = ask(self.client, method, params.clone(), PATIENCE)?;
        let value = match answer {
            Ok(result) => result,
            Err(error) => json!({"error": error}),
        };
        if let Some(detail) = inverted(&value) {
            return Err(failure(Kind::Malformed, method, detail));
        }
        self.answers.push((label.clone(), value.clone()));
        Ok(value)
    }
}

/// Sends a request. An error response is valid; a panic, a crash and a hang are failures.
pub fn ask(
    client: &mut LspClient,
    method: &str,
    params: Value,
    patience: Duration,
) -> Result<Result<Value, Value>, Failure> {
    match client.try_ask(method, params, patience) {
        Ok(Err(error)) if error["message"].as_str().is_some_and(|m| m.contains("which is a bug")) => {
            Err(failure(Kind::Panic, method, format!("{error}{}", client.log())))
        }
        Ok(answer) => Ok(answer),
        Err(NoAnswer::Died(status)) => Err(failure(Kind::Death, method, format!("{status}{}", client.log()))),
        Err(NoAnswer::Hangs) => Err(failure(Kind::Hang, method, format!("no answer in {patience:?}"))),
    }
}

pub(super) fn failure(kind: Kind, method: &str, detail: String) -> Failure {
    Failure { kind, method: method.to_owned(), detail, input: Value::Null }
}

/// A range in a response whose end is before its start, or a symbol whose name is outside its range.
pub(super) fn inverted(value: &Value) -> Option<String> {
    let place = |point: &Value| Some((point["line"].as_u64()?, point["character"].as_u64()?));
    let ends = |range: &Value| Some((place(&range["start"])?, place(&range["end"])?));
    match value {
        Value::Array(list) => list.iter().find_map(inverted),
        Value::Object(map) => {
            if let Some((start, end)) = ends(value).filter(|(start, end)| start > end) {
                return Some(format!("a range from {start:?} to {end:?}"));
            }
            if let (Some(range), Some(name)) = (map.get("range"), map.get("selectionRange"))
                && let (Some(range), Some(name)) = (ends(range), ends(name))
                && (name.0 < range.0 || range.1 < name.1)
            {
                return Some(format!("the name at {name:?} lies outside of its symbol at {range:?}"));
            }
            map.values().find_map(inverted)
        }
        _ => None,
    }
}
