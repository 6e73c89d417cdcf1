//! The parts that every kind has: metadata, references, selectors, conditions; also the options of a deletion.
//!
//! kubernetes/apimachinery pkg/apis/meta/v1/generated.proto and kubernetes/api core/v1/generated.proto v0.34.

use super::super::shape::Shape::{AnyFlag, AnyInt, AnyText, Int, Many, Map, One, RawJson, Text, Time};
use super::super::shape::messages;

messages! {
    OWNER_REFERENCE OwnerReference {
        1 kind AnyText, 3 name AnyText, 4 uid AnyText, 5 apiVersion AnyText, 6 controller AnyFlag, 7 blockOwnerDeletion AnyFlag,
    }
    MANAGED_FIELDS_ENTRY ManagedFieldsEntry {
        1 manager Text, 2 operation Text, 3 apiVersion Text, 4 time Time, 6 fieldsType Text, 7 fieldsV1 RawJson, 8 subresource Text,
    }
    OBJECT_META ObjectMeta {
        1 name Text, 2 generateName Text, 3 namespace Text, 4 selfLink Text, 5 uid Text, 6 resourceVersion Text, 7 generation Int,
        8 creationTimestamp Time, 9 deletionTimestamp Time, 10 deletionGracePeriodSeconds AnyInt, 11 labels Map(&Text),
        12 annotations Map(&Text), 13 ownerReferences Many(&One(&OWNER_REFERENCE)), 14 finalizers Many(&Text),
        17 managedFields Many(&One(&MANAGED_FIELDS_ENTRY)),
    }
    OBJECT_REFERENCE ObjectReference {
        1 kind Text, 2 namespace Text, 3 name Text, 4 uid Text, 5 apiVersion Text, 6 resourceVersion Text, 7 fieldPath Text,
    }
    LOCAL_OBJECT_REFERENCE LocalObjectReference { 1 name Text }
    LABEL_SELECTOR_REQUIREMENT LabelSelectorRequirement { 1 key AnyText, 2 operator AnyText, 3 values Many(&Text) }
    LABEL_SELECTOR LabelSelector { 1 matchLabels Map(&Text), 2 matchExpressions Many(&One(&LABEL_SELECTOR_REQUIREMENT)) }
    CONDITION Condition {
        1 type AnyText, 2 status AnyText, 3 observedGeneration Int, 4 lastTransitionTime Time, 5 reason AnyText, 6 message AnyText,
    }
    PRECONDITIONS Preconditions { 1 uid AnyText, 2 resourceVersion AnyText }
    DELETE_OPTIONS DeleteOptions {
        1 gracePeriodSeconds AnyInt, 2 preconditions One(&PRECONDITIONS), 3 orphanDependents AnyFlag, 4 propagationPolicy AnyText,
        5 dryRun Many(&Text), 6 ignoreStoreReadErrorWithClusterBreakingPotential AnyFlag,
    }
}
