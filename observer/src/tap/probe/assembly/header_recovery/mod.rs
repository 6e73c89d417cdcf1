//! Recovers the HTTP/2 header fields of connections that are older than the probe.
//!
//! The probe did not see the beginning of such a connection, and so lacks the HPACK dynamic table that its header blocks refer to.
//! Go passes the fields in plaintext between its own functions, and `programs/go.rs` of `observer-ebpf` records them: each field
//! that is encoded or decoded, and the stream of each encoded block. They are recorded only for processes with such connections
//! (`find/older_connections.rs`).
//!
//! [`HeaderRecovery`] takes these records, and joins the fields to the bytes that carry them. A request's fields are recorded
//! before its bytes are sent, so they wait for the bytes. A response's fields are recorded after its bytes were read, so the bytes
//! wait for them ([`HeldRead`], one for each connection).
//!
//! Fields and bytes then leave together as a [`Transfer`](super::transfer::Transfer), whose fields go to the feed ahead of its
//! bytes. The decoder of the core (`http/h2/recovery.rs`) gives them to the header blocks in these bytes, if they match the
//! readable parts of the blocks.

mod held_read;
mod recovery;
mod sent_fields;

pub(super) use held_read::HeldRead;
pub(super) use recovery::HeaderRecovery;
