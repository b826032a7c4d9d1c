//! Text of HLO.

use ide::Language;
use ir::PrintOptions;

use crate::editor::analyse;
use crate::modules::{faults, lowered, printed};

pub fn run(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    analyse(Language::Hlo, &text);
    let block = lowered(&text);
    if !faults(&block).is_empty() {
        return false;
    }
    // Other forms, as in XLA, are to be looked at.
    for options in [PrintOptions::lossless(), PrintOptions::short_parsable()] {
        let Some(first) = printed(&block, &options) else { return false };
        let again = lowered(&first);
        assert!(again.parse.errors.is_empty(), "{:?}\n{first}", again.parse.errors);
        let second = printed(&again, &options).expect("it is as large as the first");
        assert_eq!(second, first, "printed again, the text is another one");
    }
    true
}
