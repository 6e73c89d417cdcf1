//! Volumes of a pod, without those of single vendors.
//!
//! kubernetes/api core/v1/generated.proto v0.34.

use super::super::shape::Shape::{AnyFlag, AnyInt, AnyText, Flag, Inline, Many, One, Quantity, Text};
use super::super::shape::messages;
use super::metadata::LOCAL_OBJECT_REFERENCE;

messages! {
    HOST_PATH_VOLUME_SOURCE HostPathVolumeSource { 1 path AnyText, 2 type AnyText }
    EMPTY_DIR_VOLUME_SOURCE EmptyDirVolumeSource { 1 medium Text, 2 sizeLimit Quantity }
    KEY_TO_PATH KeyToPath { 1 key AnyText, 2 path AnyText, 3 mode AnyInt }
    SECRET_VOLUME_SOURCE SecretVolumeSource {
        1 secretName Text, 2 items Many(&One(&KEY_TO_PATH)), 3 defaultMode AnyInt, 4 optional AnyFlag,
    }
    NFS_VOLUME_SOURCE NFSVolumeSource { 1 server AnyText, 2 path AnyText, 3 readOnly Flag }
    PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE PersistentVolumeClaimVolumeSource { 1 claimName AnyText, 2 readOnly Flag }
    OBJECT_FIELD_SELECTOR ObjectFieldSelector { 1 apiVersion Text, 2 fieldPath AnyText }
    RESOURCE_FIELD_SELECTOR ResourceFieldSelector { 1 containerName Text, 2 resource AnyText, 3 divisor Quantity }
    DOWNWARD_API_VOLUME_FILE DownwardAPIVolumeFile {
        1 path AnyText, 2 fieldRef One(&OBJECT_FIELD_SELECTOR), 3 resourceFieldRef One(&RESOURCE_FIELD_SELECTOR), 4 mode AnyInt,
    }
    DOWNWARD_API_VOLUME_SOURCE DownwardAPIVolumeSource { 1 items Many(&One(&DOWNWARD_API_VOLUME_FILE)), 2 defaultMode AnyInt }
    CONFIG_MAP_VOLUME_SOURCE ConfigMapVolumeSource {
        1 localObjectReference Inline(&LOCAL_OBJECT_REFERENCE), 2 items Many(&One(&KEY_TO_PATH)), 3 defaultMode AnyInt,
        4 optional AnyFlag,
    }
    SECRET_PROJECTION SecretProjection {
        1 localObjectReference Inline(&LOCAL_OBJECT_REFERENCE), 2 items Many(&One(&KEY_TO_PATH)), 4 optional AnyFlag,
    }
    DOWNWARD_API_PROJECTION DownwardAPIProjection { 1 items Many(&One(&DOWNWARD_API_VOLUME_FILE)) }
    CONFIG_MAP_PROJECTION ConfigMapProjection {
        1 localObjectReference Inline(&LOCAL_OBJECT_REFERENCE), 2 items Many(&One(&KEY_TO_PATH)), 4 optional AnyFlag,
    }
    SERVICE_ACCOUNT_TOKEN_PROJECTION ServiceAccountTokenProjection { 1 audience Text, 2 expirationSeconds AnyInt, 3 path AnyText }
    VOLUME_PROJECTION VolumeProjection {
        1 secret One(&SECRET_PROJECTION), 2 downwardAPI One(&DOWNWARD_API_PROJECTION), 3 configMap One(&CONFIG_MAP_PROJECTION),
        4 serviceAccountToken One(&SERVICE_ACCOUNT_TOKEN_PROJECTION),
    }
    PROJECTED_VOLUME_SOURCE ProjectedVolumeSource { 1 sources Many(&One(&VOLUME_PROJECTION)), 2 defaultMode AnyInt }
    VOLUME_SOURCE VolumeSource {
        1 hostPath One(&HOST_PATH_VOLUME_SOURCE), 2 emptyDir One(&EMPTY_DIR_VOLUME_SOURCE), 6 secret One(&SECRET_VOLUME_SOURCE),
        7 nfs One(&NFS_VOLUME_SOURCE), 10 persistentVolumeClaim One(&PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE),
        16 downwardAPI One(&DOWNWARD_API_VOLUME_SOURCE), 19 configMap One(&CONFIG_MAP_VOLUME_SOURCE),
        26 projected One(&PROJECTED_VOLUME_SOURCE),
    }
    VOLUME Volume { 1 name AnyText, 2 volumeSource Inline(&VOLUME_SOURCE) }
}
