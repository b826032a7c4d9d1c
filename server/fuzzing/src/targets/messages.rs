//! XLA's messages.

use hlo_proto::messages::encoded;
use hlo_proto::{Contents, contents, module_proto, read};

pub fn run(bytes: &[u8]) -> bool {
    let Contents::Module(message) = contents(bytes) else { return false };
    let Ok(text) = read(bytes, message).and_then(|module| module.into_text()) else { return false };
    // Strings of a message may have what no text can say.
    let Ok(first) = module_proto(&text.text) else { return false };
    let first = encoded(&first.into_hlo());
    let Contents::Module(message) = contents(&first) else { panic!("no module\n{}", text.text) };
    let again = read(&first, message).and_then(|module| module.into_text());
    let again = again.unwrap_or_else(|why| panic!("{why}\n{}", text.text));
    let second = module_proto(&again.text).unwrap_or_else(|why| panic!("{why}\n{}", again.text));
    assert_eq!(encoded(&second.into_hlo()), first, "{}\n{}", text.text, again.text);
    true
}
