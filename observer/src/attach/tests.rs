//! Tests of both sides together, and of hostile input to each.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use ratatui::buffer::{Buffer, CellWidth as _};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use tempfile::TempDir;

use super::directory::Directories;
use super::inbox::{Inbox, Malformed};
use super::link::{Link, LinkError};
use super::picture::{LARGEST, Picture};
use super::protocol::{Answer, Greeting, Input, PROTOCOL, ReportForm, Request, Size, Terminal};
use super::run_report::ServedRun;
use super::server::AttachServer;
use super::socket::AttachSocket;
use super::visit::MOST_PAGES;
use crate::intake::{Intake, IntakeLimits};
use crate::pipeline::{Observing, Outputs};
use crate::printable::is_shown;
use crate::tap::Clock;
use crate::view::{Colour, Key};

const LIMIT: Duration = Duration::from_secs(30);

#[test]
fn page_follows_keys_and_leaves_without_ending_the_run() {
    let host = Host::start();
    let mut seat = Seat::take(&host, 80, 24);
    assert!(seat.next_picture().contains("kind-dev"));
    seat.send(&Input::Key(Key::Char('?')));
    assert!(seat.text_after_change().contains("KEYS"));
    seat.send(&Input::Resized(Size { columns: 40, lines: 10 }));
    while !seat.next_picture().contains("too small") {}
    seat.send(&Input::Key(Key::Escape));
    seat.send(&Input::Key(Key::Char('q')));
    assert_eq!(seat.last(), Answer::Left);
    assert!(Link::about(&host.socket).is_ok(), "the run continues");
}

#[test]
fn end_of_observing_is_no_end_of_the_run() {
    let host = Host::start();
    let mut seat = Seat::take(&host, 140, 24);
    let socket = host.socket.clone();
    let _host = host.without_observing();
    while !seat.next_picture().contains("the run observes no more") {}
    let mut link = Link::connect(&socket).unwrap();
    link.ask(&Request::Report(ReportForm::Json), Some(LIMIT)).unwrap();
    let Answer::Refused(why) = link.wait_for(Some(LIMIT)).unwrap() else { panic!("a report") };
    assert!(why.contains("observing failed") && !why.contains("writes its own report"), "{why}");
}

#[test]
fn no_picture_is_sent_before_the_last_one_is_drawn() {
    let host = Host::start();
    let mut seat = Seat::take(&host, 80, 24);
    assert!(matches!(seat.receive(), Answer::Picture(_)));
    for _ in 0..50 {
        seat.send(&Input::Key(Key::Char('?')));
    }
    // Its answer shows that the run has read everything before it.
    seat.send(&Input::Key(Key::Char('q')));
    assert_eq!(seat.receive(), Answer::Left);
}

#[test]
fn end_of_the_run_closes_all_pages_and_removes_the_socket() {
    let host = Host::start();
    let mut seats = [Seat::take(&host, 80, 24), Seat::take(&host, 512, 128)];
    let (socket, folder) = (host.socket.clone(), host.end());
    for seat in &mut seats {
        assert_eq!(seat.last(), Answer::Ended);
    }
    assert!(!socket.exists());
    drop(folder);
}

#[test]
fn number_of_pages_is_bounded() {
    let host = Host::start();
    let mut seats: Vec<Seat> = (0..MOST_PAGES).map(|_| Seat::take(&host, 80, 24)).collect();
    for seat in &mut seats {
        seat.next_picture();
    }
    let refused = Seat::take(&host, 80, 24).receive();
    assert!(matches!(&refused, Answer::Refused(why) if why.contains("8 pages are attached")), "{refused:?}");
    drop(seats.pop());
    // The run notices the end of that connection.
    while !matches!(Seat::take(&host, 80, 24).receive(), Answer::Picture(_)) {}
}

#[test]
fn report_is_made_of_the_present_state() {
    let host = Host::start();
    let report = |form| Link::connect(&host.socket).unwrap().report(form, Some(LIMIT)).unwrap();
    let json: serde_json::Value = serde_json::from_str(&report(ReportForm::Json)).unwrap();
    assert_eq!((&json["schema"], &json["notes"][0]), (&"watchtap.report/v1".into(), &"a note".into()));
    let text = report(ReportForm::Text { coloured: false });
    assert!(text.starts_with("watchtap run: a command") && text.contains("No client connected."), "{text}");
    assert!(report(ReportForm::Text { coloured: true }).contains("\u{1b}[1m"));
    assert!(report(ReportForm::Markdown).contains("**Not observed:**"));
}

#[test]
fn other_version_is_reported_by_both_sides() {
    let host = Host::start();
    let mut stream = UnixStream::connect(&host.socket).unwrap();
    stream.write_all(b"{\"watchtap_attach\":99,\"version\":\"9.9.9\",\"new\":[]}\nsomething new\n").unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    assert_eq!(serde_json::from_str::<Greeting>(&said).unwrap(), Greeting::own(), "only the greeting");

    let fake = Fake::answering(b"{\"watchtap_attach\":99,\"version\":\"9.9.9\",\"new\":[]}\nsomething new\n".to_vec());
    let error = Link::about(&fake.socket).unwrap_err().to_string();
    let own = env!("CARGO_PKG_VERSION");
    for part in [&*format!("this watchtap ({own}) speaks version {PROTOCOL}"), "the run (9.9.9) version 99"] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn hostile_process_loses_only_its_own_connection() {
    let host = Host::start();
    let greeting = serde_json::to_string(&Greeting::own()).unwrap();
    let page = r#"{"page":{"size":{"columns":80,"lines":24},"coloured":true,"zone":"\u001b[2J"}}"#;
    for rubbish in [
        String::new(),
        "\n".to_owned(),
        "{}\n".to_owned(),
        "[".repeat(1 << 20),
        format!("{greeting}\n{{\"page\":null}}\n"),
        format!("{greeting}\n{page}\n{{\"key\":{{\"char\":\"ab\"}}}}\n"),
        format!("{greeting}\n{page}\n{}\n", "x".repeat(1 << 20)),
        format!("{greeting}\n{}\n", page.replace("80", "65535").replace("24", "65535")),
    ] {
        let mut stream = UnixStream::connect(&host.socket).unwrap();
        // The run may have closed the connection already.
        stream.write_all(rubbish.as_bytes()).ok();
        stream.shutdown(std::net::Shutdown::Write).ok();
        stream.read_to_end(&mut Vec::new()).ok();
    }
    assert!(Seat::take(&host, 80, 24).next_picture().contains("kind-dev"));
}

#[test]
fn hostile_run_yields_an_error() {
    let greeting = serde_json::to_string(&Greeting::own()).unwrap();
    for (answer, is_expected) in [
        (String::new(), (|error| matches!(error, LinkError::Gone)) as fn(&LinkError) -> bool),
        ("\n".to_owned(), |error| matches!(error, LinkError::Malformed(Malformed::Unexpected))),
        ("x".repeat(5 << 20), |error| matches!(error, LinkError::Malformed(Malformed::Long))),
        (format!("{greeting}\n\"complete\"\n"), |error| matches!(error, LinkError::Malformed(_))),
        (format!("{greeting}\n{{\"refused\":\"for a reason\"}}\n"), |error| error.to_string() == "for a reason"),
    ] {
        let fake = Fake::answering(answer.clone().into_bytes());
        let error = Link::about(&fake.socket).unwrap_err();
        assert!(is_expected(&error), "{answer:.60}: {error}");
    }
}

#[test]
fn socket_is_private_and_replaces_only_a_dead_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.sock");
    drop(UnixListener::bind(&path).unwrap());
    let socket = AttachSocket::bind_at(&path).unwrap();
    assert_eq!(fs::symlink_metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
    assert!(AttachSocket::bind_at(&path).unwrap_err().to_string().contains("another run listens there"));
    drop(socket);
    assert!(!path.exists());

    let target = folder.path().join("target");
    fs::write(&target, "kept").unwrap();
    symlink(&target, &path).unwrap();
    for (path, part) in [(&path, "is no socket"), (&target, "is no socket"), (&folder.path().join("x".repeat(120)), "too long")] {
        let error = format!("{:#}", AttachSocket::bind_at(path).unwrap_err());
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(fs::read_to_string(&target).unwrap(), "kept");
}

#[test]
fn socket_that_another_run_replaced_is_not_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.sock");
    let first = AttachSocket::bind_at(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let second = AttachSocket::bind_at(&path).unwrap();
    drop(first);
    assert!(path.exists());
    drop(second);
    assert!(!path.exists());
}

#[test]
fn sockets_of_killed_runs_are_removed_and_open_directories_refused() {
    let folder = tempfile::tempdir().unwrap();
    let directories = Directories::of_user(None, folder.path());
    let own = directories.create().unwrap();
    assert_eq!(fs::metadata(&own).unwrap().permissions().mode() & 0o777, 0o700);
    drop(UnixListener::bind(own.join("attach-1.sock")).unwrap());
    fs::write(own.join("attach-2.sock"), "no socket").unwrap();
    let living = UnixListener::bind(own.join("attach-3.sock")).unwrap();
    assert_eq!(directories.socket_of(1), None);
    assert!(!own.join("attach-1.sock").exists() && own.join("attach-2.sock").exists());
    assert_eq!(directories.socket_of(3), Some(own.join("attach-3.sock")));
    drop(living);
    fs::set_permissions(&own, Permissions::from_mode(0o755)).unwrap();
    let error = directories.create().unwrap_err().to_string();
    assert!(error.contains("has the mode 0755; it must be 0700"), "{error}");
    assert!(directories.find().is_empty(), "others could have put sockets there");
}

#[test]
fn run_uses_the_first_directory_that_is_private() {
    let (runtime, temporary) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::set_permissions(runtime.path(), Permissions::from_mode(0o700)).unwrap();
    let directories = Directories::of_user(Some(runtime.path()), temporary.path());
    let preferred = directories.create().unwrap();
    assert_eq!(preferred, runtime.path().join("watchtap"));
    fs::set_permissions(&preferred, Permissions::from_mode(0o755)).unwrap();
    let other = directories.create().unwrap();
    assert!(other.starts_with(temporary.path()), "{}", other.display());
    fs::set_permissions(&other, Permissions::from_mode(0o755)).unwrap();
    let error = directories.create().unwrap_err().to_string();
    assert!(error.starts_with(&preferred.display().to_string()), "the preferred one is named: {error}");
}

#[test]
fn link_in_place_of_the_directory_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let directories = Directories::of_user(None, folder.path());
    let own = directories.create().unwrap();
    fs::remove_dir(&own).unwrap();
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::set_permissions(&elsewhere, Permissions::from_mode(0o700)).unwrap();
    symlink(&elsewhere, &own).unwrap();
    assert!(directories.create().unwrap_err().to_string().contains("is not a folder"));
}

proptest! {
    #[test]
    fn picture_reproduces_every_cell(one in screen(), other in screen(), again in screen()) {
        let mut shown = Buffer::default();
        let mut previous = Buffer::default();
        for next in [one, other, again] {
            let picture = Picture::between(&previous, &next);
            let sent: Picture = serde_json::from_str(&serde_json::to_string(&picture).unwrap()).unwrap();
            sent.apply(&mut shown, Colour::On).unwrap();
            prop_assert_eq!(&shown, &next);
            previous = next;
        }
        prop_assert_eq!(serde_json::to_string(&Picture::between(&previous, &shown)).unwrap().matches('[').count(), 2, "no cell");
    }

    #[test]
    fn picture_of_a_hostile_run_neither_panics_nor_controls_the_terminal(
        columns in any::<u16>(), lines in any::<u16>(), small in any::<bool>(),
        runs in vec((0_u16..200, 0_u16..600, any::<u8>(), any::<String>()), 0..20),
        symbols in vec((0_u16..200, any::<u16>(), 0_u8..32, "[\\u{0}-\\u{10ffff}]{0,12}"), 0..20),
    ) {
        let size = if small { (columns % 90, lines % 40) } else { (columns, lines) };
        let sent = serde_json::json!({
            "size": {"columns": size.0, "lines": size.1}, "characters": runs, "symbols": symbols,
        });
        let mut shown = Buffer::default();
        if let Ok(picture) = serde_json::from_value::<Picture>(sent) {
            let _misplaced = picture.apply(&mut shown, Colour::On);
        }
        prop_assert!(shown.area.width <= LARGEST.columns && shown.area.height <= LARGEST.lines);
        for cell in &shown.content {
            prop_assert!(cell.symbol().chars().all(is_shown) && cell.symbol().chars().count() <= 8);
            prop_assert!(cell.symbol().cell_width() >= 1);
        }
    }

    #[test]
    fn lines_are_the_same_however_bytes_are_chunked(
        lines in vec("[a-z]{0,20}", 0..10), cuts in vec(1_usize..30, 1..20),
    ) {
        let sent: String = lines.iter().flat_map(|line| ["\"", line, "\"\n"]).collect();
        let mut inbox = Inbox::new(64);
        let mut read = Vec::new();
        let mut rest = sent.as_bytes();
        for cut in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (chunk, further) = rest.split_at((*cut).min(rest.len()));
            inbox.space().extend_from_slice(chunk);
            rest = further;
            while let Some(line) = inbox.next::<String>().unwrap() {
                read.push(line);
            }
        }
        prop_assert_eq!(read, lines);
    }

    #[test]
    fn any_bytes_are_messages_or_an_error(bytes in vec(any::<u8>(), 0..300)) {
        let mut inbox = Inbox::new(100);
        inbox.space().extend_from_slice(&bytes);
        while let Ok(Some(_)) = inbox.next::<Input>() {}
        let mut inbox = Inbox::new(100);
        inbox.space().extend_from_slice(&bytes);
        while let Ok(Some(_)) = inbox.next::<Answer>() {}
    }
}

/// A screen with text of all widths in all styles of the page.
fn screen() -> impl Strategy<Value = Buffer> {
    let text = "([a-z ]|控|e\u{301}|🙂|→|\u{a0}){0,40}";
    ((1_u16..50, 1_u16..8), vec((0_u16..50, 0_u16..8, text, 0_usize..4, 0_usize..8), 0..20)).prop_map(|((width, height), texts)| {
        let mut buffer = Buffer::empty(Rect { x: 0, y: 0, width, height });
        for (x, y, text, colour, modifiers) in texts {
            let mut style = Style::new().fg([Color::Reset, Color::Green, Color::Yellow, Color::Red][colour]);
            for (bit, modifier) in [Modifier::BOLD, Modifier::DIM, Modifier::REVERSED].into_iter().enumerate() {
                if modifiers & (1 << bit) != 0 {
                    style = style.add_modifier(modifier);
                }
            }
            if x < width && y < height {
                buffer.set_stringn(x, y, text, usize::from(width - x), style);
            }
        }
        buffer
    })
}

/// A run that observes nothing, with a socket.
struct Host {
    server: AttachServer,
    socket: PathBuf,
    intake: Intake,
    observing: Observing,
    folder: TempDir,
}

impl Host {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (intake, receiver) = Intake::new(IntakeLimits::default());
        let mut outputs = Outputs::new(Vec::new(), None);
        let snapshots = outputs.snapshots(&[]);
        let observing = Observing::start(receiver, Clock::start().now(), Vec::new(), outputs).unwrap();
        let run = ServedRun {
            subcommand: "run",
            command: vec!["a command".to_owned()],
            name: "kind-dev".to_owned(),
            guidance: vec!["Connect a client.".to_owned()],
            api_servers: vec!["a server".to_owned()],
            silence: vec!["No client connected.".to_owned()],
            notes: Box::new(|| vec!["a note".to_owned()]),
        };
        let socket = folder.path().join("s");
        let server = AttachServer::start(AttachSocket::bind_at(&socket).unwrap(), run, snapshots).unwrap();
        Self { server, socket, intake, observing, folder }
    }

    /// Ends only observing, as its failure does.
    fn without_observing(self) -> (AttachServer, TempDir) {
        drop(self.intake);
        self.observing.finish().unwrap();
        (self.server, self.folder)
    }

    fn end(self) -> TempDir {
        drop(self.server);
        self.folder
    }
}

/// An attached terminal without a screen.
struct Seat {
    link: Link,
    shown: Buffer,
}

impl Seat {
    #[track_caller]
    fn take(host: &Host, columns: u16, lines: u16) -> Self {
        let mut link = Link::connect(&host.socket).unwrap();
        let terminal = Terminal { size: Size { columns, lines }, coloured: true, zone: Some("<CET>-1".to_owned()) };
        link.ask(&Request::Page(terminal), Some(LIMIT)).unwrap();
        Self { link, shown: Buffer::default() }
    }

    fn send(&mut self, input: &Input) {
        self.link.send(input);
    }

    #[track_caller]
    fn receive(&mut self) -> Answer {
        self.link.wait_for(Some(LIMIT)).unwrap()
    }

    /// Draws the next picture, and returns its text.
    #[track_caller]
    fn next_picture(&mut self) -> String {
        let Answer::Picture(picture) = self.receive() else { panic!("no picture") };
        picture.apply(&mut self.shown, Colour::On).unwrap();
        self.send(&Input::Drawn);
        self.shown.content.iter().map(ratatui::buffer::Cell::symbol).collect()
    }

    /// The text after a picture that differs from the present one.
    #[track_caller]
    fn text_after_change(&mut self) -> String {
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
    fn last(&mut self) -> Answer {
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
struct Fake {
    socket: PathBuf,
    _folder: TempDir,
}

impl Fake {
    fn answering(answer: Vec<u8>) -> Self {
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

#[test]
fn path_of_a_pod_has_room_for_a_socket() {
    use crate::pod_layout::{ATTACH_SOCKET, OWN};
    super::socket::check_length(&Path::new(OWN).join(ATTACH_SOCKET)).unwrap();
}
