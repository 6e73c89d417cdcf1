//! Decides how the value of a field is used.

use super::message::{Message, Part};
use crate::wire::meaning::{Field, Interest, ValuePath};
use crate::wire::syntax::{Instead, Receiver};

/// The use of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Nothing,
    Text(Kind),
    /// A message that is the complete value of a place.
    ValuePath(Message, ValuePath),
    /// A message that is a further part of the place around it.
    More(Message),
    Envelope,
    Content,
    Encoding,
}

/// The use of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Of(Field),
    Key,
}

/// The use of the bytes of `part`.
pub(super) fn wanted(part: Part, place: ValuePath, entry: Interest, receiver: &mut impl Receiver) -> Wanted {
    let interest = match part {
        Part::Nothing => return Wanted::Nothing,
        Part::Envelope => return Wanted::Envelope,
        Part::Content => return Wanted::Content,
        Part::Encoding => return Wanted::Encoding,
        Part::More(message) => return Wanted::More(message),
        Part::Key => return Wanted::Text(Kind::Key),
        Part::Value => entry,
        Part::Scalar(name) | Part::Member(name, _) => place.member(name),
    };
    match (interest, part) {
        (Interest::Text(field), _) => Wanted::Text(Kind::Of(field)),
        (Interest::Inside(place), Part::Member(_, message)) => Wanted::ValuePath(message, place),
        _ => {
            misshapen(part, place, receiver);
            Wanted::Nothing
        }
    }
}

/// The numeric field that `part` is; `None` if it is not read.
pub(super) fn wanted_number(part: Part, place: ValuePath, receiver: &mut impl Receiver) -> Option<Field> {
    let interest = if let Part::Scalar(name) = part { place.member(name) } else { Interest::Nothing };
    if let Interest::Number(field) = interest {
        return Some(field);
    }
    misshapen(part, place, receiver);
    None
}

/// Reports a value that should be a message but has another wire type.
pub(super) fn misshapen(part: Part, place: ValuePath, receiver: &mut impl Receiver) {
    if let Part::Member(name, _) = part
        && let Interest::Inside(place) = place.member(name)
    {
        receiver.misshapen(place, Instead::Value);
    }
}
