//! Implements `Syntax` for JSON: handles gaps and the ends of bodies, which the parser does not.

use super::parser::{Parser, without_space};
use super::resync::Resync;
use crate::wire::syntax::{AfterGap, Ending, Progress, Receiver, Root, Syntax};

/// Reads a document or watch events in JSON.
#[derive(Debug)]
pub(in crate::wire) struct Json {
    root: Root,
    parser: Parser,
    /// After a gap: the search for the beginning of an event.
    lost: Option<Resync>,
}

impl Syntax for Json {
    fn new(root: Root) -> Self {
        Self { root, parser: Parser::new(root.place()), lost: None }
    }

    fn push(&mut self, bytes: &[u8], receiver: &mut impl Receiver) -> Progress {
        let Some(resync) = &mut self.lost else { return self.parser.push(bytes, receiver) };
        let Some(offset) = resync.find(bytes) else { return Progress::Pending };
        self.lost = None;
        self.parser.restart();
        self.parser.push(Resync::BEGINNING, receiver);
        Progress::Resumed { offset, begun: Resync::BEGINNING.len() as u64 }
    }

    fn gap(&mut self, _length: u64) -> AfterGap {
        match self.root {
            Root::Document => AfterGap::Blind,
            Root::Events | Root::Messages => {
                self.lost = Some(Resync::default());
                AfterGap::Lost
            }
        }
    }

    fn end_message(&mut self, _receiver: &mut impl Receiver) -> Progress {
        if self.root != Root::Messages {
            Progress::Pending
        } else if self.lost.take().is_some() {
            self.parser.restart();
            Progress::Resumed { offset: 0, begun: 0 }
        } else if self.parser.is_inside() {
            Progress::Malformed(0, "message ends in the middle of a watch event")
        } else {
            Progress::Pending
        }
    }

    fn finish(&mut self, _receiver: &mut impl Receiver) -> Ending {
        if self.lost.is_none() && self.parser.is_inside() { Ending::Inside } else { Ending::Between }
    }

    /// Whitespace, such as the newline that kube-apiserver writes after each document.
    fn meaningless(bytes: &[u8]) -> usize {
        bytes.len() - without_space(bytes).len()
    }
}
