//! Bytes on their way to messages.

use proptest::collection::vec;
use proptest::prelude::*;

use super::super::inbox::Inbox;
use super::super::protocol::{Answer, Input};

proptest! {
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
