//! `watchtap probe` as a user runs it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use aya::programs::loaded_links;
use observer_demo::{DemoConfig, DemoServer};
use observer_tests::{ProbeSession, patient};
use serde_json::Value;

use super::clients::{python, run};

/// Sends a list and a create, both with secrets.
const CLIENT: &str = "
import http.client, ssl, sys
host, authority, token = sys.argv[1:]
connection = http.client.HTTPSConnection(host, context=ssl.create_default_context(cadata=authority))
heads = {'Authorization': 'Bearer ' + token, 'User-Agent': 'probed/v1', 'Cookie': 'canary-cookie', 'Content-Type': 'application/json'}
written = '{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"made\"},\"data\":{\"key\":\"canary-data\"}}'
for method, path, body in [('GET', '/api/v1/namespaces?limit=500', None), ('POST', '/api/v1/namespaces/default/configmaps', written)]:
    connection.request(method, path, body=body, headers=heads)
    connection.getresponse().read()
connection.close()
";

/// Limit of every wait.
const WITHIN: Duration = Duration::from_secs(30);

#[test]
fn requests_of_a_client_are_reported_without_its_secrets() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let [events, capture] = ["events", "capture"].map(|name| folder.path().join(name));
    let arguments = ["--lines", "--events", text(&events), "--capture", text(&capture), "--server-version", "1.34.2"];
    let probe = ProbeSession::start(server.address(), Path::new("/nonexistent"), &arguments).unwrap();
    run(&mut python(CLIENT, &[server.address().to_string(), server.ca_pem().to_owned(), server.token().to_owned()]));
    let left = probe.finish().unwrap();

    let row = &left.report["lists"][0];
    assert_eq!((&row["resource"], &row["count"]), (&Value::from("namespaces"), &Value::from(1)), "{:#}", left.report);
    assert!(left.said.contains("probed/v1 namespaces cluster limit=500"), "{}", left.said);
    let events = fs::read_to_string(events).unwrap();
    let records: Vec<Value> = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let opened: Vec<&Value> = records.iter().filter(|event| event["event"] == "connection-opened").collect();
    let [opened] = opened.as_slice() else { panic!("{events}") };
    assert!(opened["attached_late"] != true && opened["process"]["name"] == "python3", "{opened}");

    let files = [fs::read(capture).unwrap(), events.into_bytes(), left.report.to_string().into_bytes(), left.said.into_bytes()];
    for secret in ["canary", server.token()] {
        for file in &files {
            assert!(
                !file.windows(secret.len()).any(|bytes| bytes == secret.as_bytes()),
                "{secret}: {}",
                String::from_utf8_lossy(file)
            );
        }
    }
}

#[test]
fn killed_probe_leaves_nothing_in_the_kernel() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let mut probe = ProbeSession::start(server.address(), Path::new("/nonexistent"), &["--no-version-request"]).unwrap();
    let own = links(probe.id());
    assert!(own.len() > 2, "its own end is among the searched texts: {own:?}");
    assert!(own.is_subset(&all_links()), "what it holds is in the kernel");
    probe.kill().unwrap();
    // After the exit, the kernel removes the process's links asynchronously.
    let began = Instant::now();
    while !own.is_disjoint(&all_links()) {
        assert!(began.elapsed() < patient(WITHIN), "{own:?} is still there");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Before Linux 6.6, each probed place of a file takes a descriptor.
#[test]
fn limit_of_descriptors_is_raised() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let mut probe = ProbeSession::start(server.address(), Path::new("/nonexistent"), &["--no-version-request"]).unwrap();
    let limits = fs::read_to_string(format!("/proc/{}/limits", probe.id())).unwrap();
    probe.kill().unwrap();
    let files = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    let [soft, hard, "files"] = files.split_whitespace().collect::<Vec<_>>()[..] else { panic!("{limits}") };
    assert_eq!(soft, hard);
}

/// The IDs of the eBPF links that a process holds.
fn links(process: u32) -> BTreeSet<u32> {
    let descriptors = fs::read_dir(format!("/proc/{process}/fdinfo")).unwrap();
    let infos = descriptors.filter_map(|entry| fs::read_to_string(entry.unwrap().path()).ok());
    infos.filter_map(|info| info.lines().find_map(|line| line.strip_prefix("link_id:")?.trim().parse().ok())).collect()
}

/// The IDs of all eBPF links in the kernel.
fn all_links() -> BTreeSet<u32> {
    // A link may disappear during the iteration.
    loaded_links().filter_map(|link| Some(link.ok()?.id())).collect()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
