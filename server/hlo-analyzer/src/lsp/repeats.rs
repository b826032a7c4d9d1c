//! Answers a request that repeats one in progress together with it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tower_lsp::jsonrpc::{Id, Request, Response, Result};

use super::outbox::Outbox;

/// Requests in progress, by content. Owner: the reader; responses remove entries from other threads. Size:
/// the unanswered requests.
#[derive(Clone, Default)]
pub(super) struct Repeats(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// Requests that later ones may join, by content.
    open: HashMap<Question, Id>,
    /// Groups by the id of the request that is computed.
    groups: HashMap<Id, Group>,
    /// The computed request for each waiting one.
    leaders: HashMap<Id, Id>,
    /// The number of notifications so far. Each may change the responses.
    notifications: u64,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Question {
    method: String,
    params: String,
    notifications: u64,
    news: u64,
}

struct Group {
    question: Question,
    /// The requests to respond to, in the order in which they arrived.
    waiting: Vec<Id>,
}

/// The effect of a cancellation.
#[derive(Debug, PartialEq)]
pub(super) enum Cancellation {
    /// Cancel the computation of this request.
    Cancel(Id),
    /// Respond only to this request that it is cancelled: others wait for the same computation.
    Leave(Id),
    /// It was cancelled before, and others wait for the same computation.
    Nothing,
}

impl Repeats {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether an equal request is in progress, whose response also serves this one. `news` is
    /// [`Outbox::news`].
    pub(super) fn join(&self, request: &Request, news: u64) -> bool {
        let Some(id) = request.id() else { return false };
        if !is_read(request.method()) {
            return false;
        }
        let mut state = self.lock();
        let question = Question {
            method: request.method().to_owned(),
            params: request.params().map_or_else(String::new, Value::to_string),
            notifications: state.notifications,
            news,
        };
        if state.leaders.contains_key(id) {
            // A duplicate id is the client's error; the router responds to it.
            return false;
        }
        if let Some(leader) = state.open.get(&question).cloned()
            && let Some(group) = state.groups.get_mut(&leader)
        {
            group.waiting.push(id.clone());
            state.leaders.insert(id.clone(), leader);
            return true;
        }
        state.open.insert(question.clone(), id.clone());
        state.leaders.insert(id.clone(), id.clone());
        state.groups.insert(id.clone(), Group { question, waiting: vec![id.clone()] });
        false
    }

    /// The number of unanswered reads.
    pub(super) fn len(&self) -> usize {
        self.lock().leaders.len()
    }

    /// Records a notification. Later requests do not join those before it.
    pub(super) fn notified(&self) {
        self.lock().notifications += 1;
    }

    pub(super) fn cancel(&self, id: Id) -> Cancellation {
        let mut state = self.lock();
        let Some(leader) = state.leaders.get(&id).cloned() else {
            return match state.groups.contains_key(&id) {
                true => Cancellation::Nothing,
                false => Cancellation::Cancel(id),
            };
        };
        let Some(group) = state.groups.get_mut(&leader) else { return Cancellation::Cancel(id) };
        if group.waiting.len() == 1 {
            // No request may join one that is being cancelled.
            let question = group.question.clone();
            if state.open.get(&question) == Some(&leader) {
                state.open.remove(&question);
            }
            return Cancellation::Cancel(leader);
        }
        group.waiting.retain(|waiting| *waiting != id);
        state.leaders.remove(&id);
        Cancellation::Leave(id)
    }

    /// Responds to a request and to those that have joined it.
    pub(super) fn respond(&self, outbox: &Outbox, leader: Option<Id>, answer: Result<Value>) {
        let Some(leader) = leader else { return };
        let mut waiting = self.answered(&leader);
        let last = waiting.pop();
        for id in waiting {
            outbox.respond(Response::from_parts(id, answer.clone()));
        }
        if let Some(id) = last {
            outbox.respond(Response::from_parts(id, answer));
        }
    }

    /// Removes the group of this request and returns its members.
    fn answered(&self, leader: &Id) -> Vec<Id> {
        let mut state = self.lock();
        let Some(group) = state.groups.remove(leader) else { return vec![leader.clone()] };
        if state.open.get(&group.question) == Some(leader) {
            state.open.remove(&group.question);
        }
        group.waiting.iter().for_each(|id| _ = state.leaders.remove(id));
        group.waiting
    }
}

/// Whether the method changes nothing, so that equal requests can share a response.
fn is_read(method: &str) -> bool {
    ["textDocument/", "hlo-analyzer/", "callHierarchy/", "codeAction/", "codeLens/"]
        .iter()
        .any(|prefix| method.starts_with(prefix))
        || method == "workspace/symbol"
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hover(id: i64, line: u32) -> Request {
        let params = json!({"position": {"line": line, "character": 0}});
        Request::build("textDocument/hover").id(id).params(params).finish()
    }

    fn ids(ids: &[i64]) -> Vec<Id> {
        ids.iter().copied().map(Id::Number).collect()
    }

    #[test]
    fn equal_requests_are_answered_together() {
        let repeats = Repeats::default();
        assert!(!repeats.join(&hover(1, 0), 0));
        assert!(repeats.join(&hover(2, 0), 0));
        assert!(!repeats.join(&hover(3, 1), 0), "another question");
        assert_eq!(repeats.answered(&Id::Number(1)), ids(&[1, 2]));
        assert!(!repeats.join(&hover(4, 0), 0), "the first was answered");
    }

    #[test]
    fn what_may_have_changed_is_asked_again() {
        let repeats = Repeats::default();
        assert!(!repeats.join(&hover(1, 0), 0));
        repeats.notified();
        assert!(!repeats.join(&hover(2, 0), 0), "an edit may lie between");
        assert!(!repeats.join(&hover(3, 0), 1), "the server has told of a change");
        assert!(repeats.join(&hover(4, 0), 1));
        assert_eq!(repeats.answered(&Id::Number(1)), ids(&[1]));
        assert_eq!(repeats.answered(&Id::Number(3)), ids(&[3, 4]));
        assert_eq!(repeats.answered(&Id::Number(2)), ids(&[2]));
        assert!(repeats.lock().leaders.is_empty() && repeats.lock().open.is_empty());
    }

    #[test]
    fn commands_are_carried_out_each_time() {
        let repeats = Repeats::default();
        let command = |id: i64| Request::build("workspace/executeCommand").id(id).finish();
        assert!(!repeats.join(&command(1), 0) && !repeats.join(&command(2), 0));
        assert_eq!(repeats.answered(&Id::Number(1)), ids(&[1]));
    }

    #[test]
    fn the_last_one_who_cancels_ends_the_computation() {
        let repeats = Repeats::default();
        for id in 1..=3 {
            repeats.join(&hover(id, 0), 0);
        }
        assert_eq!(repeats.cancel(Id::Number(1)), Cancellation::Leave(Id::Number(1)));
        assert_eq!(repeats.cancel(Id::Number(1)), Cancellation::Nothing, "two others wait");
        assert_eq!(repeats.cancel(Id::Number(3)), Cancellation::Leave(Id::Number(3)));
        assert_eq!(repeats.cancel(Id::Number(2)), Cancellation::Cancel(Id::Number(1)));
        assert!(!repeats.join(&hover(4, 0), 0), "it is about to end");
        assert_eq!(repeats.answered(&Id::Number(1)), ids(&[2]));
        assert_eq!(repeats.cancel(Id::Number(9)), Cancellation::Cancel(Id::Number(9)));
    }
}
