//! Hostile processes and hostile runs.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use super::super::inbox::Malformed;
use super::super::link::{Link, LinkError};
use super::super::protocol::Greeting;
use super::fixture::{Fake, Host, Seat};

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
