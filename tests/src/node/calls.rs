//! The calls of one user, from the audit log.

use serde_json::Value;

/// A request that the API server received.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Call {
    /// As in `list`, `watch` or `create`.
    pub verb: String,
    /// Path and query.
    pub uri: String,
    /// The User-Agent; empty if it is missing.
    pub user_agent: String,
    /// The status of the response; `None` before it.
    pub status: Option<u64>,
    /// Identity of the token, which differs between the tokens of one ServiceAccount; `None` for other credentials.
    pub credential: Option<String>,
}

impl Call {
    /// Each call of `user` once, in the order of arrival.
    pub fn of_user(user: &str, events: &[Value]) -> Vec<Self> {
        let of_user = |event: &&Value| event["user"]["username"] == user;
        let arrived = events.iter().filter(of_user).filter(|event| event["stage"] == "RequestReceived");
        arrived.map(|event| Self::of(event, events)).collect()
    }

    fn of(arrival: &Value, events: &[Value]) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let stages = events.iter().filter(|event| event["auditID"] == arrival["auditID"]);
        Self {
            verb: text(&arrival["verb"]),
            uri: text(&arrival["requestURI"]),
            user_agent: text(&arrival["userAgent"]),
            status: stages.filter_map(|stage| stage["responseStatus"]["code"].as_u64()).next_back(),
            credential: arrival["user"]["extra"]["authentication.kubernetes.io/credential-id"][0].as_str().map(str::to_owned),
        }
    }
}

#[test]
fn a_call_is_listed_once_with_its_last_status() {
    use serde_json::json;

    let event = |id: u32, stage: &str, code: Value| {
        json!({
            "auditID": id, "stage": stage, "verb": "watch", "requestURI": format!("/api/v1/pods?{id}"), "userAgent": "app/1",
            "user": {"username": "one", "extra": {"authentication.kubernetes.io/credential-id": ["JTI=5"]}},
            "responseStatus": {"code": code},
        })
    };
    let mut events = vec![
        event(1, "RequestReceived", Value::Null),
        event(2, "RequestReceived", Value::Null),
        event(1, "ResponseStarted", json!(200)),
        event(1, "ResponseComplete", json!(500)),
        event(3, "RequestReceived", Value::Null),
    ];
    events[4]["user"]["username"] = json!("two");
    let call = |id: u32, status| Call {
        verb: "watch".to_owned(),
        uri: format!("/api/v1/pods?{id}"),
        user_agent: "app/1".to_owned(),
        status,
        credential: Some("JTI=5".to_owned()),
    };
    assert_eq!(Call::of_user("one", &events), [call(1, Some(500)), call(2, None)]);
}
