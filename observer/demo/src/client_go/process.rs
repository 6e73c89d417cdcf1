//! A client process of the demo: its name, and the one connection that all its reflectors share.

use std::sync::Arc;

use anyhow::Result;
use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, HeaderValue, USER_AGENT};
use http::{Request, Response};
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::client::conn::http2::SendRequest;
use tokio::sync::Mutex;

use super::door::{Door, Lost, Windows};

/// A process with one connection, opened when needed.
pub(crate) struct Process {
    door: Arc<Door>,
    windows: Windows,
    user_agent: HeaderValue,
    authorization: HeaderValue,
    connection: Mutex<Option<SendRequest<Empty<Bytes>>>>,
}

impl Process {
    pub(crate) fn new(door: Arc<Door>, user_agent: &str, windows: Windows) -> Result<Self> {
        let authorization = door.authorization(user_agent)?;
        Ok(Self { door, windows, user_agent: HeaderValue::from_str(user_agent)?, authorization, connection: Mutex::new(None) })
    }

    /// Sends a GET. Like Go's transport, it repeats the request once on a new connection if the open one did not accept it. A
    /// draining connection does that (golang.org/x/net `http2/transport.go`, `shouldRetryRequest`); the demo's server ends
    /// connections in no other way.
    pub(crate) async fn get(&self, path: &str, accept: &'static str) -> Result<Response<Incoming>, Lost> {
        let (mut sender, was_open) = self.sender().await?;
        match sender.send_request(self.request(path, accept)?).await {
            Ok(response) => Ok(response),
            Err(_not_taken) if was_open => {
                self.connection.lock().await.take();
                let (mut sender, _) = self.sender().await?;
                sender.send_request(self.request(path, accept)?).await.or(Err(Lost::Broken))
            }
            Err(_broken) => {
                self.connection.lock().await.take();
                Err(Lost::Broken)
            }
        }
    }

    /// Returns the connection, and whether it was open before.
    async fn sender(&self) -> Result<(SendRequest<Empty<Bytes>>, bool), Lost> {
        let mut connection = self.connection.lock().await;
        if let Some(sender) = connection.as_mut()
            && sender.ready().await.is_ok()
        {
            return Ok((sender.clone(), true));
        }
        *connection = None;
        let sender = self.door.open(self.windows).await?;
        *connection = Some(sender.clone());
        Ok((sender, false))
    }

    fn request(&self, path: &str, accept: &'static str) -> Result<Request<Empty<Bytes>>, Lost> {
        Request::get(format!("https://{}{path}", self.door.authority()))
            .header(ACCEPT, HeaderValue::from_static(accept))
            .header(ACCEPT_ENCODING, HeaderValue::from_static("gzip"))
            .header(AUTHORIZATION, self.authorization.clone())
            .header(USER_AGENT, self.user_agent.clone())
            .body(Empty::new())
            .or(Err(Lost::Broken))
    }
}
