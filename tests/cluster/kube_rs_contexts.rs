//! kube-rs clients in one process, each with another context of the kubeconfig that `watchtap run` wrote.

use std::fs;
use std::path::Path;

use k8s_openapi::api::authentication::v1::SelfSubjectReview;
use kube::Api;
use kube::api::PostParams;
use observer_tests::{Cluster, ConfigMapController, RunSession, kube_client};
use serde_json::Value;
use tokio::runtime::Runtime;

use super::eventually::{eventually, listed};

/// Contexts and the user that the API server authenticates for each.
const USERS: [(&str, &str); 5] = [
    ("admin", "admin"),
    ("visitor", "visitor"),
    ("certificate", "certificate-admin"),
    ("rotating", "visitor"),
    ("renamed", "admin"),
];

#[test]
fn each_kube_rs_context_acts_as_its_own_user() {
    check(&[], "kube-rs-server");
}

#[test]
fn each_kube_rs_context_connects_through_the_proxy_url() {
    check(&["--via", "proxy-url"], "kube-rs-proxy-url");
}

/// Checks the user of each context, and that a watch of one context receives events.
#[track_caller]
fn check(flags: &[&str], namespace: &str) {
    let cluster = Cluster::shared().unwrap();
    cluster.create_configmaps(namespace, 2).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = folder.path().join("kubeconfig");
    // No other test uses this user name, so the ports belong to this test.
    fs::write(&kubeconfig, cluster.kubeconfig_with_contexts(namespace)).unwrap();
    fs::write(folder.path().join("token"), cluster.visitor_token()).unwrap();
    let session = RunSession::start(&kubeconfig, flags).unwrap();
    let runtime = Runtime::new().unwrap();
    for (context, user) in USERS {
        assert_eq!(runtime.block_on(whoami(session.kubeconfig(), context)), user, "{context}");
    }

    let start = |context| runtime.block_on(ConfigMapController::start(session.kubeconfig(), Some(context), namespace)).unwrap();
    let controllers = [start("certificate"), start("renamed")];
    for count in [2, 4] {
        cluster.create_configmaps(namespace, count).unwrap();
        for controller in &controllers {
            let objects = eventually(|| Some(controller.objects()).filter(|objects| objects.len() == count));
            assert_eq!(objects, Some(listed(cluster, namespace)));
        }
    }
    drop((controllers, runtime));
    let report = session.finish().unwrap();
    let requests = report["requests"].as_array().unwrap();
    let of = |verb: &str| requests.iter().filter(|request| request["verb"] == verb).collect::<Vec<&Value>>();
    assert_eq!(of("create").len(), USERS.len(), "each went through us: {requests:#?}");
    let added: Vec<_> = of("watch").iter().map(|watch| watch["watch"]["added"].as_u64()).collect();
    assert_eq!(added, [Some(2), Some(2)], "{requests:#?}");
}

async fn whoami(kubeconfig: &Path, context: &str) -> String {
    let reviews = Api::<SelfSubjectReview>::all(kube_client(kubeconfig, Some(context)).await.unwrap());
    let review = reviews.create(&PostParams::default(), &SelfSubjectReview::default()).await.unwrap();
    review.status.and_then(|status| status.user_info?.username).unwrap()
}
