//! Reads the body of a request, within bounds of size, time and memory. Answers take the same memory until they are sent.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Maximum size of a body: the API server takes no larger object (kubernetes/apiserver `pkg/server/config.go`, `MaxRequestBodyBytes`).
pub(super) const MOST_BYTES: usize = 3 << 20;

/// Maximum size of all bodies and answers together.
pub(super) const MOST_BYTES_TOGETHER: usize = 16 << 20;

/// Time limit for a body. The API server sends it at once.
pub(super) const TIME_LIMIT: Duration = Duration::from_secs(5);

/// The memory for bodies and answers.
#[derive(Clone, Debug)]
pub(super) struct Bodies {
    /// Free bytes.
    room: Arc<Semaphore>,
}

/// A body or an answer, and its share of the memory.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) bytes: Vec<u8>,
    _room: Option<OwnedSemaphorePermit>,
}

/// The reason why a body is not read, or an answer is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoBody {
    #[error("the body is larger than {} MiB", MOST_BYTES >> 20)]
    TooLarge,
    #[error("too many large bodies at once")]
    NoRoom,
    #[error("the body did not arrive within {} s", TIME_LIMIT.as_secs())]
    Slow,
    #[error("the body ended early")]
    Incomplete,
}

impl NoBody {
    pub(super) const fn status(self) -> StatusCode {
        match self {
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::NoRoom => StatusCode::SERVICE_UNAVAILABLE,
            Self::Slow => StatusCode::REQUEST_TIMEOUT,
            Self::Incomplete => StatusCode::BAD_REQUEST,
        }
    }
}

impl AsRef<[u8]> for Body {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Bodies {
    pub(super) fn new() -> Self {
        Self { room: Arc::new(Semaphore::new(MOST_BYTES_TOGETHER)) }
    }

    pub(super) async fn read(&self, body: Incoming) -> Result<Body, NoBody> {
        if usize::try_from(body.size_hint().lower()).map_or(true, |length| length > MOST_BYTES) {
            return Err(NoBody::TooLarge);
        }
        timeout(TIME_LIMIT, self.collect(body)).await.unwrap_or(Err(NoBody::Slow))
    }

    /// Takes memory for an answer. It is free again when the connection has taken the last byte of it.
    pub(super) fn answer(&self, bytes: Vec<u8>) -> Result<Bytes, NoBody> {
        let room = self.take(bytes.len())?;
        Ok(Bytes::from_owner(Body { bytes, _room: Some(room) }))
    }

    /// Memory is taken as bytes arrive, so a length that is only announced takes none. Nothing waits for memory: bodies of which each
    /// has a part would wait for each other without end.
    async fn collect(&self, mut body: Incoming) -> Result<Body, NoBody> {
        let (mut bytes, mut taken): (Vec<u8>, Option<OwnedSemaphorePermit>) = (Vec::new(), None);
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(|_lost| NoBody::Incomplete)?.into_data() else { continue };
            if bytes.len() + data.len() > MOST_BYTES {
                return Err(NoBody::TooLarge);
            }
            let more = self.take(data.len())?;
            match &mut taken {
                Some(taken) => taken.merge(more),
                None => taken = Some(more),
            }
            bytes.extend_from_slice(&data);
        }
        Ok(Body { bytes, _room: taken })
    }

    fn take(&self, bytes: usize) -> Result<OwnedSemaphorePermit, NoBody> {
        let bytes = u32::try_from(bytes).map_err(|_beyond| NoBody::TooLarge)?;
        Arc::clone(&self.room).try_acquire_many_owned(bytes).map_err(|_none| NoBody::NoRoom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_take_memory_until_they_are_sent() {
        let bodies = Bodies::new();
        let half = || bodies.answer(vec![0; MOST_BYTES_TOGETHER / 2]);
        let (one, other) = (half().unwrap(), half().unwrap());
        assert_eq!(bodies.answer(vec![0]), Err(NoBody::NoRoom));
        let rest = other.slice(1..);
        drop(other);
        assert_eq!(bodies.answer(vec![0]), Err(NoBody::NoRoom), "a part is still to be sent");
        drop((one, rest));
        assert!(half().is_ok() && bodies.answer(Vec::new()).is_ok());
    }
}
