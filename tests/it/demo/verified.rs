//! `watchtap verify` against the demo: the demo's counters match its actions.

use std::fs;
use std::time::Duration;

use observer_tests::{Client, output_within, watchtap};
use serde_json::Value;

use super::place::{CONFIGMAPS, DemoFixture};

const ENDS_WITHIN: Duration = Duration::from_mins(5);

#[test]
fn every_shape_agrees_with_the_counters_of_the_demo() {
    let place = DemoFixture::start();
    for name in ["a", "b", "c"] {
        place.create(name);
    }
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = folder.path().join("kubeconfig.json");
    fs::write(&kubeconfig, place.server.kubeconfig()).unwrap();
    let mut command = watchtap().unwrap();
    command.args(["verify", "--format", "json", "--resource", "configmaps"]).env("KUBECONFIG", &kubeconfig);
    let output = output_within(&mut command, ENDS_WITHIN).unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let verified: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    let others = verified["rows"].as_array().unwrap().iter().filter(|row| row["judgement"] != "Agree");
    let others: Vec<String> = others.map(|row| format!("{row:#}")).collect();
    assert_eq!((output.status.code(), others.join("\n").as_str()), (Some(0), ""), "{said}");
}

#[test]
fn restart_moves_the_process_start_time() {
    let place = DemoFixture::start();
    let started = || {
        let page = place.get("/metrics").text();
        let line = page.lines().find_map(|line| line.strip_prefix("process_start_time_seconds{} ").map(str::to_owned));
        line.unwrap().parse::<u64>().unwrap()
    };
    let before = started();
    place.handle().restart(Duration::ZERO).blocking_recv().unwrap();
    assert!(started() > before);
}

#[test]
fn service_account_token_is_valid_only_with_the_demo_secret() {
    /// `{"alg":"none"}` and `{"sub":"system:serviceaccount:default:a"}`.
    const NAMED: &str = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJzeXN0ZW06c2VydmljZWFjY291bnQ6ZGVmYXVsdDphIn0";
    let place = DemoFixture::start();
    let address = format!("https://{}", place.server.address());
    let get = |token: &str| {
        Client::of_server(&address, place.server.ca_pem(), token).unwrap().raw("GET", CONFIGMAPS, &[], b"").unwrap().status
    };
    assert_eq!((get(&format!("{NAMED}.{}", place.server.token())), get(&format!("{NAMED}.guessed"))), (200, 401));
}
