//! Requests, cancellations and settings, wrong messages and faults.

use random::Rng;
use serde_json::json;

use super::Player;
use crate::soak::questions::failure;
use crate::soak::requests::{self, OF_DOCUMENTS, OF_PLACES, OF_WORKSPACES, Question};
use crate::soak::simulation::script::Kind;
use crate::soak::simulation::world::Document;
use crate::soak::{Failure, Kind as FailureKind, PATIENCE};

impl Player<'_> {
    pub(super) fn cancel(&mut self, random: &mut Rng) {
        let id = match self.asked.is_empty() || random.one_in(10) {
            true => 1_000_000 + random.index(10) as i64,
            false => {
                let last = self.asked.len().min(6);
                let at = self.asked.len() - 1 - random.index(last);
                self.asked[at].is_cancelled = true;
                self.asked[at].id
            }
        };
        self.notify("$/cancelRequest", json!({"id": id}));
    }

    pub(super) fn configure(&mut self, random: &mut Rng) {
        let device = *random.pick(&["h100-sxm", "a100-sxm-80", "a6000", "no such device"]);
        let settings = json!({
            "inlayHints": {
                "domains": random.flag(), "everywhere": random.flag(), "splits": random.flag(), "memory": random.flag(),
            },
            "gpu": {"device": device, "coalescingThreshold": 1 + random.index(4), "codeLens": random.flag()},
            "optimizer": {"hints": random.flag(), "codeLens": random.flag()},
            "hover": {"readableVariables": random.flag()},
            "diagnostics": {"limit": *random.pick(&[3, 1000])},
            "warnings": {
                "enable": !random.one_in(4), "disabled": if random.flag() { json!(["no-op"]) } else { json!([]) },
                "unoptimized": random.flag(),
            },
        });
        let sent = if random.flag() { json!({"hlo-analyzer": settings}) } else { settings.clone() };
        self.notify("workspace/didChangeConfiguration", json!({"settings": sent}));
        self.world.advance(None, |state| {
            let device = match device {
                // An unknown device is refused, so the one before stays.
                "no such device" => state.settings["gpu"]["device"].clone(),
                known => json!(known),
            };
            state.settings = settings;
            state.settings["gpu"]["device"] = device;
        });
    }

    /// A request of any method about an open document.
    pub(super) fn question(&self, random: &mut Rng) -> Option<Question> {
        if random.one_in(4) && !self.known.is_empty() {
            return Some(random.pick(&self.known).clone());
        }
        if random.one_in(12) {
            let method = *random.pick(OF_WORKSPACES);
            return Some(requests::of_workspace(method));
        }
        let uri = self.pick(random)?;
        let text = &self.world.now().documents[&uri].text;
        let place = |at: usize| {
            let point = self.world.point(text, at);
            let number = |key: &str| point[key].as_u64().unwrap_or_default() as usize;
            (number("line"), number("character"))
        };
        if let Some((id, _)) = self.tokens.get(&uri).filter(|_| random.one_in(12)) {
            let params = json!({"textDocument": {"uri": uri}, "previousResultId": id});
            let method = "textDocument/semanticTokens/full/delta".to_owned();
            return Some(Question { label: method.clone(), method, params });
        }
        Some(match random.index(3) {
            0 => requests::of_document(random.pick::<&str>(OF_DOCUMENTS), &uri, place(text.len())),
            _ => {
                let at = random.index(text.len() + 1);
                let at = (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
                requests::of_place(random.pick::<&str>(OF_PLACES), &uri, place(at))
            }
        })
    }

    pub(super) fn wrong_notification(&mut self, random: &mut Rng) {
        let unknown = json!({"uri": "file:///simulated/unknown.hlo", "version": 3});
        match random.index(6) {
            0 => {
                let changes = json!([{"text": "HloModule x"}]);
                self.notify(
                    "textDocument/didChange",
                    json!({"textDocument": unknown, "contentChanges": changes}),
                );
            }
            1 => self.notify("textDocument/didClose", json!({"textDocument": unknown})),
            2 => self.notify("textDocument/didSave", json!({"textDocument": unknown})),
            3 => self.notify("textDocument/didChange", json!({"textDocument": 7})),
            4 => self.notify("hlo-analyzer/unknown", json!({"x": 1})),
            _ => {
                // A document that is opened twice has the newer text.
                let Some(uri) = self.pick(random) else { return };
                let Document { language, text, .. } = self.world.now().documents[&uri].clone();
                let half = (0..=text.len() / 2).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
                self.open_as(uri, language, text[..half].to_owned(), random);
            }
        }
    }

    pub(super) fn wrong_request(&mut self, random: &mut Rng) {
        let Some(mut question) = self.question(random) else { return };
        match random.index(5) {
            // A client sends an item to be resolved as it received it: a wrong range would be the client's own.
            1 if question.method.ends_with("/resolve") => {}
            0 => question.params["textDocument"] = json!({"uri": "file:///simulated/unknown.hlo"}),
            1 => {
                for path in ["/position", "/range/end", "/positions/0"] {
                    if let Some(point) = question.params.pointer_mut(path) {
                        *point = match random.index(3) {
                            0 => json!({"line": u32::MAX, "character": u32::MAX}),
                            1 => json!({"line": 1, "character": 100_000}),
                            _ => json!({"line": 1_000_000, "character": 3}),
                        };
                    }
                }
            }
            2 => question.params = json!([1, "x"]),
            3 => question.params["textDocument"] = json!({"uri": "no URI"}),
            _ => question.method = "hlo-analyzer/unknown".to_owned(),
        }
        self.request(question);
    }

    pub(super) fn inject(&mut self, kind: Kind, random: &mut Rng) {
        let Some(uri) = self.pick(random) else { return };
        let mut params = json!({"textDocument": {"uri": uri}});
        let (method, label) = match kind {
            Kind::PanicInQuery => {
                params["inQuery"] = json!(1 + random.index(60));
                self.queries_panic = true;
                ("hlo-analyzer/test/panic", "a panic in a query")
            }
            Kind::PanicInRequest => ("hlo-analyzer/test/panic", "a panic in a request"),
            Kind::PanicInResponse => {
                params["inResponse"] = json!(true);
                ("hlo-analyzer/test/panic", "a panic in a response")
            }
            _ => {
                (params["ms"], params["blocking"]) = (json!(20 + random.index(150)), json!(random.flag()));
                ("hlo-analyzer/test/sleep", "a stuck thread")
            }
        };
        self.fault(Question { label: label.to_owned(), method: method.to_owned(), params });
    }

    pub(super) fn garbage(&mut self, random: &mut Rng) -> Result<(), Failure> {
        self.client.flush();
        let bodies: &[&[u8]] =
            &[b"{", b"\0\0\0", b"[1, 2]", b"{}", b"null", b"{\"jsonrpc\":\"2.0\",\"method\":7}", b"\xff\xfe"];
        self.messages += 1;
        match random.index(4) {
            0 => self.client.send_raw(b"Not: a header\r\n\r\n"),
            _ => self.client.send_body(random.pick::<&[u8]>(bodies)),
        }
        self.transcript.push(json!("garbage"));
        self.client.flush();
        match self.client.try_answer(0, PATIENCE) {
            Ok(Err(_)) => Ok(()),
            other => Err(failure(FailureKind::Malformed, "garbage", format!("is answered {other:?}"))),
        }
    }
}
