//! The messages between a run and an attached process: lines of JSON in both directions.
//!
//! Each side begins with a [`Greeting`], whose form never changes, so that versions that differ can report it. Everything after it
//! may change with [`PROTOCOL`].

use bytes::BytesMut;
use serde::{Deserialize, Serialize};

use super::picture::{Picture, Size};
use crate::view::{Key, Mouse};

/// The version of all messages after the greeting. Any change of them needs another number.
pub(super) const PROTOCOL: u32 = 1;

/// Maximum length of a line to the run, in bytes. The longest is the answer with a file's name.
pub(super) const MOST_TO_RUN: usize = 8 << 10;

/// Maximum length of a line to the attached process, in bytes. The longest is a picture in which neighbouring cells differ in
/// style.
pub(super) const MOST_TO_TERMINAL: usize = 4 << 20;

/// The first line of both sides. Unknown fields are ignored, because other versions may have more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Greeting {
    /// The sender's [`PROTOCOL`].
    pub(super) watchtap_attach: u32,
    /// The sender's version of watchtap, for people.
    pub(super) version: String,
}

/// The request of an attached process: its second line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Request {
    /// Facts about the run.
    About,
    /// The report so far.
    Report(ReportForm),
    /// The page, until one side ends it.
    Page(Terminal),
}

/// Text for people, or data for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum ReportForm {
    /// Text for people.
    Text {
        /// Whether with colours.
        coloured: bool,
    },
    /// One JSON object.
    Json,
    /// Markdown for a comment.
    Markdown,
}

/// The terminal of an attached process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Terminal {
    pub(super) size: Size,
    /// Whether it shows colours.
    pub(super) coloured: bool,
    /// Its time zone as a POSIX `TZ` string; `None` if it is unknown.
    pub(super) zone: Option<String>,
}

/// The messages after a request for the page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Input {
    /// The user pressed this.
    Key(Key),
    /// An act of the mouse.
    Mouse(Mouse),
    /// The terminal has another size now.
    Resized(Size),
    /// The last picture is on the terminal. The run sends no further picture before this.
    Drawn,
    /// The result of [`Answer::Note`]: the path of the file, or why there is none.
    Noted(Result<String, String>),
}

/// The messages of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Answer {
    /// The answer to [`Request::About`].
    About(About),
    /// A part of the report.
    Part(String),
    /// The report is complete.
    Complete,
    /// The cells that have changed since the last picture.
    Picture(Picture),
    /// Text for the user's clipboard, after a key.
    Copy(String),
    /// A note for a file in the current folder of the attached process, after a key.
    Note {
        /// The beginning of the file's name.
        stem: String,
        /// Its content.
        text: String,
    },
    /// The user quit the page.
    Left,
    /// The run has ended.
    Ended,
    /// The run refuses the request, or cannot continue it, for this reason.
    Refused(String),
}

/// Facts about a run, for a list of all runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct About {
    /// Its process ID, in its own PID namespace.
    pub(crate) pid: u32,
    /// The subcommand, such as `run`.
    pub(crate) subcommand: String,
    /// The command of `exec` and its arguments, without credentials.
    pub(crate) command: Vec<String>,
    /// When it started to serve, in RFC 3339.
    pub(crate) since: String,
    /// The names of the API servers.
    pub(crate) api_servers: Vec<String>,
}

impl Greeting {
    /// That of this process.
    pub(super) fn own() -> Self {
        Self { watchtap_attach: PROTOCOL, version: env!("CARGO_PKG_VERSION").to_owned() }
    }
}

/// Appends a message as a line.
pub(super) fn push_line(message: &impl Serialize, to: &mut BytesMut) {
    // A message is made of texts, numbers and lists, none of which fails.
    let line = serde_json::to_vec(message).unwrap_or_default();
    to.extend_from_slice(&line);
    to.extend_from_slice(b"\n");
}
