//! Variables with the operations of the JSON Patch. They change a pod as those of `json_patch` do, in another order: here, the sidecar
//! comes after the changes to other init containers, whose numbers it would shift.

use serde_json::{Value, json};

use super::cel::{Variable, filled, hole, string, strings, value};
use crate::injection::change::Item;
use crate::injection::decision::{
    ADDRESS, COVERS_LOOPBACK, Class, LOOPBACK, NO_PROXY, PROXIES, Ports, added_volumes, container_argument, metrics_argument,
    resources_in, sidecar, trust_mount,
};
use crate::injection::options::Options;
use crate::injection::outcome::Led;
use crate::injection::pointer::Pointer;
use crate::pod_layout::{ADMITTED, METRICS_PORT, MOVED_SERVICE_ACCOUNT, REFUSED};

/// For each led container, the variables that lead its client to the sidecar.
const VARIABLES: &str = r#"
variables.led.transformList(i, e,
  [{"name": <HOST>, "value": <LOOPBACK>},
    {"name": <PORT>, "value": string(variables.ports[i])},
    {"name": <PORT_HTTPS>, "value": string(variables.ports[i])}] +
  (!e.env.exists(v, v.name in <PROXIES>) ? [] :
    !e.env.exists(v, v.name in <NO_PROXY>) ? <NO_PROXY>.map(name, {"name": name, "value": <LOOPBACK>}) :
    <NO_PROXY>.map(name, e.env.filter(v, v.name == name)).flatten()
    .filter(v, !v.value.split(",").exists(host, host.trim() in <COVERS_LOOPBACK>))
    .map(v, {"name": string(v.name), "value": v.value.trim() == "" ? <LOOPBACK> : string(v.value) + <COMMA_LOOPBACK>})))
"#;

/// Values that are there are replaced. Others come first, because `$(NAME)` in a variable refers to variables before it only.
const LED: &str = r#"
variables.led.transformList(i, e,
  variables.lead[i].filter(w, e.env.exists(v, v.name == w.name)).map(w, {
    "op": dyn("replace"),
    "path": dyn(e.at + "/env/" + string(e.container.env.transformList(j, v, v.name == w.name, j)[0]) + "/value"),
    "value": dyn(w.value)}) +
  [variables.lead[i].filter(w, !e.env.exists(v, v.name == w.name))].filter(added, size(added) > 0).map(added,
    has(e.container.env) ?
      added.transformList(j, w, {"op": dyn("add"), "path": dyn(e.at + "/env/" + string(j)), "value": dyn(w)}) :
      [{"op": dyn("add"), "path": dyn(e.at + "/env"), "value": dyn(added)}]).flatten() +
  [{"op": dyn("replace"),
      "path": dyn(e.at + "/volumeMounts/" + string(variables.token_mounts[i]) + "/mountPath"),
      "value": dyn(<MOVED_SERVICE_ACCOUNT>)},
    {"op": dyn("add"), "path": dyn(e.at + "/volumeMounts/-"), "value": dyn(<TRUST_MOUNT>)}]).flatten()
"#;

const ARGUMENTS: &str = r"
<BEFORE> +
variables.led.transformList(i, e, <OF_CONTAINER>).flatten() +
<AFTER> +
(variables.service_ca ? <SERVICE_CA> : [])
";

/// The annotation with a result. A pod that was copied may have that of another one.
const ANNOTATION: &str = r#"
(object.metadata.?annotations[?<OUTDATED>].hasValue() ? [{"op": dyn("remove"), "path": dyn(<OUTDATED_PATH>)}] : []) +
(has(object.metadata.annotations) ?
  [{"op": dyn("add"), "path": dyn(<PATH>), "value": dyn(<VALUE>)}] :
  [{"op": dyn("add"), "path": dyn("/metadata/annotations"), "value": dyn({<NAME>: <VALUE>})}])
"#;

const OPERATIONS: &str = r#"
variables.refusal != "" ? variables.refused : variables.led_operations + <VOLUMES> +
[has(object.spec.initContainers) ?
  {"op": dyn("add"), "path": dyn("/spec/initContainers/0"), "value": dyn(variables.sidecar)} :
  {"op": dyn("add"), "path": dyn("/spec/initContainers"), "value": dyn([variables.sidecar])}] +
variables.admitted
"#;

/// The expression of the mutation, which alone may have the type `JSONPatch`.
pub(super) const MUTATION: &str = "variables.operations.map(o, has(o.value) ?
  JSONPatch{op: o.op, path: o.path, value: o.value} :
  JSONPatch{op: o.op, path: o.path})";

pub(super) fn operations(options: &Options) -> Vec<Variable> {
    let values = [
        ("HOST", string(ADDRESS[0])),
        ("PORT", string(ADDRESS[1])),
        ("PORT_HTTPS", string(ADDRESS[2])),
        ("LOOPBACK", string(LOOPBACK)),
        ("COMMA_LOOPBACK", string(&format!(",{LOOPBACK}"))),
        ("PROXIES", strings(&PROXIES)),
        ("NO_PROXY", strings(&NO_PROXY)),
        ("COVERS_LOOPBACK", strings(&COVERS_LOOPBACK)),
        ("MOVED_SERVICE_ACCOUNT", string(MOVED_SERVICE_ACCOUNT)),
        ("TRUST_MOUNT", value(&trust_mount().value)),
        ("VOLUMES", volumes(options)),
    ];
    let variable = |name: &'static str, template: &str| Variable::filled(name, template, &values);
    vec![
        variable("lead", VARIABLES),
        variable("led_operations", LED),
        Variable { name: "arguments", expression: arguments(options) },
        Variable { name: "resources", expression: resources(options) },
        Variable { name: "sidecar", expression: container(options) },
        Variable { name: "admitted", expression: annotation(ADMITTED, &string(env!("CARGO_PKG_VERSION")), REFUSED) },
        Variable { name: "refused", expression: annotation(REFUSED, "variables.refusal_text", ADMITTED) },
        variable("operations", OPERATIONS),
    ]
}

/// Operations for the volumes of the sidecar. Admission has added the one with the token.
fn volumes(options: &Options) -> String {
    let add = |item: Item| format!(r#"{{"op": dyn("add"), "path": dyn("/spec/volumes/-"), "value": dyn({})}}"#, value(&item.value));
    format!("[\n  {}]", added_volumes(false, options).into_iter().map(add).collect::<Vec<_>>().join(",\n  "))
}

/// The arguments of the sidecar: those of a specimen with one container, which the policy repeats.
fn arguments(options: &Options) -> String {
    let led = Led { container: "specimen".to_owned(), port: 1 };
    let specimen = |with_service_ca: bool| {
        let ports = Ports { led: vec![led.clone()], metrics: METRICS_PORT };
        let sidecar = sidecar(&ports, &[], None, with_service_ca, options);
        let arguments = sidecar.get("args").and_then(Value::as_array).cloned().unwrap_or_default();
        arguments.iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>()
    };
    let (without, with) = (specimen(false), specimen(true));
    let service_ca: Vec<&str> = with.iter().filter(|argument| !without.contains(argument)).map(String::as_str).collect();
    let of_container = container_argument(&led.container, led.port);
    let at = without.windows(of_container.len()).position(|arguments| arguments == of_container).unwrap_or_default();
    let (before, rest) = without.split_at(at);
    let (fixed, metrics) = (metrics_argument(METRICS_PORT), metrics_argument(hole("string(variables.metrics_ports[0])")));
    let after: Vec<&str> = rest
        .iter()
        .skip(of_container.len())
        .map(|argument| if *argument == fixed[1] { metrics[1].as_str() } else { argument })
        .collect();
    let before: Vec<&str> = before.iter().map(String::as_str).collect();
    let [flag, named] = container_argument(hole("string(e.container.name)"), hole("string(variables.ports[i])"));
    let values = [
        ("BEFORE", strings(&before)),
        ("OF_CONTAINER", format!("[{}, {}]", string(&flag), string(&named))),
        ("AFTER", strings(&after)),
        ("SERVICE_CA", strings(&service_ca)),
    ];
    filled(ARGUMENTS, &values)
}

/// A list of the sidecar's resources, by the class of the pod: empty if it has none. A variable cannot have an optional type.
fn resources(options: &Options) -> String {
    let of = |class: Class| {
        format!("[{}]", resources_in(class, options).value.map(|of| format!("dyn({})", value(&of))).unwrap_or_default())
    };
    format!("variables.shared ? {} :\nvariables.guaranteed ? {} :\n{}", of(Class::Shared), of(Class::Guaranteed), of(Class::Other))
}

fn container(options: &Options) -> String {
    let ports = Ports { led: Vec::new(), metrics: METRICS_PORT };
    let mut container = sidecar(&ports, &[], None, false, options);
    let port = json!(hole("variables.metrics_ports[0]"));
    for (at, of) in [
        ("/args", json!(hole("variables.arguments"))),
        ("/ports/0/containerPort", port.clone()),
        ("/startupProbe/httpGet/port", port),
    ] {
        if let Some(place) = container.pointer_mut(at) {
            *place = of;
        }
    }
    if let Value::Object(members) = &mut container {
        let upstream = "size(variables.upstreams[0]) > 0 ? optional.of(dyn(variables.upstreams[0])) : optional.none()";
        members.insert("?env".to_owned(), json!(hole(upstream)));
        members.insert("?resources".to_owned(), json!(hole("variables.resources[?0]")));
    }
    value(&container)
}

fn annotation(name: &str, of: &str, outdated: &str) -> String {
    let path = |name: &str| string(&Pointer::of(["metadata", "annotations", name]).to_string());
    let values = [
        ("OUTDATED_PATH", path(outdated)),
        ("OUTDATED", string(outdated)),
        ("PATH", path(name)),
        ("NAME", string(name)),
        ("VALUE", of.to_owned()),
    ];
    filled(ANNOTATION, &values)
}
