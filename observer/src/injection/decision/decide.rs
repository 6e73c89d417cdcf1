//! The decision about one pod.

use serde_json::Value;

use super::automount::{Token, token};
use super::containers::{Container, containers, selected};
use super::ports::Ports;
use super::quality_of_service::resources;
use super::referenced::Referenced;
use super::sidecar::sidecar;
use super::token_volumes::TokenVolumes;
use super::{environment, mounts, reasons, refused, volumes, warned};
use crate::injection::change::{Addition, Changes, Item, Place};
use crate::injection::options::Options;
use crate::injection::outcome::{Led, Refusal};
use crate::injection::pointer::Pointer;

/// An object and its pod.
#[derive(Clone, Copy, Debug)]
pub(in crate::injection) struct Subject<'v> {
    pub(in crate::injection) object: &'v Value,
    /// The namespace of the object, as far as it is known.
    pub(in crate::injection) namespace: Option<&'v str>,
    pub(in crate::injection) pod: &'v Value,
    /// Whether an earlier injection gave it a token.
    pub(in crate::injection) had_token: bool,
    /// The objects that it may refer to.
    pub(in crate::injection) referenced: &'v Referenced,
}

/// The changes to a pod.
#[derive(Clone, Debug)]
pub(in crate::injection) struct Decision {
    pub(in crate::injection) changes: Changes,
    pub(in crate::injection) led: Vec<Led>,
    pub(in crate::injection) warnings: Vec<String>,
}

impl<'v> Subject<'v> {
    pub(super) fn spec(&self) -> &'v Value {
        self.pod.get("spec").unwrap_or(&Value::Null)
    }
}

/// Decides how a pod without a sidecar changes. `None` if no container of it is to be led.
pub(in crate::injection) fn decide(subject: &Subject<'_>, options: &Options) -> Result<Option<Decision>, Refusal> {
    let all = containers(subject.spec())?;
    refused::check(subject, &all, options)?;
    let chosen = selected(&all, options);
    if chosen.is_empty() {
        return Ok(None);
    }
    let token = token(subject, options);
    let led = led(&chosen, &token)?;
    let token_volumes = TokenVolumes::of(&led, subject.spec());
    refused::check_led(&led, &token_volumes)?;
    let ports = Ports::assign(&led, &all)?;
    let upstream = environment::upstream(&led)?;
    let resources = resources(subject.spec(), &all, options);
    let with_service_ca = options.openshift || token_volumes.have_service_ca();
    let mut changes = Changes::default();
    let item = Item {
        name: crate::pod_layout::CONTAINER.to_owned(),
        value: sidecar(&ports, &upstream, resources.value, with_service_ca, options),
    };
    changes.additions.push(Addition { to: Pointer::of(["spec", "initContainers"]), place: Place::First, items: vec![item] });
    for (container, port) in led.iter().zip(&ports.led) {
        environment::lead(container, port.port, &mut changes)?;
        mounts::lead(container, &mut changes);
    }
    let needs_token = led.iter().any(|container| container.service_account_mount().is_none());
    if let (true, Token::Unknown(account)) = (needs_token, &token) {
        return Err(Refusal::new(
            format!("ServiceAccount {account} is not in the input, and may withhold its token, which the pod would then get"),
            "pass its manifest together with this one, or --assume-token if the pod has a token",
        ));
    }
    let items = volumes::added(needs_token, options);
    changes.additions.push(Addition { to: Pointer::of(["spec", "volumes"]), place: Place::Last, items });
    let mut warnings = warned::warnings(subject, &all, &led, options.seen);
    if !options.containers.is_empty() {
        warnings.extend(warned::without_token(&chosen, &led));
    }
    if resources.lose_guarantee {
        warnings
            .push("the pod was Guaranteed and becomes Burstable: give equal --requests and --limits for cpu and memory".to_owned());
    }
    Ok(Some(Decision { changes, led: ports.led, warnings }))
}

/// The containers that have a token, or get one.
fn led<'v>(chosen: &[Container<'v>], token: &Token) -> Result<Vec<Container<'v>>, Refusal> {
    let gets_one = matches!(token, Token::Mounted | Token::Unknown(_));
    let led: Vec<Container<'v>> =
        chosen.iter().filter(|container| gets_one || container.service_account_mount().is_some()).cloned().collect();
    match (led.is_empty(), token) {
        (false, _) => Ok(led),
        (true, Token::WithheldByAccount(account)) => Err(Refusal::new(
            format!(
                "ServiceAccount {account} sets automountServiceAccountToken: false, so the pod has no token to call the API server"
            ),
            "if the pod should have a token, set automountServiceAccountToken: true in it, or pass --service-account-token",
        )),
        (true, Token::NotMounted) => Err(reasons::not_mounted()),
        (true, _) => Err(Refusal::new(
            format!(
                "the pod sets automountServiceAccountToken: false and mounts no token at {}",
                crate::pod_layout::SERVICE_ACCOUNT
            ),
            "a pod without a token does not call the API server; if it does, pass --service-account-token",
        )),
    }
}
