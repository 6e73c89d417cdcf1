//! The reaction of each side to any bytes of the other one. Nothing of watchtap uses this: it is for tests from outside
//! (`tests/fuzz/shell`), and does only what the two sides do.

use std::io::{self, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use ratatui::buffer::Buffer;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::watch;

use super::attached_page::AttachedPage;
use super::link::Link;
use super::picture::Size;
use super::run_report::ServedRun;
use super::visit::{Host, Patience, Visit};
use crate::pipeline::Outputs;
use crate::terminal::Scene as _;
use crate::view::{Colour, Key, Outcome};

/// The size of the terminal.
const SIZE: Size = Size { columns: 80, lines: 24 };

/// Maximum number of bytes that a terminal is given: those that a socket holds.
pub const MOST_TO_TERMINAL: usize = 64 << 10;

/// The cells of a terminal, and its acts, after bytes of a run.
#[derive(Debug, Default)]
pub struct Reaction {
    /// The text of each of its cells.
    pub cells: Vec<String>,
    /// The texts in its user's clipboard.
    pub copied: Vec<String>,
    /// The names and contents of the files that it writes.
    pub notes: Vec<(String, String)>,
    /// Why it ended, unless the user or the run ended it.
    pub failure: Option<String>,
}

/// The bytes that a run sends to a process that sends `bytes` and then closes the connection.
pub fn answers_of_run(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let (ours, mut theirs) = tokio::net::UnixStream::pair()?;
        let (_running, ended) = watch::channel(false);
        let snapshots = Outputs::new(Vec::new(), None).snapshots(&[]);
        let visit = Visit::new(Arc::new(Host::new(run(), snapshots, Patience::USUAL)), ours, ended).serve();
        let (mut read, mut write) = theirs.split();
        let mut answers = Vec::new();
        let sending = async {
            write.write_all(bytes).await?;
            write.shutdown().await
        };
        // The run may leave before everything is sent.
        let (_left, _sent, read) = tokio::join!(visit, sending, read.read_to_end(&mut answers));
        read.map(|_length| answers)
    })
}

/// Shows the messages `bytes` of a run, which then closes the connection, after the user has pressed a key.
pub fn reaction_of_terminal(bytes: &[u8], key: char) -> io::Result<Reaction> {
    let (mut run, ours) = UnixStream::pair()?;
    run.write_all(bytes.get(..MOST_TO_TERMINAL).unwrap_or(bytes))?;
    run.shutdown(Shutdown::Write)?;
    let output = ours.try_clone()?;
    let mut page = AttachedPage::requested(Link::over(ours.into(), output.into())?, Colour::On, SIZE);
    page.key(Key::Char(key));
    let (mut buffer, mut reaction) = (Buffer::empty(SIZE.area()), Reaction::default());
    let mut is_left = false;
    while !is_left && reaction.failure.is_none() {
        reaction.failure = page.take_news().err().map(|error| error.to_string());
        page.draw(&mut buffer);
        page.note_drawn();
        while let Some(outcome) = page.next_outcome() {
            match outcome {
                Outcome::Copy(text) => reaction.copied.push(text),
                Outcome::Write(note) => reaction.notes.push((note.stem, note.text.into_string())),
                Outcome::Quit => is_left = true,
                Outcome::Stay | Outcome::Redraw | Outcome::Stop => {}
            }
        }
    }
    reaction.cells = buffer.content.iter().map(|cell| cell.symbol().to_owned()).collect();
    Ok(reaction)
}

/// A run that observes nothing any more.
fn run() -> ServedRun {
    ServedRun {
        subcommand: "run",
        command: vec!["a command".to_owned()],
        name: "a run".to_owned(),
        guidance: vec!["Connect a client.".to_owned()],
        api_servers: vec!["a server".to_owned()],
        silence: Vec::new(),
        notes: Box::new(Vec::new),
    }
}
