//! The decision about one pod.

use serde_json::Value;

use super::automount::{Account, ServiceAccounts, Token, token};
use super::containers::{Container, containers, selected};
use super::ports::Ports;
use super::quality_of_service::resources;
use super::sidecar::sidecar;
use super::{environment, mounts, refused, volumes, warned};
use crate::injection::change::{Addition, Changes, Item, Place};
use crate::injection::options::Options;
use crate::injection::outcome::{Led, Refusal};
use crate::injection::pointer::Pointer;

/// An object and its pod.
#[derive(Clone, Copy, Debug)]
pub(in crate::injection) struct Subject<'v> {
    pub(in crate::injection) object: &'v Value,
    pub(in crate::injection) pod: &'v Value,
}

/// The changes to a pod.
#[derive(Clone, Debug)]
pub(in crate::injection) struct Decision {
    pub(in crate::injection) changes: Changes,
    pub(in crate::injection) led: Vec<Led>,
    pub(in crate::injection) warnings: Vec<String>,
    /// The ServiceAccount, if it is not in the input, and if it matters whether it withholds its token.
    pub(in crate::injection) unknown_account: Option<Account>,
}

impl<'v> Subject<'v> {
    pub(super) fn spec(&self) -> &'v Value {
        self.pod.get("spec").unwrap_or(&Value::Null)
    }

    /// The namespace of the object, as far as the manifest names it.
    pub(super) fn namespace(&self) -> Option<&'v str> {
        self.object.pointer("/metadata/namespace").and_then(Value::as_str)
    }
}

/// Decides how a pod without a sidecar changes. `None` if no container of it is to be led.
pub(in crate::injection) fn decide(
    subject: &Subject<'_>,
    options: &Options,
    accounts: &ServiceAccounts,
) -> Result<Option<Decision>, Refusal> {
    let all = containers(subject.spec())?;
    refused::check(subject, &all, options)?;
    let chosen = selected(&all, options);
    if chosen.is_empty() {
        return Ok(None);
    }
    let token = token(subject, options, accounts);
    let led = led(&chosen, &token, options)?;
    refused::check_led(&led, subject)?;
    let ports = Ports::assign(&led, &all)?;
    let upstream = environment::upstream(&led)?;
    let resources = resources(subject.spec(), &all);
    let mut changes = Changes::default();
    let item = Item { name: crate::pod_layout::CONTAINER.to_owned(), value: sidecar(&ports, &upstream, resources, options) };
    changes.additions.push(Addition { to: Pointer::of(["spec", "initContainers"]), place: Place::First, items: vec![item] });
    for (container, port) in led.iter().zip(&ports.led) {
        environment::lead(container, port.port, &mut changes)?;
        mounts::lead(container, &mut changes);
    }
    let needs_token = led.iter().any(|container| container.service_account_mount().is_none());
    let items = volumes::added(needs_token, options);
    changes.additions.push(Addition { to: Pointer::of(["spec", "volumes"]), place: Place::Last, items });
    let warnings = warned::warnings(subject, &led);
    let unknown_account = token.unknown_account().filter(|_| needs_token);
    Ok(Some(Decision { changes, led: ports.led, warnings, unknown_account }))
}

/// The containers that have a token, or get one.
fn led<'v>(chosen: &[Container<'v>], token: &Token, options: &Options) -> Result<Vec<Container<'v>>, Refusal> {
    let gets_one = matches!(token, Token::Mounted | Token::Unknown(_)) || options.service_account_token;
    let led: Vec<Container<'v>> =
        chosen.iter().filter(|container| gets_one || container.service_account_mount().is_some()).cloned().collect();
    match (led.is_empty(), token) {
        (false, _) => Ok(led),
        (true, Token::WithheldByAccount(account)) => Err(Refusal::new(
            format!(
                "ServiceAccount {account} sets automountServiceAccountToken: false, so the pod has no token to call the API server"
            ),
            "if the pod shall have a token, set automountServiceAccountToken: true in it, or pass --service-account-token",
        )),
        (true, _) => Err(Refusal::new(
            format!(
                "the pod sets automountServiceAccountToken: false and mounts no token at {}",
                crate::pod_layout::SERVICE_ACCOUNT
            ),
            "a pod without a token does not call the API server; if it does, pass --service-account-token",
        )),
    }
}
