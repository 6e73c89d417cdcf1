//! Small kinds: config maps, events, namespaces, secrets, service accounts, leases.
//!
//! kubernetes/api {core,coordination}/v1/generated.proto v0.34.

use super::super::shape::Shape::{AnyFlag, AnyInt, AnyText, Bytes, Int, Many, Map, MicroTime, One, Text, Time};
use super::super::shape::messages;
use super::metadata::{LOCAL_OBJECT_REFERENCE, OBJECT_META, OBJECT_REFERENCE};

messages! {
    CONFIG_MAP ConfigMap { 1 metadata One(&OBJECT_META), 2 data Map(&Text), 3 binaryData Map(&Bytes), 4 immutable AnyFlag }
    EVENT_SOURCE EventSource { 1 component Text, 2 host Text }
    EVENT_SERIES EventSeries { 1 count Int, 2 lastObservedTime MicroTime }
    EVENT Event {
        1 metadata One(&OBJECT_META), 2 involvedObject One(&OBJECT_REFERENCE), 3 reason Text, 4 message Text,
        5 source One(&EVENT_SOURCE), 6 firstTimestamp Time, 7 lastTimestamp Time, 8 count Int, 9 type Text, 10 eventTime MicroTime,
        11 series One(&EVENT_SERIES), 12 action Text, 13 related One(&OBJECT_REFERENCE), 14 reportingComponent AnyText,
        15 reportingInstance AnyText,
    }
    NAMESPACE_SPEC NamespaceSpec { 1 finalizers Many(&Text) }
    NAMESPACE_CONDITION NamespaceCondition {
        1 type AnyText, 2 status AnyText, 4 lastTransitionTime Time, 5 reason Text, 6 message Text,
    }
    NAMESPACE_STATUS NamespaceStatus { 1 phase Text, 2 conditions Many(&One(&NAMESPACE_CONDITION)) }
    NAMESPACE Namespace { 1 metadata One(&OBJECT_META), 2 spec One(&NAMESPACE_SPEC), 3 status One(&NAMESPACE_STATUS) }
    SECRET Secret { 1 metadata One(&OBJECT_META), 2 data Map(&Bytes), 3 type Text, 4 stringData Map(&Text), 5 immutable AnyFlag }
    SERVICE_ACCOUNT ServiceAccount {
        1 metadata One(&OBJECT_META), 2 secrets Many(&One(&OBJECT_REFERENCE)), 3 imagePullSecrets Many(&One(&LOCAL_OBJECT_REFERENCE)),
        4 automountServiceAccountToken AnyFlag,
    }
    LEASE_SPEC LeaseSpec {
        1 holderIdentity AnyText, 2 leaseDurationSeconds AnyInt, 3 acquireTime MicroTime, 4 renewTime MicroTime,
        5 leaseTransitions AnyInt, 6 strategy AnyText, 7 preferredHolder AnyText,
    }
    LEASE Lease { 1 metadata One(&OBJECT_META), 2 spec One(&LEASE_SPEC) }
}
