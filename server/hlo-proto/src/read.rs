//! From the bytes of a message to the module in it.

use prost::Message as _;

use crate::contents::Message;
use crate::messages::{
    Described, HloModuleConfigProto, HloModuleProto, HloProto, HloSnapshot, HloUnoptimizedSnapshot,
};
use crate::notes::{Notes, fields_left};
use crate::to_text::{ModuleText, module_text};
use crate::wire::Survey;

/// The most memory that a decoded message may take.
const MAX_MEMORY: u64 = 8 << 30;

/// A module out of a message.
#[derive(Debug)]
pub struct Module {
    pub module: HloModuleProto,
    pub config: Option<HloModuleConfigProto>,
    /// What the message has beside the module, and fields that are not known, in sentences.
    pub notes: Vec<String>,
}

/// Reads a message of the kind that [`crate::contents()`] found.
pub fn read(bytes: &[u8], message: Message) -> Result<Module, String> {
    let survey = match message {
        Message::Module => Survey::of(bytes, HloModuleProto::schema()),
        Message::Hlo => Survey::of(bytes, HloProto::schema()),
        Message::Snapshot => Survey::of(bytes, HloSnapshot::schema()),
        Message::UnoptimizedSnapshot => Survey::of(bytes, HloUnoptimizedSnapshot::schema()),
    };
    let of = |why: String| format!("a damaged {}: {why}", message.name());
    let survey = survey.map_err(of)?;
    if survey.memory > MAX_MEMORY {
        return Err(format!(
            "an {} that would take more than {} GiB of memory",
            message.name(),
            MAX_MEMORY >> 30
        ));
    }
    let mut notes = Notes::default();
    for ((name, number), times) in survey.unknown {
        notes.add_many(format!("field {number} of {name} is newer than this version and left out"), times);
    }
    let fault = |error: prost::DecodeError| of(error.to_string());
    let (module, config) = match message {
        Message::Module => (Some(HloModuleProto::decode(bytes).map_err(fault)?), None),
        Message::Hlo => of_hlo(HloProto::decode(bytes).map_err(fault)?, &mut notes),
        Message::Snapshot => {
            let mut snapshot = HloSnapshot::decode(bytes).map_err(fault)?;
            let hlo = snapshot.hlo.take().unwrap_or_default();
            beside(&snapshot, &mut notes);
            of_hlo(hlo, &mut notes)
        }
        Message::UnoptimizedSnapshot => {
            let mut snapshot = HloUnoptimizedSnapshot::decode(bytes).map_err(fault)?;
            let module = snapshot.hlo_module.take();
            snapshot.version = 0;
            beside(&snapshot, &mut notes);
            (module, None)
        }
    };
    let module = module.ok_or_else(|| of("it holds no module".to_owned()))?;
    Ok(Module { module, config, notes: notes.into_lines() })
}

fn of_hlo(mut hlo: HloProto, notes: &mut Notes) -> (Option<HloModuleProto>, Option<HloModuleConfigProto>) {
    let (module, config) = (hlo.hlo_module.take(), hlo.config.take());
    beside(&hlo, notes);
    (module, config)
}

/// Names what a message has beside its module.
fn beside<M: Described>(message: &M, notes: &mut Notes) {
    for name in fields_left(message) {
        notes.add(format!("the {} also has {name}, which is not shown", M::schema().name));
    }
}

impl Module {
    /// The text of the module.
    pub fn into_text(self) -> Result<ModuleText, String> {
        let mut text = module_text(self.module, self.config)?;
        text.notes.extend(self.notes);
        Ok(text)
    }
}
