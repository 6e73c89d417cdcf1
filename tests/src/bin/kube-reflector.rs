//! Keeps a copy of the config maps of one namespace, as kube-rs controllers do: a watcher, forever.
//!
//! It logs its requests and their results as JSON lines on standard output, in the format of the client-go reflector
//! (`tests/cluster/go/reflector`). Arguments: the namespace; optionally a user agent; optionally `streaming`, for streaming lists, or
//! `hasty`, for no pause after an error. Otherwise the watcher has its default backoff.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anyhow::{Context, Result, bail};
use futures_util::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::client::{Body, ClientBuilder};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Config, ResourceExt};
use serde_json::{Value, json};
use tower::util::MapRequestLayer;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let namespace = arguments.next().context("the first argument is a namespace")?;
    let mut config = Config::infer().await?;
    if let Some(user_agent) = arguments.next() {
        config.headers.push((http::header::USER_AGENT, user_agent.parse()?));
    }
    let default = watcher::Config::default();
    let (wanted, is_hasty) = match arguments.next().as_deref() {
        None => (default, false),
        Some("streaming") => (default.streaming_lists(), false),
        Some("hasty") => (default, true),
        Some(other) => bail!("the third argument is `streaming` or `hasty`, not {other:?}"),
    };
    print("started", &json!({}))?;
    let client = ClientBuilder::try_from(config)?.with_layer(&MapRequestLayer::new(log_request)).build();
    let config_maps: Api<ConfigMap> = Api::namespaced(client, &namespace);
    let events = watcher(config_maps, wanted);
    let mut events = if is_hasty { events.boxed() } else { events.default_backoff().boxed() };
    let mut store = Store::default();
    while let Some(event) = events.next().await {
        match event {
            Ok(Event::Init | Event::InitDone) => {}
            Ok(Event::InitApply(object) | Event::Apply(object)) => store.apply(&object)?,
            Ok(Event::Delete(object)) => store.delete(&object)?,
            Err(error) => print("failed", &json!({"error": error.to_string()}))?,
        }
    }
    Ok(())
}

/// Logs each outgoing list and watch.
fn log_request(request: http::Request<Body>) -> http::Request<Body> {
    let query = request.uri().query().unwrap_or_default();
    let parameter = |wanted: &str| query.split('&').find_map(|pair| pair.split_once('=').filter(|(name, _)| *name == wanted));
    let value = |wanted: &str| parameter(wanted).map(|(_, value)| value);
    let options = json!({
        "resourceVersion": value("resourceVersion"),
        "limit": value("limit").and_then(|limit| limit.parse::<u64>().ok()),
        "continue": value("continue"),
        "sendInitialEvents": value("sendInitialEvents") == Some("true"),
    });
    // If the line cannot be written, the test notices that it is missing.
    print(if value("watch").is_some() { "watch" } else { "list" }, &json!({"options": options})).ok();
    request
}

/// The resource version of each object.
#[derive(Default)]
struct Store(BTreeMap<String, String>);

impl Store {
    fn apply(&mut self, object: &ConfigMap) -> Result<()> {
        let version = object.resource_version().unwrap_or_default();
        let what = match self.0.insert(object.name_any(), version.clone()) {
            None => "added",
            Some(before) if before == version => "updated with the same version",
            Some(_) => "updated",
        };
        print(what, &json!({"name": object.name_any(), "resourceVersion": version}))
    }

    fn delete(&mut self, object: &ConfigMap) -> Result<()> {
        self.0.remove(&object.name_any());
        print("deleted", &json!({"name": object.name_any()}))
    }
}

/// Prints one JSON line: the event and its details.
fn print(what: &str, more: &Value) -> Result<()> {
    let mut line = json!({"what": what});
    for (name, value) in more.as_object().into_iter().flatten() {
        line[name] = value.clone();
    }
    Ok(writeln!(io::stdout(), "{line}")?)
}
