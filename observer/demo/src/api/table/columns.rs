//! The columns of each resource's Table. kubectl shows those of priority 1 with `-o wide`.

use serde_json::{Value, json};

use super::super::Resource;

/// A column of a Table.
#[derive(Clone, Copy)]
pub(super) struct Column {
    name: &'static str,
    kind: &'static str,
    format: &'static str,
    priority: u8,
}

impl Column {
    pub(super) fn definition(self) -> Value {
        json!({"name": self.name, "type": self.kind, "format": self.format, "description": "", "priority": self.priority})
    }
}

/// A text column, always shown.
const fn text(name: &'static str) -> Column {
    Column { name, kind: "string", format: "", priority: 0 }
}

const fn integer(name: &'static str) -> Column {
    Column { kind: "integer", ..text(name) }
}

const fn wide(name: &'static str) -> Column {
    Column { priority: 1, ..text(name) }
}

const NAME: Column = Column { format: "name", ..text("Name") };
const AGE: Column = text("Age");
const CONTAINERS: Column = wide("Containers");
const IMAGES: Column = wide("Images");
const SELECTOR: Column = wide("Selector");

/// The columns of a resource, in order.
pub(super) fn of(resource: &Resource) -> Vec<Column> {
    match resource.kind {
        "ConfigMap" => vec![NAME, text("Data"), AGE],
        "DaemonSet" => vec![
            NAME,
            integer("Desired"),
            integer("Current"),
            integer("Ready"),
            integer("Up-to-date"),
            integer("Available"),
            text("Node Selector"),
            AGE,
            CONTAINERS,
            IMAGES,
            SELECTOR,
        ],
        "Deployment" => vec![NAME, text("Ready"), text("Up-to-date"), text("Available"), AGE, CONTAINERS, IMAGES, SELECTOR],
        "Event" => vec![
            text("Last Seen"),
            text("Type"),
            text("Reason"),
            text("Object"),
            wide("Subobject"),
            wide("Source"),
            text("Message"),
            wide("First Seen"),
            wide("Count"),
            Column { priority: 1, ..NAME },
        ],
        "Job" => vec![NAME, text("Status"), text("Completions"), text("Duration"), AGE, CONTAINERS, IMAGES, SELECTOR],
        "Lease" => vec![NAME, text("Holder"), AGE],
        "Namespace" => vec![NAME, text("Status"), AGE],
        "Node" => vec![
            NAME,
            text("Status"),
            text("Roles"),
            AGE,
            text("Version"),
            wide("Internal-IP"),
            wide("External-IP"),
            wide("OS-Image"),
            wide("Kernel-Version"),
            wide("Container-Runtime"),
        ],
        "Pod" => vec![
            NAME,
            text("Ready"),
            text("Status"),
            text("Restarts"),
            AGE,
            wide("IP"),
            wide("Node"),
            wide("Nominated Node"),
            wide("Readiness Gates"),
        ],
        "PodTemplate" => vec![NAME, text("Containers"), text("Images"), text("Pod Labels")],
        "ReplicaSet" => vec![NAME, integer("Desired"), integer("Current"), integer("Ready"), AGE, CONTAINERS, IMAGES, SELECTOR],
        "Secret" => vec![NAME, text("Type"), text("Data"), AGE],
        "Service" => vec![NAME, text("Type"), text("Cluster-IP"), text("External-IP"), text("Port(s)"), AGE, SELECTOR],
        "ServiceAccount" => vec![NAME, text("Secrets"), AGE],
        "StatefulSet" => vec![NAME, text("Ready"), AGE, CONTAINERS, IMAGES],
        // A real server prints these for a resource without columns.
        _ => vec![NAME, Column { kind: "date", ..text("Created At") }],
    }
}
