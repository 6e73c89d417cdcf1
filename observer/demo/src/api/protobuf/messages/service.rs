//! Services.
//!
//! kubernetes/api core/v1/generated.proto v0.34.

use super::super::shape::Shape::{AnyFlag, AnyInt, AnyText, Flag, Int, IntOrString, Many, Map, One, Text};
use super::super::shape::messages;
use super::metadata::{CONDITION, OBJECT_META};

messages! {
    SERVICE_PORT ServicePort {
        1 name Text, 2 protocol Text, 3 port AnyInt, 4 targetPort IntOrString, 5 nodePort Int, 6 appProtocol AnyText,
    }
    CLIENT_IP_CONFIG ClientIPConfig { 1 timeoutSeconds AnyInt }
    SESSION_AFFINITY_CONFIG SessionAffinityConfig { 1 clientIP One(&CLIENT_IP_CONFIG) }
    SERVICE_SPEC ServiceSpec {
        1 ports Many(&One(&SERVICE_PORT)), 2 selector Map(&Text), 3 clusterIP Text, 4 type Text, 5 externalIPs Many(&Text),
        7 sessionAffinity Text, 8 loadBalancerIP Text, 9 loadBalancerSourceRanges Many(&Text), 10 externalName Text,
        11 externalTrafficPolicy Text, 12 healthCheckNodePort Int, 13 publishNotReadyAddresses Flag,
        14 sessionAffinityConfig One(&SESSION_AFFINITY_CONFIG), 17 ipFamilyPolicy AnyText, 18 clusterIPs Many(&Text),
        19 ipFamilies Many(&Text), 20 allocateLoadBalancerNodePorts AnyFlag, 21 loadBalancerClass AnyText,
        22 internalTrafficPolicy AnyText, 23 trafficDistribution AnyText,
    }
    PORT_STATUS PortStatus { 1 port AnyInt, 2 protocol AnyText, 3 error AnyText }
    LOAD_BALANCER_INGRESS LoadBalancerIngress { 1 ip Text, 2 hostname Text, 3 ipMode AnyText, 4 ports Many(&One(&PORT_STATUS)) }
    LOAD_BALANCER_STATUS LoadBalancerStatus { 1 ingress Many(&One(&LOAD_BALANCER_INGRESS)) }
    SERVICE_STATUS ServiceStatus { 1 loadBalancer One(&LOAD_BALANCER_STATUS), 2 conditions Many(&One(&CONDITION)) }
    SERVICE Service { 1 metadata One(&OBJECT_META), 2 spec One(&SERVICE_SPEC), 3 status One(&SERVICE_STATUS) }
}
