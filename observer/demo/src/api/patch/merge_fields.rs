//! The lists that are merged by key, for every type in the served resources; other lists are replaced.
//!
//! These are the `patchStrategy` and `patchMergeKey` tags of k8s.io/api and k8s.io/apimachinery 0.34. The API server's OpenAPI
//! documents show them as `x-kubernetes-patch-strategy` and `x-kubernetes-patch-merge-key`; a test in `tests/cluster` compares the
//! two. A list that is not here is replaced completely, such as tolerations.

use crate::api::Resource;

/// An API type, as far as strategic merge patches treat its fields specially.
#[derive(Debug)]
pub(in crate::api) struct MergeType {
    /// The name of the type in OpenAPI documents.
    pub schema: &'static str,
    /// Fields that are merged, and fields that lead to such ones.
    pub fields: &'static [MergeField],
}

/// One field of a [`MergeType`].
#[derive(Debug)]
pub(in crate::api) struct MergeField {
    /// The field's JSON name.
    pub name: &'static str,
    /// The text of the tag; empty without one. `retainKeys` makes clients send the fields to keep; the server follows that list in
    /// any field.
    pub strategy: &'static str,
    /// The field that identifies elements of a list; `None` in lists of scalars.
    pub merge_key: Option<&'static str>,
    /// The type of the value, or of the elements.
    pub of: Option<&'static MergeType>,
}

impl MergeType {
    pub(super) fn field(&self, name: &str) -> Option<&'static MergeField> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl MergeField {
    pub(super) fn merges(&self) -> bool {
        self.strategy.split(',').any(|word| word == "merge")
    }
}

/// The type of a resource's objects.
pub(super) fn of_resource(resource: &Resource) -> Option<&'static MergeType> {
    let schema = resource.schema();
    MERGE_TYPES.iter().find(|known| known.schema == schema).copied()
}

const fn inside(name: &'static str, of: &'static MergeType) -> MergeField {
    MergeField { name, strategy: "", merge_key: None, of: Some(of) }
}

const fn scalars(name: &'static str) -> MergeField {
    MergeField { name, strategy: "merge", merge_key: None, of: None }
}

const fn keyed(name: &'static str, merge_key: &'static str) -> MergeField {
    MergeField { name, strategy: "merge", merge_key: Some(merge_key), of: None }
}

/// All types, sorted by schema.
pub(in crate::api) static MERGE_TYPES: &[&MergeType] = &[
    &DAEMON_SET,
    &DAEMON_SET_SPEC,
    &DAEMON_SET_STATUS,
    &DEPLOYMENT,
    &DEPLOYMENT_SPEC,
    &DEPLOYMENT_STATUS,
    &REPLICA_SET,
    &REPLICA_SET_SPEC,
    &REPLICA_SET_STATUS,
    &STATEFUL_SET,
    &STATEFUL_SET_SPEC,
    &STATEFUL_SET_STATUS,
    &JOB,
    &JOB_SPEC,
    &JOB_STATUS,
    &LEASE,
    &CONFIG_MAP,
    &CONTAINER,
    &CONTAINER_STATUS,
    &EPHEMERAL_CONTAINER,
    &EPHEMERAL_VOLUME_SOURCE,
    &EVENT,
    &NAMESPACE,
    &NAMESPACE_STATUS,
    &NODE,
    &NODE_SPEC,
    &NODE_STATUS,
    &PERSISTENT_VOLUME_CLAIM,
    &PERSISTENT_VOLUME_CLAIM_STATUS,
    &PERSISTENT_VOLUME_CLAIM_TEMPLATE,
    &POD,
    &POD_SPEC,
    &POD_STATUS,
    &POD_TEMPLATE,
    &POD_TEMPLATE_SPEC,
    &SECRET,
    &SERVICE,
    &SERVICE_ACCOUNT,
    &SERVICE_SPEC,
    &SERVICE_STATUS,
    &VOLUME,
    &OBJECT_META,
];

static DAEMON_SET: MergeType = MergeType {
    schema: "io.k8s.api.apps.v1.DaemonSet",
    fields: &[inside("metadata", &OBJECT_META), inside("spec", &DAEMON_SET_SPEC), inside("status", &DAEMON_SET_STATUS)],
};
static DAEMON_SET_SPEC: MergeType =
    MergeType { schema: "io.k8s.api.apps.v1.DaemonSetSpec", fields: &[inside("template", &POD_TEMPLATE_SPEC)] };
static DAEMON_SET_STATUS: MergeType =
    MergeType { schema: "io.k8s.api.apps.v1.DaemonSetStatus", fields: &[keyed("conditions", "type")] };
static DEPLOYMENT: MergeType = MergeType {
    schema: "io.k8s.api.apps.v1.Deployment",
    fields: &[inside("metadata", &OBJECT_META), inside("spec", &DEPLOYMENT_SPEC), inside("status", &DEPLOYMENT_STATUS)],
};
static DEPLOYMENT_SPEC: MergeType = MergeType {
    schema: "io.k8s.api.apps.v1.DeploymentSpec",
    fields: &[MergeField { strategy: "retainKeys", ..scalars("strategy") }, inside("template", &POD_TEMPLATE_SPEC)],
};
static DEPLOYMENT_STATUS: MergeType =
    MergeType { schema: "io.k8s.api.apps.v1.DeploymentStatus", fields: &[keyed("conditions", "type")] };
static REPLICA_SET: MergeType = MergeType {
    schema: "io.k8s.api.apps.v1.ReplicaSet",
    fields: &[inside("metadata", &OBJECT_META), inside("spec", &REPLICA_SET_SPEC), inside("status", &REPLICA_SET_STATUS)],
};
static REPLICA_SET_SPEC: MergeType =
    MergeType { schema: "io.k8s.api.apps.v1.ReplicaSetSpec", fields: &[inside("template", &POD_TEMPLATE_SPEC)] };
static REPLICA_SET_STATUS: MergeType =
    MergeType { schema: "io.k8s.api.apps.v1.ReplicaSetStatus", fields: &[keyed("conditions", "type")] };
static STATEFUL_SET: MergeType = MergeType {
    schema: "io.k8s.api.apps.v1.StatefulSet",
    fields: &[inside("metadata", &OBJECT_META), inside("spec", &STATEFUL_SET_SPEC), inside("status", &STATEFUL_SET_STATUS)],
};
static STATEFUL_SET_SPEC: MergeType = MergeType {
    schema: "io.k8s.api.apps.v1.StatefulSetSpec",
    fields: &[inside("template", &POD_TEMPLATE_SPEC), inside("volumeClaimTemplates", &PERSISTENT_VOLUME_CLAIM)],
};
static STATEFUL_SET_STATUS: MergeType =
    MergeType { schema: "io.k8s.api.apps.v1.StatefulSetStatus", fields: &[keyed("conditions", "type")] };
static JOB: MergeType = MergeType {
    schema: "io.k8s.api.batch.v1.Job",
    fields: &[inside("metadata", &OBJECT_META), inside("spec", &JOB_SPEC), inside("status", &JOB_STATUS)],
};
static JOB_SPEC: MergeType = MergeType { schema: "io.k8s.api.batch.v1.JobSpec", fields: &[inside("template", &POD_TEMPLATE_SPEC)] };
static JOB_STATUS: MergeType = MergeType { schema: "io.k8s.api.batch.v1.JobStatus", fields: &[keyed("conditions", "type")] };
static LEASE: MergeType = MergeType { schema: "io.k8s.api.coordination.v1.Lease", fields: &[inside("metadata", &OBJECT_META)] };
static CONFIG_MAP: MergeType = MergeType { schema: "io.k8s.api.core.v1.ConfigMap", fields: &[inside("metadata", &OBJECT_META)] };
static CONTAINER: MergeType = MergeType {
    schema: "io.k8s.api.core.v1.Container",
    fields: &[
        keyed("env", "name"),
        keyed("ports", "containerPort"),
        keyed("volumeDevices", "devicePath"),
        keyed("volumeMounts", "mountPath"),
    ],
};
static CONTAINER_STATUS: MergeType = MergeType {
    schema: "io.k8s.api.core.v1.ContainerStatus",
    fields: &[keyed("allocatedResourcesStatus", "name"), keyed("volumeMounts", "mountPath")],
};
static EPHEMERAL_CONTAINER: MergeType = MergeType {
    schema: "io.k8s.api.core.v1.EphemeralContainer",
    fields: &[
        keyed("env", "name"),
        keyed("ports", "containerPort"),
        keyed("volumeDevices", "devicePath"),
        keyed("volumeMounts", "mountPath"),
    ],
};
static EPHEMERAL_VOLUME_SOURCE: MergeType = MergeType {
    schema: "io.k8s.api.core.v1.EphemeralVolumeSource",
    fields: &[inside("volumeClaimTemplate", &PERSISTENT_VOLUME_CLAIM_TEMPLATE)],
};
static EVENT: MergeType = MergeType { schema: "io.k8s.api.core.v1.Event", fields: &[inside("metadata", &OBJECT_META)] };
static NAMESPACE: MergeType = MergeType {
    schema: "io.k8s.api.core.v1.Namespace",
    fields: &[inside("metadata", &OBJECT_META), inside("status", &NAMESPACE_STATUS)],
};
static NAMESPACE_STATUS: MergeType =
    MergeType { schema: "io.k8s.api.core.v1.NamespaceStatus", fields: &[keyed("conditions", "type")] };
static NODE: MergeType = MergeType {
    schema: "io.k8s.api.core.v1.Node",
    fields: &[inside("metadata", &OBJECT_META), inside("spec", &NODE_SPEC), inside("status", &NODE_STATUS)],
};
static NODE_SPEC: MergeType = MergeType { schema: "io.k8s.api.core.v1.NodeSpec", fields: &[scalars("podCIDRs")] };
static NODE_STATUS: MergeType =
    MergeType { schema: "io.k8s.api.core.v1.NodeStatus", fields: &[keyed("addresses", "type"), keyed("conditions", "type")] };
static PERSISTENT_VOLUME_CLAIM: MergeType = MergeType {
    schema: "io.k8s.api.core.v1.PersistentVolumeClaim",
    fields: &[inside("metadata", &OBJECT_META), inside("status", &PERSISTENT_VOLUME_CLAIM_STATUS)],
};
static PERSISTENT_VOLUME_CLAIM_STATUS: MergeType =
    MergeType { schema: "io.k8s.api.core.v1.PersistentVolumeClaimStatus", fields: &[keyed("conditions", "type")] };
static PERSISTENT_VOLUME_CLAIM_TEMPLATE: MergeType =
    MergeType { schema: "io.k8s.api.core.v1.PersistentVolumeClaimTemplate", fields: &[inside("metadata", &OBJECT_META)] };
static POD: MergeType = MergeType {
    schema: "io.k8s.api.core.v1.Pod",
    fields: &[inside("metadata", &OBJECT_META), inside("spec", &POD_SPEC), inside("status", &POD_STATUS)],
};
static POD_SPEC: MergeType = MergeType {
    schema: "io.k8s.api.core.v1.PodSpec",
    fields: &[
        MergeField { of: Some(&CONTAINER), ..keyed("containers", "name") },
        MergeField { of: Some(&EPHEMERAL_CONTAINER), ..keyed("ephemeralContainers", "name") },
        keyed("hostAliases", "ip"),
        keyed("imagePullSecrets", "name"),
        MergeField { of: Some(&CONTAINER), ..keyed("initContainers", "name") },
        MergeField { strategy: "merge,retainKeys", ..keyed("resourceClaims", "name") },
        keyed("schedulingGates", "name"),
        keyed("topologySpreadConstraints", "topologyKey"),
        MergeField { strategy: "merge,retainKeys", of: Some(&VOLUME), ..keyed("volumes", "name") },
    ],
};
static POD_STATUS: MergeType = MergeType {
    schema: "io.k8s.api.core.v1.PodStatus",
    fields: &[
        keyed("conditions", "type"),
        inside("containerStatuses", &CONTAINER_STATUS),
        inside("ephemeralContainerStatuses", &CONTAINER_STATUS),
        keyed("hostIPs", "ip"),
        inside("initContainerStatuses", &CONTAINER_STATUS),
        keyed("podIPs", "ip"),
        MergeField { strategy: "merge,retainKeys", ..keyed("resourceClaimStatuses", "name") },
    ],
};
static POD_TEMPLATE: MergeType = MergeType {
    schema: "io.k8s.api.core.v1.PodTemplate",
    fields: &[inside("metadata", &OBJECT_META), inside("template", &POD_TEMPLATE_SPEC)],
};
static POD_TEMPLATE_SPEC: MergeType = MergeType {
    schema: "io.k8s.api.core.v1.PodTemplateSpec",
    fields: &[inside("metadata", &OBJECT_META), inside("spec", &POD_SPEC)],
};
static SECRET: MergeType = MergeType { schema: "io.k8s.api.core.v1.Secret", fields: &[inside("metadata", &OBJECT_META)] };
static SERVICE: MergeType = MergeType {
    schema: "io.k8s.api.core.v1.Service",
    fields: &[inside("metadata", &OBJECT_META), inside("spec", &SERVICE_SPEC), inside("status", &SERVICE_STATUS)],
};
static SERVICE_ACCOUNT: MergeType = MergeType {
    schema: "io.k8s.api.core.v1.ServiceAccount",
    fields: &[inside("metadata", &OBJECT_META), keyed("secrets", "name")],
};
static SERVICE_SPEC: MergeType = MergeType { schema: "io.k8s.api.core.v1.ServiceSpec", fields: &[keyed("ports", "port")] };
static SERVICE_STATUS: MergeType = MergeType { schema: "io.k8s.api.core.v1.ServiceStatus", fields: &[keyed("conditions", "type")] };
static VOLUME: MergeType =
    MergeType { schema: "io.k8s.api.core.v1.Volume", fields: &[inside("ephemeral", &EPHEMERAL_VOLUME_SOURCE)] };
static OBJECT_META: MergeType = MergeType {
    schema: "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
    fields: &[scalars("finalizers"), keyed("ownerReferences", "uid")],
};
