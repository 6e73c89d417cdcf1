//! Keeps a copy of the config maps of its namespace, as a controller in a pod does: a reflector of kube-rs, with `Config::incluster`.
//! Its arguments and its output are those of all clients of `tests/src/pod_client`.

use std::io::{self, Write};
use std::pin::pin;
use std::time::Duration;

use anyhow::{Context, Result};
use futures_util::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::runtime::WatchStreamExt;
use kube::runtime::reflector::{self, Store, reflector};
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, Config, ResourceExt};
use observer_tests::locked_version;
use serde_json::{Map, Value, json};

/// An event of this object prints the store.
const PRINT_STORE: &str = "print-store";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let user_agent = arguments.next().context("the first argument is a user agent")?;
    let mut config = Config::incluster()?;
    config.headers.push((http::header::USER_AGENT, user_agent.parse()?));
    let library = format!("kube {}", locked_version("kube").unwrap_or("of an unknown version"));
    print(&json!({"event": "started", "library": library, "server": config.cluster_url.to_string()}))?;
    let config_maps: Api<ConfigMap> = Api::default_namespaced(Client::try_from(config)?);
    match arguments.next() {
        None => follow(config_maps).await,
        Some(name) => tokio::try_join!(follow(config_maps.clone()), get_each_second(config_maps, &name)).map(|_| ()),
    }
}

async fn follow(config_maps: Api<ConfigMap>) -> Result<()> {
    let (store, writer) = reflector::store();
    let events = watcher(config_maps, watcher::Config::default()).default_backoff();
    let mut events = pin!(reflector(writer, events));
    while let Some(event) = events.next().await {
        match event {
            Ok(Event::Init) => {}
            Ok(Event::InitApply(object)) => print_event("added", &object, &store)?,
            Ok(Event::InitDone) => print(&json!({"event": "synced"}))?,
            Ok(Event::Apply(object)) => print_event("updated", &object, &store)?,
            Ok(Event::Delete(object)) => print_event("deleted", &object, &store)?,
            Err(error) => print(&json!({"event": "failed", "error": error.to_string()}))?,
        }
    }
    Ok(())
}

async fn get_each_second(config_maps: Api<ConfigMap>, name: &str) -> Result<()> {
    let mut seconds = tokio::time::interval(Duration::from_secs(1));
    loop {
        seconds.tick().await;
        match config_maps.get(name).await {
            Ok(_) => print(&json!({"event": "got", "name": name}))?,
            Err(error) => print(&json!({"event": "failed", "error": error.to_string()}))?,
        }
    }
}

fn print_event(event: &str, object: &ConfigMap, store: &Store<ConfigMap>) -> Result<()> {
    let version = |object: &ConfigMap| object.resource_version().unwrap_or_default();
    print(&json!({"event": event, "name": object.name_any(), "resourceVersion": version(object)}))?;
    if object.name_any() != PRINT_STORE {
        return Ok(());
    }
    let objects = store.state();
    let objects: Map<String, Value> = objects.iter().map(|object| (object.name_any(), version(object).into())).collect();
    print(&json!({"event": "store", "objects": objects}))
}

/// Prints one JSON line.
fn print(line: &Value) -> Result<()> {
    Ok(writeln!(io::stdout(), "{line}")?)
}
