//! Rules for requests that are refused before an object is read.

use super::rule::{ReadsOf, Rule, RuleId, rules};

const VALIDATION: &str = "kubernetes/apimachinery pkg/apis/meta/internalversion/validation/validation.go, v0.19 to v0.36";
const HANDLER: &str = "kubernetes/apiserver pkg/endpoints/handlers/get.go ListResource, v0.16 to v0.36";
const STORAGE: &str = "kubernetes/apiserver pkg/storage/etcd3/store.go, v0.16 to v0.32; pkg/storage/interfaces.go ValidateListOptions, v0.33 and later";
const VERSIONER: &str = "kubernetes/apiserver pkg/storage/api_object_versioner.go ParseResourceVersion, v0.29 to v0.37; pkg/storage/cacher/cacher.go GetList, v0.29 to v0.32; pkg/storage/cacher/delegator.go GetList, v0.33 and later";

rules! {
    REFUSED_BY_STATUS = "refused-by-status", "§8.5",
        "kubernetes/apiserver pkg/server/config.go DefaultBuildHandlerChain, v0.16 to v0.36", Nothing,
        "the status of the answer is a refusal";
    REFUSED_UNDECODABLE = "refused-undecodable", "§8.2", HANDLER, Nothing,
        "a parameter cannot be decoded: 400";
    REFUSED_NAME_CONFLICT = "refused-name-conflict", "§8.2", HANDLER, Nothing,
        "the field selector contradicts the name in the path: 400";
    REFUSED_VERSION_NO_NUMBER = "refused-version-no-number", "§1.11", VERSIONER, Nothing,
        "resourceVersion is not a number: 400 from etcd's layer, 500 from the watch cache, which takes watches, gets and, before 1.33, lists";
    REFUSED_MATCH_WITHOUT_VERSION = "refused-match-without-version", "§1.11", VALIDATION, Nothing,
        "resourceVersionMatch without resourceVersion: 422 (from 1.19)";
    REFUSED_MATCH_WITH_CONTINUE = "refused-match-with-continue", "§1.11", VALIDATION, Nothing,
        "resourceVersionMatch with continue: 422 (from 1.19)";
    REFUSED_EXACT_RV0 = "refused-exact-rv0", "§1.11", VALIDATION, Nothing,
        "resourceVersionMatch=Exact with resourceVersion=0: 422 (from 1.19)";
    REFUSED_MATCH_UNKNOWN = "refused-match-unknown", "§1.11, §1.3 D 4", VALIDATION, Nothing,
        "resourceVersionMatch is neither Exact nor NotOlderThan: 422 (from 1.19)";
    REFUSED_MATCH_ON_WATCH = "refused-match-on-watch", "§1.11", VALIDATION, Nothing,
        "resourceVersionMatch on a watch: 422 (from 1.19; from 1.27 allowed together with sendInitialEvents)";
    REFUSED_INITIAL_ON_LIST = "refused-initial-events-on-list", "§1.11", VALIDATION, Nothing,
        "sendInitialEvents on a list: 422 (from 1.27)";
    REFUSED_INITIAL_WITHOUT_MATCH = "refused-initial-events-without-match", "§1.11", VALIDATION, Nothing,
        "sendInitialEvents without resourceVersionMatch=NotOlderThan: 422 (from 1.27)";
    REFUSED_INITIAL_GATE_OFF = "refused-initial-events-gate-off", "§1.11", VALIDATION, Nothing,
        "sendInitialEvents with WatchList off, the default of 1.27 to 1.31 and of 1.33: 422; a client-go reflector falls back to a list";
    REFUSED_CONTINUE_WITH_VERSION = "refused-continue-with-version", "§1.11", STORAGE, Nothing,
        "continue with a resourceVersion other than 0: 400";
    REFUSED_CONTINUE_INVALID = "refused-continue-invalid", "§1.11, §1.12", STORAGE, Nothing,
        "continue is not a token of the API server: 400";
}
