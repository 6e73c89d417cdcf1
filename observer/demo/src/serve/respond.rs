//! Answers a request: checks its token, parses its path, and calls the handler.

use std::sync::Arc;

use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Bytes, Incoming};
use observer_core::k8s::{ListOptions, RequestInfo};

use super::answer;
use super::body::ResponseBody;
use super::request_body::in_json;
use super::resources::ResourceRequest;
use super::slow::slowed;
use crate::api;
use crate::cluster::{Cluster, random_hex};
use crate::identity;
use crate::refusal::Refusal;
use crate::write::LARGEST_BODY;

/// Answers the requests of all connections.
pub(crate) struct Responder {
    pub(crate) cluster: Arc<Cluster>,
    /// The secret in the tokens of all clients. A client with a valid token may do everything.
    pub(crate) token: String,
}

impl Responder {
    /// Answers one request.
    pub(super) async fn respond(&self, request: Request<Incoming>) -> Response<ResponseBody> {
        let mut response = match self.answer(request).await {
            Ok(response) => response,
            Err(refusal) => answer::refusal(&refusal),
        };
        let headers = response.headers_mut();
        if let Ok(identifier) = HeaderValue::from_str(&random_hex(16)) {
            headers.insert("audit-id", identifier);
        }
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
        response
    }

    async fn answer(&self, request: Request<Incoming>) -> Result<Response<ResponseBody>, Refusal> {
        let (head, body) = request.into_parts();
        let path = head.uri.path().to_owned();
        if let Some(response) = self.public(&path) {
            return Ok(response);
        }
        if !self.is_authorized(&head.headers) {
            return Err(Refusal::unauthorized());
        }
        let query = head.uri.query().unwrap_or_default();
        let info = RequestInfo::parse(head.method.as_str(), &path, &ListOptions::parse(query), "");
        let Some(found) = &info.resource else { return Ok(self.document(&path, &head.headers)) };
        let resource = self.cluster.lock().find(&found.group, &found.version, &found.resource);
        let Some(resource) = resource else { return Ok(answer::no_such_page()) };
        let (refusal, pace) = {
            let state = self.cluster.lock();
            (state.faults.refusal(), state.faults.pace())
        };
        if let Some(refusal) = refusal {
            return Err(refusal);
        }
        let body = if head.method == Method::GET { Bytes::new() } else { collect(body).await? };
        let text = |name: header::HeaderName| head.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let (content_type, body) = in_json(resource, &info, text(header::CONTENT_TYPE), body)?;
        let request = ResourceRequest {
            cluster: &self.cluster,
            resource,
            info: &info,
            query,
            accept: text(header::ACCEPT),
            content_type,
            body: &body,
        };
        let outcome = request.answer().await;
        let code = match &outcome {
            Ok(response) => response.status().as_u16(),
            Err(refusal) => refusal.code,
        };
        self.cluster.lock().counters.request(info.verb, resource, &info.subresource, code);
        outcome.map(|response| match pace {
            Some(pace) => response.map(|body| slowed(body, pace)),
            None => response,
        })
    }

    /// The answer to paths that need no token.
    fn public(&self, path: &str) -> Option<Response<ResponseBody>> {
        match path.trim_end_matches('/') {
            "/healthz" | "/livez" | "/readyz" => {
                Some(answer::with_type(StatusCode::OK, "text/plain; charset=utf-8", ResponseBody::full("ok")))
            }
            "/version" => {
                let version = &self.cluster.config.version;
                let body = serde_json::json!({
                    "major": "1", "minor": "34", "gitVersion": version, "gitCommit": "", "gitTreeState": "clean",
                    "buildDate": "1970-01-01T00:00:00Z", "goVersion": "", "compiler": "", "platform": "linux/amd64",
                });
                Some(answer::json(StatusCode::OK, body.to_string()))
            }
            _other => None,
        }
    }

    fn document(&self, path: &str, headers: &HeaderMap) -> Response<ResponseBody> {
        if path == "/metrics" {
            let text = self.cluster.lock().metrics();
            return answer::with_type(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", ResponseBody::full(text));
        }
        let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let resources = self.cluster.lock().resources().to_vec();
        let document = api::discovery::answer(path, accept, &resources).or_else(|| api::openapi::answer(path, &resources));
        let Some(document) = document else {
            return answer::no_such_page();
        };
        let status = StatusCode::from_u16(document.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        answer::with_type(status, document.content_type, ResponseBody::full(document.body))
    }

    fn is_authorized(&self, headers: &HeaderMap) -> bool {
        let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        given.and_then(|value| value.strip_prefix("Bearer ")).is_some_and(|token| identity::is_valid(token, &self.token))
    }
}

async fn collect(body: Incoming) -> Result<Bytes, Refusal> {
    match Limited::new(body, LARGEST_BODY).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => Err(Refusal::too_large_body(LARGEST_BODY)),
        Err(error) => Err(Refusal::bad_request(format!("unable to read the body: {error}"))),
    }
}
