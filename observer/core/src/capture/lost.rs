//! What a file does not give, and why.

use std::fmt;

use super::layout::VERSION;
use crate::time::Timestamp;

/// A part of a capture that cannot be read, or is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Where in the file.
    pub offset: u64,
    /// How many bytes of the file cannot be read; 0 when they are not there.
    pub bytes: u64,
    /// How many observations are missing; `None` when that cannot be known.
    pub observations: Option<u64>,
    /// The time of the last observation before it, when there is one.
    pub from: Option<Timestamp>,
    /// The time of the first observation behind it, or of its own last one; `None` when neither is known.
    pub until: Option<Timestamp>,
    /// Why.
    pub reason: LostReason,
}

/// Why a part of a capture is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostReason {
    /// Bytes are not what their checksums say.
    Damaged,
    /// Observations with longer texts, or more of them, than any that is recorded; each counts as missing.
    OutOfBounds,
    /// Blocks are missing although those around them are whole.
    Missing,
    /// The file ends without its end mark: the writer was stopped, or the file was cut.
    Torn,
    /// Bytes follow the end mark.
    Trailing,
    /// The part of the capture before this file was not given.
    NoEarlierPart,
    /// The part of the capture behind this file was not given.
    NoLaterPart,
}

impl fmt::Display for LostReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Damaged => "damaged",
            Self::OutOfBounds => "observations with longer texts than are ever recorded",
            Self::Missing => "blocks are missing",
            Self::Torn => "the file ends without its end mark: the writer was stopped, or the file was cut",
            Self::Trailing => "bytes that follow the end mark",
            Self::NoEarlierPart => "the part of the capture before this one is not there",
            Self::NoLaterPart => "the capture goes on in a part that is not there",
        })
    }
}

/// Why nothing of a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It holds no byte.
    #[error("empty: the capture was ended before anything was written, or this is not a capture")]
    Empty,
    /// It does not begin as a capture does.
    #[error("not a capture of watchtap")]
    NotACapture,
    /// A later version wrote it.
    #[error("written by a newer watchtap (format {version}, this one reads up to {VERSION}): read it with that version")]
    Newer {
        /// The version of its form.
        version: u16,
    },
    /// It belongs to another capture than the files before it.
    #[error("belongs to another capture (begun at {capture}) than the files before it: read the captures one by one")]
    OtherCapture {
        /// When that one began.
        capture: Timestamp,
    },
    /// The parts are not in their order, or one is there twice.
    #[error("part {part} of its capture was read already, or a later one was: give each part once, in order")]
    OutOfOrder {
        /// Which part it is.
        part: u32,
    },
}
