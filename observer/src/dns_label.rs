//! Labels and subdomains of DNS (RFC 1123): the form of the names of containers, namespaces, Services and pods.

/// Maximum length of a label in bytes.
const LONGEST: usize = 63;
/// Maximum length of a subdomain in bytes.
#[cfg(all(target_os = "linux", feature = "ebpf"))]
const LONGEST_SUBDOMAIN: usize = 253;

/// Whether the text is a label as Kubernetes accepts it (kubernetes/kubernetes `staging/src/k8s.io/apimachinery/pkg/util/validation`,
/// `IsDNS1123Label`).
pub(crate) fn is_dns_label(text: &str) -> bool {
    text.len() <= LONGEST && is_part(text)
}

/// Whether the text is a subdomain as Kubernetes accepts it (`IsDNS1123Subdomain` there): its parts may be longer than a label.
#[cfg(all(target_os = "linux", feature = "ebpf"))]
pub(crate) fn is_dns_subdomain(text: &str) -> bool {
    text.len() <= LONGEST_SUBDOMAIN && text.split('.').all(is_part)
}

fn is_part(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !text.is_empty() && text.bytes().all(is_inner) && !text.starts_with('-') && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_few_characters_and_no_hyphen_at_an_end() {
        let longest = "a".repeat(LONGEST);
        for label in ["a", "1", "a-b", "a--1", &longest] {
            assert!(is_dns_label(label), "{label}");
        }
        for other in ["", "-", "-a", "a-", "A", "ä", "a.b", "a_b", "a b", "a/../b", "a?watch=true", &format!("{longest}a")] {
            assert!(!is_dns_label(other), "{other}");
        }
    }

    #[test]
    #[cfg(all(target_os = "linux", feature = "ebpf"))]
    fn subdomains_have_parts_between_dots() {
        let longest = "a".repeat(LONGEST_SUBDOMAIN);
        for subdomain in ["a", "a.b", "a-b.c", &longest] {
            assert!(is_dns_subdomain(subdomain), "{subdomain}");
        }
        for other in ["", ".", "a.", ".a", "a..b", "a.-b", "a_b", "A", &format!("{longest}a")] {
            assert!(!is_dns_subdomain(other), "{other}");
        }
    }
}
