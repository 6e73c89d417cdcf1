//! Variables with the facts about a pod that its sidecar depends on.

use serde_json::Value;

use super::cel::{Variable, strings};
use crate::injection::decision::{ADDRESS, CLASS, FIRST_EPHEMERAL_PORT, NO_PROXY, PROXIES, WITHOUT_TLS};
use crate::injection::options::Options;
use crate::pod_layout::{FIRST_PORT, METRICS_PORT, SERVICE_ACCOUNT};

/// All containers, in the order in which they start, each with its place. The paths of its mounts have no empty and no `.` segments.
/// Of its variables, only those are kept that decide how its client reaches the API server. To look at all of them again would cost too
/// much.
const CONTAINERS: &str = r#"
(object.spec.?initContainers.orValue([]).transformList(i, c,
    {"at": dyn("/spec/initContainers/" + string(i)), "container": dyn(c)}) +
  object.spec.?containers.orValue([]).transformList(i, c,
    {"at": dyn("/spec/containers/" + string(i)), "container": dyn(c)}))
.map(e, {
  "at": e.at,
  "container": e.container,
  "env": dyn(e.container.?env.orValue([]).filter(v, v.name in <DECISIVE>)),
  "paths": dyn(e.container.?volumeMounts.orValue([]).map(m,
    "/" + m.mountPath.split("/").filter(s, s != "" && s != ".").join("/")))
})
"#;

/// The containers that have a token.
const LED: &str = "variables.containers.filter(e, <SERVICE_ACCOUNT> in e.paths)";

/// The place of each led container's mount with the token.
const TOKEN_MOUNTS: &str = "variables.led.map(e, e.paths.transformList(i, p, p == <SERVICE_ACCOUNT>, i)[0])";

/// The volume of each such mount.
const TOKEN_VOLUMES: &str = r"
variables.led.transformList(i, e, e.container.volumeMounts[variables.token_mounts[i]].name)
.map(name, object.spec.?volumes.orValue([]).filter(v, v.name == name)[?0].orValue({}))
";

/// The names of the files that each such volume is known to have.
const TOKEN_FILES: &str = r"
variables.token_volumes
.map(v, v.?projected.?sources.orValue([]).map(s, s.map(kind, s[kind])).flatten() +
  [?v.?secret, ?v.?configMap, ?v.?downwardAPI])
.map(parts, parts.map(p, p.?items.orValue([]).map(item, item.path) + [?p.?path]).flatten())
";

const SERVICE_CA: &str = r#"<OPENSHIFT> || variables.token_files.exists(files, "service-ca.crt" in files)"#;

/// Ports that the sidecar must not use, without those below all of its own.
const TAKEN: &str = r"
(variables.containers.map(e, e.container.?ports.orValue([]).map(p, [p.containerPort, ?p.?hostPort]).flatten()).flatten() +
  <WITHOUT_TLS>)
.filter(p, p >= <METRICS_PORT>)
";

/// At least as many ports as there are led containers, unless all are taken.
const PORTS: &str = r"
lists.range(size(variables.led) + size(variables.taken)).map(n, <FIRST_PORT> + n)
.filter(p, p < <FIRST_EPHEMERAL_PORT> && !(p in variables.taken))
";

const METRICS_PORTS: &str = r"
lists.range(size(variables.taken) + 1).map(n, <METRICS_PORT> + n)
.filter(p, p < <FIRST_PORT> && !(p in variables.taken))
";

/// For each led container, the entries for each variable with the address of the API server.
const ADDRESSES: &str = "variables.led.map(e, <ADDRESS>.map(name, e.env.filter(v, v.name == name)))";

/// For each led container, the address that it sets.
const UPSTREAMS: &str = r#"
variables.addresses.map(entries, entries.flatten().map(v, {"name": string(v.name), "value": string(v.?value.orValue(""))}))
"#;

/// Whether all containers share the resources of the pod.
const SHARED: &str = r#"["requests", "limits"].exists(kind, size(object.spec.?resources[?kind].orValue({})) > 0)"#;

/// Whether each container has limits that decide about the class of the pod, and equal requests. A limit of zero is none.
const GUARANTEED: &str = r#"
variables.containers.all(e, <CLASS>.all(resource,
  [e.container.?resources.?limits[?resource].orValue("0")].all(limit, quantity(limit).isGreaterThan(quantity("0")) &&
    quantity(e.container.?resources.?requests[?resource].orValue(limit)).compareTo(quantity(limit)) == 0)))
"#;

pub(super) fn facts(options: &Options) -> Vec<Variable> {
    let values = [
        ("SERVICE_ACCOUNT", Value::from(SERVICE_ACCOUNT).to_string()),
        ("DECISIVE", strings(&[&ADDRESS[..], &NO_PROXY, &PROXIES].concat())),
        ("OPENSHIFT", options.openshift.to_string()),
        ("WITHOUT_TLS", Value::from(WITHOUT_TLS.to_vec()).to_string()),
        ("FIRST_PORT", FIRST_PORT.to_string()),
        ("FIRST_EPHEMERAL_PORT", FIRST_EPHEMERAL_PORT.to_string()),
        ("METRICS_PORT", METRICS_PORT.to_string()),
        ("ADDRESS", strings(&ADDRESS)),
        ("CLASS", strings(&CLASS)),
    ];
    let facts = [
        ("containers", CONTAINERS),
        ("led", LED),
        ("token_mounts", TOKEN_MOUNTS),
        ("token_volumes", TOKEN_VOLUMES),
        ("token_files", TOKEN_FILES),
        ("service_ca", SERVICE_CA),
        ("taken", TAKEN),
        ("ports", PORTS),
        ("metrics_ports", METRICS_PORTS),
        ("addresses", ADDRESSES),
        ("upstreams", UPSTREAMS),
        ("shared", SHARED),
        ("guaranteed", GUARANTEED),
    ];
    facts.into_iter().map(|(name, template)| Variable::filled(name, template, &values)).collect()
}
