//! A run, an attached terminal, and a process in place of a run.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::time::Duration;

use ratatui::buffer::Buffer;
use tempfile::TempDir;

use super::super::link::Link;
use super::super::picture::Size;
use super::super::protocol::{Answer, Input, Request, Terminal};
use super::super::run_report::ServedRun;
use super::super::server::AttachServer;
use super::super::socket::AttachSocket;
use super::super::visit::{self, Patience};
use crate::intake::{Intake, IntakeLimits};
use crate::memory_budget::{AttachedPages, MemoryBudget};
use crate::pipeline::{Observing, Outputs};
use crate::tap::Clock;
use crate::view::Colour;

pub(super) const LIMIT: Duration = Duration::from_secs(30);

/// A run that observes nothing, with a socket.
pub(super) struct Host {
    server: AttachServer,
    pub(super) socket: PathBuf,
    intake: Intake,
    observing: Observing,
    folder: TempDir,
}

impl Host {
    pub(super) fn start() -> Self {
        Self::start_with(Patience::USUAL, "a note")
    }

    pub(super) fn start_with(patience: Patience, note: &str) -> Self {
        Self::start_within(AttachedPages::MOST, patience, note)
    }

    pub(super) fn start_within(most: AttachedPages, patience: Patience, note: &str) -> Self {
        let (folder, note) = (tempfile::tempdir().unwrap(), note.to_owned());
        let (intake, receiver) = Intake::new(IntakeLimits::default());
        let mut outputs = Outputs::new(Vec::new(), None);
        let snapshots = outputs.snapshots(&[]);
        let observing = Observing::start(receiver, Clock::start().now(), Vec::new(), outputs, &MemoryBudget::default()).unwrap();
        let run = ServedRun {
            subcommand: "run",
            command: vec!["a command".to_owned()],
            name: "kind-dev".to_owned(),
            guidance: vec!["Connect a client.".to_owned()],
            api_servers: vec!["a server".to_owned()],
            silence: vec!["No client connected.".to_owned()],
            notes: Box::new(move || vec![note.clone()]),
        };
        let socket = folder.path().join("s");
        let host = visit::Host::new(run, snapshots, patience).within(most);
        let server = AttachServer::start_with(AttachSocket::bind_at(&socket).unwrap(), host).unwrap();
        Self { server, socket, intake, observing, folder }
    }

    /// Ends only observing, as its failure does.
    pub(super) fn without_observing(self) -> (AttachServer, TempDir) {
        drop(self.intake);
        self.observing.finish().unwrap();
        (self.server, self.folder)
    }

    pub(super) fn end(self) -> TempDir {
        drop(self.server);
        self.folder
    }
}

/// An attached terminal without a screen.
pub(super) struct Seat {
    link: Link,
    shown: Buffer,
}

impl Seat {
    #[track_caller]
    pub(super) fn take(host: &Host, columns: u16, lines: u16) -> Self {
        let mut link = Link::connect(&host.socket).unwrap();
        let terminal = Terminal { size: Size { columns, lines }, coloured: true, zone: Some("<CET>-1".to_owned()) };
        link.ask(&Request::Page(terminal), Some(LIMIT)).unwrap();
        Self { link, shown: Buffer::default() }
    }

    pub(super) fn send(&mut self, input: &Input) {
        self.link.send(input);
    }

    #[track_caller]
    pub(super) fn receive(&mut self) -> Answer {
        self.link.wait_for(Some(LIMIT)).unwrap()
    }

    /// Draws the next picture, and returns its text.
    #[track_caller]
    pub(super) fn next_picture(&mut self) -> String {
        let Answer::Picture(picture) = self.receive() else { panic!("no picture") };
        picture.apply(&mut self.shown, Colour::On).unwrap();
        self.send(&Input::Drawn);
        self.shown.content.iter().map(ratatui::buffer::Cell::symbol).collect()
    }

    /// The number of pieces that differ in the next picture. It is not drawn.
    #[track_caller]
    pub(super) fn next_change(&mut self) -> usize {
        let Answer::Picture(picture) = self.receive() else { panic!("no picture") };
        picture.apply(&mut self.shown, Colour::On).unwrap();
        serde_json::to_string(&picture).unwrap().matches('[').count() - 2
    }

    /// The text after a picture that differs from the present one.
    #[track_caller]
    pub(super) fn text_after_change(&mut self) -> String {
        let before = self.shown.clone();
        loop {
            let text = self.next_picture();
            if self.shown != before && text.contains("KEYS") {
                return text;
            }
        }
    }

    /// The answer after all pictures.
    #[track_caller]
    pub(super) fn last(&mut self) -> Answer {
        loop {
            let answer = self.receive();
            if !matches!(answer, Answer::Picture(_)) {
                return answer;
            }
            self.send(&Input::Drawn);
        }
    }
}

/// A process that listens in place of a run, and sends the same to everyone.
pub(super) struct Fake {
    pub(super) socket: PathBuf,
    _folder: TempDir,
}

impl Fake {
    pub(super) fn answering(answer: Vec<u8>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("s");
        let listener = UnixListener::bind(&socket).unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut line = String::new();
                BufReader::new(&stream).read_line(&mut line).ok();
                stream.write_all(&answer).ok();
            }
        });
        Self { socket, _folder: folder }
    }
}
