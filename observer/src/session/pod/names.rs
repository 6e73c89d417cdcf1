//! The names under which clients of a pod reach its API server: the certificate of each listener has all of them. Some clients
//! check another name than the one that they dial.

use rustls_pki_types::{DnsName, ServerName};

/// The Service of the API server, in the forms that a search list resolves.
const SERVICE: [&str; 3] = ["kubernetes", "kubernetes.default", "kubernetes.default.svc"];
/// The cluster domain unless the search list has another one: the default of kubeadm and of most distributions.
const DEFAULT_DOMAIN: &str = "cluster.local";

/// The names of the API server at `host`. `resolv_conf` is the content of the pod's `/etc/resolv.conf`.
pub(in crate::session) fn names(host: &ServerName<'static>, resolv_conf: &str) -> Vec<ServerName<'static>> {
    let full = format!("kubernetes.default.svc.{}", cluster_domain(resolv_conf));
    let of_service = SERVICE.into_iter().map(str::to_owned).chain([full]);
    let of_service = of_service.filter_map(|name| DnsName::try_from(name).ok()).map(ServerName::DnsName);
    let mut names = vec![host.clone()];
    names.extend(of_service);
    names
}

/// The cluster domain: the kubelet puts `svc.DOMAIN` into the search list (kubernetes/kubernetes `pkg/kubelet/network/dns/dns.go`,
/// `generateSearchesForDNSClusterFirst`). As in resolv.conf(5), the last list counts.
fn cluster_domain(resolv_conf: &str) -> &str {
    let mut lists = resolv_conf.lines().filter_map(|line| line.strip_prefix("search")).filter(|list| list.starts_with([' ', '\t']));
    let domains = lists.next_back().into_iter().flat_map(str::split_ascii_whitespace);
    let domain = domains.map(|domain| domain.trim_end_matches('.')).find_map(|domain| domain.strip_prefix("svc."));
    domain.filter(|domain| DnsName::try_from(*domain).is_ok()).unwrap_or(DEFAULT_DOMAIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cluster_domain_comes_from_the_search_list() {
        for (text, domain) in [
            (
                "search shop.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5\n",
                "cluster.local",
            ),
            ("search shop.svc.corp.example svc.corp.example corp.example node.example\n", "corp.example"),
            ("nameserver 10.0.0.2\nsearch\tshop.svc.k8s. svc.k8s. k8s.\n", "k8s"),
            ("search svc.first.example\nsearch svc.last.example\n", "last.example"),
            ("# search svc.comment.example\nsearch node.example\n", "cluster.local"),
            ("search svc.\u{1b}[2J\n", "cluster.local"),
            ("search svc.\n", "cluster.local"),
            ("", "cluster.local"),
        ] {
            assert_eq!(cluster_domain(text), domain, "{text:?}");
        }
    }

    #[test]
    fn certificate_names_the_service_in_each_form_and_the_address() {
        let host = ServerName::try_from("fd00::1").unwrap();
        let names: Vec<String> = names(&host, "search svc.corp.example").iter().map(|name| name.to_str().into_owned()).collect();
        assert_eq!(
            names,
            ["fd00::1", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.corp.example"]
        );
    }
}
