//! The containers of a pod.

use std::collections::BTreeSet;

use serde_json::Value;

use super::mounts::clean;
use crate::dns_label::is_dns_label;
use crate::injection::options::Options;
use crate::injection::outcome::Refusal;
use crate::injection::pointer::Pointer;
use crate::pod_layout::SERVICE_ACCOUNT;

/// A container or an init container.
#[derive(Clone, Debug)]
pub(super) struct Container<'v> {
    /// `containers` or `initContainers`.
    group: &'static str,
    pub(super) name: &'v str,
    pub(super) value: &'v Value,
}

impl<'v> Container<'v> {
    /// The place of one of its members.
    pub(super) fn place(&self, member: &str) -> Pointer {
        Pointer::of(["spec", self.group, self.name, member])
    }

    /// The items of one of its lists.
    pub(super) fn list(&self, member: &str) -> &'v [Value] {
        self.value.get(member).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    pub(super) fn text(&self, member: &str) -> &'v str {
        self.value.get(member).and_then(Value::as_str).unwrap_or_default()
    }

    /// The words of its command line.
    pub(super) fn words(&self) -> impl Iterator<Item = &'v str> {
        self.list("command").iter().chain(self.list("args")).filter_map(Value::as_str)
    }

    /// The entry of its environment with this name.
    pub(super) fn variable(&self, name: &str) -> Option<&'v Value> {
        self.list("env").iter().find(|entry| entry.get("name").and_then(Value::as_str) == Some(name))
    }

    /// The mount where clients read their token.
    pub(super) fn service_account_mount(&self) -> Option<&'v Value> {
        let path = |mount: &Value| mount.get("mountPath").and_then(Value::as_str).map(clean);
        self.list("volumeMounts").iter().find(|mount| path(mount).as_deref() == Some(SERVICE_ACCOUNT))
    }
}

/// All containers, in the order in which they start.
pub(super) fn containers(spec: &Value) -> Result<Vec<Container<'_>>, Refusal> {
    let mut all = Vec::new();
    for group in ["initContainers", "containers"] {
        match spec.get(group) {
            Some(Value::Array(list)) => {
                for value in list {
                    let name = value.get("name").and_then(Value::as_str).filter(|name| is_dns_label(name));
                    let name = name.ok_or_else(|| malformed(&format!("an item of {group} has no valid name")))?;
                    all.push(Container { group, name, value });
                }
            }
            None | Some(Value::Null) => {}
            Some(_) => return Err(malformed(&format!("{group} is not a list"))),
        }
    }
    if spec.get("containers").is_none() {
        return Err(incomplete("the pod has no containers"));
    }
    if !all.iter().any(|container| container.group == "containers") {
        return Err(malformed("the list of containers is empty"));
    }
    let mut names = BTreeSet::new();
    if let Some(twice) = all.iter().find(|container| !names.insert(container.name)) {
        return Err(malformed(&format!("two containers have the name {}", twice.name)));
    }
    all.iter().try_for_each(check_lists)?;
    if let Some(incomplete_one) = all.iter().find(|container| container.text("image").is_empty()) {
        return Err(incomplete(&format!("container {} has no image", incomplete_one.name)));
    }
    Ok(all)
}

/// A patch of kustomize or kubectl has some members of a pod only.
pub(in crate::injection) fn incomplete(what: &str) -> Refusal {
    Refusal::passing(
        format!("{what}, as in a patch"),
        "if its base is injected, nothing is to do; otherwise inject the output of `kustomize build`",
    )
}

/// The containers that the options select.
pub(super) fn selected<'v>(all: &[Container<'v>], options: &Options) -> Vec<Container<'v>> {
    let is_selected = |name: &str| options.containers.is_empty() || options.containers.iter().any(|wanted| wanted == name);
    all.iter().filter(|container| is_selected(container.name)).cloned().collect()
}

fn check_lists(container: &Container<'_>) -> Result<(), Refusal> {
    for (member, naming) in [("env", "name"), ("volumeMounts", "mountPath")] {
        let malformed_here = |what: &str| malformed(&format!("{member} of container {} {what}", container.name));
        match container.value.get(member) {
            None | Some(Value::Null) => continue,
            Some(Value::Array(_)) => {}
            Some(_) => return Err(malformed_here("is not a list")),
        }
        if container.list(member).iter().any(|item| item.get(naming).and_then(Value::as_str).is_none()) {
            return Err(malformed_here(&format!("has an item without {naming}")));
        }
    }
    Ok(())
}

pub(super) fn malformed(what: &str) -> Refusal {
    Refusal::new(what, "correct the manifest: the API server would refuse it, too")
}
