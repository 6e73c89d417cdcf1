//! The body of an export request, made of records that are already encoded.
//!
//! `ExportLogsServiceRequest` and its siblings for spans and metrics have the same form (opentelemetry-proto
//! `opentelemetry/proto/collector/*/v1/*_service.proto`): field 1 holds a resource with its scopes, whose field 2 holds a scope
//! with its records. So records wait in a queue as bytes, whose number is known, and are encoded once, however often they are
//! sent.

use opentelemetry_proto::tonic::common::v1::InstrumentationScope;
use prost::Message;
use prost::encoding::{WireType, encode_key, encode_varint, encoded_len_varint, key_len};

use super::resource::Resource;

/// The field of the resource, of the scope, and of the list of resources.
const FIRST: u32 = 1;
/// The field of scopes within a resource, and of records within a scope.
const SECOND: u32 = 2;

/// The parts that are the same in each request.
#[derive(Clone)]
pub(super) struct Envelope {
    resource: Vec<u8>,
    scope: Vec<u8>,
}

impl Envelope {
    /// The envelope of records of `resource`.
    pub(super) fn new(resource: &Resource) -> Self {
        let scope = InstrumentationScope {
            name: "watchtap".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ..InstrumentationScope::default()
        };
        Self { resource: resource.message().encode_to_vec(), scope: scope.encode_to_vec() }
    }

    /// The request with these records.
    pub(super) fn request<'r>(&self, records: impl Iterator<Item = &'r [u8]> + Clone) -> Vec<u8> {
        let of_records: usize = records.clone().map(|record| field_len(SECOND, record.len())).sum();
        let of_scope = field_len(FIRST, self.scope.len()) + of_records;
        let of_resource = field_len(FIRST, self.resource.len()) + field_len(SECOND, of_scope);
        let mut request = Vec::with_capacity(field_len(FIRST, of_resource));
        begin_field(FIRST, of_resource, &mut request);
        field(FIRST, &self.resource, &mut request);
        begin_field(SECOND, of_scope, &mut request);
        field(FIRST, &self.scope, &mut request);
        records.for_each(|record| field(SECOND, record, &mut request));
        request
    }
}

fn field_len(number: u32, length: usize) -> usize {
    key_len(number) + encoded_len_varint(length as u64) + length
}

fn begin_field(number: u32, length: usize, out: &mut Vec<u8>) {
    encode_key(number, WireType::LengthDelimited, out);
    encode_varint(length as u64, out);
}

fn field(number: u32, bytes: &[u8], out: &mut Vec<u8>) {
    begin_field(number, bytes.len(), out);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
    use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs};

    use super::*;

    #[test]
    fn request_is_what_the_generated_types_encode() {
        let resource = Resource::new("", None).unwrap();
        let log_records: Vec<_> =
            (0..300).map(|number| LogRecord { event_name: "x".repeat(number), ..LogRecord::default() }).collect();
        let encoded: Vec<_> = log_records.iter().map(Message::encode_to_vec).collect();
        let envelope = Envelope::new(&resource);
        let scope = Some(InstrumentationScope::decode(envelope.scope.as_slice()).unwrap());
        let scope_logs = vec![ScopeLogs { scope, log_records, ..ScopeLogs::default() }];
        let resource = Some(resource.message());
        let expected =
            ExportLogsServiceRequest { resource_logs: vec![ResourceLogs { resource, scope_logs, ..ResourceLogs::default() }] };
        assert_eq!(envelope.request(encoded.iter().map(Vec::as_slice)), expected.encode_to_vec());
    }
}
