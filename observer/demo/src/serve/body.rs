//! The body of a response: complete, or a stream whose parts are sent as they are written.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::mpsc;

/// Maximum size of a body that is sent with its length, in bytes. Longer ones are sent in chunks, as from Go's HTTP server.
const LARGEST_WITH_LENGTH: usize = 2048;

/// A response body: known completely, or a channel from which its parts are read.
#[derive(Debug)]
pub(super) enum ResponseBody {
    /// The complete body; `None` once it is sent.
    Whole(Option<Bytes>),
    /// The parts of the body, as they are written.
    Stream(mpsc::Receiver<Bytes>),
}

impl ResponseBody {
    pub(super) fn full(bytes: impl Into<Bytes>) -> Self {
        Self::Whole(Some(bytes.into()).filter(|bytes: &Bytes| !bytes.is_empty()))
    }

    /// The next part, when it is written; `None` after the last one.
    pub(super) async fn next(&mut self) -> Option<Bytes> {
        match self {
            Self::Whole(bytes) => bytes.take(),
            Self::Stream(receiver) => receiver.recv().await,
        }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take()),
            Self::Stream(receiver) => receiver.poll_recv(context),
        };
        next.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(None) => SizeHint::with_exact(0),
            Self::Whole(Some(bytes)) if bytes.len() <= LARGEST_WITH_LENGTH => SizeHint::with_exact(bytes.len() as u64),
            Self::Whole(Some(_)) | Self::Stream(_) => SizeHint::default(),
        }
    }
}
