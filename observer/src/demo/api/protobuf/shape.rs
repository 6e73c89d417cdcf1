//! What a message is made of, and the notation in which the tables say so.

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
    /// The name in JSON; means nothing for what is [`Shape::Inline`].
    pub(super) json: &'static str,
    pub(super) shape: Shape,
}

/// How a field's value becomes JSON.
///
/// Go's clients write every field that is no pointer, empty or not. So a plain shape leaves out its zero, as `omitempty` does in JSON; with
/// `Any` in front of its name, the zero is a value too: of a pointer, or of a field without `omitempty`.
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
    /// A text in a message of its own.
    Quantity,
    /// A number or a text, such as a port or a percentage.
    IntOrString,
    AnyIntOrString,
    /// Seconds and nanoseconds since 1970; RFC 3339 in JSON, to the second.
    Time,
    /// The same to the microsecond.
    MicroTime,
    /// JSON in bytes in a message of its own.
    RawJson,
    /// A message.
    One(&'static Message),
    /// A message whose fields are those of the outer object in JSON.
    Inline(&'static Message),
    /// One element of a list.
    Many(&'static Shape),
    /// One entry of a map with texts for keys.
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
            pub(super) static $constant: $crate::demo::api::protobuf::shape::Message = $crate::demo::api::protobuf::shape::Message {
                name: stringify!($name),
                fields: &[$(
                    $crate::demo::api::protobuf::shape::Field { number: $number, json: stringify!($json), shape: $shape }
                ),*],
            };
        )*
    };
}
pub(super) use messages;
