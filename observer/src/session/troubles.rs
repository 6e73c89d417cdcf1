//! Makes sentences for the report about failures of clients that only the proxy knows, because no observation contains them.

use crate::tap::proxy::ProxyCounts;
use crate::view::counted;

/// Returns one sentence for each kind of failure that occurred. Clients in a pod have no kubeconfig and no flags of kubectl.
pub(super) fn troubles(counts: &ProxyCounts, is_in_pod: bool) -> Vec<String> {
    let mut troubles = Vec::new();
    if counts.client_handshakes_failed > 0 {
        let why = if is_in_pod {
            "The client has read ca.crt before watchtap's certificate authority was replaced (then restart its container), does not \
             use ca.crt, or does not speak TLS"
        } else {
            "The client does not trust the CA of its kubeconfig, presents another client certificate, or does not speak TLS"
        };
        let connections = counted(counts.client_handshakes_failed, "client connection");
        troubles.push(format!("{connections} failed in the TLS handshake with watchtap. {why}"));
    }
    if counts.certificates_refused > 0 {
        let why = if is_in_pod {
            "The client presented a certificate, which cannot be forwarded; do not observe its container (watchtap inject --container)"
        } else {
            "The client presented a certificate, which cannot be forwarded, at the listener of another user; choose a context of its \
             user instead of --user or --client-certificate"
        };
        let connections = counted(counts.certificates_refused, "client connection");
        troubles.push(format!("{connections} refused with the TLS alert access_denied. {why}"));
    }
    if counts.certificates_missing > 0 {
        troubles.push(format!(
            "{} refused with the TLS alert certificate_required. The client presented no certificate at the listener of a user \
             who has one; choose a context of the client's own user instead of --user",
            counted(counts.certificates_missing, "client connection")
        ));
    }
    if counts.hellos_given_up > 0 {
        troubles.push(format!(
            "{} reset before the TLS ClientHello was complete, to make room for others. Too many clients connected at once, or \
             some do not speak TLS",
            counted(counts.hellos_given_up, "client connection")
        ));
    }
    if counts.asked_elsewhere > 0 {
        troubles.push(format!(
            "{} closed because the client requested another host than the API server. It sends all its traffic to the proxy-url of \
             its kubeconfig",
            counted(counts.asked_elsewhere, "client connection")
        ));
    }
    if counts.waits_for_descriptors > 0 {
        troubles.push(format!(
            "{} had to wait for a free file descriptor: each connection takes two; raise the limit with `ulimit -n` before the \
             start",
            counted(counts.waits_for_descriptors, "client")
        ));
    }
    if counts.waits_for_system > 0 {
        troubles.push(format!(
            "{} had to wait until the system could accept it: it was short of files or memory, or its network failed",
            counted(counts.waits_for_system, "client")
        ));
    }
    if counts.faults > 0 {
        troubles
            .push(format!("{} reset because of an internal error; please report it", counted(counts.faults, "client connection")));
    }
    troubles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_refused_client_has_its_own_remedy() {
        let none = ProxyCounts::default();
        check(ProxyCounts { certificates_refused: 1, ..none }, false, "choose a context of its user");
        check(ProxyCounts { certificates_missing: 1, ..none }, false, "choose a context of the client's own user");
        check(ProxyCounts { client_handshakes_failed: 1, ..none }, false, "does not trust the CA of its kubeconfig");
        assert!(troubles(&none, false).is_empty());
    }

    #[test]
    fn remedies_in_a_pod_name_no_kubeconfig() {
        let none = ProxyCounts::default();
        check(ProxyCounts { client_handshakes_failed: 1, ..none }, true, "(then restart its container)");
        check(ProxyCounts { certificates_refused: 1, ..none }, true, "do not observe its container");
        let all = troubles(&ProxyCounts { client_handshakes_failed: 1, certificates_refused: 1, ..none }, true);
        assert!(!all.concat().contains("kubeconfig") && !all.concat().contains("context"), "{all:?}");
    }

    #[track_caller]
    fn check(counts: ProxyCounts, is_in_pod: bool, remedy: &str) {
        let troubles = troubles(&counts, is_in_pod);
        assert!(matches!(&troubles[..], [one] if one.contains(remedy)), "{troubles:?}");
    }
}
