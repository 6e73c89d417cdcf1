//! The two objects of the webhook: what it reads of them, and the documents with which it changes them by server-side apply.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};

use super::ServiceName;
use super::bundle::Bundle;
use super::identity::Account;
use crate::kubeconfig::Secret;

/// The only key of the Secret.
pub(super) const KEY: &str = "authority.pem";

/// An object as it was read: the precondition of a change. With the `uid`, a deleted object is not created again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Version {
    pub(super) uid: String,
    /// Its `resourceVersion`.
    pub(super) revision: String,
    /// The `uid` of each of its owners.
    pub(super) owners: Vec<String>,
}

/// The Secret as it was read.
#[derive(Clone, Debug)]
pub(super) enum SeenSecret {
    /// There is none.
    Absent,
    /// It has the key, or not.
    Present { version: Version, content: Option<Secret> },
}

/// The `MutatingWebhookConfiguration` as it was read.
#[derive(Clone, Debug)]
pub(super) struct SeenConfiguration {
    pub(super) version: Version,
    /// Those for our Service.
    pub(super) webhooks: Vec<SeenWebhook>,
}

/// A webhook for our Service.
#[derive(Clone, Debug)]
pub(super) struct SeenWebhook {
    pub(super) name: String,
    pub(super) bundle: Bundle,
}

impl SeenSecret {
    /// Reads the document of a Secret that exists.
    pub(super) fn parse(document: &[u8]) -> serde_json::Result<Self> {
        let SecretDocument { metadata, mut data } = serde_json::from_slice(document)?;
        let encoded = data.as_mut().and_then(|data| data.remove(KEY));
        // The API server has checked the base64. What it could not decode is not usable either.
        let content = encoded.map(|encoded| Secret::new(STANDARD.decode(encoded).unwrap_or_default()));
        Ok(Self::Present { version: metadata.into(), content })
    }
}

impl SeenConfiguration {
    /// Reads the document of a configuration, and selects the webhooks for `service`.
    pub(super) fn parse(document: &[u8], service: &ServiceName) -> serde_json::Result<Self> {
        let ConfigurationDocument { metadata, webhooks } = serde_json::from_slice(document)?;
        let is_ours = |webhook: &WebhookDocument| {
            let named = webhook.client_config.service.as_ref();
            named.is_some_and(|named| named.name == service.name() && named.namespace == service.namespace())
        };
        let ours = webhooks.unwrap_or_default().into_iter().filter(is_ours);
        let webhooks = ours.map(|WebhookDocument { name, client_config }| {
            let pem = STANDARD.decode(client_config.ca_bundle.unwrap_or_default()).unwrap_or_default();
            SeenWebhook { name, bundle: Bundle::of_pem(&pem) }
        });
        Ok(Self { webhooks: webhooks.collect(), version: metadata.into() })
    }

    /// The certificates that at least one webhook has.
    pub(super) fn union(&self) -> Bundle {
        self.webhooks.iter().flat_map(|webhook| webhook.bundle.iter()).cloned().collect()
    }

    /// The certificates that every webhook has.
    pub(super) fn intersection(&self) -> Bundle {
        let union = self.union();
        let everywhere = union.iter().filter(|one| self.webhooks.iter().all(|webhook| webhook.bundle.contains(one)));
        everywhere.cloned().collect()
    }
}

/// The Secret `name` in the namespace of `service`, with an authority in PEM. `at` is the version that it has to have, if it exists.
/// So that it is deleted with the webhook, the webhook's own ServiceAccount is its owner.
pub(super) fn secret_to_apply(
    name: &str,
    service: &ServiceName,
    authority: &str,
    owner: Option<&Account>,
    at: Option<&Version>,
) -> Value {
    let mut metadata = metadata(name, at);
    metadata["namespace"] = json!(service.namespace());
    // Only those who may delete an object may change its owners, if `OwnerReferencesPermissionEnforcement` is on, as on OpenShift.
    // So an existing Secret keeps those that it has. An owner in another namespace would make the Secret garbage at once.
    let may_own = |owner: &&Account| owner.namespace == service.namespace() && at.is_none_or(|at| at.owners.contains(&owner.uid));
    if let Some(owner) = owner.filter(may_own) {
        metadata["ownerReferences"] = json!([{"apiVersion": "v1", "kind": "ServiceAccount", "name": owner.name, "uid": owner.uid}]);
    }
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": metadata,
        "type": "Opaque",
        "data": {KEY: STANDARD.encode(authority)},
    })
}

/// The configuration `name` with a `caBundle` in each of its webhooks. All of them are named, because an apply takes back what the
/// last one had.
pub(super) fn bundle_to_apply(name: &str, webhooks: &[String], bundle: &Bundle, at: &Version) -> Value {
    let encoded = STANDARD.encode(bundle.to_pem());
    let webhooks = webhooks.iter().map(|webhook| json!({"name": webhook, "clientConfig": {"caBundle": encoded}}));
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": metadata(name, Some(at)),
        "webhooks": webhooks.collect::<Vec<_>>(),
    })
}

fn metadata(name: &str, at: Option<&Version>) -> Value {
    match at {
        Some(at) => json!({"name": name, "uid": at.uid, "resourceVersion": at.revision}),
        None => json!({"name": name}),
    }
}

#[derive(Deserialize)]
struct SecretDocument {
    metadata: Metadata,
    data: Option<BTreeMap<String, String>>,
}

#[derive(Deserialize)]
struct ConfigurationDocument {
    metadata: Metadata,
    webhooks: Option<Vec<WebhookDocument>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WebhookDocument {
    name: String,
    client_config: ClientConfig,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClientConfig {
    ca_bundle: Option<String>,
    service: Option<ServiceReference>,
}

#[derive(Deserialize)]
struct ServiceReference {
    name: String,
    namespace: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    uid: String,
    resource_version: String,
    owner_references: Option<Vec<Owner>>,
}

#[derive(Deserialize)]
struct Owner {
    uid: String,
}

impl From<Metadata> for Version {
    fn from(metadata: Metadata) -> Self {
        let owners = metadata.owner_references.unwrap_or_default();
        Self { uid: metadata.uid, revision: metadata.resource_version, owners: owners.into_iter().map(|owner| owner.uid).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service() -> ServiceName {
        "watchtap.system".parse().unwrap()
    }

    fn account(namespace: &str) -> Account {
        Account { namespace: namespace.to_owned(), name: "watchtap".to_owned(), uid: "7".to_owned() }
    }

    fn version(owners: &[&str]) -> Version {
        let owners = owners.iter().map(|&uid| uid.to_owned()).collect();
        Version { uid: "1".to_owned(), revision: "2".to_owned(), owners }
    }

    #[test]
    fn new_secret_belongs_to_the_account_and_an_existing_one_keeps_its_owners() {
        let owners = |namespace: &str, at: Option<&Version>| {
            let owner = account(namespace);
            let secret = secret_to_apply("s", &service(), "PEM", Some(&owner), at);
            secret["metadata"].get("ownerReferences").map(|owners| owners[0]["uid"].clone())
        };
        assert_eq!(owners("system", None), Some(json!("7")));
        assert_eq!(owners("elsewhere", None), None, "it would be garbage at once");
        assert_eq!(owners("system", Some(&version(&["6", "7"]))), Some(json!("7")), "an applier keeps what it had");
        assert_eq!(owners("system", Some(&version(&["6"]))), None);
        let without = secret_to_apply("s", &service(), "PEM", None, None);
        assert_eq!(without["metadata"], json!({"name": "s", "namespace": "system"}));
    }

    #[test]
    fn content_of_a_secret_is_in_no_debug_output() {
        let authority = super::super::authority::Authority::generate(std::time::SystemTime::now()).unwrap();
        let document = secret_to_apply("s", &service(), &authority.to_pem(), None, Some(&version(&[])));
        let seen = SeenSecret::parse(document.to_string().as_bytes()).unwrap();
        let shown = format!("{seen:?} {authority:?}");
        assert!(shown.contains("secret bytes]"), "{shown}");
        let parts = authority.to_pem() + document["data"][KEY].as_str().unwrap();
        assert!(parts.lines().all(|part| !shown.contains(part)), "{shown}");
    }

    #[test]
    fn secret_is_read_with_and_without_its_key() {
        let content = |data: Value| {
            let document = json!({"metadata": {"uid": "1", "resourceVersion": "2"}, "data": data});
            match SeenSecret::parse(document.to_string().as_bytes()).unwrap() {
                SeenSecret::Present { version: found, content } => {
                    assert_eq!(found, version(&[]));
                    content.map(|content| content.expose().to_vec())
                }
                SeenSecret::Absent => panic!("it is there"),
            }
        };
        assert_eq!(content(json!({KEY: "UEVN"})), Some(b"PEM".to_vec()));
        assert_eq!(content(json!({KEY: "no base64"})), Some(Vec::new()));
        for data in [json!({}), json!(null), json!({"tls.key": "UEVN"})] {
            assert_eq!(content(data), None);
        }
        for document in ["", "[]", "{}", r#"{"metadata":{"uid":"1"}}"#] {
            assert!(SeenSecret::parse(document.as_bytes()).is_err());
        }
    }

    #[test]
    fn only_webhooks_of_our_service_count() {
        let bundle = STANDARD.encode(observer_pki::PrivateAuthority::generate().unwrap().certificate_pem());
        let webhook = |name: &str, client: Value| json!({"name": name, "clientConfig": client});
        let ours = json!({"service": {"name": "watchtap", "namespace": "system"}, "caBundle": bundle});
        let document = json!({"metadata": {"uid": "1", "resourceVersion": "2"}, "webhooks": [
            webhook("ours", ours),
            webhook("without", json!({"service": {"name": "watchtap", "namespace": "system"}})),
            webhook("other-namespace", json!({"service": {"name": "watchtap", "namespace": "other"}})),
            webhook("url", json!({"url": "https://watchtap.example"})),
        ]});
        let seen = SeenConfiguration::parse(document.to_string().as_bytes(), &service()).unwrap();
        let names: Vec<_> = seen.webhooks.iter().map(|webhook| webhook.name.as_str()).collect();
        assert_eq!(names, ["ours", "without"]);
        assert_eq!((seen.union().iter().count(), seen.intersection().iter().count()), (1, 0));
    }
}
