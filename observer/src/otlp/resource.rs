//! The resource that all records belong to: this process of watchtap, and where it runs.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::resource::v1::Resource as Message;

use super::key_value_list::{self, NotAList};

/// Attributes by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Resource(BTreeMap<String, String>);

impl Resource {
    /// The attributes of `OTEL_RESOURCE_ATTRIBUTES` and `OTEL_SERVICE_NAME`, over those that watchtap itself has.
    pub(super) fn new(attributes: &str, service_name: Option<String>) -> Result<Self, NotAList> {
        let own = [
            ("service.name", "watchtap".to_owned()),
            ("service.version", env!("CARGO_PKG_VERSION").to_owned()),
            ("service.instance.id", instance()),
        ];
        let own = own.map(|(name, value)| (name.to_owned(), value));
        let given = key_value_list::parse(attributes)?;
        let name = service_name.map(|name| ("service.name".to_owned(), name));
        Ok(Self(own.into_iter().chain(given).chain(name).collect()))
    }

    /// Its form in OTLP.
    pub(super) fn message(&self) -> Message {
        let attributes = self.0.iter().map(|(name, value)| KeyValue {
            key: name.clone(),
            value: Some(AnyValue { value: Some(Value::StringValue(value.clone())) }),
            ..KeyValue::default()
        });
        Message { attributes: attributes.collect(), ..Message::default() }
    }
}

/// A random UUID (RFC 9562, version 4), since `service.instance.id` differs between processes.
fn instance() -> String {
    // The standard library seeds each hasher from the system's source of random bytes.
    let (high, low) = (RandomState::new().hash_one(0), RandomState::new().hash_one(1));
    let high = high & !0xF000 | 0x4000;
    let low = low & !(0b11 << 62) | 0b10 << 62;
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xFFFF,
        high & 0xFFFF,
        low >> 48,
        low & 0xFFFF_FFFF_FFFF
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_attributes_take_precedence() {
        let of = |attributes: &str, name: Option<&str>| Resource::new(attributes, name.map(ToOwned::to_owned)).unwrap().0;
        assert_eq!(of("", None)["service.name"], "watchtap");
        let given = of("service.name=a,k8s.node.name=n%201,service.version=9", Some("b"));
        let shown = ["service.name", "service.version", "k8s.node.name"].map(|name| given[name].as_str());
        assert_eq!(shown, ["b", "9", "n 1"]);
    }

    #[test]
    fn each_process_has_a_uuid_of_version_4() {
        let (one, other) = (instance(), instance());
        assert_ne!(one, other);
        for uuid in [one, other] {
            let parts: Vec<&str> = uuid.split('-').collect();
            assert_eq!(parts.iter().map(|part| part.len()).collect::<Vec<_>>(), [8, 4, 4, 4, 12], "{uuid}");
            assert!(parts[2].starts_with('4') && parts[3].starts_with(['8', '9', 'a', 'b']), "{uuid}");
        }
    }
}
