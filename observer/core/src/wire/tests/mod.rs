//! Bodies in, facts out.

mod documents;
mod messages;
mod watches;

mod chunking;
mod damage;
mod gaps;
mod gzip;

mod cbor;
mod protobuf;
mod protobuf_damage;
mod protobuf_gaps;

mod against_serde;

mod cbor_bytes;
mod fixtures;
mod json_text;
mod protobuf_bytes;
mod reading;
