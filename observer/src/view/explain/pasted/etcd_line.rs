//! Lines of etcd.

use std::time::Duration;

use observer_core::logs::{EtcdEvent, EtcdLine, EtcdRequest, RangeRead};
use observer_core::routing::RecordedRead;

use super::content::Content;
use super::requests::duration;
use crate::view::quantity::bytes;

const REQUEST: &[&str] = &[
    "the request to the API server, its client and its user: etcd knows the address of the API server only",
    "selectors, which the API server applies after reading",
];
const MAINTENANCE: &[&str] = &["the requests that wait meanwhile"];
const OTHER: &[&str] = &["requests, and their layers"];

pub(super) fn of_etcd(line: &EtcdLine) -> Content {
    let content = |meaning: String, not_shown| Content { at: line.at, meaning, not_shown, ..Content::default() };
    let without = |meaning: &str| content(meaning.to_owned(), MAINTENANCE);
    match &line.event {
        EtcdEvent::SlowApply { request, took, count, size } => {
            of_request(content(format!("etcd took longer than it expects for {}", named(request)), REQUEST), request, (*took, *count, *size))
        }
        EtcdEvent::Answered { took, remote, request, count, size, .. } => {
            of_request(content(format!("etcd answered {}", named(request)), REQUEST), request, (*took, *count, *size))
                .with("asked by", &**remote)
        }
        EtcdEvent::RangeTrace { key, range_end, count, revision, took } => {
            let read = RangeRead { key: key.clone(), range_end: range_end.clone(), ..RangeRead::default() };
            let request = EtcdRequest::Range(read);
            of_request(content(format!("etcd was slow in {}", named(&request)), REQUEST), &request, (*took, *count, None))
                .with_some("revision", revision.map(|revision| revision.to_string()))
        }
        EtcdEvent::CompactionStarted { revision } => {
            without("etcd removes old revisions: watches and continue tokens before the revision expire with 410, unless the watch cache has them")
                .with("revision", revision.to_string())
        }
        EtcdEvent::Compacted { revision, took } => {
            without("etcd has removed old revisions: watches and continue tokens before the revision expire with 410, unless the watch cache has them")
                .with("revision", revision.to_string())
                .with_some("took", took.map(duration))
        }
        EtcdEvent::DefragmentationStarted => without("etcd defragments its file, and answers no request meanwhile"),
        EtcdEvent::Defragmented { took } => {
            without("etcd has defragmented its file; it answered no request meanwhile").with_some("took", took.map(duration))
        }
        EtcdEvent::DefragmentationFailed => without("etcd could not defragment its file"),
        EtcdEvent::Other => content("etcd, or its client, reports neither a request nor maintenance".to_owned(), OTHER),
    }
}

const fn named(request: &EtcdRequest) -> &'static str {
    match request {
        EtcdRequest::Range(RangeRead { range_end, .. }) if range_end.is_empty() => "a read of one key",
        EtcdRequest::Range(read) if read.count_only => "a count of keys",
        EtcdRequest::Range(_) => "a read of a range of keys",
        EtcdRequest::Other(_) => "a request that is no plain read",
    }
}

fn of_request(content: Content, request: &EtcdRequest, (took, count, size): (Duration, Option<u64>, Option<u64>)) -> Content {
    let content = match request {
        EtcdRequest::Other(kind) => content.with("request", &**kind),
        EtcdRequest::Range(read) => {
            let number = |number: u64| (number > 0).then(|| number.to_string());
            let is_list = !read.range_end.is_empty() && read.reads_values() && !read.is_of_watch_cache();
            Content { shows: is_list.then_some(RecordedRead::EtcdRead), ..content }
                .with("keys", keys(read))
                .with_some("limit", number(read.limit))
                .with_some("revision", number(read.revision))
        }
    };
    content
        .with("took", duration(took))
        .with_some("keys read", count.map(|count| count.to_string()))
        .with_some("size", size.map(bytes))
}

fn keys(read: &RangeRead) -> String {
    if read.range_end.is_empty() { read.key.clone() } else { format!("{} … {}", read.key, read.range_end) }
}
