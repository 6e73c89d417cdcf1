//! A pod, and the workload that its name shows.
//!
//! Nothing is requested of the API server: owners of pods are in objects that only it has. So a workload is derived from the form of
//! the pod's name alone. A form that several kinds of workloads share has no kind, and an ambiguous one gives no workload.
//!
//! Sources:
//! - the random suffix, and the alphabet of `pod-template-hash`: kubernetes/apimachinery pkg/util/rand/rand.go (`String`,
//!   `SafeEncodeString`), 0.34.4
//! - names of generated pods: kubernetes/apiserver pkg/storage/names/generate.go (`GenerateName`), 0.34.4
//! - `pod-template-hash`: kubernetes/kubernetes `pkg/controller/controller_utils.go` (`ComputeHash`), 1.34.4
//! - jobs of cron jobs: kubernetes/kubernetes pkg/controller/cronjob/utils.go (`getTimeHashInMinutes`), 1.34.4
//! - names of static pods: kubernetes/kubernetes pkg/kubelet/config/common.go (`generatePodName`), 1.34.4

use serde::{Deserialize, Serialize};

/// Letters and digits of random suffixes: without vowels, and without digits that resemble them.
const ALPHABET: &str = "bcdfghjklmnpqrstvwxz2456789";
/// The letters for the digits 0 to 9 in a template's hash, which is a decimal number: `SafeEncodeString` maps their character codes.
const HASH_DIGITS: &str = "456789bcdf";
/// Length of a random suffix.
const RANDOM: usize = 5;
/// Length of a generated name whose beginning may be cut: 63 bytes, the longest label of DNS.
const CUT: usize = 63;
/// The smallest minute of a schedule that counts: 2015, when Kubernetes 1.0 was released. A date such as `20261126` is below.
const FIRST_MINUTE: u32 = 23_667_840;

/// A pod, by the names that the kubelet writes on its node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Pod {
    /// A label of DNS.
    pub namespace: String,
    /// A subdomain of DNS, unique in the namespace.
    pub name: String,
    /// The workload that it belongs to, derived from its name; `None` if the name does not show any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<Workload>,
}

/// A workload: the name of a pod, without the suffixes that a controller or the kubelet appends.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Workload {
    /// As the object in the API server is named, if the derivation is right.
    pub name: String,
    /// Its kind; `None` if several kinds share the form of the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<WorkloadKind>,
}

/// A kind of workload that the name of a pod shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum WorkloadKind {
    /// `NAME-HASH-RANDOM`. Rollouts of Argo give the same names.
    Deployment,
    /// `NAME-MINUTE-RANDOM`.
    CronJob,
    /// `NAME-NODE`, of a pod whose manifest is on the node.
    StaticPod,
}

impl WorkloadKind {
    /// The kind, as it is serialized.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Deployment => "Deployment",
            Self::CronJob => "CronJob",
            Self::StaticPod => "StaticPod",
        }
    }
}

impl Workload {
    /// The workload of a pod from the API server.
    ///
    /// | Name of the pod | Workload | Kind |
    /// |---|---|---|
    /// | `NAME-HASH-RANDOM` | `NAME` | `Deployment` |
    /// | `NAME-MINUTE-RANDOM` | `NAME` | `CronJob` |
    /// | `NAME-RANDOM` | `NAME` | unknown: `DaemonSet`, `Job`, `ReplicaSet`, … |
    /// | `NAME-ORDINAL` | `NAME` | unknown: `StatefulSet`, or other controllers |
    pub fn of_pod(pod: &str) -> Option<Self> {
        let (base, suffix) = split(pod)?;
        if is_ordinal(suffix) {
            return Some(Self { name: base.to_owned(), kind: None });
        }
        // The API server cuts a long name before it appends the random suffix, so parts of the workload's name may be missing.
        if !is_random(suffix) || pod.len() >= CUT {
            return None;
        }
        let (name, kind) = match split(base) {
            Some((name, hash)) if is_template_hash(hash) => (name, Some(WorkloadKind::Deployment)),
            Some((name, minute)) if is_minute(minute) => (name, Some(WorkloadKind::CronJob)),
            Some(_) | None => (base, None),
        };
        Some(Self { name: name.to_owned(), kind })
    }

    /// The workload of a static pod on this node.
    pub fn of_static_pod(pod: &str, node: &str) -> Option<Self> {
        let name = pod.strip_suffix(&node.to_lowercase())?.strip_suffix('-')?;
        (!name.is_empty() && !node.is_empty()).then(|| Self { name: name.to_owned(), kind: Some(WorkloadKind::StaticPod) })
    }
}

/// The name before its last hyphen, and the part after it; both have letters.
fn split(name: &str) -> Option<(&str, &str)> {
    name.rsplit_once('-').filter(|(base, suffix)| !base.is_empty() && !suffix.is_empty())
}

fn is_random(suffix: &str) -> bool {
    suffix.len() == RANDOM && suffix.chars().all(|letter| ALPHABET.contains(letter))
}

/// Whether a part of a name is the hash of a template: a number of 32 bits in decimal, whose digits are letters. Shorter than eight
/// digits, it is ambiguous, and one hash of 400 is that short.
fn is_template_hash(part: &str) -> bool {
    let digits: Option<String> = part.chars().map(|letter| HASH_DIGITS.find(letter).and_then(decimal)).collect();
    digits.is_some_and(|digits| digits.len() >= 8 && !digits.starts_with('0') && digits.parse::<u32>().is_ok())
}

fn decimal(digit: usize) -> Option<char> {
    char::from_digit(u32::try_from(digit).ok()?, 10)
}

/// Whether a part of a name is the minute of a schedule, counted from 1970.
fn is_minute(part: &str) -> bool {
    part.len() == 8
        && part.bytes().all(|byte| byte.is_ascii_digit())
        && part.parse().is_ok_and(|minute: u32| minute >= FIRST_MINUTE)
}

/// Whether a suffix is the ordinal of a replica. Numbers with more digits are rather dates, or parts of an address.
fn is_ordinal(suffix: &str) -> bool {
    (1..=4).contains(&suffix.len())
        && suffix.bytes().all(|byte| byte.is_ascii_digit())
        && (suffix == "0" || !suffix.starts_with('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pod: &str) -> String {
        Workload::of_pod(pod)
            .map_or_else(String::new, |workload| format!("{} {}", workload.kind.map_or("-", WorkloadKind::as_str), workload.name))
    }

    #[test]
    fn name_of_a_pod_shows_its_workload() {
        for (pod, expected) in [
            ("coredns-7db6d8ff4d-x2k9p", "Deployment coredns"),
            ("cert-manager-cainjector-6cf799dbb8-pqrst", "Deployment cert-manager-cainjector"),
            ("web-5d4c6b9f7d-zzzzz", "Deployment web"),
            ("kube-proxy-x7k2p", "- kube-proxy"),
            ("backup-29411520-bcdfg", "CronJob backup"),
            // A date is no minute of a schedule, and no hash.
            ("backup-20261126-bcdfg", "- backup-20261126"),
            // A hash of 33 bits, one with a leading zero, a short one, and a part of a UID in hexadecimal.
            ("web-ffffffffff-bcdfg", "- web-ffffffffff"),
            ("web-4567894567-bcdfg", "- web-4567894567"),
            ("web-5d4c6b9-bcdfg", "- web-5d4c6b9"),
            ("svclb-traefik-4d5bca89-bcdfg", "- svclb-traefik-4d5bca89"),
            ("prometheus-k8s-0", "- prometheus-k8s"),
            ("web-1234", "- web"),
            // Ambiguous, or made by hand.
            ("web", ""),
            ("web-01", ""),
            ("web-12345", ""),
            ("web-aeiou", ""),
            ("web-bcdfgh", ""),
            ("-0", ""),
            ("-bcdfg", ""),
            ("web-", ""),
            ("", ""),
            ("-", ""),
        ] {
            assert_eq!(of(pod), expected, "{pod}");
        }
    }

    #[test]
    fn cut_name_shows_no_workload() {
        let name = |length: usize| format!("{}-bcdfg", "n".repeat(length - 6));
        assert!(!of(&name(CUT - 1)).is_empty());
        assert_eq!(of(&name(CUT)), "");
    }

    /// The hashes are those of `SafeEncodeString(strconv.Itoa(n))`.
    #[test]
    fn template_hash_is_a_number_of_32_bits() {
        for number in [10_000_000, 98_765_432, 1_234_567_890, u32::MAX] {
            let alphabet = ALPHABET.as_bytes();
            let hash: String =
                number.to_string().bytes().map(|byte| char::from(alphabet[usize::from(byte) % alphabet.len()])).collect();
            assert!(is_template_hash(&hash), "{number} {hash}");
            assert_eq!(of(&format!("web-{hash}-bcdfg")), "Deployment web");
        }
    }

    #[test]
    fn static_pod_is_named_without_its_node() {
        let of = |pod: &str, node: &str| Workload::of_static_pod(pod, node).map(|workload| workload.name);
        assert_eq!(of("kube-apiserver-node-1", "node-1"), Some("kube-apiserver".to_owned()));
        assert_eq!(of("etcd-ip-10-0-0-1.ec2.internal", "IP-10-0-0-1.ec2.internal"), Some("etcd".to_owned()));
        for (pod, node) in [("etcd-node-1", "node-2"), ("etcd-node-1", ""), ("-node-1", "node-1"), ("etcdnode-1", "node-1")] {
            assert_eq!(of(pod, node), None, "{pod} {node}");
        }
    }
}
