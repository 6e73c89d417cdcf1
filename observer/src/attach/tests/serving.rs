//! Pages and reports that a run serves.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use super::super::link::Link;
use super::super::picture::Size;
use super::super::protocol::{Answer, Greeting, Input, PROTOCOL, ReportForm, Request};
use super::super::visit::{MOST_PAGES, Patience};
use super::fixture::{Fake, Host, LIMIT, Seat};
use crate::memory_budget::AttachedPages;
use crate::view::Key;

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
fn processes_are_served_beside_the_only_page() {
    let only = AttachedPages { number: 1, ..AttachedPages::MOST };
    let host = Host::start_within(only, Patience::USUAL, "a note");
    let mut seat = Seat::take(&host, 80, 24);
    assert!(seat.next_picture().contains("kind-dev"));
    let _silent = [(); 3].map(|()| UnixStream::connect(&host.socket).unwrap());
    assert!(Link::about(&host.socket).is_ok());
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
