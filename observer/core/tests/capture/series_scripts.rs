//! Random scripts of informers: they list, watch, expire, stall, write and relist, also all at once.

use std::fmt::Write as _;

use proptest::prelude::*;
use proptest::sample::select;

/// Enough for a storm.
const INFORMERS: usize = 12;

/// An act of an informer, or of its API server.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// It lists, watches or gets an event, whichever is next.
    Proceed,
    Bookmark,
    Expire,
    /// The server has not reached its revision.
    TooLarge,
    Cut,
    TimeOut,
    Block,
    Unblock,
    Write,
    /// Its next list has an older revision.
    GoBack,
    /// It asks for a streaming list, which is refused.
    Stream,
    /// All of them expire.
    ExpireAll,
    Pass,
}

/// An informer of one client and resource.
#[derive(Clone, Debug, Default)]
struct Informer {
    requests: usize,
    revision: u64,
    is_listed: bool,
    watch: Option<usize>,
    is_blocked: bool,
    goes_back: bool,
}

/// Scripts of `observer_script`.
pub(crate) fn scripts() -> impl Strategy<Value = String> {
    let act = select(vec![
        Act::Proceed,
        Act::Proceed,
        Act::Proceed,
        Act::Proceed,
        Act::Bookmark,
        Act::Expire,
        Act::TooLarge,
        Act::Cut,
        Act::TimeOut,
        Act::Block,
        Act::Unblock,
        Act::Write,
        Act::GoBack,
        Act::Stream,
        Act::ExpireAll,
        Act::Pass,
    ]);
    prop::collection::vec((0_u64..1_500, 0..INFORMERS, act), 0..60).prop_map(|acts| script(&acts))
}

fn script(acts: &[(u64, usize, Act)]) -> String {
    let mut lines = "0s server v1.34.4\n".to_owned();
    let mut informers = vec![Informer::default(); INFORMERS];
    for (index, informer) in informers.iter_mut().enumerate() {
        let name = name(index);
        // Some of them are of one program.
        let _infallible = writeln!(lines, "0s {name} connects client=client{}/v1 as=a/robot", index % 5);
        informer.proceed(index, 1, 10, &mut lines);
        informer.proceed(index, 2, 10, &mut lines);
    }
    let (mut now, mut revision) = (3_000, 10);
    for (step, index, act) in acts {
        (now, revision) = (now + step, revision + 1);
        if matches!(act, Act::ExpireAll) {
            for (index, informer) in informers.iter_mut().enumerate() {
                informer.act(Act::Expire, index, now, revision, &mut lines);
                informer.act(Act::Proceed, index, now, revision, &mut lines);
            }
        } else {
            informers[*index].act(*act, *index, now, revision, &mut lines);
        }
    }
    lines
}

fn name(index: usize) -> char {
    char::from(b'a' + u8::try_from(index).unwrap_or_default())
}

impl Informer {
    fn act(&mut self, act: Act, index: usize, now: u64, revision: u64, lines: &mut String) {
        let name = name(index);
        let mut write = |line: String| {
            let _infallible = writeln!(lines, "{now}ms {line}");
        };
        match (act, self.watch) {
            (Act::Proceed, _) => self.proceed(index, now, revision, lines),
            (Act::Bookmark, Some(watch)) => {
                write(format!("{name}{watch} BOOKMARK @{revision}"));
                self.revision = revision;
            }
            (Act::Expire, Some(watch)) => {
                write(format!("{name}{watch} ERROR 410 Expired"));
                write(format!("{name}{watch} ends"));
                (self.watch, self.is_listed, self.is_blocked) = (None, false, false);
            }
            (Act::Cut, Some(watch)) => {
                write(format!("{name}{watch} reset by server"));
                (self.watch, self.is_blocked) = (None, false);
            }
            (Act::TimeOut, Some(watch)) => {
                write(format!("{name}{watch} ends"));
                (self.watch, self.is_blocked) = (None, false);
            }
            (Act::Block, Some(watch)) if !self.is_blocked => {
                write(format!("{name}{watch} blocked"));
                self.is_blocked = true;
            }
            (Act::Unblock, Some(watch)) if self.is_blocked => {
                write(format!("{name}{watch} unblocked"));
                self.is_blocked = false;
            }
            (Act::Write, Some(watch)) => {
                let request = self.next_request();
                write(format!("{name}{request} PATCH /api/v1/namespaces/default/{}/x", resource(index)));
                write(format!("{name}{request} written x@{revision}"));
                write(format!("{name}{watch} MODIFIED x@{revision}"));
                self.revision = revision;
            }
            (Act::TooLarge, None) => {
                let request = self.next_request();
                write(format!("{name}{request} GET /api/v1/{}?resourceVersion={}", resource(index), self.revision));
                write(format!("{name}{request} refused 504 Timeout too-large current=1"));
            }
            (Act::Stream, None) => {
                let request = self.next_request();
                let options = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
                write(format!("{name}{request} GET /api/v1/{}?{options}", resource(index)));
                write(format!("{name}{request} refused 400 BadRequest"));
                self.is_listed = false;
            }
            (Act::GoBack, _) => self.goes_back = true,
            (Act::Pass, _) => write("tick".to_owned()),
            (
                Act::Bookmark
                | Act::Expire
                | Act::TooLarge
                | Act::Cut
                | Act::TimeOut
                | Act::Block
                | Act::Unblock
                | Act::Write
                | Act::Stream
                | Act::ExpireAll,
                _,
            ) => {}
        }
    }

    /// Lists, watches or gets an event.
    fn proceed(&mut self, index: usize, now: u64, revision: u64, lines: &mut String) {
        let (name, resource) = (name(index), resource(index));
        let mut write = |line: String| {
            let _infallible = writeln!(lines, "{now}ms {line}");
        };
        match self.watch {
            Some(watch) => {
                write(format!("{name}{watch} MODIFIED y@{revision}"));
                self.revision = revision;
            }
            None if self.is_listed => {
                let watch = self.next_request();
                let options = "allowWatchBookmarks=true&timeoutSeconds=400&watch=1";
                write(format!("{name}{watch} GET /api/v1/{resource}?{options}&resourceVersion={}", self.revision));
                write(format!("{name}{watch} opens"));
                self.watch = Some(watch);
            }
            None => {
                let list = self.next_request();
                self.revision = if std::mem::take(&mut self.goes_back) { revision / 2 } else { revision };
                write(format!("{name}{list} GET /api/v1/{resource}?limit=500"));
                write(format!("{name}{list} bytes 700"));
                write(format!("{name}{list} whole rv={} x@5 y@{}", self.revision, self.revision));
                self.is_listed = true;
            }
        }
    }

    fn next_request(&mut self) -> usize {
        self.requests += 1;
        self.requests
    }
}

fn resource(index: usize) -> &'static str {
    ["pods", "secrets", "configmaps"].get(index % 3).copied().unwrap_or_default()
}
