//! Reduces the requests of a reflector to a form in which they can be compared. They come from an audit log or the client's own
//! log.

use std::fmt;

use serde_json::Value;

/// One list or watch, with its resource version reduced to a kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestForm {
    is_watch: bool,
    version: VersionForm,
    limit: Option<u64>,
    continued: bool,
    streams_the_list: bool,
}

/// The relation of a request's resource version to the earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum VersionForm {
    Unset,
    Zero,
    /// At least as new as every earlier one.
    Last,
    Older,
}

/// The requests of one client for one resource, in order. Consecutive equal forms count once.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestForms(Vec<RequestForm>);

/// The options of one request, before its resource version is classified.
#[derive(Clone, Copy, Debug)]
struct Asked<'a> {
    is_watch: bool,
    /// As the client sent it; empty if unset.
    resource_version: &'a str,
    limit: Option<u64>,
    continued: bool,
    streams_the_list: bool,
}

impl RequestForms {
    /// The forms of these request URIs (path with query).
    pub fn of_uris(uris: &[String]) -> Self {
        Self::folded(uris.iter().map(|uri| Asked::by_uri(uri)))
    }

    /// All requests that a client attempted, including failed ones. `log` has the JSON lines of the client, with the options of
    /// each list and watch.
    pub fn attempted(log: &[Value]) -> Self {
        Self::folded(log.iter().filter_map(Asked::by_options))
    }

    /// The number of lists, including streaming lists.
    pub fn lists(&self) -> usize {
        self.0.iter().filter(|form| !form.is_watch || form.streams_the_list).count()
    }

    fn folded<'a>(asked: impl Iterator<Item = Asked<'a>>) -> Self {
        let mut newest = 0;
        let mut forms: Vec<RequestForm> = asked.filter_map(|asked| RequestForm::of(asked, &mut newest)).collect();
        forms.dedup();
        Self(forms)
    }
}

/// The URIs (path with query) of the lists and watches of `user` for `resource`, from the audit events of the API server.
pub fn received_uris(audit: &[Value], user: &str, resource: &str) -> Vec<String> {
    let mut received: Vec<&Value> = audit.iter().filter(|event| is_of(event, user, resource)).collect();
    received.sort_by_key(|event| event["requestReceivedTimestamp"].as_str());
    received.iter().filter_map(|event| event["requestURI"].as_str().map(str::to_owned)).collect()
}

/// Each request has exactly one event of stage `RequestReceived`.
fn is_of(event: &Value, user: &str, resource: &str) -> bool {
    event["stage"] == "RequestReceived"
        && event["user"]["username"] == user
        && event["objectRef"]["resource"] == resource
        && matches!(event["verb"].as_str(), Some("list" | "watch"))
}

impl<'a> Asked<'a> {
    fn by_uri(uri: &'a str) -> Self {
        let query = uri.split_once('?').map_or("", |(_, query)| query);
        let parameter = |wanted: &str| {
            let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            let mut named = pairs.filter(|(name, value)| *name == wanted && !value.is_empty()).map(|(_, value)| value);
            named.next_back()
        };
        Self {
            is_watch: matches!(parameter("watch"), Some("true" | "1")),
            resource_version: parameter("resourceVersion").unwrap_or_default(),
            limit: parameter("limit").and_then(|limit| limit.parse().ok()),
            continued: parameter("continue").is_some(),
            streams_the_list: parameter("sendInitialEvents") == Some("true"),
        }
    }

    /// A log line with `metav1.ListOptions` in `options` and the verb in `what`.
    fn by_options(line: &'a Value) -> Option<Self> {
        let options = &line["options"];
        Some(Self {
            is_watch: match line["what"].as_str()? {
                "list" => false,
                "watch" => true,
                _ => return None,
            },
            resource_version: options["resourceVersion"].as_str().unwrap_or_default(),
            limit: options["limit"].as_u64().filter(|limit| *limit > 0),
            continued: options["continue"].as_str().is_some_and(|token| !token.is_empty()),
            streams_the_list: options["sendInitialEvents"] == true,
        })
    }
}

impl RequestForm {
    /// `newest` is the newest resource version of the earlier requests.
    fn of(asked: Asked<'_>, newest: &mut u64) -> Option<Self> {
        let Asked { is_watch, resource_version, limit, continued, streams_the_list } = asked;
        let version = match resource_version {
            "" => VersionForm::Unset,
            "0" => VersionForm::Zero,
            number => {
                let number: u64 = number.parse().ok()?;
                let is_last = number >= *newest;
                *newest = number.max(*newest);
                if is_last { VersionForm::Last } else { VersionForm::Older }
            }
        };
        Some(Self { is_watch, version, limit, continued, streams_the_list })
    }
}

impl fmt::Display for RequestForm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.is_watch { "WATCH" } else { "LIST" })?;
        formatter.write_str(match self.version {
            VersionForm::Unset => " unset",
            VersionForm::Zero => " 0",
            VersionForm::Last => " last",
            VersionForm::Older => " older",
        })?;
        if let Some(limit) = self.limit {
            write!(formatter, " limit={limit}")?;
        }
        formatter.write_str(if self.continued { " continue" } else { "" })?;
        formatter.write_str(if self.streams_the_list { " streamed" } else { "" })
    }
}

impl fmt::Display for RequestForms {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let forms: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        formatter.write_str(&forms.join(" · "))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{RequestForms, received_uris};

    #[test]
    fn retries_are_folded_and_every_change_is_kept() {
        let audit = [
            event("c", "/x?limit=500&resourceVersion=0", "list", 1),
            event("c", "/x?resourceVersion=7&watch=true&timeoutSeconds=300", "watch", 2),
            event("c", "/x?resourceVersion=9&watch=true&timeoutSeconds=301", "watch", 3),
            event("c", "/x?limit=500&resourceVersion=9", "list", 4),
            event("c", "/x?resourceVersion=8&watch=1", "watch", 5),
            event("c", "/x?limit=500&resourceVersion=", "list", 6),
            event("c", "/x?sendInitialEvents=true&watch=true", "watch", 7),
        ];
        let forms = RequestForms::of_uris(&received_uris(&audit, "c", "configmaps"));
        let expected =
            "LIST 0 limit=500 · WATCH last · LIST last limit=500 · WATCH older · LIST unset limit=500 · WATCH unset streamed";
        assert_eq!(forms.to_string(), expected);
        assert_eq!(forms.lists(), 4);
    }

    #[test]
    fn client_log_yields_request_forms() {
        let log = [
            json!({"what": "started"}),
            json!({"what": "list", "options": {"resourceVersion": "0", "limit": 500}}),
            json!({"what": "watch", "options": {"resourceVersion": "7", "watch": false}}),
            json!({"what": "watch failed", "error": "refused"}),
            json!({"what": "list", "options": {"limit": 500, "continue": "more"}}),
            json!({"what": "watch", "options": {"sendInitialEvents": true}}),
        ];
        let expected = "LIST 0 limit=500 · WATCH last · LIST unset limit=500 continue · WATCH unset streamed";
        assert_eq!(RequestForms::attempted(&log).to_string(), expected);
    }

    #[test]
    fn other_clients_stages_and_verbs_are_ignored() {
        let mut answered = event("c", "/x?watch=true", "watch", 1);
        answered["stage"] = "ResponseComplete".into();
        let audit = [answered, event("d", "/x", "list", 2), event("c", "/x/y", "get", 3)];
        assert_eq!(RequestForms::of_uris(&received_uris(&audit, "c", "configmaps")), RequestForms::default());
    }

    fn event(user: &str, uri: &str, verb: &str, second: u32) -> Value {
        json!({
            "stage": "RequestReceived", "verb": verb, "requestURI": uri, "user": {"username": user}, "objectRef": {"resource": "configmaps"},
            "requestReceivedTimestamp": format!("2026-11-22T00:00:{second:02}.000000Z"),
        })
    }
}
