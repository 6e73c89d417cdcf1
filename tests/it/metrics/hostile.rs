//! Requests that no scraper sends, and scrapes beside them.

use std::io::{Read, Write};

use observer_tests::scrape::{Scraped, Scraper};

use super::running::Running;
use crate::upstream::Upstream;

/// More connections than the server keeps.
const MANY: usize = 40;

#[test]
fn requests_of_no_scraper_are_refused() {
    let upstream = Upstream::start();
    let running = Running::start(&upstream.kubeconfig(), &["run", "--quiet"]);
    let scraper = &running.scraper;
    let many = "X: y\r\n".repeat(100);
    let long = format!("X: {}\r\n", "y".repeat(40_000));
    for (request, status) in [
        ("GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
        ("GET /metrics/../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
        ("GET /metrics%00 HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
        ("GET / HTTP/1.0\r\n\r\n", 404),
        ("POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999999999\r\n\r\n", 405),
        ("DELETE /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
        ("GET /metrics HTTP/1.1\r\nHost: attacker.example\r\n\r\n", 421),
        ("GET /metrics HTTP/1.1\r\nHost: \u{e9}\r\n\r\n", 421),
        ("GET /metrics HTTP/9.9\r\n\r\n", 400),
        ("\u{0}\u{1}\u{2}\r\n\r\n", 400),
        (&format!("GET /metrics HTTP/1.1\r\n{many}\r\n"), 431),
        (&format!("GET /metrics HTTP/1.1\r\n{long}\r\n"), 431),
        (&format!("GET /{} HTTP/1.1\r\n\r\n", "y".repeat(40_000)), 431),
        ("GET /healthz HTTP/1.1\r\nHost: [::1]:9643\r\n\r\n", 200),
        ("GET /healthz?a=b HTTP/1.1\r\nHost: LOCALHOST\r\n\r\n", 200),
    ] {
        let shown: String = request.chars().take(60).collect();
        let answer = status_of(scraper, request);
        // The answer to a head that was not read to its end may be lost with the connection.
        assert!(answer == Some(status) || (answer.is_none() && request.len() > 16_000), "{shown}: {answer:?}");
    }
    assert!(scraper.get("/", "").unwrap().text().contains("/metrics, /started, /ready and /healthz"));
    let refused = scraper.request("PUT /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    assert!(refused.head.contains("allow: get, head"), "{}", refused.head);
    let head = scraper.request("HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    assert!(head.status == 200 && head.body().is_empty() && !head.head.contains("content-length: 0"), "{}", head.head);
    assert_eq!(status_of(scraper, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), None, "HTTP/2 is closed");
    scraper.scrape().unwrap();
}

#[test]
fn unfinished_requests_hold_up_no_scrape() {
    let upstream = Upstream::start();
    let running = Running::start(&upstream.kubeconfig(), &["run", "--quiet"]);
    let mut unfinished: Vec<_> = (0..MANY)
        .map(|_| {
            let mut stream = running.scraper.connect().unwrap();
            stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: local").unwrap();
            stream
        })
        .collect();
    running.scraper.scrape().unwrap();
    // The oldest is closed, with or without an answer, long before its time limit.
    let ended = unfinished[0].read(&mut [0; 1]);
    assert!(matches!(ended, Ok(0)) || ended.is_err(), "{ended:?}");
    let newest = unfinished.last_mut().unwrap();
    newest.write_all(b"host\r\n\r\n").unwrap();
    assert_eq!(Scraped::read(newest).unwrap().status, 200);
}

#[test]
fn thousand_connections_and_silent_readers_hold_up_no_scrape() {
    let upstream = Upstream::start();
    let running = Running::start(&upstream.kubeconfig(), &["run", "--quiet"]);
    let mut silent = Vec::new();
    for round in 0..1_000 {
        let mut stream = running.scraper.connect().unwrap();
        // The server may have closed it already.
        let _sent = stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
        if round % 20 == 0 {
            silent.push(stream);
        }
    }
    running.scraper.scrape().unwrap();
}

#[test]
fn scrapes_at_once_are_all_answered() {
    let upstream = Upstream::start();
    let running = Running::start(&upstream.kubeconfig(), &["run", "--quiet"]);
    let scraper = running.scraper;
    let scraping: Vec<_> = (0..8).map(|_| std::thread::spawn(move || scraper.scrape().unwrap().text())).collect();
    for page in scraping {
        assert!(page.join().unwrap().contains("watchtap_build_info"));
    }
}

fn status_of(scraper: &Scraper, request: &str) -> Option<u16> {
    scraper.request(request).ok().map(|answer| answer.status)
}
