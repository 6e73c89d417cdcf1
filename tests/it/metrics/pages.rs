//! The pages themselves: their numbers, their formats, and what they are of.

use observer_tests::scrape::{Scraped, Scraper};

use super::running::{Running, get, replay};
use crate::upstream::Upstream;

const OPEN_METRICS: &str = "Accept: application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1\r\n";

#[test]
fn page_counts_what_the_report_counts() {
    let upstream = Upstream::start();
    let running = Running::start(&upstream.kubeconfig(), &["run", "--capture", "@folder/capture"]);
    let mut client = running.client();
    for _ in 0..3 {
        get(&mut client, "one/1.0", "/api/v1/namespaces/a/secrets");
    }
    get(&mut client, "one/2.0", "/api/v1/pods?resourceVersion=0");
    get(&mut client, "two", "/apis/apps/v1/namespaces/a/deployments/c4n4ry-name?token=c4n4ry-token");
    get(&mut client, "two", "/healthz");
    let page = scraped_with(&running.scraper, 6);
    let capture = running.file("capture");
    drop(client);
    let (report, _folder) = running.finish();

    let totals = &report["totals"];
    let count = |name: &str, labels: &str| page.count(name, labels).unwrap();
    let number = |name: &str| totals[name].as_u64().unwrap_or_else(|| panic!("{name} of {totals}"));
    assert_eq!(count("watchtap_requests_total", ""), number("requests"));
    assert_eq!(count("watchtap_requests_total", "verb=\"LIST\""), number("lists"));
    assert_eq!(count("watchtap_request_duration_seconds_count", ""), number("requests"));
    assert_eq!(count("watchtap_request_duration_seconds_bucket", "le=\"+Inf\""), number("requests"));
    assert_eq!(count("watchtap_list_items_total", "resource=\"secrets\""), 3);
    assert_eq!(count("watchtap_requests_total", "client=\"one\",service_account=\"\""), 4);
    assert_eq!(count("watchtap_requests_total", "code=\"404\""), 3);
    assert_eq!(count("watchtap_requests_in_flight", ""), 0);
    assert_eq!(count("watchtap_build_info", "tap=\"proxy\""), 1);
    assert!(count("process_resident_memory_bytes", "") > 1_000_000);
    assert!(page.samples().unwrap()["process_start_time_seconds"].parse::<f64>().unwrap() > 1.7e9);
    assert_eq!(count("watchtap_families_left_out", ""), 0);
    assert!(!page.text().contains("c4n4ry"), "no name of an object, no query");

    // The pauses of the capture last for hours at this speed, so only the beginning is replayed.
    let arguments = replay(&capture, "0.000001");
    let replaying = Running::start("", &arguments.each_ref().map(String::as_str));
    let page = replaying.scraper.scrape().unwrap();
    assert_eq!(page.count("watchtap_build_info", "tap=\"replay\"").unwrap(), 1);
    assert_eq!(page.count("watchtap_requests_total", "").unwrap(), 0);
    assert_eq!(replaying.scraper.get("/healthz", "").unwrap().status, 200);
}

#[test]
fn formats_and_codings_have_the_same_numbers() {
    let upstream = Upstream::start();
    let running = Running::start(&upstream.kubeconfig(), &["run", "--quiet"]);
    let mut client = running.client();
    get(&mut client, "one", "/api/v1/namespaces/a/secrets");
    let text = scraped_with(&running.scraper, 1);
    assert!(text.head.contains("content-type: text/plain; version=0.0.4; charset=utf-8"), "{}", text.head);
    assert!(text.text().contains("# TYPE watchtap_requests_total counter\n"), "{}", text.text());
    for fields in ["", "Accept-Encoding: gzip\r\n"] {
        let page = running.scraper.get("/metrics", &format!("{OPEN_METRICS}{fields}")).unwrap();
        assert!(page.head.contains("content-type: application/openmetrics-text; version=1.0.0; charset=utf-8"), "{}", page.head);
        assert_eq!(page.head.contains("content-encoding: gzip"), !fields.is_empty());
        assert_eq!(page.body().starts_with(&[0x1f, 0x8b]), !fields.is_empty());
        assert!(
            page.text().ends_with("\n# EOF\n") && page.text().contains("# TYPE watchtap_requests counter\n"),
            "{}",
            page.text()
        );
        // The state of watchtap itself changes between two pages.
        let of_traffic = |page: &Scraped| {
            let mut samples = page.samples().unwrap();
            samples.retain(|name, _| !name.starts_with("process_") && name != "watchtap_observing_queue_bytes");
            samples
        };
        assert!(of_traffic(&page) == of_traffic(&text), "{}\nand\n{}", page.text(), text.text());
    }
}

#[test]
fn started_and_healthy_do_not_depend_on_the_api_server() {
    let nobody = observer_tests::Port::reserve().unwrap();
    let running = Running::start(&Upstream::start().kubeconfig_to_port(nobody.number()), &["run", "--quiet"]);
    while running.scraper.get("/started", "").unwrap().status != 200 {
        std::thread::yield_now();
    }
    assert_eq!(running.scraper.get("/healthz", "").unwrap().status, 200);
}

/// Scrapes until this number of requests is counted: an observation may wait until the process of its client is found.
fn scraped_with(scraper: &Scraper, requests: u64) -> Scraped {
    loop {
        let page = scraper.scrape().unwrap();
        if page.count("watchtap_requests_total", "").unwrap() >= requests {
            return page;
        }
    }
}
