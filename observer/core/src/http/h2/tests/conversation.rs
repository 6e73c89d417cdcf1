//! Random valid conversations, with the events that a decoder has to report.

use std::collections::{BTreeMap, VecDeque};

use proptest::prelude::*;

use super::super::super::Direction::{self, Request, Response};
use super::transcript::{Emitted, arrow, push};
use super::wire::{
    END_HEADERS, END_STREAM, PADDED, PRIORITY, continuation, data, frame, go_away, ping, preface, rst_stream, server_preface,
    settings, window_update,
};

/// The next frames of one end. A number that names a stream is an index into the open ones, modulo their count.
#[derive(Clone, Debug)]
pub(super) enum Act {
    Request { path: String, agent: u8, end: bool, split: usize },
    Interim { stream: usize },
    Respond { stream: usize, status: u16, audit: u8, end: bool, split: usize },
    Data { direction: Direction, stream: usize, bytes: Vec<u8>, padding: Option<u8>, end: bool },
    Trailers { direction: Direction, stream: usize },
    Reset { by: Direction, stream: usize },
    TableSize(u32),
    Other(Direction, u8),
}

/// Frames in the order sent, and the expected events.
#[derive(Clone, Debug, Default)]
pub(super) struct Conversation {
    pub(super) frames: Vec<(Direction, Vec<u8>)>,
    /// The fields and the stream of the header block in a frame, by the index of the frame.
    pub(super) fields: BTreeMap<usize, (u32, Vec<(String, String)>)>,
    pub(super) emitted: Vec<Emitted>,
    /// The expected events if no payload of DATA is seen.
    pub(super) emitted_without_data: Vec<Emitted>,
    open: BTreeMap<u32, Open>,
    next_stream: u32,
    encoders: [Encoder; 2],
}

#[derive(Clone, Debug)]
struct Open {
    request: bool,
    response: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Awaited,
    Begun,
    Over,
}

pub(super) fn conversations() -> impl Strategy<Value = Conversation> {
    prop::collection::vec(acts(), 0..40).prop_map(|acts| Conversation::of(&acts))
}

fn acts() -> impl Strategy<Value = Act> {
    let bytes = || prop::collection::vec(any::<u8>(), 0..60);
    let direction = || prop_oneof![Just(Request), Just(Response)];
    let stream = || 0..8_usize;
    prop_oneof![
        3 => ("/[a-z]{0,3}", 0..4_u8, any::<bool>(), 0..40_usize)
            .prop_map(|(path, agent, end, split)| Act::Request { path, agent, end, split }),
        1 => stream().prop_map(|stream| Act::Interim { stream }),
        3 => (stream(), prop_oneof![Just(200), Just(404), Just(410), Just(429)], 0..4_u8, any::<bool>(), 0..40_usize)
            .prop_map(|(stream, status, audit, end, split)| Act::Respond { stream, status, audit, end, split }),
        6 => (direction(), stream(), bytes(), prop::option::of(0..20_u8), prop::bool::weighted(0.2))
            .prop_map(|(direction, stream, bytes, padding, end)| Act::Data { direction, stream, bytes, padding, end }),
        1 => (direction(), stream()).prop_map(|(direction, stream)| Act::Trailers { direction, stream }),
        1 => (direction(), stream()).prop_map(|(by, stream)| Act::Reset { by, stream }),
        1 => prop_oneof![Just(0_u32), 30..300_u32].prop_map(Act::TableSize),
        2 => (direction(), 0..5_u8).prop_map(|(direction, which)| Act::Other(direction, which)),
    ]
}

impl Conversation {
    fn of(acts: &[Act]) -> Self {
        let mut conversation = Self { next_stream: 1, ..Self::default() };
        conversation.frames.push((Request, preface()));
        conversation.frames.push((Response, server_preface()));
        for act in acts {
            conversation.act(act);
        }
        conversation
    }

    fn act(&mut self, act: &Act) {
        match act {
            Act::Request { path, agent, end, split } => self.request(path, *agent, *end, *split),
            Act::Interim { stream } => self.interim(*stream),
            Act::Respond { stream, status, audit, end, split } => self.respond(*stream, *status, *audit, *end, *split),
            Act::Data { direction, stream, bytes, padding, end } => self.data(*direction, *stream, bytes, *padding, *end),
            Act::Trailers { direction, stream } => self.trailers(*direction, *stream),
            Act::Reset { by, stream } => {
                if let Some(stream) = self.pick(*stream, |_open| true) {
                    self.frames.push((*by, rst_stream(stream, 8)));
                    self.line(format!("{} {stream} reset 8", arrow(*by)));
                    self.open.remove(&stream);
                }
            }
            Act::TableSize(size) => self.encoders[0].resize(*size),
            Act::Other(direction, which) => self.other(*direction, *which),
        }
    }

    fn request(&mut self, path: &str, agent: u8, end: bool, split: usize) {
        let agent = format!("agent-{agent}");
        let fields = [(":method", "GET"), (":path", path), ("user-agent", &agent), ("cookie", "s3cret")];
        let stream = self.next_stream;
        self.next_stream += 2;
        self.headers(Request, stream, end, &fields, split);
        self.line(format!("> {stream} request GET {path} identity=- user-agent={agent}"));
        self.open.insert(stream, Open { request: true, response: Stage::Awaited });
        self.end_if(end, Request, stream);
    }

    fn interim(&mut self, stream: usize) {
        if let Some(stream) = self.pick(stream, |open| open.response == Stage::Awaited) {
            self.headers(Response, stream, false, &[(":status", "103")], 0);
            self.line(format!("< {stream} interim 103"));
        }
    }

    fn respond(&mut self, stream: usize, status: u16, audit: u8, end: bool, split: usize) {
        let Some(stream) = self.pick(stream, |open| open.response == Stage::Awaited) else { return };
        let (status, audit) = (status.to_string(), format!("audit-{audit}"));
        let fields = [(":status", status.as_str()), ("audit-id", &audit), ("x-other", "value")];
        self.headers(Response, stream, end, &fields, split);
        self.line(format!("< {stream} response {status} audit-id={audit}"));
        self.open.get_mut(&stream).unwrap().response = Stage::Begun;
        self.end_if(end, Response, stream);
    }

    fn data(&mut self, direction: Direction, stream: usize, bytes: &[u8], padding: Option<u8>, end: bool) {
        let Some(stream) = self.pick(stream, |open| open.carries(direction)) else { return };
        let pad_length = padding.map(usize::from).unwrap_or_default();
        let payload = match padding {
            None => bytes.to_vec(),
            Some(length) => [&[length], bytes, &vec![0; pad_length]].concat(),
        };
        let flags = if end { END_STREAM } else { 0 } | padding.map_or(0, |_length| PADDED);
        self.frames.push((direction, data(flags, stream, &payload)));
        if !bytes.is_empty() {
            push(&mut self.emitted, Emitted::Body(direction, u64::from(stream), bytes.to_vec()));
        }
        let unseen = u64::try_from(bytes.len() + pad_length).unwrap();
        if unseen > 0 {
            push(&mut self.emitted_without_data, Emitted::Missing(direction, u64::from(stream), unseen));
        }
        self.end_if(end, direction, stream);
    }

    fn trailers(&mut self, direction: Direction, stream: usize) {
        let Some(stream) = self.pick(stream, |open| open.carries(direction)) else { return };
        self.headers(direction, stream, true, &[("x-checksum", "none")], 0);
        self.end_if(true, direction, stream);
    }

    fn other(&mut self, direction: Direction, which: u8) {
        let bytes = match which {
            0 => ping(),
            1 => window_update(0, 100),
            2 => settings(&[(3, 100)]),
            3 => frame(0xbb, 0x1, 3, b"grease"),
            _ => {
                self.line(format!("{} goaway last=1 code=0", arrow(direction)));
                go_away(1, 0, b"debug")
            }
        };
        self.frames.push((direction, bytes));
    }

    /// HEADERS, with priority if the length of the block is odd, and a CONTINUATION for the bytes after `split`.
    fn headers(&mut self, direction: Direction, stream: u32, end: bool, fields: &[(&str, &str)], split: usize) {
        let block = self.encoders[usize::from(direction == Response)].block(fields);
        let owned = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        self.fields.insert(self.frames.len(), (stream, owned.collect()));
        let mut flags = if end { END_STREAM } else { 0 };
        let mut payload = Vec::new();
        if !block.len().is_multiple_of(2) {
            flags |= PRIORITY;
            payload.extend(b"\0\0\0\0\x10");
        }
        let (first, rest) = block.split_at(if split == 0 { block.len() } else { split.min(block.len()) });
        payload.extend(first);
        let mut bytes = frame(1, flags | if rest.is_empty() { END_HEADERS } else { 0 }, stream, &payload);
        if !rest.is_empty() {
            bytes.extend(continuation(END_HEADERS, stream, rest));
        }
        self.frames.push((direction, bytes));
    }

    fn end_if(&mut self, end: bool, direction: Direction, stream: u32) {
        if !end {
            return;
        }
        self.line(format!("{} {stream} end", arrow(direction)));
        let open = self.open.get_mut(&stream).unwrap();
        match direction {
            Request => open.request = false,
            Response => open.response = Stage::Over,
        }
        if !open.request && open.response == Stage::Over {
            self.open.remove(&stream);
        }
    }

    fn line(&mut self, line: String) {
        self.emitted.push(Emitted::Line(line.clone()));
        self.emitted_without_data.push(Emitted::Line(line));
    }

    fn pick(&self, nth: usize, fits: impl Fn(&Open) -> bool) -> Option<u32> {
        let fitting: Vec<u32> = self.open.iter().filter(|(_stream, open)| fits(open)).map(|(stream, _open)| *stream).collect();
        fitting.get(nth.checked_rem(fitting.len())?).copied()
    }
}

impl Open {
    fn carries(&self, direction: Direction) -> bool {
        match direction {
            Request => self.request,
            Response => self.response == Stage::Begun,
        }
    }
}

/// An HPACK encoder that puts every field into its table.
#[derive(Clone, Debug, Default)]
struct Encoder {
    /// Newest first.
    table: VecDeque<(String, String)>,
    size_update: Option<u32>,
    max_size: Option<u32>,
}

impl Encoder {
    fn resize(&mut self, size: u32) {
        (self.size_update, self.max_size) = (Some(size), Some(size));
        self.evict();
    }

    fn block(&mut self, fields: &[(&str, &str)]) -> Vec<u8> {
        let mut block = Vec::new();
        if let Some(size) = self.size_update.take() {
            match size {
                ..31 => block.push(0x20 | u8::try_from(size).unwrap()),
                31..159 => block.extend([0x3f, u8::try_from(size - 31).unwrap()]),
                _ => {
                    let rest = size - 31;
                    block.extend([0x3f, u8::try_from(rest % 128).unwrap() | 0x80, u8::try_from(rest / 128).unwrap()]);
                }
            }
        }
        for (name, value) in fields {
            let found = self.table.iter().position(|(known, text)| known == name && text == value);
            match found.and_then(|position| u8::try_from(position + 62).ok()).filter(|index| *index < 127) {
                Some(index) => block.push(0x80 | index),
                None => self.literal(name, value, &mut block),
            }
        }
        block
    }

    fn literal(&mut self, name: &str, value: &str, block: &mut Vec<u8>) {
        let (name_length, value_length) = (u8::try_from(name.len()).unwrap(), u8::try_from(value.len()).unwrap());
        if self.table.front().is_some_and(|(newest, _text)| newest == name) {
            block.push(0x40 | 0x3e);
        } else {
            block.extend([0x40, name_length]);
            block.extend(name.bytes());
        }
        block.push(value_length);
        block.extend(value.bytes());
        self.table.push_front((name.to_owned(), value.to_owned()));
        self.evict();
    }

    fn evict(&mut self) {
        let max_size = usize::try_from(self.max_size.unwrap_or(4096)).unwrap();
        while self.table.iter().map(|(name, value)| name.len() + value.len() + 32).sum::<usize>() > max_size {
            self.table.pop_back();
        }
    }
}
