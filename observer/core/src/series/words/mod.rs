//! The words of labels with few values.

mod losses;
mod reflectors;
mod requests;
mod servers;
mod storms;
mod word;

pub use losses::{
    AddressWord, LostBytesWord, LostCallWord, LostConnectionWord, LostRecordWord, MissedWord, SeenWord, SliceWord, TapWord,
    UnreadWord,
};
pub use reflectors::{BlockageWord, CauseWord, ListKindWord, StateWord};
pub use requests::{CertaintyWord, EndWord, EventWord, LayerWord, ScopeWord, VerbWord};
pub use servers::{DirectionWord, ProtocolWord, SenderWord, SourceWord};
pub use storms::{ExposureWord, StormKindWord, TriggerWord};
