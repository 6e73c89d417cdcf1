//! Processes that take nothing of what they are sent, and others that ask for their places.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use bytes::BytesMut;

use super::super::link::Link;
use super::super::protocol::{Answer, Greeting, Input, ReportForm, Request, push_line};
use super::super::visit::{MOST_PAGES, Patience};
use super::fixture::{Host, LIMIT, Seat};
use crate::view::Key;

/// Longer than any test takes.
const NEVER: Duration = Duration::from_hours(1);

/// If a process is lost while the run has no news, the run notices it only because it sends the page again.
#[test]
fn terminal_that_has_stopped_loses_its_page_to_another_one() {
    let host = Host::start_with(Patience { page: Duration::ZERO, report: NEVER, silence: Duration::from_millis(1) }, "a note");
    let mut stopped = Seat::take(&host, 80, 24);
    while stopped.next_change() > 0 {
        stopped.send(&Input::Drawn);
    }
    let mut others: Vec<Seat> = (1..MOST_PAGES).map(|_| Seat::take(&host, 80, 24)).collect();
    for other in &mut others {
        other.next_picture();
    }
    let mut next = Seat::take(&host, 80, 24);
    assert!(next.next_picture().contains("kind-dev"));
    let Answer::Refused(why) = stopped.receive() else { panic!("it has its page") };
    assert!(why.contains("was not drawn for 0s") && why.contains("attach again"), "{why}");
    others[0].send(&Input::Key(Key::Char('q')));
    assert_eq!(others[0].last(), Answer::Left, "the others continue");
}

#[test]
fn report_that_is_not_taken_gives_way_to_another_one() {
    // More than the buffer of a socket.
    let note = "x".repeat(512 << 10);
    let host = Host::start_with(Patience { page: NEVER, report: Duration::ZERO, silence: NEVER }, &note);
    let mut stopped = UnixStream::connect(&host.socket).unwrap();
    let mut asked = BytesMut::new();
    push_line(&Greeting::own(), &mut asked);
    push_line(&Request::Report(ReportForm::Json), &mut asked);
    stopped.write_all(&asked).unwrap();
    // Its report is being sent from here on.
    stopped.read_exact(&mut [0; 1024]).unwrap();
    let mut next = Link::connect(&host.socket).unwrap();
    next.ask(&Request::Report(ReportForm::Json), Some(LIMIT)).unwrap();
    assert!(matches!(next.wait_for(Some(LIMIT)).unwrap(), Answer::Part(_)));
    let mut sent = String::new();
    stopped.read_to_string(&mut sent).unwrap();
    let last: Answer = serde_json::from_str(sent.lines().last().unwrap()).unwrap();
    assert!(matches!(&last, Answer::Refused(why) if why.contains("another process asked for one")), "{last:?}");
    assert!(sent.len() < note.len());
}
