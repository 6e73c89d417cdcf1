//! The connections of the region `forward`: lists and small objects, over HTTP/1.1 and HTTP/2.

use anyhow::Result;
use observer_core::http::Direction;
use observer_counted::frames::{END_STREAM, data, request, response, settings};

use crate::bodies::pods;

/// Number of large lists per connection.
const LISTS: u32 = 2;
/// Number of small objects per connection.
const OBJECTS: u32 = 1_000;
/// The largest payload of a frame that a client allows by default (RFC 9113 §6.5.2).
const MOST_PAYLOAD: usize = 16 * 1024;

const LIST: &str = "/api/v1/pods?limit=500&resourceVersion=0";
const OBJECT: &str = "/api/v1/namespaces/shop/configmaps/settings";
const OBJECT_BODY: &str = r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"settings","namespace":"shop","uid":"c0ffee00-1111-4222-8333-000000000001","resourceVersion":"1234567"},"data":{"text":"one of many"}}"#;

/// The bytes of a connection in the order of their arrival.
pub(crate) struct Connection {
    pub(crate) directions: Vec<(Direction, Vec<u8>)>,
    pub(crate) exchanges: usize,
}

/// The paths and bodies of all exchanges.
fn all() -> Result<Vec<(&'static str, String)>> {
    let (list, _) = pods()?;
    let lists = (0..LISTS).map(|_| (LIST, list.clone()));
    Ok(lists.chain((0..OBJECTS).map(|_| (OBJECT, OBJECT_BODY.to_owned()))).collect())
}

/// Responses with a length, as kube-apiserver sends objects.
pub(crate) fn http1() -> Result<Connection> {
    let exchanges = all()?;
    let directions = exchanges.iter().flat_map(|(path, body)| {
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: counted/v1.0.0 (linux/amd64)\r\nAccept: application/json\r\n\
             Authorization: Bearer {}\r\n\r\n",
            "x".repeat(900)
        );
        let length = body.len();
        let response = format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}");
        [(Direction::Request, request.into_bytes()), (Direction::Response, response.into_bytes())]
    });
    Ok(Connection { directions: directions.collect(), exchanges: exchanges.len() })
}

/// Each body in frames of the largest size.
pub(crate) fn http2() -> Result<Connection> {
    let exchanges = all()?;
    let (from_client, from_server) = settings()?;
    let mut directions = vec![(Direction::Request, from_client), (Direction::Response, from_server)];
    for (number, (path, body)) in (0..).zip(&exchanges) {
        let stream = number * 2 + 1;
        directions.push((Direction::Request, request(stream, 1, path)?));
        let mut answer = response(stream)?;
        for payload in body.as_bytes().chunks(MOST_PAYLOAD) {
            answer.extend(data(0, stream, payload)?);
        }
        answer.extend(data(END_STREAM, stream, b"")?);
        directions.push((Direction::Response, answer));
    }
    Ok(Connection { directions, exchanges: exchanges.len() })
}
