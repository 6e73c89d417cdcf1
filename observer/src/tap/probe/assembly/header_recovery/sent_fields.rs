//! Keeps the header fields that Go's HTTP/2 client encodes, until the bytes of their block are sent.
//!
//! One goroutine encodes the fields of a block, names the stream and connection for them (`writeHeaders`), and sends the bytes.
//! Nothing else writes to the connection meanwhile (`ClientConn.wmu`).

use std::collections::HashMap;

use observer_core::http::{Blocks, HeaderFields};

/// Maximum number of goroutines and connections that are between two of these steps. With more, all fields are given up.
const MAX_UNDER_WAY: usize = 4_096;

/// A goroutine or a TLS connection: the process, and an address in it.
type Address = (u32, u64);

/// The fields of all processes.
#[derive(Debug)]
pub(super) struct SentFields {
    encoded: HashMap<Address, Encoded>,
    announced: HashMap<Address, Vec<HeaderFields>>,
    text: usize,
    /// Maximum number of bytes of fields that are kept. With more, all fields are given up.
    max_text: usize,
    /// Number of fields given up.
    lost: u64,
}

/// The fields that a goroutine has encoded since its last block.
#[derive(Debug)]
struct Encoded {
    fields: HeaderFields,
    /// Whether no field is missing.
    is_complete: bool,
}

impl SentFields {
    pub(super) fn new(max_text: usize) -> Self {
        Self { encoded: HashMap::new(), announced: HashMap::new(), text: 0, max_text, lost: 0 }
    }

    /// Takes field `number` of the block that a goroutine encodes; `field` is `None` if it could not be read.
    pub(super) fn encoded(&mut self, goroutine: Address, number: u64, field: Option<(&[u8], &[u8])>) {
        if number == 0
            && let Some(Encoded { fields, .. }) = self.encoded.remove(&goroutine)
        {
            // Their stream was never reported.
            self.give_up(&fields);
        }
        let encoded = self
            .encoded
            .entry(goroutine)
            // The stream is reported later.
            .or_insert_with(|| Encoded { fields: HeaderFields::new(Blocks::OfNextBytes), is_complete: true });
        encoded.is_complete &= encoded.fields.len() as u64 == number;
        let is_added = field.is_some_and(|(name, value)| encoded.fields.push(name, value).is_ok());
        encoded.is_complete &= is_added;
        if is_added {
            self.text = self.text.saturating_add(field.map_or(0, |(name, value)| name.len().saturating_add(value.len())));
        } else {
            self.lost = self.lost.saturating_add(1);
        }
        self.keep_bounds();
    }

    /// The goroutine writes `number` fields as the header block of a stream.
    pub(super) fn announced(&mut self, goroutine: Address, number: u64, connection: Address, stream: u32) {
        let Some(Encoded { fields, is_complete }) = self.encoded.remove(&goroutine) else { return };
        if is_complete && fields.len() as u64 == number {
            self.announced.entry(connection).or_default().push(fields.with_blocks(Blocks::OfStream(stream)));
            self.keep_bounds();
        } else {
            self.give_up(&fields);
        }
    }

    /// Drops the fields of a goroutine that encoded them for an unwanted connection.
    pub(super) fn drop_unwanted(&mut self, goroutine: Address) {
        if let Some(Encoded { fields, .. }) = self.encoded.remove(&goroutine) {
            self.text = self.text.saturating_sub(fields.text_length());
        }
    }

    /// The fields of the header blocks in the bytes that are sent now.
    pub(super) fn take(&mut self, connection: Address) -> Vec<HeaderFields> {
        let fields = self.announced.remove(&connection).unwrap_or_default();
        self.text = fields.iter().fold(self.text, |text, fields| text.saturating_sub(fields.text_length()));
        fields
    }

    /// Forgets the fields of a process whose header fields are no longer recorded.
    pub(super) fn forget(&mut self, process: u32) {
        self.encoded.retain(|(of, _), _| *of != process);
        self.announced.retain(|(of, _), _| *of != process);
        let announced = self.announced.values().flatten();
        self.text = self.encoded.values().map(|encoded| &encoded.fields).chain(announced).map(HeaderFields::text_length).sum();
    }

    /// Number of fields given up.
    pub(super) const fn lost(&self) -> u64 {
        self.lost
    }

    fn keep_bounds(&mut self) {
        let under_way = self.encoded.len().saturating_add(self.announced.len());
        if under_way > MAX_UNDER_WAY || self.text > self.max_text {
            let encoded = self.encoded.drain().map(|(_, encoded)| encoded.fields);
            let given_up: Vec<HeaderFields> = encoded.chain(self.announced.drain().flat_map(|(_, fields)| fields)).collect();
            for fields in &given_up {
                self.give_up(fields);
            }
        }
    }

    fn give_up(&mut self, fields: &HeaderFields) {
        self.text = self.text.saturating_sub(fields.text_length());
        self.lost = self.lost.saturating_add(fields.len() as u64);
    }
}
