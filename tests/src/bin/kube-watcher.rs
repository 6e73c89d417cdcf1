//! A kube-rs client that lists and watches the config maps of one namespace, prints the results, and exits.
//!
//! Arguments: the namespace, and the number of watch events before it exits. Each line on standard output is
//! `listed NAME REVISION`, then once `initial-list-done`, then `applied NAME REVISION` and `deleted NAME REVISION`.

use std::io::{self, Write};
use std::pin::pin;

use anyhow::{Context, Result, ensure};
use futures_util::TryStreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, ResourceExt};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let namespace = arguments.next().context("the first argument is a namespace")?;
    let last: usize = arguments.next().context("the second argument is a number of events")?.parse()?;
    let config_maps: Api<ConfigMap> = Api::namespaced(Client::try_default().await?, &namespace);
    let mut events = pin!(watcher(config_maps, watcher::Config::default()));
    let mut seen = 0;
    while seen < last {
        let event = events.try_next().await?.context("a watcher never ends by itself")?;
        seen += usize::from(matches!(event, Event::Apply(_) | Event::Delete(_)));
        print(&event)?;
    }
    Ok(())
}

fn print(event: &Event<ConfigMap>) -> Result<()> {
    let (what, object) = match event {
        Event::Init => return Ok(()),
        Event::InitDone => return Ok(writeln!(io::stdout(), "initial-list-done")?),
        Event::InitApply(object) => ("listed", object),
        Event::Apply(object) => ("applied", object),
        Event::Delete(object) => ("deleted", object),
    };
    let revision = object.resource_version().unwrap_or_default();
    ensure!(!revision.is_empty(), "{} has no resourceVersion", object.name_any());
    Ok(writeln!(io::stdout(), "{what} {} {revision}", object.name_any())?)
}
