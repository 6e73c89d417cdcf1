//! Containers of a pod.
//!
//! kubernetes/api core/v1/generated.proto v0.34.

use super::super::shape::Shape::{AnyFlag, AnyInt, AnyIntOrString, AnyText, Flag, Inline, Int, Many, Map, One, Quantity, Text};
use super::super::shape::messages;
use super::metadata::LOCAL_OBJECT_REFERENCE;
use super::volume::{OBJECT_FIELD_SELECTOR, RESOURCE_FIELD_SELECTOR};

messages! {
    CONTAINER_PORT ContainerPort { 1 name Text, 2 hostPort Int, 3 containerPort AnyInt, 4 protocol Text, 5 hostIP Text }
    CONFIG_MAP_ENV_SOURCE ConfigMapEnvSource { 1 localObjectReference Inline(&LOCAL_OBJECT_REFERENCE), 2 optional AnyFlag }
    SECRET_ENV_SOURCE SecretEnvSource { 1 localObjectReference Inline(&LOCAL_OBJECT_REFERENCE), 2 optional AnyFlag }
    ENV_FROM_SOURCE EnvFromSource { 1 prefix Text, 2 configMapRef One(&CONFIG_MAP_ENV_SOURCE), 3 secretRef One(&SECRET_ENV_SOURCE) }
    CONFIG_MAP_KEY_SELECTOR ConfigMapKeySelector {
        1 localObjectReference Inline(&LOCAL_OBJECT_REFERENCE), 2 key AnyText, 3 optional AnyFlag,
    }
    SECRET_KEY_SELECTOR SecretKeySelector {
        1 localObjectReference Inline(&LOCAL_OBJECT_REFERENCE), 2 key AnyText, 3 optional AnyFlag,
    }
    ENV_VAR_SOURCE EnvVarSource {
        1 fieldRef One(&OBJECT_FIELD_SELECTOR), 2 resourceFieldRef One(&RESOURCE_FIELD_SELECTOR),
        3 configMapKeyRef One(&CONFIG_MAP_KEY_SELECTOR), 4 secretKeyRef One(&SECRET_KEY_SELECTOR),
    }
    ENV_VAR EnvVar { 1 name AnyText, 2 value Text, 3 valueFrom One(&ENV_VAR_SOURCE) }
    RESOURCE_REQUIREMENTS ResourceRequirements { 1 limits Map(&Quantity), 2 requests Map(&Quantity) }
    VOLUME_MOUNT VolumeMount {
        1 name AnyText, 2 readOnly Flag, 3 mountPath AnyText, 4 subPath Text, 5 mountPropagation AnyText, 6 subPathExpr Text,
        7 recursiveReadOnly AnyText,
    }
    VOLUME_DEVICE VolumeDevice { 1 name AnyText, 2 devicePath AnyText }
    EXEC_ACTION ExecAction { 1 command Many(&Text) }
    HTTP_HEADER HTTPHeader { 1 name AnyText, 2 value AnyText }
    HTTP_GET_ACTION HTTPGetAction {
        1 path Text, 2 port AnyIntOrString, 3 host Text, 4 scheme Text, 5 httpHeaders Many(&One(&HTTP_HEADER)),
    }
    TCP_SOCKET_ACTION TCPSocketAction { 1 port AnyIntOrString, 2 host Text }
    GRPC_ACTION GRPCAction { 1 port AnyInt, 2 service AnyText }
    PROBE_HANDLER ProbeHandler {
        1 exec One(&EXEC_ACTION), 2 httpGet One(&HTTP_GET_ACTION), 3 tcpSocket One(&TCP_SOCKET_ACTION), 4 grpc One(&GRPC_ACTION),
    }
    PROBE Probe {
        1 handler Inline(&PROBE_HANDLER), 2 initialDelaySeconds Int, 3 timeoutSeconds Int, 4 periodSeconds Int, 5 successThreshold Int,
        6 failureThreshold Int, 7 terminationGracePeriodSeconds AnyInt,
    }
    SLEEP_ACTION SleepAction { 1 seconds AnyInt }
    LIFECYCLE_HANDLER LifecycleHandler {
        1 exec One(&EXEC_ACTION), 2 httpGet One(&HTTP_GET_ACTION), 3 tcpSocket One(&TCP_SOCKET_ACTION), 4 sleep One(&SLEEP_ACTION),
    }
    LIFECYCLE Lifecycle { 1 postStart One(&LIFECYCLE_HANDLER), 2 preStop One(&LIFECYCLE_HANDLER), 3 stopSignal AnyText }
    CAPABILITIES Capabilities { 1 add Many(&Text), 2 drop Many(&Text) }
    SE_LINUX_OPTIONS SELinuxOptions { 1 user Text, 2 role Text, 3 type Text, 4 level Text }
    SECCOMP_PROFILE SeccompProfile { 1 type AnyText, 2 localhostProfile AnyText }
    APP_ARMOR_PROFILE AppArmorProfile { 1 type AnyText, 2 localhostProfile AnyText }
    SECURITY_CONTEXT SecurityContext {
        1 capabilities One(&CAPABILITIES), 2 privileged AnyFlag, 3 seLinuxOptions One(&SE_LINUX_OPTIONS), 4 runAsUser AnyInt,
        5 runAsNonRoot AnyFlag, 6 readOnlyRootFilesystem AnyFlag, 7 allowPrivilegeEscalation AnyFlag, 8 runAsGroup AnyInt,
        9 procMount AnyText, 11 seccompProfile One(&SECCOMP_PROFILE), 12 appArmorProfile One(&APP_ARMOR_PROFILE),
    }
    CONTAINER Container {
        1 name AnyText, 2 image Text, 3 command Many(&Text), 4 args Many(&Text), 5 workingDir Text,
        6 ports Many(&One(&CONTAINER_PORT)), 7 env Many(&One(&ENV_VAR)), 8 resources One(&RESOURCE_REQUIREMENTS),
        9 volumeMounts Many(&One(&VOLUME_MOUNT)), 10 livenessProbe One(&PROBE), 11 readinessProbe One(&PROBE),
        12 lifecycle One(&LIFECYCLE), 13 terminationMessagePath Text, 14 imagePullPolicy Text,
        15 securityContext One(&SECURITY_CONTEXT), 16 stdin Flag, 17 stdinOnce Flag, 18 tty Flag,
        19 envFrom Many(&One(&ENV_FROM_SOURCE)), 20 terminationMessagePolicy Text, 21 volumeDevices Many(&One(&VOLUME_DEVICE)),
        22 startupProbe One(&PROBE), 24 restartPolicy AnyText,
    }
}
