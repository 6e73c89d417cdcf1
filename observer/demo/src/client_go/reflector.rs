//! The reflector: list, watch, and the next step after each (kubernetes/client-go `tools/cache/reflector.go`).
//!
//! ```text
//!   ┌─► list ──► watch ──► end of the stream, old enough ──► watch again, from the last revision
//!   │    │         │
//!   │    │         └─ ERROR event, refused (until 1.15), very short ─┐
//!   │    └─ failed ──────────────────────────────────────────────────┤
//!   └──────────────────────────── pause ◄───────────────────────────-┘
//! ```

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use super::answer::{Document, Failure};
use super::backoff::{Backoff, chance};
use super::process::Process;
use super::release::{ClientGo, WhenRefused};
use super::rest::{Asked, Rest};
use super::watching::Watching;
use crate::api::Resource;
use crate::clock::Clock;

/// Page size of lists (kubernetes/client-go `tools/pager/pager.go`).
const PAGE: u32 = 500;

/// The pause before another list until 1.17, and before another watch until 1.19.
const SECOND: Duration = Duration::from_secs(1);

/// A reflector of a resource in all namespaces.
pub(crate) struct Reflector {
    rest: Rest,
    path: String,
    /// The last revision seen; empty before the first.
    revision: String,
    /// Whether the server no longer has that revision, or has not reached it yet.
    revision_unavailable: bool,
    /// Whether a list with `resourceVersion=0` was returned in pages, which a watch cache does not do.
    paginated: bool,
    backoff: Backoff,
}

/// The step after a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    Watch,
    WatchAfter(Duration),
    List,
}

/// The result of a streaming list.
enum Streamed {
    Whole(Box<Watching>),
    /// The server has no streaming lists, so an ordinary list follows.
    Fallback,
    /// Failed; try again after a pause.
    Failed,
}

impl Reflector {
    pub(crate) fn new(process: Arc<Process>, client_go: ClientGo, clock: Clock, resource: &Resource) -> Self {
        Self {
            rest: Rest { process, client_go, clock },
            path: resource.path(),
            revision: String::new(),
            revision_unavailable: false,
            paginated: false,
            backoff: Backoff::new(),
        }
    }

    /// Lists and watches until it is dropped.
    pub(crate) async fn run(mut self) {
        loop {
            self.list_and_watch().await;
            let pause = if self.client_go().backs_off() { self.back_off() } else { SECOND };
            self.pause(pause).await;
        }
    }

    async fn list_and_watch(&mut self) {
        let mut streamed = None;
        if self.client_go().streams_lists() {
            match self.stream_list().await {
                Streamed::Whole(watching) => streamed = Some(*watching),
                Streamed::Fallback => {}
                Streamed::Failed => return,
            }
        }
        if streamed.is_none() && self.list().await.is_err() {
            return;
        }
        loop {
            let then = match streamed.take() {
                Some(watching) => self.follow(watching).await,
                None => self.watch().await,
            };
            match then {
                Then::Watch => {}
                Then::WatchAfter(pause) => self.pause(pause).await,
                Then::List => return,
            }
        }
    }

    async fn list(&mut self) -> Result<(), Failure> {
        let from = self.begin_from();
        // A list from the reflector's own revision has no limit, so that the cache answers. If `paginated` is set, all lists have
        // the limit.
        let limit = if from.is_empty() || from == "0" || self.paginated { PAGE } else { 0 };
        let mut outcome = self.pages(&from, limit).await;
        let client_go = self.client_go();
        let lists_again = match &outcome {
            Err(Failure::Expired) => client_go.lists_from_its_revision(),
            Err(Failure::TooLarge) => client_go.knows_too_large(),
            Ok(_) | Err(Failure::TooMany | Failure::Refused | Failure::Other) => false,
        };
        if lists_again {
            self.revision_unavailable = true;
            outcome = self.pages("", limit).await;
        }
        let (revision, pages) = outcome?;
        self.paginated |= from == "0" && pages > 1;
        self.revision = revision;
        self.revision_unavailable = false;
        Ok(())
    }

    /// The revision for the next list.
    fn begin_from(&self) -> String {
        if !self.client_go().lists_from_its_revision() {
            "0".to_owned()
        } else if self.revision_unavailable {
            String::new()
        } else if self.revision.is_empty() {
            "0".to_owned()
        } else {
            self.revision.clone()
        }
    }

    /// All pages of a list. Returns the revision of the first page, and the number of pages.
    async fn pages(&self, from: &str, limit: u32) -> Result<(String, usize), Failure> {
        let (mut next, mut revision, mut pages) = (String::new(), None, 0);
        loop {
            // Until 1.16, every page has the revision as a parameter.
            let names_revision = next.is_empty() || self.client_go() == ClientGo::V1_15;
            let parameters = [
                ("continue", next.clone()),
                ("limit", if limit > 0 { limit.to_string() } else { String::new() }),
                ("resourceVersion", if names_revision { from.to_owned() } else { String::new() }),
            ];
            let body = self.rest.list(&self.path_with(&parameters)).await?;
            let document: Document = serde_json::from_slice(&body).or(Err(Failure::Other))?;
            pages += 1;
            let revision = revision.get_or_insert(document.metadata.resource_version);
            next = document.metadata.next;
            if next.is_empty() {
                return Ok((revision.clone(), pages));
            }
        }
    }

    async fn watch(&mut self) -> Then {
        let bookmarks = if self.client_go().asks_for_bookmarks() { "true" } else { "" };
        let path = self.path_with(&[
            ("allowWatchBookmarks", bookmarks.to_owned()),
            ("resourceVersion", self.revision.clone()),
            ("timeoutSeconds", timeout_seconds().to_string()),
            ("watch", "true".to_owned()),
        ]);
        match self.rest.watch(&path).await {
            Asked::Open(response) => {
                let watching = Watching::new(response.into_body(), &self.rest.clock);
                self.follow(watching).await
            }
            Asked::Closed { lasted } if lasted < SECOND => Then::List,
            Asked::Closed { .. } => Then::Watch,
            Asked::Failed(Failure::Refused) => match self.client_go().when_refused() {
                WhenRefused::ListAgain => Then::List,
                WhenRefused::WatchAfterASecond => Then::WatchAfter(SECOND),
                WhenRefused::WatchAfterBackoff => Then::WatchAfter(self.back_off()),
            },
            Asked::Failed(Failure::TooMany) if self.client_go().repeats_watches() => Then::WatchAfter(self.back_off()),
            Asked::Failed(_) => Then::List,
        }
    }

    async fn follow(&mut self, mut watching: Watching) -> Then {
        while let Some(line) = watching.next().await {
            if line.kind == "ERROR" {
                return match line.object.failure() {
                    Failure::TooMany if self.client_go().repeats_watches() => Then::WatchAfter(self.back_off()),
                    Failure::Expired | Failure::TooLarge | Failure::TooMany | Failure::Refused | Failure::Other => Then::List,
                };
            }
            self.revision = line.object.metadata.resource_version;
        }
        if watching.was_very_short(&self.rest.clock) { Then::List } else { Then::Watch }
    }

    /// A streaming list, which continues as the watch (`watchList`).
    async fn stream_list(&mut self) -> Streamed {
        loop {
            let from = if self.revision_unavailable { String::new() } else { self.revision.clone() };
            let path = self.path_with(&[
                ("allowWatchBookmarks", "true".to_owned()),
                ("resourceVersion", from),
                ("resourceVersionMatch", "NotOlderThan".to_owned()),
                ("sendInitialEvents", "true".to_owned()),
                ("timeoutSeconds", timeout_seconds().to_string()),
                ("watch", "true".to_owned()),
            ]);
            let mut watching = match self.rest.watch(&path).await {
                Asked::Open(response) => Watching::new(response.into_body(), &self.rest.clock),
                Asked::Failed(Failure::TooMany | Failure::Refused) => return Streamed::Failed,
                Asked::Closed { lasted } if lasted >= SECOND => continue,
                Asked::Closed { .. } | Asked::Failed(_) => return Streamed::Fallback,
            };
            match self.initial_events(&mut watching).await {
                Some(Ok(())) => return Streamed::Whole(Box::new(watching)),
                Some(Err(Failure::Expired | Failure::TooLarge)) => self.revision_unavailable = true,
                Some(Err(Failure::TooMany)) => return Streamed::Failed,
                Some(Err(Failure::Refused | Failure::Other)) => return Streamed::Fallback,
                None if watching.was_very_short(&self.rest.clock) => return Streamed::Fallback,
                None => {}
            }
        }
    }

    /// Reads up to the bookmark after the initial events. Returns `None` if the stream ends before that bookmark.
    async fn initial_events(&mut self, watching: &mut Watching) -> Option<Result<(), Failure>> {
        loop {
            let line = watching.next().await?;
            if line.kind == "ERROR" {
                return Some(Err(line.object.failure()));
            }
            if line.kind == "BOOKMARK" && line.object.ends_initial_events() {
                self.revision = line.object.metadata.resource_version;
                self.revision_unavailable = false;
                return Some(Ok(()));
            }
        }
    }

    fn client_go(&self) -> ClientGo {
        self.rest.client_go
    }

    fn back_off(&mut self) -> Duration {
        self.backoff.pause(self.rest.clock.now())
    }

    async fn pause(&self, pause: Duration) {
        sleep(self.rest.clock.lasts(pause)).await;
    }

    /// Returns the path with all parameters that are not empty. The caller must sort them by name, as Go does.
    fn path_with(&self, parameters: &[(&str, String)]) -> String {
        let present = parameters.iter().filter(|(_, value)| !value.is_empty());
        let query: Vec<String> = present.map(|(name, value)| format!("{name}={value}")).collect();
        format!("{}?{}", self.path, query.join("&"))
    }
}

/// The random `timeoutSeconds` of a watch: 5 to 10 minutes.
fn timeout_seconds() -> u64 {
    Duration::from_mins(5).mul_f64(1.0 + chance()).as_secs()
}
