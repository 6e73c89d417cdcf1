//! The certificates that cert-manager issues for the webhook. No cert-manager runs here: the tests read the objects.

use observer_tests::{Helm, HelmRelease};
use serde_json::{Value, json};

use super::objects::{named, rendered};
use super::value_sets::{VALUE_SETS, ValueFiles};

/// cert-manager writes the issuer's certificate into `ca.crt`, and its cainjector writes that into `caBundle`. So the issuer must outlive the
/// certificates of the webhook: else each renewal would replace `caBundle` before the replicas have the new certificate.
#[test]
fn authority_is_not_renewed_with_the_certificates_of_the_webhook() {
    let objects = objects_with("cert-manager");
    let spec = |name: &str| &objects.iter().find(|object| named(object) == name).unwrap_or_else(|| panic!("no {name}"))["spec"];
    let issuer = |name: &str| format!("Issuer/{}", spec(name)["issuerRef"]["name"].as_str().unwrap());
    let configuration = objects.iter().find(|object| object["kind"] == "MutatingWebhookConfiguration").unwrap();
    assert_eq!(configuration["metadata"]["annotations"]["cert-manager.io/inject-ca-from"], "watchtap/watchtap-webhook");

    let served = "Certificate/watchtap-webhook";
    let deployment = objects.iter().find(|object| object["kind"] == "Deployment").unwrap();
    let mounted = &deployment["spec"]["template"]["spec"]["volumes"][0]["secret"]["secretName"];
    assert_eq!((&spec(served)["secretName"], spec(served).get("isCA")), (mounted, None));
    let authority = "Certificate/watchtap-webhook-authority";
    assert_eq!(*spec(&issuer(served)), json!({"ca": {"secretName": spec(authority)["secretName"]}}));
    assert_ne!(spec(authority)["secretName"], *mounted);
    assert_eq!((&spec(authority)["isCA"], &spec(authority)["duration"]), (&json!(true), &json!("87600h")));
    assert_eq!(spec(authority)["privateKey"]["rotationPolicy"], "Never");
    assert_eq!(*spec(&issuer(authority)), json!({"selfSigned": {}}));
}

#[test]
fn issuer_of_the_user_needs_no_other_one() {
    let objects = objects_with("an issuer of the cluster");
    let of_cert_manager = |object: &&Value| object["apiVersion"] == "cert-manager.io/v1";
    let names: Vec<String> = objects.iter().filter(of_cert_manager).map(named).collect();
    assert_eq!(names, ["Certificate/watchtap-webhook"]);
}

fn objects_with(name: &str) -> Vec<Value> {
    let set = VALUE_SETS.iter().find(|set| set.name == name).unwrap();
    rendered(&Helm::of(HelmRelease::V4).unwrap(), set, &ValueFiles::create())
}
