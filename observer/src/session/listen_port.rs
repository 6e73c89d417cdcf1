//! Chooses the port of a listener.
//!
//! client-go caches an API server's discovery by host and port, for hours (kubernetes/cli-runtime
//! `pkg/genericclioptions/config_flags.go`, `computeDiscoverCacheDir`, v0.34). With a different port in each run, every command
//! would have to repeat discovery. So the port is derived from the API server and the user.

use crate::forward_proxy::ForwardProxy;
use crate::kubeconfig::Selected;

/// The first port that is used. The range up to 65535 was chosen so that other programs rarely use it. It is:
/// - above the default range of Linux for outgoing connections (`net.ipv4.ip_local_port_range`, 32768–60999);
/// - above Kubernetes' node ports (30000–32767), which a node also serves on loopback;
/// - above the registered ports (RFC 6335 §6).
const FIRST: u16 = 61_000;
const COUNT: u16 = u16::MAX - FIRST + 1;

/// Number of ports to try before the system chooses one.
const TRIES: u64 = 16;

/// Returns the ports to try for the API server and the user of `selected`, in order; the same in every run. The last one is 0, so
/// that the system chooses a port. Behind another `proxy`, the same address counts as another server; the proxy's credentials make
/// no difference.
///
/// The candidates are not consecutive. Otherwise, the second candidate of one server could be the first one of another. Clients
/// would then use the other server's discovery cache.
pub(super) fn candidates(selected: &Selected, proxy: Option<&ForwardProxy>) -> impl Iterator<Item = u16> + use<> {
    let upstream = &selected.upstream;
    let mut hash = Fnv1a::default();
    hash.word(upstream.host.to_ascii_lowercase().as_bytes());
    hash.word(&upstream.port.to_be_bytes());
    hash.word(upstream.path_prefix.as_bytes());
    hash.word(upstream.tls_server_name.as_deref().unwrap_or_default().as_bytes());
    hash.word(selected.user.as_deref().unwrap_or_default().as_bytes());
    if let Some(proxy) = proxy {
        hash.word(proxy.to_string().as_bytes());
    }
    let derived = (0..TRIES).map(move |attempt| {
        let mut hash = hash;
        hash.word(&attempt.to_be_bytes());
        FIRST + u16::try_from(hash.0 % u64::from(COUNT)).unwrap_or_default()
    });
    derived.chain(std::iter::once(0))
}

/// FNV-1a, 64 bits, with each word's length in front of it (draft-eastlake-fnv). The standard library's hashes may change between
/// versions.
#[derive(Clone, Copy)]
struct Fnv1a(u64);

impl Default for Fnv1a {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv1a {
    fn word(&mut self, word: &[u8]) {
        for byte in (word.len() as u64).to_be_bytes().iter().chain(word) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}
