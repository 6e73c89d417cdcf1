//! The catalogue of proofs: properties of an answer that show which layer gave it.

use std::fmt;

use serde::{Serialize, Serializer};

/// The stable identifier of a proof, such as `more-than-the-limit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProofId(&'static str);

/// A property of an answer that shows which layer gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    /// Unique among proofs and rules.
    pub id: ProofId,
    /// The property and why it proves something, in words, without a final full stop.
    pub sentence: &'static str,
    /// The sections of docs/semantics.md that state it, such as `§1.5, §8.5`.
    pub section: &'static str,
    /// The upstream source that decides it: repository, file, function, and the versions that were read.
    pub upstream: &'static str,
}

impl ProofId {
    /// The identifier as text, such as `more-than-the-limit`.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for ProofId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0)
    }
}

impl Serialize for ProofId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

macro_rules! proofs {
    ($($name:ident = $id:literal, $section:literal, $upstream:expr, $sentence:literal;)*) => {
        $(pub(super) const $name: ProofId = ProofId($id);)*

        const PROOFS: &[Proof] = &[$(Proof { id: $name, sentence: $sentence, section: $section, upstream: $upstream }),*];
    };
}

const CACHER: &str = "kubernetes/apiserver pkg/storage/cacher/cacher.go GetList, v0.16 to v0.36";
const TOO_LARGE: &str = "kubernetes/apiserver pkg/storage/errors.go NewTooLargeResourceVersionError; pkg/storage/cacher/watch_cache.go waitUntilFreshAndBlock (retry after 1 s) and pkg/storage/etcd3/store.go (0), v0.17 to v0.36";
const TOO_OLD: &str = "kubernetes/apiserver pkg/storage/cacher/watch_cache.go getAllEventsSinceLocked and pkg/storage/etcd3/errors.go interpretWatchError, v0.16 to v0.36";
const VALIDATION: &str = "kubernetes/apimachinery pkg/apis/meta/internalversion/validation/validation.go, v0.19 to v0.36";

const ETCD_TIME: &str =
    "kubernetes/apiserver pkg/endpoints/request/webhook_duration.go and pkg/storage/etcd3/latency_tracker.go, v0.24 to v0.36";
const TRACES: &str =
    "kubernetes/apiserver pkg/storage/cacher/cacher.go GetList and pkg/storage/etcd3/store.go GetList, v0.16 to v0.36";

proofs! {
    MORE_THAN_LIMIT = "more-than-the-limit", "§9", CACHER,
        "resourceVersion=0 with a limit returned more items than the limit: only the watch cache ignores a limit";
    PAGED_AT_RV0 = "paged-at-rv0", "§9", CACHER,
        "resourceVersion=0 with a limit returned a page and a continue token: the watch cache ignores a limit, so etcd answered \
         (the watch cache is missing or was not ready)";
    BEHIND_WHAT_WAS_SEEN = "behind-what-was-seen", "§4.3", CACHER,
        "the list's resourceVersion is below one that this API server returned before the request: neither etcd, nor a cache \
         that waits for etcd's revision, can be behind it";
    OTHER_REVISION = "other-revision-than-named", "§4.3", CACHER,
        "the request named a revision, and the list has another one";
    TOO_LARGE_IN_CACHE = "too-large-after-waiting", "§1.9", TOO_LARGE,
        "504 Too large resource version, with a retry after 1 s: the watch cache waited for the revision, and no object was \
         read";
    TOO_LARGE_IN_ETCD = "too-large-in-etcd", "§1.9", TOO_LARGE,
        "504 Too large resource version, without a retry delay: the API server asked etcd, which is behind the revision";
    COMPACTED_IN_ETCD = "compacted-in-etcd", "§1.10", "kubernetes/apiserver pkg/storage/etcd3/errors.go interpretListError, v0.16 to v0.36",
        "410 Expired: etcd reported the revision as compacted; the watch cache never answers a list with 410";
    WINDOW_PASSED = "event-window-passed", "§1.10", TOO_OLD,
        "410 in the watch, with the oldest revision of the event window: the watch cache answered";
    WATCH_COMPACTED = "watch-compacted-in-etcd", "§1.10", TOO_OLD,
        "410 in the watch, with etcd's own message: the watch was opened on etcd itself";
    INITIAL_EVENTS_ENDED = "initial-events-ended", "§2.3", "kubernetes/apiserver pkg/storage/cacher/cacher.go Watch, v0.27 to v0.36",
        "the bookmark that ends the initial events arrived: the server supports sendInitialEvents";
    FLOW_CONTROL = "refused-in-plain-text", "§8.5", "kubernetes/apiserver pkg/server/filters/priority-and-fairness.go and maxinflight.go tooManyRequests, v0.16 to v0.36",
        "429 in plain text: flow control refused the request before it reached any storage";
    CACHE_NOT_READY = "cache-not-ready", "§1.5, §8.5", "kubernetes/apiserver pkg/storage/cacher/ready.go, v0.31 to v0.36",
        "429 from a watch cache that is not ready (storage is (re)initializing)";
    VALIDATED = "refused-by-validation", "§1.11", VALIDATION,
        "422 about a list option: this server rejects it";
    NOT_REFUSED = "not-refused", "§1.11", VALIDATION,
        "the request succeeded, although a refusal was predicted";
    REFUSED_AS_PREDICTED = "refused-as-predicted", "§1.11", VALIDATION,
        "the request was refused with the predicted status";
    ETCD_TIME_LOGGED = "etcd-time-logged", "§5.3", ETCD_TIME,
        "the audit event has a time in etcd: the API server read etcd for this request, at least its current revision";
    NO_ETCD_TIME_LOGGED = "no-etcd-time-logged", "§5.3", ETCD_TIME,
        "the audit event of a request of more than half a second has no time in etcd: no object was read from etcd";
    ETCD_LIST_TRACED = "etcd-list-traced", "§5.3", TRACES,
        "the API server traced a list in etcd for this request";
    CACHE_LIST_TRACED = "cache-list-traced", "§5.3", TRACES,
        "the API server traced a complete list in the watch cache for this request, and none in etcd";
    ETCD_READ_LOGGED = "etcd-read-logged", "§5.3", "etcd-io/etcd server/etcdserver/api/v3rpc/interceptor.go logUnaryRequestStats, release-3.4 to release-3.6",
        "etcd logged a read of the listed objects within the time of this request";
    REFUSED = "refused-before-storage", "§8.5", "kubernetes/apiserver pkg/server/config.go DefaultBuildHandlerChain, v0.16 to v0.36",
        "a status that the API server returns before it reads any object";
    FAILED = "answered-with-an-error", "§8.5", "kubernetes/apiserver pkg/endpoints/handlers/responsewriters/errors.go and status.go, v0.16 to v0.36",
        "a failure status that does not show how far the request got: it returned no object; etcd may have been read if the \
         request was routed there";
}

impl ProofId {
    /// Whether it confirms or contradicts the predicted layer. False for failures that may occur before a request reaches that
    /// layer.
    pub fn is_about_the_layer(self) -> bool {
        !matches!(self, REFUSED | FLOW_CONTROL | FAILED)
    }

    /// Whether it proves that the server returned an older state than the server had shown before.
    pub fn is_going_back(self) -> bool {
        self == BEHIND_WHAT_WAS_SEEN
    }
}

/// Every proof of the catalogue, in order of declaration.
pub fn all_proofs() -> impl Iterator<Item = &'static Proof> {
    PROOFS.iter()
}

/// The proof with this identifier, such as `more-than-the-limit`; `None` if there is none.
pub fn proof(id: &str) -> Option<&'static Proof> {
    all_proofs().find(|proof| proof.id.as_str() == id)
}
