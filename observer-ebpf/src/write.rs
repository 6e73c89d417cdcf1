//! Writes keys and values of maps as bytes.

use crate::connection::{Connection, ConnectionAddress, ConnectionKey, Verdict};
use crate::filter::Filter;
use crate::opened::Endpoint;

impl ConnectionKey {
    /// The key of the connection in the map `CONNECTIONS`, as bytes.
    #[must_use]
    pub fn map_key(&self) -> [u8; size_of::<ConnectionAddress>()] {
        let mut bytes = [0; size_of::<ConnectionAddress>()];
        bytes[..8].copy_from_slice(&self.address.to_ne_bytes());
        bytes[8..12].copy_from_slice(&self.process.to_ne_bytes());
        bytes
    }

    /// The value of the map with another verdict; `None` if it belongs to another connection by now.
    #[must_use]
    pub fn with_verdict(
        &self,
        mut value: [u8; size_of::<Connection>()],
        verdict: Verdict,
    ) -> Option<[u8; size_of::<Connection>()]> {
        let (since, rest) = value.split_at_mut(8);
        rest[24..28].copy_from_slice(&(verdict as u32).to_ne_bytes());
        (*since == self.since.to_ne_bytes()).then_some(value)
    }
}

impl Endpoint {
    /// The key of the map `API_SERVERS`, as bytes.
    #[must_use]
    pub fn to_bytes(self) -> [u8; size_of::<Self>()] {
        let mut bytes = [0; size_of::<Self>()];
        bytes[..16].copy_from_slice(&self.address);
        bytes[16..18].copy_from_slice(&self.port.to_ne_bytes());
        bytes
    }
}

impl Filter {
    /// The value of the map `FILTER`, as bytes.
    #[must_use]
    pub fn to_bytes(self) -> [u8; size_of::<Self>()] {
        let mut bytes = [0; size_of::<Self>()];
        bytes[..4].copy_from_slice(&self.flags.to_ne_bytes());
        bytes[4..8].copy_from_slice(&self.own.to_ne_bytes());
        bytes[8..].copy_from_slice(&self.namespace_inode.to_ne_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use core::mem::offset_of;

    use super::*;

    #[test]
    fn verdict_is_written_at_its_offset() {
        let key = ConnectionKey { address: 0x1122, since: 7, process: 99, reserved: 0 };
        let mut value = [0xAA; size_of::<Connection>()];
        value[..8].copy_from_slice(&7_u64.to_ne_bytes());
        let changed = key.with_verdict(value, Verdict::Elsewhere).unwrap();
        let place = offset_of!(Connection, verdict);
        assert_eq!(changed[place..place + 4], 2_u32.to_ne_bytes());
        assert!((0..value.len()).filter(|at| !(place..place + 4).contains(at)).all(|at| changed[at] == value[at]));
        assert_eq!(ConnectionKey { since: 8, ..key }.with_verdict(value, Verdict::Elsewhere), None);
    }

    #[test]
    fn key_and_filter_fields_are_written_at_their_offsets() {
        let key = ConnectionKey { address: 0x1122, since: 7, process: 99, reserved: 0 }.map_key();
        assert_eq!(key[offset_of!(ConnectionAddress, address)..][..8], 0x1122_u64.to_ne_bytes());
        assert_eq!(key[offset_of!(ConnectionAddress, process)..][..4], 99_u32.to_ne_bytes());
        let endpoint = Endpoint { address: [7; 16], port: 6443, reserved: 0 }.to_bytes();
        assert_eq!(endpoint[offset_of!(Endpoint, address)..][..16], [7; 16]);
        assert_eq!(endpoint[offset_of!(Endpoint, port)..][..2], 6443_u16.to_ne_bytes());
        let filter = Filter { flags: 3, own: 12, namespace_inode: 4_026_531_999 }.to_bytes();
        assert_eq!(filter[offset_of!(Filter, own)..][..4], 12_u32.to_ne_bytes());
        assert_eq!(filter[offset_of!(Filter, namespace_inode)..][..8], 4_026_531_999_u64.to_ne_bytes());
    }
}
