//! The body of a watch, which an `Act` can end.

use bytes::{Bytes, BytesMut};
use futures_util::stream::unfold;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Frame, Incoming};
use tokio::sync::broadcast;

use super::script::Act;

/// The error type of bodies. Any error ends the body.
pub(super) type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// The last event of a watch whose resource version is too old (kubernetes/apiserver `pkg/storage/errors`).
const EXPIRED: &[u8] = br#"{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version: 1 (2)","reason":"Expired","code":410}}
"#;

/// Forwards the server's watch events until an act ends the watch.
pub(super) fn watch_body(body: Incoming, acts: broadcast::Receiver<Act>) -> BoxBody<Bytes, AnyError> {
    let frames = unfold(Some((body, acts)), async |state| {
        let (mut body, mut acts) = state?;
        loop {
            tokio::select! {
                frame = body.frame() => return match frame? {
                    Ok(frame) => Some((Ok(frame), Some((body, acts)))),
                    Err(error) => Some((Err(AnyError::from(error)), None)),
                },
                act = acts.recv() => match act {
                    Ok(Act::BreakWatches) => return Some((Err(AnyError::from("broken off by the test")), None)),
                    Ok(Act::EndWatches) => return None,
                    Ok(Act::ExpireWatches) => return Some((Ok(Frame::data(Bytes::from_static(EXPIRED))), None)),
                    Ok(Act::GoAway) | Err(_) => {}
                },
            }
        }
    });
    BodyExt::boxed(StreamBody::new(frames))
}

/// Drops the bookmark that ends initial events (kubernetes/apimachinery `pkg/apis/meta/v1/types.go`,
/// `InitialEventsAnnotationKey`) from a watch in JSON.
pub(super) fn without_list_end(body: BoxBody<Bytes, AnyError>) -> BoxBody<Bytes, AnyError> {
    let frames = unfold((body, BytesMut::new()), async |(mut body, mut held)| {
        loop {
            let data = match body.frame().await? {
                Ok(frame) => frame.into_data().unwrap_or_default(),
                Err(error) => return Some((Err(error), (body, held))),
            };
            held.extend_from_slice(&data);
            let complete = held.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
            let lines = held.split_to(complete);
            let kept: Vec<&[u8]> = lines.split_inclusive(|byte| *byte == b'\n').filter(|line| !is_list_end(line)).collect();
            if !kept.is_empty() {
                return Some((Ok(Frame::data(Bytes::from(kept.concat()))), (body, held)));
            }
        }
    });
    BodyExt::boxed(StreamBody::new(frames))
}

fn is_list_end(line: &[u8]) -> bool {
    const ANNOTATION: &[u8] = b"k8s.io/initial-events-end";
    line.windows(ANNOTATION.len()).any(|window| window == ANNOTATION)
}
