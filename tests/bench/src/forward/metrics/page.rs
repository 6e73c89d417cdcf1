//! A scrape of a watchtap that observes many clients and reflectors.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;
use observer_core::series::{Family, TapWord};
use observer_counted::Stage;
use serde::Serialize;
use watchtap::memory_budget::MemoryBudget;
use watchtap::metrics::{MetricsReader, MetricsServer};
use watchtap::pipeline::SeriesReader;

use crate::statistics::Summary;

/// Clients, each with two reflectors; and the resources that these watch.
const CLIENTS: u32 = 5_000;
const EACH: u32 = 2;
const RESOURCES: u32 = 200;
/// Divisor of the number of clients with `--smoke`.
const SMOKE: u32 = 100;
/// The pause that a source makes after an answer, as a multiple of the time for it. A scrape in it would wait.
const PAUSE: u32 = 8;

/// Size and time of a scrape.
#[derive(Debug, Serialize)]
pub(super) struct Page {
    clients: u32,
    reflectors: usize,
    /// Samples on the page.
    samples: usize,
    /// Label sets of the family that has most.
    largest_family: usize,
    /// Requests that were counted with the label value `other`.
    others: u64,
    bytes: usize,
    gzip_bytes: usize,
    /// Until the observing thread has copied its numbers.
    copy_ms: Summary,
    /// From the request to the last byte, without compression.
    scrape_ms: Summary,
    /// gzip of the same bytes, level 6.
    gzip_ms: Summary,
    scrape_per_gzip: Summary,
}

impl Page {
    pub(super) fn measure(is_smoke: bool, rounds: usize) -> Result<Self> {
        let clients = if is_smoke { CLIENTS / SMOKE } else { CLIENTS };
        let stage = Stage::of_clients(clients, EACH, RESOURCES)?;
        let observer = stage.observer();
        let (reader, mut source) = SeriesReader::begin(&[]);
        let server = MetricsServer::start(
            "127.0.0.1:0".parse()?,
            MetricsReader::new(reader, TapWord::Replay),
            MemoryBudget::default().metrics_page,
        )?;
        let is_over = AtomicBool::new(false);
        let (mut copies, mut scrapes, mut gzips, mut page) = (Vec::new(), Vec::new(), Vec::new(), String::new());
        let mut compressed = 0;
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    source.answer_for(Duration::from_millis(50), observer);
                }
            });
            let measured = (0..rounds.max(1)).try_for_each(|_| {
                let begun = Instant::now();
                drop(std::hint::black_box(observer.samples()));
                let taken = begun.elapsed();
                thread::sleep(taken * PAUSE);
                let begun = Instant::now();
                page = scrape(&server)?;
                scrapes.push(begun.elapsed().as_secs_f64() * 1e3);
                copies.push(taken.as_secs_f64() * 1e3);
                let begun = Instant::now();
                compressed = gzip(page.as_bytes())?;
                gzips.push(begun.elapsed().as_secs_f64() * 1e3);
                Ok(())
            });
            is_over.store(true, Ordering::Relaxed);
            measured
        })
        .and_then(|()| {
            let samples = observer.samples();
            let sets = samples.families().map(|(_, samples)| samples.count());
            let others = samples.of(Family::Requests).filter(|sample| sample.label("client") == Some("other"));
            let names: BTreeSet<&str> = page.lines().filter(|line| !line.starts_with('#')).collect();
            ensure!(names.len() == page.lines().filter(|line| !line.starts_with('#')).count(), "a sample stands twice");
            Ok(Self {
                clients,
                reflectors: stage.watches(),
                samples: names.len(),
                largest_family: sets.max().unwrap_or_default(),
                others: others.map(|sample| sample.count()).sum(),
                bytes: page.len(),
                gzip_bytes: compressed,
                copy_ms: Summary::of(copies).context("no rounds")?,
                scrape_per_gzip: Summary::of_ratios(scrapes.iter().copied(), gzips.iter().copied()).context("no rounds")?,
                scrape_ms: Summary::of(scrapes).context("no rounds")?,
                gzip_ms: Summary::of(gzips).context("no rounds")?,
            })
        })
    }

    pub(super) fn to_markdown(&self) -> String {
        format!(
            "A scrape with {} reflectors of {} clients has {} samples in {:.2} MiB, {} KiB in gzip; the largest family has {} label sets, and \
             {} requests are counted with the client `other`. The observing thread copies its numbers in {:.1} ms. The complete scrape takes \
             {:.1} ms, gzip (level 6) of the same bytes {:.1} ms: a ratio of {:.2}. Budget: 2 MiB, 10 times gzip.",
            self.reflectors,
            self.clients,
            self.samples,
            mebibytes(self.bytes),
            self.gzip_bytes >> 10,
            self.largest_family,
            self.others,
            self.copy_ms,
            self.scrape_ms,
            self.gzip_ms,
            self.scrape_per_gzip,
        )
    }
}

fn scrape(server: &MetricsServer) -> Result<String> {
    let mut tcp = TcpStream::connect(server.address())?;
    tcp.set_read_timeout(Some(Duration::from_secs(30)))?;
    tcp.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    tcp.read_to_string(&mut answer)?;
    let (head, page) = answer.split_once("\r\n\r\n").context("no answer")?;
    ensure!(head.starts_with("HTTP/1.1 200"), "{head}");
    Ok(page.to_owned())
}

fn gzip(text: &[u8]) -> Result<usize> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
    encoder.write_all(text)?;
    Ok(encoder.finish()?.len())
}

#[expect(clippy::cast_precision_loss, reason = "some megabytes")]
const fn mebibytes(bytes: usize) -> f64 {
    bytes as f64 / 1_048_576.0
}
