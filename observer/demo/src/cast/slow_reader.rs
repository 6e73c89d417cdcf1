//! A client that opens a watch and never reads from it.
//!
//! It is a plain watch, not an informer. An informer with a slow handler would not show the effect, since the informer continues to
//! read, and its buffer grows. With HTTP/2's default windows, the server waits after 64 KiB.

use std::future::pending;
use std::time::Duration;

use http::StatusCode;
use http_body_util::{BodyExt as _, Limited};
use serde_json::Value;
use tokio::time::sleep;

use crate::api::Resource;
use crate::client_go::Process;

const ACCEPT: &str = "application/json";

/// Maximum size of the list that is read for its revision, in bytes.
const LONGEST_LIST: usize = 16 << 20;

/// Opens the watch, repeats this until it succeeds, and keeps the watch open.
pub(super) async fn hold(process: Process, resource: &'static Resource, retry_after: Duration) {
    let path = resource.path();
    let stream = loop {
        match open(&process, &path).await {
            Some(stream) => break stream,
            None => sleep(retry_after).await,
        }
    };
    pending::<()>().await;
    drop(stream);
}

async fn open(process: &Process, path: &str) -> Option<hyper::body::Incoming> {
    let list = process.get(&format!("{path}?limit=1"), ACCEPT).await.ok()?;
    let list = Limited::new(list.into_body(), LONGEST_LIST).collect().await.ok()?.to_bytes();
    let list: Value = serde_json::from_slice(&list).ok()?;
    let revision = list.pointer("/metadata/resourceVersion")?.as_str()?;
    let watch = process.get(&format!("{path}?resourceVersion={revision}&watch=true"), ACCEPT).await.ok()?;
    (watch.status() == StatusCode::OK).then(|| watch.into_body())
}
