//! Variables with the reason why a pod gets no sidecar: an empty text if it gets one. The first reason counts, in the order of
//! `decision`.

use super::cel::{Variable, filled, hole, string, strings};
use crate::injection::admit::{FLAG, FLAG_NOTE, refusal_text};
use crate::injection::decision::{ADDRESS, CLUSTER_CA, FILES, NO_PROXY, OWN_VOLUMES, PROXIES, WORD_ENDS, WRITERS, reasons};
use crate::injection::outcome::Refusal;
use crate::pod_layout::{self, FOLDER, MAXIMUM_REFUSAL, MOST_CONTAINERS, MOST_IN_POD, SERVICE_ACCOUNT};

/// Reasons that concern all containers.
const POD: &str = r#"
request.namespace == "kube-system" ? <KUBE_SYSTEM> :
object.metadata.?annotations[?"kubernetes.io/config.mirror"].hasValue() ||
  object.metadata.?annotations[?"kubernetes.io/config.source"].orValue("") == "file" ||
  object.metadata.?ownerReferences.orValue([]).exists(o, o.kind == "Node") ? <MIRROR_POD> :
object.spec.?hostNetwork.orValue(false) ? <HOST_NETWORK> :
["kubernetes.io/os", "beta.kubernetes.io/os"].exists(key, object.spec.?nodeSelector[?key].orValue("") == "windows") ||
  object.spec.?os.?name.orValue("") == "windows" ||
  object.spec.?securityContext.?windowsOptions.hasValue() ||
  [object.spec.?affinity.?nodeAffinity.?requiredDuringSchedulingIgnoredDuringExecution.?nodeSelectorTerms.orValue([])]
  .exists(terms, size(terms) > 0 && terms.all(t, t.?matchExpressions.orValue([]).exists(x,
    x.key == "kubernetes.io/os" && x.operator == "In" && has(x.values) && x.values.all(v, v == "windows")))) ? <WINDOWS> :
variables.containers.exists(e, e.container.name == <NAME>) ? <TAKEN_CONTAINER> :
object.spec.?volumes.orValue([]).exists(v, v.name in <OWN_VOLUMES>) ?
  object.spec.volumes.filter(v, v.name in <OWN_VOLUMES>).map(v, <TAKEN_VOLUME>)[0] :
size(variables.containers) > <MOST_IN_POD> ? <LARGE_POD> :
size(variables.led) == 0 ? <NOT_MOUNTED> : ""
"#;

/// Reasons that one container is enough for.
const CONTAINER: &str = r#"
variables.led.transformList(i, e,
  <WRITERS>
  e.paths.exists(p, p.startsWith(<WITHIN_SERVICE_ACCOUNT>) || p == <FOLDER> || p.startsWith(<WITHIN_FOLDER>)) ?
    e.paths.filter(p, p.startsWith(<WITHIN_SERVICE_ACCOUNT>) || p == <FOLDER> || p.startsWith(<WITHIN_FOLDER>))
    .map(p, p.startsWith(<WITHIN_SERVICE_ACCOUNT>) ? <MOUNT_WITHIN> : <NEEDED_MOUNT>)[0] :
  size(e.paths.filter(p, p == <SERVICE_ACCOUNT>)) > 1 ? <TWO_MOUNTS> :
  variables.other_certificates[i] ? <OTHER_CERTIFICATE> :
  variables.token_files[i].exists(file, !(file in <FILES>)) ?
    variables.token_files[i].filter(file, !(file in <FILES>)).map(file, <LOST_FILE>)[0] : "")
.filter(reason, reason != "")[?0].orValue("")
"#;

/// For each led container, whether its volume with the token has another CA than the cluster's. A Secret may be a token of old, with
/// the cluster's CA; a container that sets an address of its own has it for another API server, though.
const OTHER_CERTIFICATES: &str = r#"
variables.token_volumes.map(v, v.?projected.?sources.orValue([]) + [v]).transformList(i, sources,
  variables.led[i].env.exists(v, v.name == <HOST>) ?
    !sources.exists(s, s.?configMap.?name.orValue("") == <CLUSTER_CA>) &&
      sources.exists(s, has(s.secret) || has(s.configMap)) :
    sources.exists(s, has(s.configMap) && s.configMap.?name.orValue("") != <CLUSTER_CA> &&
      s.configMap.?items.orValue([]).exists(item, item.path == "ca.crt")))
"#;

const PORTS: &str = r#"
size(variables.led) > <MOST_CONTAINERS> ? <TOO_MANY_CONTAINERS> :
size(variables.metrics_ports) == 0 || size(variables.ports) < size(variables.led) ? <NO_PORT> : ""
"#;

/// The containers in their order: the address of each must be known, and the same as that of the first one.
const UPSTREAM: &str = r#"
variables.led.transformList(i, e,
  variables.addresses[i].filter(entries, size(entries) > 0).map(entries,
    size(entries) > 1 ? <VARIABLE_TWICE> :
    entries[0].?value.orValue("") == "" ? (has(entries[0].valueFrom) ? <BY_VALUE_FROM> : <EMPTY_VARIABLE>) :
    entries[0].value.contains("$(") ? <BY_REFERENCE> : "")
  .filter(reason, reason != "")[?0].orValue(variables.upstreams[i] != variables.upstreams[0] ? <DIFFERENT_ADDRESSES> : ""))
.filter(reason, reason != "")[?0].orValue("")
"#;

const PROXY: &str = r#"
variables.led.filter(e, e.env.exists(v, v.name in <PROXIES>)).map(e,
  <NO_PROXY>.map(name, e.env.filter(v, v.name == name)).filter(entries, size(entries) > 0).map(entries,
    size(entries) > 1 ? <VARIABLE_TWICE> :
    entries[0].?value.orValue("") != "" ? "" :
    has(entries[0].valueFrom) ? <PROXY_BY_VALUE_FROM> : <PROXY_WITHOUT_VALUE>)
  .filter(reason, reason != "")[?0].orValue(""))
.filter(reason, reason != "")[?0].orValue("")
"#;

const REFUSAL: &str = r#"
variables.pod_refusal != "" ? variables.pod_refusal :
variables.container_refusal != "" ? variables.container_refusal :
variables.port_refusal != "" ? variables.port_refusal :
variables.upstream_refusal != "" ? variables.upstream_refusal : variables.proxy_refusal
"#;

/// The refusal on one line of printable ASCII.
const REFUSAL_TEXT: &str = r#"
[variables.refusal].map(text, text.contains(<FLAG>) ? text + <FLAG_NOTE> : text)
.map(text, text.replace("…", "...").split("").map(c, c.matches("^[ -~]$") ? c : "?").join())
.map(text, size(text) > <MAXIMUM_REFUSAL> ? text.substring(0, <MAXIMUM_REFUSAL>) : text)[0]
"#;

pub(super) fn refusals() -> Vec<Variable> {
    let container = &hole("e.container.name");
    let entry = &hole("entries[0].name");
    let reason = |refusal: Refusal| string(&refusal_text(&refusal));
    let values = [
        ("KUBE_SYSTEM", reason(reasons::kube_system())),
        ("MIRROR_POD", reason(reasons::mirror_pod())),
        ("HOST_NETWORK", reason(reasons::host_network())),
        ("WINDOWS", reason(reasons::windows())),
        ("NAME", string(pod_layout::CONTAINER)),
        ("TAKEN_CONTAINER", reason(reasons::taken_container())),
        ("OWN_VOLUMES", strings(&OWN_VOLUMES)),
        ("TAKEN_VOLUME", reason(reasons::taken_volume(hole("v.name")))),
        ("MOST_IN_POD", MOST_IN_POD.to_string()),
        ("LARGE_POD", reason(reasons::large_pod(hole("string(size(variables.containers))")))),
        ("NOT_MOUNTED", reason(reasons::not_mounted())),
        ("WRITERS", writers()),
        ("MOUNT_WITHIN", reason(reasons::mount_within_service_account(container))),
        ("NEEDED_MOUNT", reason(reasons::needed_mount(container, hole("p")))),
        ("TWO_MOUNTS", reason(reasons::two_mounts(container))),
        ("OTHER_CERTIFICATE", reason(reasons::other_certificate(container))),
        ("LOST_FILE", reason(reasons::lost_file(container, hole("file")))),
        ("TOO_MANY_CONTAINERS", reason(reasons::too_many_containers(hole("string(size(variables.led))")))),
        ("NO_PORT", reason(reasons::no_port())),
        ("VARIABLE_TWICE", reason(reasons::variable_twice(container, entry))),
        ("BY_VALUE_FROM", reason(reasons::variable_by_value_from(container, entry))),
        ("BY_REFERENCE", reason(reasons::variable_by_reference(container, entry))),
        ("EMPTY_VARIABLE", reason(reasons::empty_variable(container, entry))),
        ("DIFFERENT_ADDRESSES", reason(reasons::different_addresses(hole("variables.led[0].container.name"), container))),
        ("PROXY_BY_VALUE_FROM", reason(reasons::proxy_by_value_from(container, entry))),
        ("PROXY_WITHOUT_VALUE", reason(reasons::proxy_without_value(container, entry))),
        ("SERVICE_ACCOUNT", string(SERVICE_ACCOUNT)),
        ("WITHIN_SERVICE_ACCOUNT", string(&format!("{SERVICE_ACCOUNT}/"))),
        ("FOLDER", string(FOLDER)),
        ("WITHIN_FOLDER", string(&format!("{FOLDER}/"))),
        ("FILES", strings(&FILES)),
        ("HOST", string(ADDRESS[0])),
        ("CLUSTER_CA", string(CLUSTER_CA)),
        ("MOST_CONTAINERS", MOST_CONTAINERS.to_string()),
        ("NO_PROXY", strings(&NO_PROXY)),
        ("PROXIES", strings(&PROXIES)),
        ("FLAG", string(FLAG)),
        ("FLAG_NOTE", string(FLAG_NOTE)),
        ("MAXIMUM_REFUSAL", MAXIMUM_REFUSAL.to_string()),
    ];
    let refusals = [
        ("pod_refusal", POD),
        ("other_certificates", OTHER_CERTIFICATES),
        ("container_refusal", CONTAINER),
        ("port_refusal", PORTS),
        ("upstream_refusal", UPSTREAM),
        ("proxy_refusal", PROXY),
        ("refusal", REFUSAL),
        ("refusal_text", REFUSAL_TEXT),
    ];
    refusals.into_iter().map(|(name, template)| Variable::filled(name, template, &values)).collect()
}

/// The programs that write for others, by a word in the name of the container or in the last part of its image's name.
fn writers() -> String {
    let end = format!("[{}]", WORD_ENDS.iter().collect::<String>());
    let case = |(words, activity): &(&[&str], &str)| {
        let word = format!("({})", words.join("|"));
        let values = [
            ("NAME", string(&format!("(?s)^(.*{end})?{word}({end}.*)?$"))),
            ("IMAGE", string(&format!("(?s)^([^@]*/)?([^/:@]*{end})?{word}({end}[^/:@]*)?(:[^/@]*)?(@.*)?$"))),
            ("REASON", string(&refusal_text(&reasons::writes_for_others(hole("e.container.name"), activity)))),
        ];
        filled("e.container.name.matches(<NAME>) || e.container.?image.orValue(\"\").matches(<IMAGE>) ? <REASON> :", &values)
    };
    WRITERS.iter().map(case).collect::<Vec<_>>().join("\n  ")
}
