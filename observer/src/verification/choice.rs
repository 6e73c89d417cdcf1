//! Chooses the resource that the requests of a verification are for.

use std::time::Duration;

use observer_core::k8s::Resource;
use observer_core::verification::{ObservedAnswer, Target};
use observer_core::wire::BodyKind;
use serde::Deserialize;
use tokio::time::sleep;

use super::candidates::candidates;
use super::failure::VerifyError;
use super::server::Server;

/// Time during which other clients must not read a resource, for it to count as idle.
pub(super) const QUIET_FOR: Duration = Duration::from_secs(5);
/// Maximum number of objects of a resource that the user has not named, since some lists read all of them.
const MOST_OBJECTS: u64 = 500;
/// Minimum number of objects of a resource: with fewer, there is no second page.
const FEWEST_OBJECTS: u64 = 2;

#[derive(Deserialize)]
struct ApiGroup {
    #[serde(rename = "preferredVersion")]
    preferred: ApiVersion,
}

#[derive(Deserialize)]
struct ApiVersion {
    version: String,
}

#[derive(Deserialize)]
struct ApiResources {
    resources: Vec<ApiResource>,
}

#[derive(Deserialize)]
struct ApiResource {
    name: String,
}

/// Finds the resource with this name, such as `deployments.apps`.
pub(super) async fn named(server: &mut Server, name: &str) -> Result<Resource, VerifyError> {
    let unknown = || VerifyError::NoSuchResource { name: name.to_owned() };
    let (plural, group) = name.split_once('.').unwrap_or((name, ""));
    let is_word = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.'));
    if plural.is_empty() || !is_word(plural) || !is_word(group) {
        return Err(unknown());
    }
    let (version, path) = if group.is_empty() {
        ("v1".to_owned(), "/api/v1".to_owned())
    } else {
        let found: Option<ApiGroup> = server.discover(&format!("/apis/{group}")).await?;
        let version = found.ok_or_else(unknown)?.preferred.version;
        let path = format!("/apis/{group}/{version}");
        (version, path)
    };
    let found: Option<ApiResources> = server.discover(&path).await?;
    if !found.ok_or_else(unknown)?.resources.iter().any(|resource| resource.name == plural) {
        return Err(unknown());
    }
    Ok(Resource { group: group.to_owned(), version, resource: plural.to_owned() })
}

/// Chooses an object of a resource that the user has named.
pub(super) async fn target_of(server: &mut Server, resource: Resource) -> Result<Target, VerifyError> {
    let name = resource.to_string();
    let answer = first_page(server, &resource).await?;
    suitable(resource, &answer, u64::MAX).map_err(|reason| VerifyError::Unsuitable { name, reason })
}

/// Chooses a resource with objects that no other client reads.
pub(super) async fn quiet(server: &mut Server) -> Result<Target, VerifyError> {
    let candidates = candidates();
    let before = server.page(&candidates, &mut |_sample| {}).await?;
    sleep(QUIET_FOR).await;
    let after = server.page(&candidates, &mut |_sample| {}).await?;
    let mut tried = Vec::new();
    for resource in candidates {
        let name = resource.to_string();
        if !(after.counters(&resource) - before.counters(&resource)).is_still() {
            tried.push(format!("{name}: other clients read it"));
            continue;
        }
        let answer = first_page(server, &resource).await?;
        match suitable(resource, &answer, MOST_OBJECTS) {
            Ok(target) => return Ok(target),
            Err(reason) => tried.push(format!("{name}: {reason}")),
        }
    }
    Err(VerifyError::NothingQuiet { tried: tried.join("; ") })
}

async fn first_page(server: &mut Server, resource: &Resource) -> Result<ObservedAnswer, VerifyError> {
    let request = format!("{}?limit={FEWEST_OBJECTS}", Target::collection(resource));
    Ok(server.ask(&request, BodyKind::Document).await?.answer)
}

/// Chooses an object in a list of the resource, or returns the reason why the resource is not suitable.
fn suitable(resource: Resource, page: &ObservedAnswer, most: u64) -> Result<Target, String> {
    if matches!(page.status, 401 | 403) {
        return Err(format!("you may not list it ({}); get, list and watch are needed", page.status));
    }
    if page.status != 200 {
        return Err(format!("its list returns status {}", page.status));
    }
    let objects = page.items + page.remaining;
    if page.items < FEWEST_OBJECTS {
        return Err(format!("it has {} objects; a second page needs two", page.items));
    }
    if objects > most {
        return Err(format!("it has {objects} objects; some lists would read all of them"));
    }
    let (namespace, name) = page.first_item.clone().unwrap_or_default();
    Ok(Target { resource, namespace: Some(namespace).filter(|namespace| !namespace.is_empty()), name })
}
