//! Kinds that create pods: deployments and similar ones, jobs; and their scale.
//!
//! kubernetes/api {apps,batch,autoscaling}/v1/generated.proto v0.34.

use super::super::shape::Shape::{AnyFlag, AnyInt, AnyIntOrString, AnyText, Flag, Int, Many, One, Text, Time};
use super::super::shape::messages;
use super::metadata::{LABEL_SELECTOR, OBJECT_META};
use super::pod::POD_TEMPLATE_SPEC;

messages! {
    ROLLING_UPDATE_DAEMON_SET RollingUpdateDaemonSet { 1 maxUnavailable AnyIntOrString, 2 maxSurge AnyIntOrString }
    DAEMON_SET_UPDATE_STRATEGY DaemonSetUpdateStrategy { 1 type Text, 2 rollingUpdate One(&ROLLING_UPDATE_DAEMON_SET) }
    DAEMON_SET_SPEC DaemonSetSpec {
        1 selector One(&LABEL_SELECTOR), 2 template One(&POD_TEMPLATE_SPEC), 3 updateStrategy One(&DAEMON_SET_UPDATE_STRATEGY),
        4 minReadySeconds Int, 6 revisionHistoryLimit AnyInt,
    }
    DAEMON_SET_CONDITION DaemonSetCondition {
        1 type AnyText, 2 status AnyText, 3 lastTransitionTime Time, 4 reason Text, 5 message Text,
    }
    DAEMON_SET_STATUS DaemonSetStatus {
        1 currentNumberScheduled AnyInt, 2 numberMisscheduled AnyInt, 3 desiredNumberScheduled AnyInt, 4 numberReady AnyInt,
        5 observedGeneration Int, 6 updatedNumberScheduled Int, 7 numberAvailable Int, 8 numberUnavailable Int,
        9 collisionCount AnyInt, 10 conditions Many(&One(&DAEMON_SET_CONDITION)),
    }
    DAEMON_SET DaemonSet { 1 metadata One(&OBJECT_META), 2 spec One(&DAEMON_SET_SPEC), 3 status One(&DAEMON_SET_STATUS) }
    ROLLING_UPDATE_DEPLOYMENT RollingUpdateDeployment { 1 maxUnavailable AnyIntOrString, 2 maxSurge AnyIntOrString }
    DEPLOYMENT_STRATEGY DeploymentStrategy { 1 type Text, 2 rollingUpdate One(&ROLLING_UPDATE_DEPLOYMENT) }
    DEPLOYMENT_SPEC DeploymentSpec {
        1 replicas AnyInt, 2 selector One(&LABEL_SELECTOR), 3 template One(&POD_TEMPLATE_SPEC), 4 strategy One(&DEPLOYMENT_STRATEGY),
        5 minReadySeconds Int, 6 revisionHistoryLimit AnyInt, 7 paused Flag, 9 progressDeadlineSeconds AnyInt,
    }
    DEPLOYMENT_CONDITION DeploymentCondition {
        1 type AnyText, 2 status AnyText, 4 reason Text, 5 message Text, 6 lastUpdateTime Time, 7 lastTransitionTime Time,
    }
    DEPLOYMENT_STATUS DeploymentStatus {
        1 observedGeneration Int, 2 replicas Int, 3 updatedReplicas Int, 4 availableReplicas Int, 5 unavailableReplicas Int,
        6 conditions Many(&One(&DEPLOYMENT_CONDITION)), 7 readyReplicas Int, 8 collisionCount AnyInt, 9 terminatingReplicas AnyInt,
    }
    DEPLOYMENT Deployment { 1 metadata One(&OBJECT_META), 2 spec One(&DEPLOYMENT_SPEC), 3 status One(&DEPLOYMENT_STATUS) }
    REPLICA_SET_SPEC ReplicaSetSpec {
        1 replicas AnyInt, 2 selector One(&LABEL_SELECTOR), 3 template One(&POD_TEMPLATE_SPEC), 4 minReadySeconds Int,
    }
    REPLICA_SET_CONDITION ReplicaSetCondition {
        1 type AnyText, 2 status AnyText, 3 lastTransitionTime Time, 4 reason Text, 5 message Text,
    }
    REPLICA_SET_STATUS ReplicaSetStatus {
        1 replicas AnyInt, 2 fullyLabeledReplicas Int, 3 observedGeneration Int, 4 readyReplicas Int, 5 availableReplicas Int,
        6 conditions Many(&One(&REPLICA_SET_CONDITION)), 7 terminatingReplicas AnyInt,
    }
    REPLICA_SET ReplicaSet { 1 metadata One(&OBJECT_META), 2 spec One(&REPLICA_SET_SPEC), 3 status One(&REPLICA_SET_STATUS) }
    ROLLING_UPDATE_STATEFUL_SET_STRATEGY RollingUpdateStatefulSetStrategy { 1 partition AnyInt, 2 maxUnavailable AnyIntOrString }
    STATEFUL_SET_UPDATE_STRATEGY StatefulSetUpdateStrategy {
        1 type Text, 2 rollingUpdate One(&ROLLING_UPDATE_STATEFUL_SET_STRATEGY),
    }
    STATEFUL_SET_PERSISTENT_VOLUME_CLAIM_RETENTION_POLICY StatefulSetPersistentVolumeClaimRetentionPolicy {
        1 whenDeleted Text, 2 whenScaled Text,
    }
    STATEFUL_SET_ORDINALS StatefulSetOrdinals { 1 start AnyInt }
    STATEFUL_SET_SPEC StatefulSetSpec {
        1 replicas AnyInt, 2 selector One(&LABEL_SELECTOR), 3 template One(&POD_TEMPLATE_SPEC), 5 serviceName AnyText,
        6 podManagementPolicy Text, 7 updateStrategy One(&STATEFUL_SET_UPDATE_STRATEGY), 8 revisionHistoryLimit AnyInt,
        9 minReadySeconds Int, 10 persistentVolumeClaimRetentionPolicy One(&STATEFUL_SET_PERSISTENT_VOLUME_CLAIM_RETENTION_POLICY),
        11 ordinals One(&STATEFUL_SET_ORDINALS),
    }
    STATEFUL_SET_CONDITION StatefulSetCondition {
        1 type AnyText, 2 status AnyText, 3 lastTransitionTime Time, 4 reason Text, 5 message Text,
    }
    STATEFUL_SET_STATUS StatefulSetStatus {
        1 observedGeneration Int, 2 replicas AnyInt, 3 readyReplicas Int, 4 currentReplicas Int, 5 updatedReplicas Int,
        6 currentRevision Text, 7 updateRevision Text, 9 collisionCount AnyInt, 10 conditions Many(&One(&STATEFUL_SET_CONDITION)),
        11 availableReplicas AnyInt,
    }
    STATEFUL_SET StatefulSet { 1 metadata One(&OBJECT_META), 2 spec One(&STATEFUL_SET_SPEC), 3 status One(&STATEFUL_SET_STATUS) }
    JOB_SPEC JobSpec {
        1 parallelism AnyInt, 2 completions AnyInt, 3 activeDeadlineSeconds AnyInt, 4 selector One(&LABEL_SELECTOR),
        5 manualSelector AnyFlag, 6 template One(&POD_TEMPLATE_SPEC), 7 backoffLimit AnyInt, 8 ttlSecondsAfterFinished AnyInt,
        9 completionMode AnyText, 10 suspend AnyFlag, 12 backoffLimitPerIndex AnyInt, 13 maxFailedIndexes AnyInt,
        14 podReplacementPolicy AnyText, 15 managedBy AnyText,
    }
    JOB_CONDITION JobCondition {
        1 type AnyText, 2 status AnyText, 3 lastProbeTime Time, 4 lastTransitionTime Time, 5 reason Text, 6 message Text,
    }
    JOB_STATUS JobStatus {
        1 conditions Many(&One(&JOB_CONDITION)), 2 startTime Time, 3 completionTime Time, 4 active Int, 5 succeeded Int, 6 failed Int,
        7 completedIndexes Text, 9 ready AnyInt, 10 failedIndexes AnyText, 11 terminating AnyInt,
    }
    JOB Job { 1 metadata One(&OBJECT_META), 2 spec One(&JOB_SPEC), 3 status One(&JOB_STATUS) }
    SCALE_SPEC ScaleSpec { 1 replicas Int }
    SCALE_STATUS ScaleStatus { 1 replicas AnyInt, 2 selector Text }
    SCALE Scale { 1 metadata One(&OBJECT_META), 2 spec One(&SCALE_SPEC), 3 status One(&SCALE_STATUS) }
}
