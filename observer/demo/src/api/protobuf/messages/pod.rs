//! Pods and their templates.
//!
//! kubernetes/api core/v1/generated.proto v0.34.

use super::super::shape::Shape::{AnyFlag, AnyInt, AnyText, Flag, Int, Many, Map, One, Quantity, Text, Time};
use super::super::shape::messages;
use super::container::{APP_ARMOR_PROFILE, CONTAINER, RESOURCE_REQUIREMENTS, SE_LINUX_OPTIONS, SECCOMP_PROFILE};
use super::metadata::{LABEL_SELECTOR, LOCAL_OBJECT_REFERENCE, OBJECT_META};
use super::volume::VOLUME;

messages! {
    SYSCTL Sysctl { 1 name AnyText, 2 value AnyText }
    POD_SECURITY_CONTEXT PodSecurityContext {
        1 seLinuxOptions One(&SE_LINUX_OPTIONS), 2 runAsUser AnyInt, 3 runAsNonRoot AnyFlag, 4 supplementalGroups Many(&Int),
        5 fsGroup AnyInt, 6 runAsGroup AnyInt, 7 sysctls Many(&One(&SYSCTL)), 9 fsGroupChangePolicy AnyText,
        10 seccompProfile One(&SECCOMP_PROFILE), 11 appArmorProfile One(&APP_ARMOR_PROFILE), 12 supplementalGroupsPolicy AnyText,
        13 seLinuxChangePolicy AnyText,
    }
    NODE_SELECTOR_REQUIREMENT NodeSelectorRequirement { 1 key AnyText, 2 operator AnyText, 3 values Many(&Text) }
    NODE_SELECTOR_TERM NodeSelectorTerm {
        1 matchExpressions Many(&One(&NODE_SELECTOR_REQUIREMENT)), 2 matchFields Many(&One(&NODE_SELECTOR_REQUIREMENT)),
    }
    NODE_SELECTOR NodeSelector { 1 nodeSelectorTerms Many(&One(&NODE_SELECTOR_TERM)) }
    PREFERRED_SCHEDULING_TERM PreferredSchedulingTerm { 1 weight AnyInt, 2 preference One(&NODE_SELECTOR_TERM) }
    NODE_AFFINITY NodeAffinity {
        1 requiredDuringSchedulingIgnoredDuringExecution One(&NODE_SELECTOR),
        2 preferredDuringSchedulingIgnoredDuringExecution Many(&One(&PREFERRED_SCHEDULING_TERM)),
    }
    POD_AFFINITY_TERM PodAffinityTerm {
        1 labelSelector One(&LABEL_SELECTOR), 2 namespaces Many(&Text), 3 topologyKey AnyText,
        4 namespaceSelector One(&LABEL_SELECTOR), 5 matchLabelKeys Many(&Text), 6 mismatchLabelKeys Many(&Text),
    }
    WEIGHTED_POD_AFFINITY_TERM WeightedPodAffinityTerm { 1 weight AnyInt, 2 podAffinityTerm One(&POD_AFFINITY_TERM) }
    POD_AFFINITY PodAffinity {
        1 requiredDuringSchedulingIgnoredDuringExecution Many(&One(&POD_AFFINITY_TERM)),
        2 preferredDuringSchedulingIgnoredDuringExecution Many(&One(&WEIGHTED_POD_AFFINITY_TERM)),
    }
    POD_ANTI_AFFINITY PodAntiAffinity {
        1 requiredDuringSchedulingIgnoredDuringExecution Many(&One(&POD_AFFINITY_TERM)),
        2 preferredDuringSchedulingIgnoredDuringExecution Many(&One(&WEIGHTED_POD_AFFINITY_TERM)),
    }
    AFFINITY Affinity {
        1 nodeAffinity One(&NODE_AFFINITY), 2 podAffinity One(&POD_AFFINITY), 3 podAntiAffinity One(&POD_ANTI_AFFINITY),
    }
    TOLERATION Toleration { 1 key Text, 2 operator Text, 3 value Text, 4 effect Text, 5 tolerationSeconds AnyInt }
    HOST_ALIAS HostAlias { 1 ip AnyText, 2 hostnames Many(&Text) }
    POD_DNS_CONFIG_OPTION PodDNSConfigOption { 1 name Text, 2 value AnyText }
    POD_DNS_CONFIG PodDNSConfig { 1 nameservers Many(&Text), 2 searches Many(&Text), 3 options Many(&One(&POD_DNS_CONFIG_OPTION)) }
    POD_READINESS_GATE PodReadinessGate { 1 conditionType AnyText }
    TOPOLOGY_SPREAD_CONSTRAINT TopologySpreadConstraint {
        1 maxSkew AnyInt, 2 topologyKey AnyText, 3 whenUnsatisfiable AnyText, 4 labelSelector One(&LABEL_SELECTOR),
        5 minDomains AnyInt, 6 nodeAffinityPolicy AnyText, 7 nodeTaintsPolicy AnyText, 8 matchLabelKeys Many(&Text),
    }
    POD_OS PodOS { 1 name AnyText }
    POD_SCHEDULING_GATE PodSchedulingGate { 1 name AnyText }
    POD_SPEC PodSpec {
        1 volumes Many(&One(&VOLUME)), 2 containers Many(&One(&CONTAINER)), 3 restartPolicy Text,
        4 terminationGracePeriodSeconds AnyInt, 5 activeDeadlineSeconds AnyInt, 6 dnsPolicy Text, 7 nodeSelector Map(&Text),
        8 serviceAccountName Text, 9 serviceAccount Text, 10 nodeName Text, 11 hostNetwork Flag, 12 hostPID Flag, 13 hostIPC Flag,
        14 securityContext One(&POD_SECURITY_CONTEXT), 15 imagePullSecrets Many(&One(&LOCAL_OBJECT_REFERENCE)), 16 hostname Text,
        17 subdomain Text, 18 affinity One(&AFFINITY), 19 schedulerName Text, 20 initContainers Many(&One(&CONTAINER)),
        21 automountServiceAccountToken AnyFlag, 22 tolerations Many(&One(&TOLERATION)), 23 hostAliases Many(&One(&HOST_ALIAS)),
        24 priorityClassName Text, 25 priority AnyInt, 26 dnsConfig One(&POD_DNS_CONFIG), 27 shareProcessNamespace AnyFlag,
        28 readinessGates Many(&One(&POD_READINESS_GATE)), 29 runtimeClassName AnyText, 30 enableServiceLinks AnyFlag,
        31 preemptionPolicy AnyText, 32 overhead Map(&Quantity), 33 topologySpreadConstraints Many(&One(&TOPOLOGY_SPREAD_CONSTRAINT)),
        35 setHostnameAsFQDN AnyFlag, 36 os One(&POD_OS), 37 hostUsers AnyFlag, 38 schedulingGates Many(&One(&POD_SCHEDULING_GATE)),
        40 resources One(&RESOURCE_REQUIREMENTS), 41 hostnameOverride AnyText,
    }
    POD_CONDITION PodCondition {
        1 type AnyText, 2 status AnyText, 3 lastProbeTime Time, 4 lastTransitionTime Time, 5 reason Text, 6 message Text,
        7 observedGeneration Int,
    }
    HOST_IP HostIP { 1 ip AnyText }
    POD_IP PodIP { 1 ip AnyText }
    CONTAINER_STATE_WAITING ContainerStateWaiting { 1 reason Text, 2 message Text }
    CONTAINER_STATE_RUNNING ContainerStateRunning { 1 startedAt Time }
    CONTAINER_STATE_TERMINATED ContainerStateTerminated {
        1 exitCode AnyInt, 2 signal Int, 3 reason Text, 4 message Text, 5 startedAt Time, 6 finishedAt Time, 7 containerID Text,
    }
    CONTAINER_STATE ContainerState {
        1 waiting One(&CONTAINER_STATE_WAITING), 2 running One(&CONTAINER_STATE_RUNNING),
        3 terminated One(&CONTAINER_STATE_TERMINATED),
    }
    CONTAINER_STATUS ContainerStatus {
        1 name AnyText, 2 state One(&CONTAINER_STATE), 3 lastState One(&CONTAINER_STATE), 4 ready AnyFlag, 5 restartCount AnyInt,
        6 image AnyText, 7 imageID AnyText, 8 containerID Text, 9 started AnyFlag, 10 allocatedResources Map(&Quantity),
        11 resources One(&RESOURCE_REQUIREMENTS), 15 stopSignal AnyText,
    }
    POD_STATUS PodStatus {
        1 phase Text, 2 conditions Many(&One(&POD_CONDITION)), 3 message Text, 4 reason Text, 5 hostIP Text, 6 podIP Text,
        7 startTime Time, 8 containerStatuses Many(&One(&CONTAINER_STATUS)), 9 qosClass Text,
        10 initContainerStatuses Many(&One(&CONTAINER_STATUS)), 11 nominatedNodeName Text, 12 podIPs Many(&One(&POD_IP)),
        13 ephemeralContainerStatuses Many(&One(&CONTAINER_STATUS)), 14 resize Text, 16 hostIPs Many(&One(&HOST_IP)),
        17 observedGeneration Int,
    }
    POD Pod { 1 metadata One(&OBJECT_META), 2 spec One(&POD_SPEC), 3 status One(&POD_STATUS) }
    POD_TEMPLATE_SPEC PodTemplateSpec { 1 metadata One(&OBJECT_META), 2 spec One(&POD_SPEC) }
    POD_TEMPLATE PodTemplate { 1 metadata One(&OBJECT_META), 2 template One(&POD_TEMPLATE_SPEC) }
}
