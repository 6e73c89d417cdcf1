//! Reads one client's lists and watches of config maps and pod templates from the API server's audit log.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

/// The requests, in order of arrival.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServerSaw(Vec<Request>);

/// One list or watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// Path and query.
    pub(crate) uri: String,
    pub(crate) is_watch: bool,
    /// The HTTP status; `None` while the request is open.
    pub(crate) status: Option<u64>,
    received: String,
    lived: Option<Duration>,
}

/// The actions of a reflector after its first list and watch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Deeds {
    /// Lists, including streaming lists; pages and retries count as one list.
    pub(crate) relists: u64,
    /// Watches that continued where the previous one had ended.
    pub(crate) resumes: u64,
}

impl ServerSaw {
    pub(crate) fn of(audit: &[Value], user: &str) -> Self {
        let is_its = |event: &&Value| {
            event["user"]["username"] == user
                && matches!(event["objectRef"]["resource"].as_str(), Some("configmaps" | "podtemplates"))
                && matches!(event["verb"].as_str(), Some("list" | "watch"))
        };
        let mut requests: BTreeMap<(&str, &str), Request> = BTreeMap::new();
        for event in audit.iter().filter(is_its) {
            let text = |name: &str| event[name].as_str().unwrap_or_default();
            let key = (text("requestReceivedTimestamp"), text("auditID"));
            let request = requests.entry(key).or_insert_with(|| Request {
                uri: text("requestURI").to_owned(),
                is_watch: event["verb"] == "watch",
                status: None,
                received: key.0.to_owned(),
                lived: None,
            });
            if event["stage"] == "ResponseComplete" {
                request.status = event["responseStatus"]["code"].as_u64();
                request.lived = seconds(text("stageTimestamp")).zip(seconds(key.0)).map(|(end, start)| end.saturating_sub(start));
            }
        }
        Self(requests.into_values().collect())
    }

    pub(crate) fn requests(&self) -> &[Request] {
        &self.0
    }

    /// The number of list requests; each page and each retry counts, streaming lists do not.
    pub(crate) fn lists(&self) -> usize {
        self.0.iter().filter(|request| !request.is_watch).count()
    }

    /// The reflector's actions after its first watch.
    pub(crate) fn deeds(&self) -> Deeds {
        let mut deeds = Deeds::default();
        let first_watch = self.0.iter().position(|request| request.is_watch).unwrap_or(self.0.len());
        for (index, request) in self.0.iter().enumerate().skip(first_watch + 1) {
            let Some(before) = index.checked_sub(1).and_then(|before| self.0.get(before)) else { continue };
            if request.is_list() {
                // A list after another list is a page or a retry.
                deeds.relists += u64::from(!before.is_list() || before.is_granted_watch());
            } else if before.is_watch && !self.is_barren(index) {
                deeds.resumes += 1;
            }
        }
        deeds
    }

    /// Whether a watch was refused, by its status or by its first event: the client lists immediately or retries.
    fn is_barren(&self, index: usize) -> bool {
        const AT_ONCE: Duration = Duration::from_secs(1);
        let Some(watch) = self.0.get(index) else { return false };
        let is_followed_by_a_list = self.0.get(index + 1).is_some_and(Request::is_list);
        let is_refused = watch.status.is_some_and(|status| status >= 300);
        is_refused || (is_followed_by_a_list && watch.lived.is_some_and(|lived| lived < AT_ONCE))
    }
}

impl Request {
    /// A list, or a streaming list.
    pub(crate) fn is_list(&self) -> bool {
        !self.is_watch || self.uri.contains("sendInitialEvents=true")
    }

    fn is_granted_watch(&self) -> bool {
        self.is_watch && self.status.is_none_or(|status| status < 300)
    }

    /// A query parameter, not decoded.
    pub(crate) fn parameter(&self, wanted: &str) -> Option<&str> {
        let (_, query) = self.uri.split_once('?')?;
        query.split('&').filter_map(|pair| pair.split_once('=')).find_map(|(name, value)| (name == wanted).then_some(value))
    }
}

/// Time of day, from a timestamp like `2026-11-22T10:20:30.123456Z`.
fn seconds(time: &str) -> Option<Duration> {
    let clock = time.split_once('T')?.1.trim_end_matches('Z');
    let mut parts = clock.splitn(3, ':').map(|part| part.parse::<f64>().ok());
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    Duration::try_from_secs_f64(hours * 3600.0 + minutes * 60.0 + seconds).ok()
}
