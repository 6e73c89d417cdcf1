//! Tests of the hops that other tests measure with.

use std::io::{Read, Write};

use observer_tests::{Digest, End, Flow, Hop, Passed, ScriptedUpstream, connect, end_sending};

#[test]
fn each_hop_of_a_chain_counts_the_same_plaintext() {
    let answer = b"answer ".repeat(100_000);
    let of_answer = Digest::of(&answer);
    let upstream = ScriptedUpstream::start(&[b"b"], move |stream| {
        // Reads until the client has sent everything: the answer needs a half-closed connection.
        stream.read_to_end(&mut Vec::new())?;
        stream.write_all(&answer)
    });
    let upstream = upstream.unwrap();
    let second = Hop::start(upstream.address(), upstream.ca_pem()).unwrap();
    let first = Hop::start(second.address(), second.ca_pem()).unwrap();

    let mut client = connect(first.address(), first.ca_pem(), &[b"a", b"b"]).unwrap();
    client.write_all(b"question").unwrap();
    end_sending(&mut client).unwrap();
    let mut heard = Vec::new();
    client.read_to_end(&mut heard).unwrap();
    assert_eq!(Digest::of(&heard), of_answer);

    let flow = |plaintext| Flow { plaintext, end: End::CloseNotify };
    let expected = [Passed { protocol: Some("b".to_owned()), request: flow(Digest::of(b"question")), response: flow(of_answer) }];
    assert_eq!(first.finish().unwrap(), expected);
    assert_eq!(second.finish().unwrap(), expected);
}

#[test]
fn hop_propagates_a_missing_close_notify() {
    let upstream = ScriptedUpstream::start(&[], |stream| stream.read_to_end(&mut Vec::new()).map(drop)).unwrap();
    let hop = Hop::start(upstream.address(), upstream.ca_pem()).unwrap();
    let mut client = connect(hop.address(), hop.ca_pem(), &[]).unwrap();
    client.write_all(b"cut off").unwrap();
    drop(client);
    let [passed] = hop.finish().unwrap().try_into().unwrap();
    assert_eq!(passed.request, Flow { plaintext: Digest::of(b"cut off"), end: End::Cut });
    assert_eq!(passed.response.end, End::Cut, "the server fails to read, and ends without close_notify");
}
