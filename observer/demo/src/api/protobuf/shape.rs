//! The types that describe protobuf messages, and the macro for the tables of messages.

/// A message, as its `generated.proto` names it.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) name: &'static str,
    pub(super) fields: &'static [Field],
}

/// One field of a [`Message`].
#[derive(Debug)]
pub(super) struct Field {
    pub(super) number: u32,
    /// The name in JSON; ignored for [`Shape::Inline`].
    pub(super) json: &'static str,
    pub(super) shape: Shape,
}

/// How the value of a field becomes JSON.
///
/// Go's clients write every field that is not a pointer, empty or not. So a plain shape omits its zero value, as `omitempty` does
/// in JSON. With the prefix `Any`, zero is a value too: the field is a pointer, or has no `omitempty`.
#[derive(Debug)]
pub(super) enum Shape {
    Text,
    AnyText,
    Int,
    AnyInt,
    Flag,
    AnyFlag,
    /// Base64 in JSON.
    Bytes,
    /// A text in a message.
    Quantity,
    /// A number or a text, such as a port or a percentage.
    IntOrString,
    AnyIntOrString,
    /// Seconds and nanoseconds since 1970; in JSON RFC 3339, to the second.
    Time,
    /// The same; in JSON to the microsecond.
    MicroTime,
    /// JSON bytes in a message.
    RawJson,
    /// A nested message.
    One(&'static Message),
    /// A message whose fields belong to the outer object in JSON.
    Inline(&'static Message),
    /// One element of a list.
    Many(&'static Shape),
    /// One entry of a map whose keys are texts.
    Map(&'static Shape),
}

impl Message {
    pub(super) fn field(&self, number: u32) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.number == number)
    }
}

/// Defines messages: `CONSTANT Name { number jsonName Shape, … }`.
macro_rules! messages {
    ($($constant:ident $name:ident { $($number:literal $json:ident $shape:expr),* $(,)? })*) => {
        $(
            pub(super) static $constant: $crate::api::protobuf::shape::Message = $crate::api::protobuf::shape::Message {
                name: stringify!($name),
                fields: &[$(
                    $crate::api::protobuf::shape::Field { number: $number, json: stringify!($json), shape: $shape }
                ),*],
            };
        )*
    };
}
pub(super) use messages;
