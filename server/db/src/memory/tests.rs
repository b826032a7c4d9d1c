//! What an edit makes the plan of a module's memory do again.

use std::sync::{Arc, Mutex, PoisonError};

use text::Edit;

use super::*;
use crate::{Database, Documents, FileId, Language};

const TEXT: &str = "HloModule m, is_scheduled=true

%sums {
  p.0 = f32[64,64] parameter(0)
  e.0 = f32[64,64] exponential(p.0)
  zero = f32[] constant(0)
  s.0 = f32[64] reduce(e.0, zero), dimensions={1}, to_apply=add
  ROOT t.0 = (f32[64,64], f32[64]) tuple(e.0, s.0)
}

%add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

ENTRY %e {
  p = f32[64,64] parameter(0)
  a = f32[64,64] negate(p), metadata={op_name=\"f/neg\"}
  f = (f32[64,64], f32[64]) fusion(a), kind=kInput, calls=%sums
  g = f32[64,64] get-tuple-element(f), index=0
  ROOT b = f32[64,64] multiply(g, g)
}
";

struct Edited {
    db: Database,
    documents: Documents,
    id: FileId,
    ran: Arc<Mutex<Vec<String>>>,
}

impl Edited {
    fn new() -> Edited {
        let ran: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = ran.clone();
        let mut db = Database::observed(move |query| {
            log.lock().unwrap_or_else(PoisonError::into_inner).push(query);
        });
        let mut documents = Documents::in_pieces_of(0);
        let id = documents.open(&mut db, Language::Hlo, TEXT);
        Edited { db, documents, id, ran }
    }

    fn memory(&self) -> Arc<Memory> {
        let file = self.documents.view(self.id).expect("it is open").file;
        module_memory(&self.db, file).clone().expect("it has an entry")
    }

    /// How often the plan was made again after `old` became `new`, and the memory then.
    fn replace(&mut self, old: &str, new: &str) -> (usize, Arc<Memory>) {
        let at = self.documents.text(self.id).expect("it is open").to_string().find(old).expect(old);
        let edit = Edit { range: at..at + old.len(), insert: new.to_owned() };
        self.ran.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.documents.edit(&mut self.db, self.id, &[edit]);
        let memory = self.memory();
        let ran = self.ran.lock().unwrap_or_else(PoisonError::into_inner);
        (ran.iter().filter(|query| query.starts_with("module_memory(")).count(), memory)
    }
}

#[test]
fn an_edit_that_moves_no_byte_plans_nothing_again() {
    let mut edited = Edited::new();
    let before = edited.memory();
    assert!(!edited.ran.lock().expect("no thread panicked").is_empty(), "queries are observed");
    for (old, new) in [
        ("exponential(p.0)", "tanh(p.0)"),
        ("constant(0)", "constant(1)"),
        ("add(x, y)", "maximum(x, y)"),
        ("f/neg", "f/minus"),
        ("negate(p)", "abs(p)"),
        ("parameter(1)\n", "parameter(1)  // the second\n"),
    ] {
        let (plans, memory) = edited.replace(old, new);
        assert_eq!((plans, &memory), (0, &before), "{old} -> {new}");
    }
}

#[test]
fn an_edit_that_moves_bytes_plans_again() {
    for (old, new) in [
        // The kernel reads its input twice.
        ("reduce(e.0, zero)", "reduce(p.0, zero)"),
        ("negate(p)", "copy(p)"),
        ("multiply(g, g)", "transpose(g), dimensions={1,0}"),
        ("f32[64,64] negate(p)", "f32[64,64]{0,1:T(8,128)} negate(p)"),
        ("is_scheduled=true", "is_scheduled=true, input_output_alias={ {}: (0, {}, must-alias) }"),
    ] {
        let mut edited = Edited::new();
        edited.memory();
        assert_eq!(edited.replace(old, new).0, 1, "{old} -> {new}");
    }
}

#[test]
fn a_module_in_pieces_has_the_memory_of_one_in_one_piece() {
    let planned = |mut documents: Documents| {
        let mut db = Database::default();
        let id = documents.open(&mut db, Language::Hlo, TEXT);
        let file = documents.view(id).expect("it is open").file;
        (file.pieces(&db).len(), module_memory(&db, file).clone().expect("it has an entry"))
    };
    let (several, few) = (planned(Documents::in_pieces_of(0)), planned(Documents::in_pieces_of(TEXT.len())));
    assert!(several.0 > few.0);
    assert_eq!(several.1, few.1);
}
