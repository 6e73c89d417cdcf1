//! Gives the verdict on a request that is written as `METHOD URL`.

use crate::k8s::{ListOptions, RequestInfo};
use crate::routing::{CacheState, Question, RevisionHistory, ServerProfile, Verdict, route};
use crate::time::Timestamp;

/// A request as `METHOD URL`.
pub(in crate::routing) struct Request {
    pub(in crate::routing) info: RequestInfo,
    pub(in crate::routing) options: ListOptions,
}

impl Request {
    #[track_caller]
    pub(in crate::routing) fn new(line: &str) -> Self {
        let (method, url) = line.split_once(' ').unwrap();
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let options = ListOptions::parse(query);
        Self { info: RequestInfo::parse(method, path, &options, ""), options }
    }

    pub(in crate::routing) fn question<'q>(
        &'q self,
        profile: &'q ServerProfile,
        history: Option<&'q RevisionHistory>,
    ) -> Question<'q> {
        let now = Timestamp::from_nanos(1_000_000_000_000);
        Question { info: &self.info, options: &self.options, profile, cache: CacheState::Ready, history, now }
    }
}

/// The profile of a server of this version, with defaults for everything else.
#[track_caller]
pub(in crate::routing) fn server(version: &str) -> ServerProfile {
    ServerProfile { version: Some(version.parse().unwrap()), ..ServerProfile::default() }
}

/// The verdict of a server of this version on a request line.
#[track_caller]
pub(in crate::routing) fn verdict(version: &str, line: &str) -> Verdict {
    route(&Request::new(line).question(&server(version), None)).unwrap()
}
