//! Reads addresses from an EndpointSlice.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use serde::Deserialize;

/// Maximum number of endpoints that are read. API servers accept no EndpointSlice with more.
const MAX_ENDPOINTS: usize = 1_000;

#[derive(Deserialize)]
struct EndpointSlice {
    kind: String,
    // Both may be null.
    endpoints: Option<Vec<Endpoint>>,
    ports: Option<Vec<Port>>,
}

#[derive(Deserialize)]
struct Endpoint {
    addresses: Vec<String>,
}

#[derive(Deserialize)]
struct Port {
    port: Option<u16>,
    protocol: Option<String>,
}

/// Each TCP port at each address; `None` if the text is no EndpointSlice. Endpoints that are not ready count, too, since their
/// connections may be open. Names in place of addresses are left out.
pub(super) fn addresses(text: &[u8]) -> Option<BTreeSet<SocketAddr>> {
    let slice: EndpointSlice = serde_json::from_slice(text).ok().filter(|slice: &EndpointSlice| slice.kind == "EndpointSlice")?;
    let is_tcp = |port: &Port| port.protocol.as_deref().is_none_or(|protocol| protocol == "TCP");
    let ports: Vec<u16> = slice.ports.iter().flatten().filter(|port| is_tcp(port)).filter_map(|port| port.port).collect();
    let endpoints = slice.endpoints.iter().flatten().take(MAX_ENDPOINTS);
    let addresses = endpoints.filter_map(|endpoint| endpoint.addresses.first()?.parse::<IpAddr>().ok());
    let addresses = addresses.filter(|address| !address.is_unspecified()).map(|address| address.to_canonical());
    Some(addresses.flat_map(|address| ports.iter().map(move |port| SocketAddr::new(address, *port))).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn of(slice: &Value) -> Option<Vec<String>> {
        Some(addresses(slice.to_string().as_bytes())?.into_iter().map(|address| address.to_string()).collect())
    }

    fn slice(addresses: &[&str], ports: &Value) -> Value {
        let endpoints: Vec<Value> = addresses.iter().map(|address| json!({"addresses": [address]})).collect();
        json!({"kind": "EndpointSlice", "apiVersion": "discovery.k8s.io/v1", "endpoints": endpoints, "ports": ports})
    }

    #[test]
    fn each_tcp_port_of_each_endpoint_is_an_address() {
        let https = json!([{"name": "https", "port": 6443, "protocol": "TCP"}]);
        for (addresses, ports, expected) in [
            (&["10.0.0.2", "10.0.0.1"][..], https.clone(), &["10.0.0.1:6443", "10.0.0.2:6443"][..]),
            (&["fd00::1"], https.clone(), &["[fd00::1]:6443"]),
            (&["::ffff:10.0.0.1"], https.clone(), &["10.0.0.1:6443"]),
            (&["10.0.0.1"], json!([{"port": 6443}, {"port": 53, "protocol": "UDP"}, {"port": null}]), &["10.0.0.1:6443"]),
            (&["api.example.com", "0.0.0.0", "10.0.0.1/8", ""], https.clone(), &[]),
            (&["10.0.0.1"], Value::Null, &[]),
        ] {
            assert_eq!(of(&slice(addresses, &ports)).unwrap(), expected, "{addresses:?}");
        }
        assert_eq!(of(&json!({"kind": "EndpointSlice", "endpoints": null, "ports": null})).unwrap(), [""; 0]);
    }

    #[test]
    fn endpoints_are_read_up_to_a_bound() {
        let many: Vec<String> = (0..2_000_u32).map(|number| std::net::Ipv4Addr::from(0x0A00_0001 + number).to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(of(&slice(&many, &json!([{"port": 6443}]))).unwrap().len(), MAX_ENDPOINTS);
    }

    #[test]
    fn other_documents_are_no_endpoint_slice() {
        for text in [
            "",
            "garbage",
            "null",
            "[]",
            r#"{"kind":"Status","code":403}"#,
            r#"{"kind":"EndpointSlice","endpoints":[{"addresses":"10.0.0.1"}]}"#,
            r#"{"kind":"EndpointSlice","ports":[{"port":65536}]}"#,
            r#"{"kind":"EndpointSlice","ports":[{"port":-1}]}"#,
        ] {
            assert_eq!(addresses(text.as_bytes()), None, "{text}");
        }
    }
}
