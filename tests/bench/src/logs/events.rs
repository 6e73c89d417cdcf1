//! Audit logs as kube-apiserver writes them: events in order of their last stage.

use std::fmt::{Display, Write as _};
use std::io::{self, Write};
use std::time::{Duration, SystemTime};

use anyhow::Result;
use serde::Serialize;
use serde_json::Value;

/// How much of each request the audit policy records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) enum Level {
    /// No bodies.
    Metadata,
    /// All bodies: a pod, or a list of pods.
    RequestResponse,
}

impl Level {
    pub(super) const ALL: [Self; 2] = [Self::Metadata, Self::RequestResponse];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Metadata => "Metadata",
            Self::RequestResponse => "RequestResponse",
        }
    }
}

/// Groups, versions and plural names.
const RESOURCES: [(&str, &str, &str); 6] = [
    ("", "v1", "pods"),
    ("apps", "v1", "deployments"),
    ("", "v1", "configmaps"),
    ("coordination.k8s.io", "v1", "leases"),
    ("", "v1", "nodes"),
    ("discovery.k8s.io", "v1", "endpointslices"),
];

/// Users and user agents.
const CLIENTS: [(&str, &str); 4] = [
    (
        "system:serviceaccount:argocd:argocd-application-controller",
        "argocd-application-controller/v0.0.0 (linux/amd64) kubernetes/$Format",
    ),
    ("system:kube-controller-manager", "kube-controller-manager/v1.34.2 (linux/amd64) kubernetes/8cc511e"),
    ("system:node:ip-10-0-3-7.eu-west-1.compute.internal", "kubelet/v1.34.2 (linux/amd64) kubernetes/8cc511e"),
    ("system:serviceaccount:monitoring:prometheus", "Prometheus/2.53.0"),
];

/// The members that are the same in all events.
const EXTRA: &str = r#""uid":"0b5c1c4b-6a4e-4a7c-9b7e-6f2c8a1d2e3f","groups":["system:serviceaccounts","system:serviceaccounts:argocd","system:authenticated"],"extra":{"authentication.kubernetes.io/credential-id":["JTI=4c3f0b0e-8a3c-4d58-9a0a-2b1f3f0d6c1e"],"authentication.kubernetes.io/node-name":["ip-10-0-3-7.eu-west-1.compute.internal"],"authentication.kubernetes.io/pod-name":["argocd-application-controller-0"],"authentication.kubernetes.io/pod-uid":["d2c4a0f6-3f5b-4c43-9a39-5d0b8d6a1f11"]}"#;
const ANNOTATIONS: &str = r#""authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":"RBAC: allowed by ClusterRoleBinding \"argocd-application-controller\" of ClusterRole \"argocd-application-controller\" to ServiceAccount \"argocd-application-controller/argocd\"""#;

/// When the log begins: 2026-11-20T14:00:00Z.
const BEGIN: Duration = Duration::from_hours(498_662);

/// Pods in the body of a list.
const ITEMS: usize = 5;

/// Events without an end. Of a hundred requests, 45 are gets, 25 lists, 15 watches, and 15 updates or patches.
#[derive(Debug)]
pub(super) struct Events {
    state: u64,
    now: Duration,
    revision: u64,
    level: Level,
    /// A pod as JSON.
    pod: String,
    line: String,
}

impl Events {
    pub(super) fn of(level: Level) -> Result<Self> {
        let pod: Value = serde_json::from_str(include_str!("../../bodies/pod.json"))?;
        let pod = format!(r#"{{"kind":"Pod","apiVersion":"v1",{}"#, pod.to_string().trim_start_matches('{'));
        Ok(Self { state: 0x9e37_79b9_7f4a_7c15, now: BEGIN, revision: 1_000_000, level, pod, line: String::new() })
    }

    /// Writes this many events.
    pub(super) fn write(&mut self, events: usize, to: &mut impl Write) -> io::Result<()> {
        for _ in 0..events {
            self.next();
            to.write_all(self.line.as_bytes())?;
        }
        Ok(())
    }

    /// The next number (Marsaglia's xorshift), below `below`.
    const fn chance(&mut self, below: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state % below
    }

    /// The members with the bodies of a request with this verb.
    fn bodies(&self, verb: &str) -> String {
        let pod = &self.pod;
        match (self.level, verb) {
            (Level::Metadata, _) | (_, "watch") => String::new(),
            (Level::RequestResponse, "get") => format!(r#""responseObject":{pod},"#),
            (Level::RequestResponse, "list") => {
                let (items, revision) = ([pod.as_str(); ITEMS].join(","), self.revision);
                format!(
                    r#""responseObject":{{"kind":"PodList","apiVersion":"v1","metadata":{{"resourceVersion":"{revision}"}},"items":[{items}]}},"#
                )
            }
            (Level::RequestResponse, _write) => format!(r#""requestObject":{pod},"responseObject":{pod},"#),
        }
    }

    fn next(&mut self) {
        let (pause, revisions) = (self.chance(4_000), self.chance(4));
        self.now += Duration::from_micros(pause);
        self.revision += revisions;
        let [kind, which, who] = [self.chance(100), self.chance(6), self.chance(4)];
        let (group, version, resource) = RESOURCES.into_iter().nth(usize::try_from(which).unwrap_or(0)).unwrap_or_default();
        let (user, agent) = CLIENTS.into_iter().nth(usize::try_from(who).unwrap_or(0)).unwrap_or_default();
        let base = if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") };
        let [namespace, object, short, form] = [self.chance(100), self.chance(10_000), self.chance(20_000), self.chance(4)];
        let of_object = format!("{base}/namespaces/ns-{namespace}/{resource}/object-{object}");
        let (verb, uri, lasted) = match kind {
            0..45 => ("get", of_object, Duration::from_micros(short)),
            45..70 => {
                let query = match form {
                    0 => "limit=500\\u0026resourceVersion=0".to_owned(),
                    1 => "labelSelector=app%3Dweb\\u0026limit=500".to_owned(),
                    _other => format!("resourceVersion={}", self.revision),
                };
                ("list", format!("{base}/{resource}?{query}"), Duration::from_micros(short))
            }
            70..85 => {
                let revision = self.revision.saturating_sub(1_000);
                let query = format!(
                    "allowWatchBookmarks=true\\u0026resourceVersion={revision}\\u0026timeout=7m4s\\u0026timeoutSeconds=424\\u0026watch=true"
                );
                ("watch", format!("{base}/{resource}?{query}"), Duration::from_secs(if form == 0 { 120 } else { 424 }))
            }
            _other => (if form < 2 { "update" } else { "patch" }, of_object, Duration::from_micros(short)),
        };
        let object_ref = match verb {
            "list" | "watch" => String::new(),
            _other => format!(r#""namespace":"ns-{namespace}","name":"object-{object}","#),
        };
        let api_group = if group.is_empty() { String::new() } else { format!(r#""apiGroup":"{group}","#) };
        let [id, more, node, host] = [self.chance(u64::MAX), self.chance(1 << 48), self.chance(4), self.chance(60) + 1];
        let [received, reached] = [self.now.saturating_sub(lasted), self.now].map(time);
        let (level, bodies) = (self.level.name(), self.bodies(verb));
        self.line.clear();
        let _written = writeln!(
            self.line,
            r#"{{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"{level}","auditID":"{:08x}-{:04x}-4{:03x}-a{:03x}-{more:012x}","stage":"ResponseComplete","requestURI":"{uri}","verb":"{verb}","user":{{"username":"{user}",{EXTRA}}},"sourceIPs":["10.0.{node}.{host}"],"userAgent":"{agent}","objectRef":{{"resource":"{resource}",{object_ref}{api_group}"apiVersion":"{version}"}},"responseStatus":{{"metadata":{{}},"code":200}},{bodies}"requestReceivedTimestamp":"{received}","stageTimestamp":"{reached}","annotations":{{{ANNOTATIONS}}}}}"#,
            id >> 32,
            id >> 16 & 0xffff,
            id >> 4 & 0xfff,
            id & 0xfff,
        );
    }
}

/// RFC 3339 with microseconds, as audit events have it.
fn time(since_epoch: Duration) -> impl Display {
    humantime::format_rfc3339_micros(SystemTime::UNIX_EPOCH + since_epoch)
}
