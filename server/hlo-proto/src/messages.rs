//! XLA's messages, by hand: every field that XLA's definitions have, so that a field that is none of these is newer than this list.
//!
//! Enums are numbers, because a value that is not known stays as it is. Messages that HLO text has no place for are bytes.
//!
//! Source: XLA `service/hlo.proto`, `xla_data.proto`, `xla.proto`.

mod annotations;
mod instruction;
mod module;
mod shape;
mod sharding;

pub use annotations::*;
pub use instruction::*;
pub use module::*;
pub use shape::*;
pub use sharding::*;

/// What a message consists of, for walks over its bytes.
#[derive(Debug)]
pub struct Schema {
    pub name: &'static str,
    /// Bytes of the message in memory without what it points to.
    pub size: usize,
    pub fields: &'static [Field],
}

#[derive(Debug)]
pub struct Field {
    pub number: u32,
    pub name: &'static str,
    /// Of a field that holds messages.
    pub message: Option<fn() -> &'static Schema>,
}

impl Schema {
    pub fn field(&self, number: u32) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.number == number)
    }
}

/// A message with its schema.
pub trait Described: prost::Message + Default + PartialEq {
    fn schema() -> &'static Schema;
}

/// The bytes of a message.
pub fn encoded<M: Described>(message: &M) -> Vec<u8> {
    message.encode_to_vec()
}

/// Defines messages: `number name: type = [kind for prost] of Message`.
macro_rules! messages {
    ($($(#[$doc:meta])* $name:ident {
        $($number:tt $field:ident : $type:ty = [$($kind:tt)*] $(of $message:ty)?,)*
    })*) => { $(
        $(#[$doc])*
        #[derive(Clone, PartialEq, prost::Message)]
        pub struct $name {
            $(#[prost($($kind)*, tag = $number)] pub $field: $type,)*
        }

        impl $crate::messages::Described for $name {
            fn schema() -> &'static $crate::messages::Schema {
                static SCHEMA: $crate::messages::Schema = $crate::messages::Schema {
                    name: stringify!($name),
                    size: size_of::<$name>(),
                    fields: &[$($crate::messages::Field {
                        number: $number,
                        name: stringify!($field),
                        message: messages!(@of $($message)?),
                    },)*],
                };
                &SCHEMA
            }
        }
    )* };
    (@of) => { None };
    (@of $message:ty) => { Some(<$message as $crate::messages::Described>::schema) };
}
use messages;
