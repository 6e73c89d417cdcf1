//! Losses in a capture, and files that are refused.

use std::fmt;

use super::layout::VERSION;
use crate::time::Timestamp;

/// A part of a capture that cannot be read, or is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Offset in the file, in bytes.
    pub offset: u64,
    /// Number of unreadable bytes; 0 when they are missing, or can be read but are out of bounds.
    pub bytes: u64,
    /// Number of missing observations; `None` when it is unknown.
    pub observations: Option<u64>,
    /// Time of the last observation before the loss; `None` when there is none.
    pub from: Option<Timestamp>,
    /// Time of the first observation after the loss, or of the last one in it; `None` when both are unknown.
    pub until: Option<Timestamp>,
    /// Why it is lost.
    pub reason: LostReason,
}

/// Why a part of a capture is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostReason {
    /// Bytes do not match their checksums.
    Damaged,
    /// Lines exceed the bounds of recorded lines. Each counts as a missing observation, unless it only restates an earlier part.
    OutOfBounds,
    /// Blocks are missing between intact ones.
    Missing,
    /// The file ends without its end mark: the writer was stopped, or the file was cut.
    Torn,
    /// Bytes follow the end mark.
    Trailing,
    /// The part before this file was not given, or not read to its end.
    NoEarlierPart,
    /// The part after this file was not given.
    NoLaterPart,
}

impl fmt::Display for LostReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Damaged => "damaged",
            Self::OutOfBounds => "observations with longer texts than watchtap records",
            Self::Missing => "blocks are missing",
            Self::Torn => "the file ends without its end mark: the writer was stopped, or the file was cut",
            Self::Trailing => "bytes that follow the end mark",
            Self::NoEarlierPart => "the part before this one is missing",
            Self::NoLaterPart => "the capture continues in a part that is missing",
        })
    }
}

/// Why a file is refused. Nothing more of it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It has no bytes.
    #[error("empty: the capture ended before its first observation, or this is not a capture")]
    Empty,
    /// Its first bytes are not those of a capture.
    #[error("not a watchtap capture")]
    NotACapture,
    /// A later version wrote it.
    #[error("written by a newer watchtap (format {version}; this one reads up to {VERSION}): read it with that version")]
    Newer {
        /// Version of the file's format.
        version: u16,
    },
    /// It belongs to another capture than the files before it.
    #[error("belongs to another capture (begun at {capture}) than the files before it: read each capture separately")]
    OtherCapture {
        /// Start of the capture that the file belongs to.
        capture: Timestamp,
    },
    /// The parts are out of order, or one is given twice.
    #[error("part {part} of its capture, or a later part, was already read: pass each part once, in order")]
    OutOfOrder {
        /// Number of the refused part, from 0.
        part: u32,
    },
}
