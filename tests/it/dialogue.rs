//! A dialogue between a client and a server that both know it by heart, so that each can tell whether what it hears is what was said.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::ops::DerefMut;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use observer_tests::{Digest, HeldExec, ScriptedUpstream, connect, end_sending};
use rustls::{ConnectionCommon, SideData, StreamOwned};
use serde_json::Value;

/// One after the other: nobody speaks before it has heard what comes before.
pub(crate) type Dialogue = Vec<Line>;

/// Bytes, and whose they are.
pub(crate) struct Line {
    speaker: Speaker,
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaker {
    Client,
    Server,
}

pub(crate) fn client(bytes: impl Into<Vec<u8>>) -> Line {
    Line { speaker: Speaker::Client, bytes: bytes.into() }
}

pub(crate) fn server(bytes: impl Into<Vec<u8>>) -> Line {
    Line { speaker: Speaker::Server, bytes: bytes.into() }
}

/// Plays the dialogue through watchtap, fails unless both sides hear exactly what was said, and returns watchtap's report.
#[track_caller]
pub(crate) fn forwarded_unchanged(protocol: &'static str, dialogue: Dialogue) -> Value {
    let dialogue = Arc::new(dialogue);
    let (sender, server) = sync_channel(1);
    let lines = Arc::clone(&dialogue);
    let upstream = ScriptedUpstream::start(&[protocol.as_bytes()], move |stream| {
        let mut heard = Vec::new();
        let played = play(&lines, Speaker::Server, stream, &mut heard);
        sender.send((heard, played)).map_err(io::Error::other)
    });
    let upstream = upstream.unwrap();
    // With a version given, watchtap makes no request of its own.
    let exec = HeldExec::before(upstream.address(), upstream.ca_pem(), "token", &["--server-version", "v1.34.4"]).unwrap();
    let mut client = connect(exec.address().unwrap(), &exec.ca_pem().unwrap(), &[protocol.as_bytes()]).unwrap();
    let mut heard = Vec::new();
    let played = play(&dialogue, Speaker::Client, &mut client, &mut heard);
    assert_heard(&heard, &said_by(Speaker::Server, &dialogue), played, "the client");
    let (heard, played) = server.recv().unwrap();
    assert_heard(&heard, &said_by(Speaker::Client, &dialogue), played, "the server");
    exec.finish().unwrap()
}

/// Speaks and hears all lines, then says that nothing follows and listens for what the other side may still say.
fn play<C, S>(dialogue: &Dialogue, role: Speaker, stream: &mut StreamOwned<C, TcpStream>, heard: &mut Vec<u8>) -> io::Result<()>
where
    C: DerefMut<Target = ConnectionCommon<S>>,
    S: SideData,
{
    for line in dialogue {
        if line.speaker == role {
            stream.write_all(&line.bytes)?;
            stream.flush()?;
        } else {
            Read::take(&mut *stream, line.bytes.len() as u64).read_to_end(heard)?;
        }
    }
    end_sending(stream)?;
    stream.read_to_end(heard)?;
    Ok(())
}

fn said_by(speaker: Speaker, dialogue: &Dialogue) -> Vec<u8> {
    let lines: Vec<&[u8]> = dialogue.iter().filter(|line| line.speaker == speaker).map(|line| line.bytes.as_slice()).collect();
    lines.concat()
}

/// Compares digests, because a line can be millions of bytes.
#[track_caller]
fn assert_heard(heard: &[u8], said: &[u8], played: io::Result<()>, listener: &str) {
    assert_eq!(Digest::of(heard), Digest::of(said), "{listener} did not hear what was said; its dialogue: {played:?}");
    played.unwrap();
}
