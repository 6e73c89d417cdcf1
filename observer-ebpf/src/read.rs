//! Reads records from the bytes of a ring buffer.

use crate::connection::ConnectionKey;
use crate::lifetime::LifetimeEvent;
use crate::opened::{Endpoint, Opened};
use crate::record::Record;

impl Record {
    /// The record at the beginning of `bytes`, and its payload; `None` if `bytes` are too short for them.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let mut fields = Fields(bytes);
        let record = Self {
            connection: ConnectionKey {
                address: fields.u64()?,
                since: fields.u64()?,
                process: fields.u32()?,
                reserved: fields.u32()?,
            },
            time: fields.u64()?,
            offset: fields.u64()?,
            length: fields.u32()?,
            kind: fields.u32()?,
            thread: fields.u32()?,
            descriptor: i32::from_ne_bytes(fields.take()?),
            flags: fields.u32()?,
            name_length: fields.u32()?,
        };
        let payload = fields.0.get(..usize::try_from(record.length).ok()?)?;
        Some((record, payload))
    }
}

impl LifetimeEvent {
    /// The event in `bytes`; `None` if they are too short.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields(bytes);
        Some(Self {
            time: fields.u64()?,
            kind: fields.u32()?,
            process: fields.u32()?,
            socket: fields.u64()?,
            before: fields.u16()?,
            after: fields.u16()?,
            error: i32::from_ne_bytes(fields.take()?),
        })
    }
}

impl Opened {
    /// The payload in `bytes`; `None` if they are too short.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields(bytes);
        Some(Self {
            socket: fields.u64()?,
            cgroup: fields.u64()?,
            started: fields.u64()?,
            name: fields.take()?,
            local: fields.endpoint()?,
            remote: fields.endpoint()?,
            role: fields.u32()?,
            file: fields.u32()?,
        })
    }
}

/// Successive fields of a `repr(C)` structure without padding.
struct Fields<'b>(&'b [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*field)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_ne_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_ne_bytes)
    }

    fn endpoint(&mut self) -> Option<Endpoint> {
        Some(Endpoint { address: self.take()?, port: self.u16()?, reserved: self.u16()? })
    }

    fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_ne_bytes)
    }
}

#[cfg(test)]
mod tests {
    use core::mem::offset_of;

    use super::*;

    /// Each byte of a structure differs from all others, so that a field from the wrong offset differs.
    const BYTES: [u8; 88] = {
        let mut bytes = [0; 88];
        let mut value: u8 = 0;
        while (value as usize) < bytes.len() {
            bytes[value as usize] = value;
            value += 1;
        }
        bytes
    };

    fn u32_at(offset: usize) -> u32 {
        u32::from_ne_bytes(BYTES[offset..offset + 4].try_into().unwrap())
    }

    #[test]
    fn record_fields_are_read_at_their_offsets() {
        let mut bytes = BYTES;
        bytes[offset_of!(Record, length)..][..4].copy_from_slice(&8_u32.to_ne_bytes());
        let (record, payload) = Record::read(&bytes).unwrap();
        assert_eq!(payload, &BYTES[64..72]);
        assert_eq!(record.kind, u32_at(offset_of!(Record, kind)));
        assert_eq!(record.connection.process, u32_at(offset_of!(Record, connection) + offset_of!(ConnectionKey, process)));
        assert_eq!(record.thread, u32_at(offset_of!(Record, thread)));
        assert_eq!(record.name_length, u32_at(offset_of!(Record, name_length)));
        assert_eq!(record.offset.to_ne_bytes()[..4], u32_at(offset_of!(Record, offset)).to_ne_bytes());
    }

    #[test]
    fn lifetime_event_fields_are_read_at_their_offsets() {
        let event = LifetimeEvent::read(&BYTES[..32]).unwrap();
        assert_eq!(event.process, u32_at(offset_of!(LifetimeEvent, process)));
        assert_eq!(event.after.to_ne_bytes(), BYTES[offset_of!(LifetimeEvent, after)..][..2]);
        assert_eq!(event.error.to_ne_bytes(), BYTES[offset_of!(LifetimeEvent, error)..][..4]);
    }

    #[test]
    fn opened_connection_fields_are_read_at_their_offsets() {
        let opened = Opened::read(&BYTES).unwrap();
        assert_eq!(opened.name[..], BYTES[offset_of!(Opened, name)..][..16]);
        assert_eq!(opened.local.port.to_ne_bytes(), BYTES[offset_of!(Opened, local) + offset_of!(Endpoint, port)..][..2]);
        assert_eq!(opened.remote.address[..], BYTES[offset_of!(Opened, remote)..][..16]);
        assert_eq!(opened.role, u32_at(offset_of!(Opened, role)));
        assert_eq!(opened.file, u32_at(offset_of!(Opened, file)));
    }

    #[test]
    fn truncated_records_are_rejected() {
        let mut bytes = BYTES;
        bytes[offset_of!(Record, length)..][..4].copy_from_slice(&25_u32.to_ne_bytes());
        assert!(Record::read(&bytes).is_none());
        for length in 0..64 {
            assert!(Record::read(&BYTES[..length]).is_none() && Opened::read(&BYTES[..length]).is_none());
            assert_eq!(LifetimeEvent::read(&BYTES[..length]).is_none(), length < 32);
        }
    }
}
