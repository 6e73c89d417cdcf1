//! Answers to reviews, and their counts in the metrics.

use observer_tests::{SIDECAR_IMAGE, WebhookProcess};
use serde_json::json;

use super::reviews::{exchange, patch, review};

#[test]
fn labelled_pod_gets_the_sidecar_also_in_a_dry_run() {
    let webhook = WebhookProcess::start().unwrap();
    let client = webhook.client().unwrap();
    for dry_run in [false, true] {
        let mut review = review("1-2-3", &json!({}));
        review["request"]["dryRun"] = dry_run.into();
        let answer = client.post("/mutate?timeout=5s", &review).unwrap().success().unwrap();
        assert_eq!(answer.headers["content-type"], "application/json");
        let answer = answer.json().unwrap();
        assert_eq!((&answer["response"]["uid"], &answer["response"]["allowed"]), (&json!("1-2-3"), &json!(true)));
        let operations = patch(&answer["response"]);
        let sidecar = operations.iter().find(|operation| operation["path"] == "/spec/initContainers").expect("a sidecar");
        assert_eq!((&sidecar["value"][0]["name"], &sidecar["value"][0]["image"]), (&json!("watchtap"), &json!(SIDECAR_IMAGE)));
        assert_eq!(sidecar["value"][0]["restartPolicy"], "Always");
    }
}

#[test]
fn refusal_reaches_the_user_as_a_warning_and_the_pod_as_an_annotation() {
    let webhook = WebhookProcess::start().unwrap();
    let review = review("1", &json!({"hostNetwork": true}));
    let answer = webhook.client().unwrap().post("/mutate", &review).unwrap().success().unwrap().json().unwrap();
    let text = "hostNetwork: true: the sidecar's ports would be open to the other programs of the node; observe it on its node with \
                `watchtap probe`";
    assert_eq!(answer["response"]["allowed"], true);
    assert_eq!(answer["response"]["warnings"], json!([format!("watchtap: {text}")]));
    let annotation = json!({"watchtap.dev/not-injected": text});
    assert_eq!(patch(&answer["response"]), [json!({"op": "add", "path": "/metadata/annotations", "value": annotation})]);
}

#[test]
fn connection_serves_many_reviews() {
    let webhook = WebhookProcess::start().unwrap();
    let mut stream = webhook.connect().unwrap();
    for number in 0..50 {
        let (head, answer) = exchange(&mut stream, &review(&number.to_string(), &json!({})));
        assert!(head.starts_with("http/1.1 200") && !head.contains("connection: close"), "{head}");
        assert_eq!(answer["response"]["uid"], number.to_string());
    }
}

#[test]
fn request_without_a_review_gets_a_reason() {
    let webhook = WebhookProcess::start().unwrap();
    let client = webhook.client().unwrap();
    for (method, path, body, status, reason) in [
        ("POST", "/mutate", "{", 400, "the body is not JSON: EOF"),
        ("POST", "/mutate", "{}", 400, "the body is no AdmissionReview of admission.k8s.io/v1"),
        ("POST", "/", "{}", 404, "the webhook has the path /mutate"),
        ("GET", "/mutate", "", 405, "use POST"),
        ("DELETE", "/mutate", "", 405, "use POST"),
    ] {
        let answer = client.raw(method, path, &[], body.as_bytes()).unwrap();
        assert_eq!(answer.status, status, "{method} {path}");
        assert!(answer.text().starts_with(reason), "{}", answer.text());
        assert_eq!(answer.headers.contains_key("allow"), status == 405);
    }
}

#[test]
fn metrics_count_admissions_by_their_outcome() {
    let webhook = WebhookProcess::start().unwrap();
    let client = webhook.client().unwrap();
    let mut unlabelled = review("1", &json!({}));
    unlabelled["request"]["object"]["metadata"]["labels"] = json!({});
    for (times, review) in [
        (3, review("1", &json!({}))),
        (2, review("1", &json!({"hostNetwork": true}))),
        (4, unlabelled),
        (1, json!({"kind": "AdmissionReview"})),
    ] {
        for _ in 0..times {
            client.post("/mutate", &review).unwrap();
        }
    }
    let page = webhook.scraper().scrape().unwrap();
    for (outcome, count) in [("injected", 3), ("refused", 2), ("unchanged", 4), ("malformed", 1)] {
        assert_eq!(page.count("watchtap_webhook_admissions_total", &format!("outcome=\"{outcome}\"")).unwrap(), count, "{outcome}");
    }
    assert_eq!(page.count("watchtap_webhook_admission_duration_seconds_count", "").unwrap(), 9, "reviews only");
    assert_eq!(page.count("watchtap_webhook_admission_duration_seconds_bucket", "le=\"+Inf\"").unwrap(), 9);
    assert_eq!(page.count("watchtap_webhook_closed_connections_total", "").unwrap(), 0);
    assert!(page.count("watchtap_webhook_certificate_expiry_timestamp_seconds", "").unwrap() > 1_700_000_000);
    assert_eq!(page.count("watchtap_build_info", "tap=\"webhook\"").unwrap(), 1);
    assert!(page.count("process_resident_memory_bytes", "").unwrap() > 0);
    let open_metrics = webhook.scraper().get("/metrics", "Accept: application/openmetrics-text\r\n").unwrap();
    assert!(open_metrics.text().ends_with("# EOF\n"));
}

#[test]
fn probes_are_answered_beside_the_webhook() {
    let webhook = WebhookProcess::start().unwrap();
    for (path, status, body) in [
        ("/ready", 200, "ready\n"),
        ("/healthz", 200, "watchtap answers\n"),
        ("/started", 404, "watchtap has /metrics, /healthz and /ready\n"),
    ] {
        let answer = webhook.scraper().get(path, "").unwrap();
        assert_eq!((answer.status, answer.text().as_str()), (status, body), "{path}");
    }
}
