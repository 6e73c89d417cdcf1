//! The calls of a client by the audit log, in a form in which those of two runs can be compared.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

/// How often a client made each call. A call is the verb and the URI; resource versions other than 0 and timeouts are reduced to
/// `N`, because clients draw timeouts at random.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calls(BTreeMap<String, usize>);

impl Calls {
    /// The calls of the client with this user agent.
    pub fn of(audit: &[Value], user_agent: &str) -> Self {
        let mut calls = BTreeMap::new();
        // Each request has exactly one event of this stage.
        for event in audit.iter().filter(|event| event["stage"] == "RequestReceived" && event["userAgent"] == user_agent) {
            let verb = event["verb"].as_str().unwrap_or_default();
            let uri = reduced(event["requestURI"].as_str().unwrap_or_default());
            *calls.entry(format!("{verb} {uri}")).or_default() += 1;
        }
        Self(calls)
    }

    /// Each different call, without its count.
    pub fn kinds(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The number of calls with this verb.
    pub fn count(&self, verb: &str) -> usize {
        let has_verb = |call: &str| call.split_once(' ').is_some_and(|(of_call, _)| of_call == verb);
        self.0.iter().filter(|(call, _)| has_verb(call)).map(|(_, count)| count).sum()
    }
}

impl fmt::Display for Calls {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(call, count)| writeln!(formatter, "{count:5} × {call}"))
    }
}

fn reduced(uri: &str) -> String {
    let Some((path, query)) = uri.split_once('?') else { return uri.to_owned() };
    let pairs: Vec<String> = query
        .split('&')
        .map(|pair| match pair.split_once('=') {
            Some((name @ ("timeout" | "timeoutSeconds"), _)) => format!("{name}=N"),
            Some((name @ "resourceVersion", value)) if value != "0" => format!("{name}=N"),
            Some(_) | None => pair.to_owned(),
        })
        .collect();
    format!("{path}?{}", pairs.join("&"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_that_differ_by_chance_are_equal() {
        let event = |agent: &str, stage: &str, verb: &str, uri: &str| json!({"userAgent": agent, "stage": stage, "verb": verb, "requestURI": uri});
        let audit = [
            event("one", "RequestReceived", "list", "/api/v1/pods?resourceVersion=0"),
            event("one", "RequestReceived", "watch", "/api/v1/pods?resourceVersion=12&timeoutSeconds=507&watch=true"),
            event("one", "ResponseComplete", "watch", "/api/v1/pods?resourceVersion=12&timeoutSeconds=507&watch=true"),
            event("one", "RequestReceived", "watch", "/api/v1/pods?resourceVersion=19&timeoutSeconds=333&watch=true"),
            event("two", "RequestReceived", "get", "/api/v1/pods/one"),
        ];
        let calls = Calls::of(&audit, "one");
        let kinds = ["list /api/v1/pods?resourceVersion=0", "watch /api/v1/pods?resourceVersion=N&timeoutSeconds=N&watch=true"];
        assert_eq!(calls.kinds().collect::<Vec<_>>(), kinds);
        assert_eq!((calls.count("list"), calls.count("watch"), calls.count("get")), (1, 2, 0));
    }
}
