//! The variables that lead a container's client to the sidecar.

use serde_json::{Value, json};

use super::containers::Container;
use super::reasons;
use crate::injection::change::{Addition, Changes, Item, Place, Replacement};
use crate::injection::outcome::Refusal;

/// The address that the sidecar listens on.
pub(in crate::injection) const LOOPBACK: &str = "127.0.0.1";

/// The variables from which clients take the API server's address; the second and third one are ports.
pub(in crate::injection) const ADDRESS: [&str; 3] =
    ["KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT", "KUBERNETES_SERVICE_PORT_HTTPS"];

/// Both spellings: some clients read only one, and some prefer the one in lower case.
pub(in crate::injection) const NO_PROXY: [&str; 2] = ["NO_PROXY", "no_proxy"];

/// Entries of [`NO_PROXY`] that keep clients from a proxy for [`LOOPBACK`].
pub(in crate::injection) const COVERS_LOOPBACK: [&str; 3] = [LOOPBACK, "*", "127.0.0.0/8"];

pub(in crate::injection) const PROXIES: [&str; 6] =
    ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

/// Whether injection may add or replace this variable.
pub(in crate::injection) fn is_led_variable(name: &str) -> bool {
    ADDRESS.contains(&name) || NO_PROXY.contains(&name)
}

/// The API server's address that the led containers set themselves: the sidecar connects to it instead of the cluster's.
pub(super) fn upstream(led: &[Container<'_>]) -> Result<Vec<Value>, Refusal> {
    let mut upstream: Option<(Vec<Value>, &str)> = None;
    for container in led {
        let own = own_address(container)?;
        match &upstream {
            Some((first, other)) if *first != own => {
                return Err(reasons::different_addresses(other, container.name));
            }
            Some(_) => {}
            None => upstream = Some((own, container.name)),
        }
    }
    Ok(upstream.map(|(own, _)| own).unwrap_or_default())
}

/// The entries for the address that a container has.
fn own_address(container: &Container<'_>) -> Result<Vec<Value>, Refusal> {
    let mut own = Vec::new();
    for name in ADDRESS {
        let Some(entry) = only_entry(container, name)? else { continue };
        match given(entry) {
            Some(value) if !value.is_empty() && !value.contains("$(") => own.push(json!({"name": name, "value": value})),
            Some("") => return Err(reasons::empty_variable(container.name, name)),
            Some(_) => return Err(reasons::variable_by_reference(container.name, name)),
            None => return Err(reasons::variable_by_value_from(container.name, name)),
        }
    }
    Ok(own)
}

/// The value of a variable, if the manifest has it. The API server leaves out an empty one.
fn given(entry: &Value) -> Option<&str> {
    match (entry.get("value"), entry.get("valueFrom")) {
        (None | Some(Value::Null), None | Some(Value::Null)) => Some(""),
        (value, _) => value?.as_str(),
    }
}

/// Sets the variables of a container.
pub(super) fn lead(container: &Container<'_>, port: u16, changes: &mut Changes) -> Result<(), Refusal> {
    let mut added = Vec::new();
    let port = port.to_string();
    for (name, value) in ADDRESS.into_iter().zip([LOOPBACK, &port, &port]) {
        set(container, name, value, &mut added, changes);
    }
    if PROXIES.iter().any(|name| container.variable(name).is_some()) {
        bypass_proxy(container, &mut added, changes)?;
    }
    // First, because `$(NAME)` in a variable refers to variables before it only.
    let place = Place::First;
    if !added.is_empty() {
        changes.additions.push(Addition { to: container.place("env"), place, items: added });
    }
    Ok(())
}

/// Adds the loopback address to the hosts without proxy. A spelling that is absent stays absent if the other one is there: clients
/// would prefer the new one, and lose its hosts.
fn bypass_proxy(container: &Container<'_>, added: &mut Vec<Item>, changes: &mut Changes) -> Result<(), Refusal> {
    let present: Vec<&str> = NO_PROXY.into_iter().filter(|name| container.variable(name).is_some()).collect();
    if present.is_empty() {
        for name in NO_PROXY {
            set(container, name, LOOPBACK, added, changes);
        }
    }
    for name in present {
        let entry = only_entry(container, name)?;
        let Some(hosts) = entry.and_then(|entry| entry.get("value")).and_then(Value::as_str) else {
            if entry.and_then(given) == Some("") {
                return Err(reasons::proxy_without_value(container.name, name));
            }
            return Err(reasons::proxy_by_value_from(container.name, name));
        };
        if !hosts.split(',').any(|host| COVERS_LOOPBACK.contains(&host.trim())) {
            let joined = if hosts.trim().is_empty() { LOOPBACK.to_owned() } else { format!("{hosts},{LOOPBACK}") };
            set(container, name, &joined, added, changes);
        }
    }
    Ok(())
}

/// Replaces a variable that is there, or adds it.
fn set(container: &Container<'_>, name: &str, value: &str, added: &mut Vec<Item>, changes: &mut Changes) {
    if container.variable(name).is_some() {
        let at = container.place("env").with(name).with("value");
        changes.replacements.push(Replacement { at, to: value.to_owned() });
    } else {
        added.push(Item { name: name.to_owned(), value: json!({"name": name, "value": value}) });
    }
}

/// Of two entries with one name, the last one counts; which one was meant is unclear.
fn only_entry<'v>(container: &Container<'v>, name: &str) -> Result<Option<&'v Value>, Refusal> {
    let entries = container.list("env").iter().filter(|entry| entry.get("name").and_then(Value::as_str) == Some(name));
    if entries.count() > 1 {
        return Err(reasons::variable_twice(container.name, name));
    }
    Ok(container.variable(name))
}
