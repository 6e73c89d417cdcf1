//! Sends reviews at a fixed rate, whether or not earlier ones are answered, and measures each from the time at which it was due.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rustls_pki_types::ServerName;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};
use tokio_rustls::TlsConnector;

use crate::forward::{Http, tls_client};

/// The amounts of a measurement.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Amounts {
    pub(super) reviews: u32,
    pub(super) reviews_a_second: u32,
    /// Connections that are kept, and used in turn.
    pub(super) connections: u32,
}

/// The answer times of a measurement, in microseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Times {
    pub(super) p50_us: f64,
    pub(super) p99_us: f64,
}

/// Measures the webhook at a port. `expects` is in each answer.
pub(super) async fn measure(port: u16, review: &Bytes, amounts: Amounts, expects: &'static str) -> Result<Times> {
    let mut connections = Vec::new();
    for _ in 0..amounts.connections {
        connections.push(connect(port).await?);
    }
    let begun = Instant::now();
    let interval = Duration::from_secs(1) / amounts.reviews_a_second;
    let mut tasks = JoinSet::new();
    for (first, mut connection) in (0..amounts.connections).zip(connections) {
        let review = review.clone();
        let own = (first..amounts.reviews).step_by(usize::try_from(amounts.connections)?);
        tasks.spawn(async move {
            let mut times = Vec::new();
            for number in own {
                let due = begun + interval * number;
                sleep_until(due).await;
                send(&mut connection, review.clone(), expects).await?;
                times.push(due.elapsed());
            }
            anyhow::Ok(times)
        });
    }
    let mut times = Vec::new();
    while let Some(of_one) = tasks.join_next().await {
        times.extend(of_one??);
    }
    Times::of(times).context("no reviews")
}

impl Times {
    fn of(mut times: Vec<Duration>) -> Option<Self> {
        times.sort();
        let at = |hundredths: usize| Some(times.get((times.len() * hundredths).div_ceil(100).checked_sub(1)?)?.as_secs_f64() * 1e6);
        Some(Self { p50_us: at(50)?, p99_us: at(99)? })
    }
}

pub(super) async fn connect(port: u16) -> Result<SendRequest<Full<Bytes>>> {
    let tcp = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
    tcp.set_nodelay(true)?;
    let tls = TlsConnector::from(Arc::new(tls_client(Http::H1)?));
    let stream = tls.connect(ServerName::IpAddress(Ipv4Addr::LOCALHOST.into()), tcp).await?;
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(sender)
}

async fn send(connection: &mut SendRequest<Full<Bytes>>, review: Bytes, expects: &str) -> Result<()> {
    connection.ready().await?;
    let request = Request::post("/mutate?timeout=5s").header("host", "webhook").header("content-type", "application/json");
    let response = connection.send_request(request.body(Full::new(review))?).await?;
    let status = response.status();
    let body = response.into_body().collect().await?.to_bytes();
    let is_expected = body.windows(expects.len()).any(|part| part == expects.as_bytes());
    ensure!(status == StatusCode::OK && is_expected, "{status}: {}", String::from_utf8_lossy(&body));
    Ok(())
}

/// A review of a labelled pod with three containers, each with twenty variables, as it is after `ServiceAccount` admission.
pub(super) fn review() -> Bytes {
    let mount =
        json!({"name": "kube-api-access-7xk2p", "readOnly": true, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"});
    let variables: Vec<Value> =
        (0..20).map(|number| json!({"name": format!("SETTING_{number}"), "value": "a".repeat(40)})).collect();
    let container = |name: &str| {
        json!({
            "name": name, "image": "registry.example/shop/checkout:1.27.3", "args": ["--leader-elect", "--metrics=:8080"],
            "env": variables, "volumeMounts": [mount], "imagePullPolicy": "IfNotPresent",
            "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
            "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
        })
    };
    let sources = json!([
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}},
    ]);
    let containers = ["app", "proxy", "agent"].map(container);
    let pod = json!({
        "kind": "Pod", "apiVersion": "v1",
        "metadata": {
            "generateName": "checkout-7d9c5b6f4-", "namespace": "shop",
            "labels": {"app": "checkout", "pod-template-hash": "7d9c5b6f4", "watchtap.dev/inject": "enabled"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "checkout-7d9c5b6f4", "uid": "1", "controller": true}],
        },
        "spec": {
            "containers": containers,
            "volumes": [{"name": "kube-api-access-7xk2p", "projected": {"defaultMode": 420, "sources": sources}}],
            "serviceAccountName": "checkout", "restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "securityContext": {},
        },
    });
    let request = json!({
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
        "kind": {"group": "", "version": "v1", "kind": "Pod"}, "resource": {"group": "", "version": "v1", "resource": "pods"},
        "namespace": "shop", "operation": "CREATE", "object": pod, "oldObject": null, "dryRun": false,
    });
    json!({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}).to_string().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_times_that_were_measured() {
        let times = Times::of((1..=200).map(Duration::from_micros).collect()).unwrap();
        assert!((times.p50_us - 100.0).abs() < 1e-6 && (times.p99_us - 198.0).abs() < 1e-6, "{times:?}");
        assert!(Times::of(Vec::new()).is_none());
    }
}
