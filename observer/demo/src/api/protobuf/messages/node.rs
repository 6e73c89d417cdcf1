//! Nodes.
//!
//! kubernetes/api core/v1/generated.proto v0.34.

use super::super::shape::Shape::{AnyInt, AnyText, Flag, Int, Many, Map, One, Quantity, Text, Time};
use super::super::shape::messages;
use super::metadata::OBJECT_META;

messages! {
    TAINT Taint { 1 key AnyText, 2 value Text, 3 effect AnyText, 4 timeAdded Time }
    NODE_SPEC NodeSpec {
        1 podCIDR Text, 2 externalID Text, 3 providerID Text, 4 unschedulable Flag, 5 taints Many(&One(&TAINT)),
        7 podCIDRs Many(&Text),
    }
    NODE_CONDITION NodeCondition {
        1 type AnyText, 2 status AnyText, 3 lastHeartbeatTime Time, 4 lastTransitionTime Time, 5 reason Text, 6 message Text,
    }
    NODE_ADDRESS NodeAddress { 1 type AnyText, 2 address AnyText }
    DAEMON_ENDPOINT DaemonEndpoint { 1 Port AnyInt }
    NODE_DAEMON_ENDPOINTS NodeDaemonEndpoints { 1 kubeletEndpoint One(&DAEMON_ENDPOINT) }
    NODE_SYSTEM_INFO NodeSystemInfo {
        1 machineID AnyText, 2 systemUUID AnyText, 3 bootID AnyText, 4 kernelVersion AnyText, 5 osImage AnyText,
        6 containerRuntimeVersion AnyText, 7 kubeletVersion AnyText, 8 kubeProxyVersion AnyText, 9 operatingSystem AnyText,
        10 architecture AnyText,
    }
    CONTAINER_IMAGE ContainerImage { 1 names Many(&Text), 2 sizeBytes Int }
    ATTACHED_VOLUME AttachedVolume { 1 name AnyText, 2 devicePath AnyText }
    NODE_STATUS NodeStatus {
        1 capacity Map(&Quantity), 2 allocatable Map(&Quantity), 3 phase Text, 4 conditions Many(&One(&NODE_CONDITION)),
        5 addresses Many(&One(&NODE_ADDRESS)), 6 daemonEndpoints One(&NODE_DAEMON_ENDPOINTS), 7 nodeInfo One(&NODE_SYSTEM_INFO),
        8 images Many(&One(&CONTAINER_IMAGE)), 9 volumesInUse Many(&Text), 10 volumesAttached Many(&One(&ATTACHED_VOLUME)),
    }
    NODE Node { 1 metadata One(&OBJECT_META), 2 spec One(&NODE_SPEC), 3 status One(&NODE_STATUS) }
}
