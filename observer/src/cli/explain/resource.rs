//! The path of a verb and a built-in resource, such as `LIST pods`.

use anyhow::{Result, bail};
use observer_core::k8s::{Resource, is_namespaced, stable_resource, stable_resources};

use super::request::Flags;
use super::verbs::{Action, Names};
use super::wrong_input::{quoted, wrong_input};
use crate::cli::nearest::nearest;

/// The path and query for `action` on the resource and the name in `words`: `pods`, `pods?limit=500`, `pods/web-0`, `pods web-0`.
pub(super) fn path(action: Action, words: &[String], flags: &Flags) -> Result<String> {
    let [first, others @ ..] = words else {
        let verb = action.word;
        return Err(wrong_input(
            &format!("`{verb}` needs a resource or a path, as in `{verb} pods` or `{verb} /api/v1/pods`"),
            &[],
        ));
    };
    let (first, query) = first.split_once('?').unwrap_or((first, ""));
    let (plural, name) = match (first.split_once('/'), others) {
        (Some((plural, name)), []) => (plural, name),
        (None, [name]) => (first, name.as_str()),
        (None, []) => (first, ""),
        (Some(_), [extra, ..]) | (None, [_, extra, ..]) => {
            return Err(wrong_input(&format!("{} is one word too many after {}", quoted(extra), quoted(first)), &[]));
        }
    };
    let resource = resource(plural)?;
    check(action, &resource, name, flags)?;
    let selects = action.selects() && !name.is_empty();
    let selector = if selects { format!("fieldSelector=metadata.name%3D{name}") } else { String::new() };
    let queries: Vec<&str> = [query, &selector].into_iter().filter(|query| !query.is_empty()).collect();
    let collection = collection(&resource, flags.namespace.as_deref());
    let name = if selects || name.is_empty() { String::new() } else { format!("/{name}") };
    let question_mark = if queries.is_empty() { "" } else { "?" };
    Ok(format!("{collection}{name}{question_mark}{}", queries.join("&")))
}

fn resource(plural: &str) -> Result<Resource> {
    if let Some(resource) = stable_resource(&plural.to_ascii_lowercase()) {
        return Ok(resource);
    }
    let known = stable_resources().flat_map(|resource| [resource.resource.clone(), resource.to_string()]);
    let path = match plural.split_once('.') {
        Some((plural, group)) if is_name(plural) && is_name(group) => format!("/apis/{group}/VERSION/{plural}"),
        _no_group => "/apis/GROUP/VERSION/RESOURCE".to_owned(),
    };
    let what = format!("{} is no built-in resource of version v1, so it needs its path (`GET {path}`)", quoted(plural));
    Err(wrong_input(&what, &nearest(plural, known)))
}

/// Refuses a name or a namespace that the request cannot have, and a request without one that it needs.
fn check(action: Action, resource: &Resource, name: &str, flags: &Flags) -> Result<()> {
    let verb = action.word;
    let name_given = Some(name).filter(|name| !name.is_empty());
    for (what, text) in [("name", name_given), ("namespace", flags.namespace.as_deref())] {
        if let Some(text) = text.filter(|text| !is_name(text)) {
            bail!("{} is not the {what} of an object: use letters, digits, `-`, `.`, `_` and `:`", quoted(text));
        }
    }
    let is_namespaced = is_namespaced(resource) == Some(true);
    if !is_namespaced && (flags.namespace.is_some() || flags.all_namespaces) {
        bail!("`{resource}` is cluster-scoped: omit -n and -A");
    }
    if flags.namespace.is_some() && flags.all_namespaces {
        bail!("-n and -A exclude each other");
    }
    match action.names {
        Names::Always if name.is_empty() => {
            bail!("`{verb} {resource}` needs the name of an object, as in `{verb} {resource} NAME`")
        }
        Names::Never if !name.is_empty() => bail!("`{verb} {resource}` takes no name, but `{name}` follows"),
        Names::Maybe | Names::Always | Names::Never => {}
    }
    let is_of_one = !name.is_empty() && !action.selects();
    let needs_namespace = is_namespaced && (is_of_one || action.names != Names::Maybe);
    if needs_namespace && flags.namespace.is_none() {
        bail!("`{verb}` of `{resource}` needs a namespace: add -n NAMESPACE");
    }
    Ok(())
}

fn collection(resource: &Resource, namespace: Option<&str>) -> String {
    let root = if resource.group.is_empty() { "/api" } else { "/apis" };
    let namespace = namespace.map(|namespace| format!("/namespaces/{namespace}")).unwrap_or_default();
    format!("{root}/{}{namespace}/{}", resource.api_version(), resource.resource)
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b':'))
}
