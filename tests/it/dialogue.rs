//! A scripted dialogue between a client and a server. Both know the script, so each can check that it receives what the other sent.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::ops::DerefMut;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use observer_core::http::Direction;
use observer_tests::{Digest, HeldExec, ScriptedUpstream, connect, end_sending};
use rustls::{ConnectionCommon, SideData, StreamOwned};
use serde_json::Value;

/// Messages with their direction, in strict order: each side sends only after it has received all earlier messages.
pub(crate) type Dialogue = Vec<(Direction, Vec<u8>)>;

pub(crate) fn client(bytes: impl Into<Vec<u8>>) -> (Direction, Vec<u8>) {
    (Direction::Request, bytes.into())
}

pub(crate) fn server(bytes: impl Into<Vec<u8>>) -> (Direction, Vec<u8>) {
    (Direction::Response, bytes.into())
}

/// Plays the dialogue through watchtap, fails unless both sides receive exactly the script, and returns watchtap's report.
#[track_caller]
pub(crate) fn forwarded_unchanged(protocol: &'static str, dialogue: Dialogue) -> Value {
    let dialogue = Arc::new(dialogue);
    let (sender, server) = sync_channel(1);
    let lines = Arc::clone(&dialogue);
    let upstream = ScriptedUpstream::start(&[protocol.as_bytes()], move |stream| {
        let mut heard = Vec::new();
        let played = play(&lines, Direction::Response, stream, &mut heard);
        sender.send((heard, played)).map_err(io::Error::other)
    });
    let upstream = upstream.unwrap();
    // With a given version, watchtap sends no request of its own.
    let exec = HeldExec::before(upstream.address(), upstream.ca_pem(), "token", &["--server-version", "v1.34.4"]).unwrap();
    let mut client = connect(exec.address().unwrap(), &exec.ca_pem().unwrap(), &[protocol.as_bytes()]).unwrap();
    let mut heard = Vec::new();
    let played = play(&dialogue, Direction::Request, &mut client, &mut heard);
    assert_heard(&heard, &sent_by(Direction::Response, &dialogue), played, "the client");
    let (heard, played) = server.recv().unwrap();
    assert_heard(&heard, &sent_by(Direction::Request, &dialogue), played, "the server");
    exec.finish().unwrap()
}

/// Sends and receives all messages, then ends its direction and reads the rest of the other side.
pub(crate) fn play<C, S>(
    dialogue: &[(Direction, Vec<u8>)],
    role: Direction,
    stream: &mut StreamOwned<C, TcpStream>,
    heard: &mut Vec<u8>,
) -> io::Result<()>
where
    C: DerefMut<Target = ConnectionCommon<S>>,
    S: SideData,
{
    for (speaker, bytes) in dialogue {
        if *speaker == role {
            stream.write_all(bytes)?;
            stream.flush()?;
        } else {
            Read::take(&mut *stream, bytes.len() as u64).read_to_end(heard)?;
        }
    }
    end_sending(stream)?;
    stream.read_to_end(heard)?;
    Ok(())
}

fn sent_by(speaker: Direction, dialogue: &Dialogue) -> Vec<u8> {
    let lines: Vec<&[u8]> = dialogue.iter().filter(|(one, _)| *one == speaker).map(|(_, bytes)| bytes.as_slice()).collect();
    lines.concat()
}

/// Compares digests, because a message can have millions of bytes.
#[track_caller]
fn assert_heard(heard: &[u8], said: &[u8], played: io::Result<()>, listener: &str) {
    assert_eq!(Digest::of(heard), Digest::of(said), "{listener} did not hear what was said; its dialogue: {played:?}");
    played.unwrap();
}
