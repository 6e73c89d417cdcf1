//! Checks that the benches run, each with tiny amounts and one round. Their speed does not matter here.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

#[test]
fn decode_bench_reports_each_list_kind_and_encoding() -> Result<()> {
    let report = bench("decode")?;
    let bodies = report["bodies"].as_array().context("no bodies")?;
    let lists: Vec<&str> = bodies.iter().filter_map(|body| body["list"].as_str()).collect();
    assert_eq!(lists[..3], ["pods", "custom-resources", "secrets"]);
    let encodings: Vec<&str> = bodies.iter().filter_map(|body| body["encoding"].as_str()).collect();
    let json_in_gzip = ["json-in-gzip"; 3];
    assert_eq!(encodings, [["json"; 3].as_slice(), &["protobuf"; 2], &["cbor"; 2], &json_in_gzip].concat());
    for body in bodies {
        assert!(body["times_faster"]["median"].as_f64().is_some_and(|times| times > 0.0), "{body}");
        assert!(body["peak_bytes"].as_u64().is_some_and(|bytes| bytes > 0), "{body}");
    }
    Ok(())
}

#[test]
fn following_bench_compares_with_a_plain_parse() -> Result<()> {
    let report = bench("following")?;
    for figure in ["bytes_a_reflector", "events_a_second"] {
        assert!(report[figure].as_f64().is_some_and(|figure| figure > 0.0), "{report}");
    }
    for summary in ["total_ns", "decode_ns", "snapshot_ms", "times_faster_than_a_parse"] {
        assert!(report[summary]["median"].as_f64().is_some_and(|median| median > 0.0), "{report}");
    }
    assert_eq!(report["reflectors"], 100);
    Ok(())
}

#[test]
fn logs_bench_compares_with_other_readers() -> Result<()> {
    let report = bench("logs")?;
    let has_jq = Command::new("jq").arg("--version").output().is_ok_and(|output| output.status.success());
    let logs = report["logs"].as_array().context("no logs")?;
    let levels: Vec<&str> = logs.iter().filter_map(|log| log["level"].as_str()).collect();
    assert_eq!(levels, ["Metadata", "RequestResponse"], "{report}");
    for log in logs {
        let ways = log["ways"].as_array().context("no ways")?;
        let names: Vec<&str> = ways.iter().filter_map(|way| way["way"].as_str()).collect();
        assert_eq!(names, ["watchtap", "serde-json-value", "jq"][..if has_jq { 3 } else { 2 }]);
        for way in ways {
            assert!(way["watchtap_times"]["median"].as_f64().is_some_and(|times| times > 0.0), "{way}");
        }
    }
    assert_eq!(report["missing"].as_array().map(Vec::len), Some(usize::from(!has_jq)), "{report}");
    Ok(())
}

#[test]
fn forward_bench_reports_each_scenario_on_each_installed_stack() -> Result<()> {
    let report = bench("forward")?;
    let scenarios = report["scenarios"].as_array().context("no scenarios")?;
    let has_go = Command::new("go").arg("version").output().is_ok_and(|output| output.status.success());
    let of = |stack: &str| scenarios.iter().filter(|scenario| scenario["stack"] == stack).count();
    // Idle watches are measured with hyper alone.
    assert_eq!([of("hyper"), of("go")], [10, if has_go { 9 } else { 0 }]);
    for scenario in scenarios {
        let samples = scenario["samples"].as_array().context("no samples")?;
        let ways: Vec<&str> = samples.iter().filter_map(|way| way[0].as_str()).collect();
        assert!(ways.starts_with(&["direct", "watchtap-off", "watchtap-on"]), "{ways:?}");
        for way in samples {
            assert!(way[1][0]["operations"].as_u64().is_some_and(|operations| operations > 0), "{}: {way}", scenario["scenario"]);
        }
    }
    Ok(())
}

#[test]
fn watches_bench_reports_memory_with_and_without_observing() -> Result<()> {
    let report = bench("watches")?;
    let cases = report["cases"].as_array().context("no cases")?;
    assert_eq!(cases.len(), 3);
    for case in cases {
        // So few watches on two connections can fit into memory that the process already has.
        let least = u64::from(case["case"]["each"] == 1);
        for way in ["observing_off", "observing_on"] {
            assert!(case[way].as_u64().is_some_and(|bytes| bytes >= least), "{case}");
        }
    }
    Ok(())
}

#[test]
fn metrics_bench_reports_each_case_and_a_page() -> Result<()> {
    let report = bench("metrics")?;
    for scenario in report["scenarios"].as_array().context("no scenarios")? {
        let samples = scenario["samples"].as_array().context("no samples")?;
        let cases: Vec<&str> = samples.iter().filter_map(|case| case[0].as_str()).collect();
        assert_eq!(
            cases,
            ["alone", "scraped", "slow-scrapers", "elsewhere", "hostile", "collector", "no-collector", "silent-collector"]
        );
        for case in samples {
            assert!(case[1][0]["operations"].as_u64().is_some_and(|operations| operations > 0), "{case}");
        }
    }
    let page = &report["page"];
    assert_eq!((&page["reflectors"], &page["clients"]), (&100.into(), &50.into()));
    assert!(page["bytes"].as_u64().is_some_and(|bytes| bytes > 10_000), "{page}");
    Ok(())
}

#[test]
fn webhook_bench_compares_with_a_webhook_that_changes_nothing() -> Result<()> {
    let report = bench("webhook")?;
    let webhooks = report["webhooks"].as_array().context("no webhooks")?;
    let names: Vec<&str> = webhooks.iter().filter_map(|webhook| webhook["name"].as_str()).collect();
    assert_eq!(names, ["changes nothing", "watchtap"]);
    for webhook in webhooks {
        let of = |quantile: &str| webhook[quantile]["median"].as_f64().context("no time");
        assert!(of("p50_us")? > 0.0 && of("p50_us")? <= of("p99_us")?, "{webhook}");
    }
    assert!(report["p99_ratio"]["median"].as_f64().is_some_and(|ratio| ratio > 0.0), "{report}");
    Ok(())
}

/// It needs the permissions of a probe, so it runs in the test group `kernel`.
#[test]
fn probing_bench_compares_with_bare_uprobes() -> Result<()> {
    let report = bench("probing")?;
    let modes = report["modes"].as_array().context("no modes")?;
    let python: Vec<&str> =
        modes.iter().filter(|mode| mode["client"] == "OpenSSL").filter_map(|mode| mode["mode"].as_str()).collect();
    assert_eq!(python, ["unprobed", "bare", "elsewhere", "read", "elsewhere-by-events", "read-by-events"]);
    for mode in modes {
        assert!(mode["client_ns"]["median"].as_f64().is_some_and(|nanoseconds| nanoseconds > 0.0), "{mode}");
    }
    for rate in report["rates"].as_array().context("no rates")? {
        assert!(rate["reached"].as_f64().is_some_and(|calls| calls > 0.0), "{rate}");
        assert!(rate["watchtap_share"].as_f64().is_some_and(|share| share > 0.0), "{rate}");
    }
    Ok(())
}

/// It needs the permissions of a probe, so it runs in the test group `kernel`.
#[test]
fn first_requests_bench_counts_new_programs() -> Result<()> {
    let report = bench("first-requests")?;
    let rows = report["rows"].as_array().context("no rows")?;
    let has_go = rows.iter().filter(|row| row["program"] == "Go client").count();
    assert_eq!(has_go, 4, "{report}");
    for row in rows {
        let is_one = row["start"] == "just-started";
        assert_eq!(row["programs"], if is_one { 1 } else { 2 }, "{row}");
        // An unoptimised watchtap may see the first or a later request of a program, or none.
        let [programs, from_first, unseen] = ["programs", "from_first", "unseen"].map(|figure| row[figure].as_u64());
        assert!(from_first.zip(unseen).is_some_and(|(first, unseen)| Some(first + unseen) <= programs), "{row}");
    }
    Ok(())
}

/// It needs a node, so it runs in the test group `node`, with the watchtap that the tests have built.
#[test]
fn pod_bench_measures_the_sidecar_on_a_node() -> Result<()> {
    let report = bench("pod")?;
    let usages = report["idle"]["usages"].as_array().context("no usages")?;
    let states: Vec<&str> = usages.iter().filter_map(|usage| usage["state"].as_str()).collect();
    assert_eq!(states, ["no-client", "informers", "changes"]);
    let limit = report["idle"]["limit"].as_u64().context("no limit")?;
    for usage in usages {
        let [anonymous, in_all, peak] = ["anonymous", "usage", "peak"].map(|kind| usage["memory"][kind].as_u64().unwrap_or(0));
        assert!(0 < anonymous && 0 < in_all && in_all <= peak && peak <= limit, "{usage}");
        // Without a client, it may use no processor in the short time of this run.
        assert!(usage["cpu_millis"].as_f64().is_some_and(|millis| millis > 0.0 || usage["state"] == "no-client"), "{usage}");
    }
    assert_eq!(report["idle"]["informers"], 10);
    assert!(report["idle"]["objects"].as_u64().is_some_and(|objects| objects > 20), "{report}");
    let latencies = report["latencies"].as_array().context("no latencies")?;
    assert_eq!(latencies.len(), 4);
    for latency in latencies {
        assert!(latency["ratio"]["median"].as_f64().is_some_and(|ratio| ratio > 0.0), "{latency}");
    }
    for figure in ["without_s", "trivial_s", "watchtap_s", "own_ms"] {
        assert!(report["start"][figure]["median"].as_f64().is_some_and(|time| time > 0.0), "{report}");
    }
    Ok(())
}

fn bench(name: &str) -> Result<Value> {
    // Its waits have limits of their own, and its servers end with it.
    let mut command = Command::new(env!("CARGO_BIN_EXE_observer-bench"));
    let output = command.args([name, "--smoke", "--format", "json"]).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}
