//! Spans of scripted traffic.

use expect_test::expect;
use observer_core::observation::ConnectionId;
use observer_core::observer::{Event, Limits, Observer};
use observer_script::START;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;

use crate::memory_budget::OtlpLimits;
use crate::otlp::client_spans::ClientSpans;

/// A reflector whose watch expires; it relists.
const RELIST: &str = "
    0s server v1.34.4
    0s a connects client=controller/1.0
    1s a1 GET /apis/apps/v1/deployments?limit=500&resourceVersion=0
    3s a1 whole rv=10 x@5 y@6
    4s a2 GET /apis/apps/v1/deployments?watch=1&resourceVersion=10
    6s a2 opens
    7s a2 ADDED z@11
    8s a2 ERROR 410 Expired
    8s a2 ends
    9s a3 GET /apis/apps/v1/deployments?limit=500&resourceVersion=0
    11s a3 whole rv=12 x@5 y@6
";

#[test]
fn slow_requests_watches_and_relists_have_spans() {
    expect![[r"
        1s..3s GET /apis/apps/v1/deployments
          http.request.method=GET url.template=/apis/apps/v1/deployments network.protocol.version=2 http.response.status_code=200
          user_agent.original=controller/1.0 watchtap.verb=list watchtap.resource=deployments watchtap.group=apps
          watchtap.scope=all-namespaces watchtap.served_from=cache watchtap.rule=list-rv0 watchtap.certainty=predicted
          watchtap.items=2
        4s..6s GET /apis/apps/v1/deployments
          http.request.method=GET url.template=/apis/apps/v1/deployments network.protocol.version=2 http.response.status_code=200
          user_agent.original=controller/1.0 watchtap.verb=watch watchtap.resource=deployments watchtap.group=apps
          watchtap.scope=all-namespaces watchtap.served_from=cache watchtap.rule=watch-rv watchtap.certainty=predicted
        9s..11s GET /apis/apps/v1/deployments
          http.request.method=GET url.template=/apis/apps/v1/deployments network.protocol.version=2 http.response.status_code=200
          user_agent.original=controller/1.0 watchtap.verb=list watchtap.resource=deployments watchtap.group=apps
          watchtap.scope=all-namespaces watchtap.served_from=cache watchtap.rule=list-rv0 watchtap.certainty=predicted
          watchtap.items=2
        9s..11s relist
          watchtap.cause=expired/cache-reset watchtap.reflector=1 watchtap.resource=deployments watchtap.group=apps
          watchtap.scope=all-namespaces watchtap.served_from=cache watchtap.rule=list-rv0 watchtap.certainty=predicted
          user_agent.original=controller/1.0 watchtap.items=2 watchtap.requests=1 watchtap.bytes=0
          watchtap.repeated=2
    "]]
    .assert_eq(&shown(RELIST));
}

#[test]
fn relist_is_linked_to_its_request_the_watch_and_the_list_before_it() {
    let spans = spans(RELIST);
    let [list, watch, again, relist] = spans.as_slice() else { panic!("{}", shown(RELIST)) };
    let links: Vec<_> = relist.links.iter().map(|link| (&link.trace_id, &link.span_id)).collect();
    assert_eq!(links, [again, watch, list].map(|span| (&span.trace_id, &span.span_id)));
    let kinds = [list, watch, again, relist].map(Span::kind);
    assert_eq!(kinds, [SpanKind::Client, SpanKind::Client, SpanKind::Client, SpanKind::Internal], "no page counts twice");
    for span in &spans {
        assert_eq!((span.trace_id.len(), span.span_id.len()), (16, 8));
        assert!(spans.iter().filter(|other| other.trace_id == span.trace_id).count() == 1, "each is alone in its trace");
    }
}

#[test]
fn refusals_have_spans_and_ordinary_requests_are_sampled() {
    expect![[r"
        1s..1s GET /api/v1/namespaces/{namespace}/pods/{name} ERROR
          http.request.method=GET url.template=/api/v1/namespaces/{namespace}/pods/{name} network.protocol.version=2 http.response.status_code=404
          user_agent.original=controller/1.0 watchtap.verb=get watchtap.resource=pods watchtap.scope=namespace
          watchtap.served_from=etcd watchtap.rule=get-unset-etcd watchtap.certainty=predicted error.type=404
        2s..2s PATCH /api/v1/namespaces/{namespace}/pods/{name}/status ERROR
          http.request.method=PATCH url.template=/api/v1/namespaces/{namespace}/pods/{name}/status network.protocol.version=2 http.response.status_code=409
          user_agent.original=controller/1.0 watchtap.verb=patch watchtap.resource=pods watchtap.subresource=status
          watchtap.scope=namespace error.type=409
        3s..5s GET /api/v1/namespaces/{name}
          http.request.method=GET url.template=/api/v1/namespaces/{name} network.protocol.version=2 http.response.status_code=200
          user_agent.original=controller/1.0 watchtap.verb=get watchtap.resource=namespaces watchtap.scope=namespace
          watchtap.served_from=etcd watchtap.rule=get-unset-etcd watchtap.certainty=predicted
        10s..10s GET /api/v1/pods ERROR
          http.request.method=GET url.template=/api/v1/pods network.protocol.version=2 http.response.status_code=410
          user_agent.original=controller/1.0 watchtap.verb=watch watchtap.resource=pods watchtap.scope=all-namespaces
          watchtap.served_from=refused watchtap.rule=refused-by-status watchtap.certainty=confirmed error.type=410
        11s..11s POST /api/v1/namespaces/{namespace}/pods ERROR
          http.request.method=POST url.template=/api/v1/namespaces/{namespace}/pods network.protocol.version=2 user_agent.original=controller/1.0
          watchtap.verb=create watchtap.resource=pods watchtap.scope=namespace error.type=cut
    "]].assert_eq(&shown(
        "
        0s server v1.34.4
        0s a connects client=controller/1.0
        1s a1 GET /api/v1/namespaces/default/pods/x
        1s a1 refused 404 NotFound
        2s a2 PATCH /api/v1/namespaces/default/pods/x/status
        2s a2 refused 409 Conflict
        3s a3 GET /api/v1/namespaces/kube-system
        5s a3 written x@12
        6s a4 GET /version
        9s a4 refused 500 InternalError
        10s a5 GET /api/v1/pods?watch=1&resourceVersion=10
        10s a5 refused 410 Expired
        11s a6 POST /api/v1/namespaces/default/pods
        11s a closed by server
        ",
    ));
    let ordinary: Vec<String> =
        (1..5_000).map(|number| format!("1s a{number} GET /api/v1/nodes/x\n1s a{number} written x@1")).collect();
    let ordinary = ordinary.join("\n");
    let number = spans(&format!("0s a connects client=controller/1.0\n{ordinary}")).len();
    assert!((10..150).contains(&number), "{number} of 5 000");
}

#[test]
fn response_that_the_server_breaks_off_is_an_error_and_the_end_of_a_watch_is_none() {
    let failed = |end: &str| {
        let script = format!(
            "0s a connects client=controller/1.0\n1s a1 GET /api/v1/pods\n1s a1 opens\n\
             1s a2 GET /api/v1/pods?watch=1&resourceVersion=10\n1s a2 opens\n{end}"
        );
        let errors = spans(&script).into_iter().flat_map(|span| span.attributes).filter(|one| one.key == "error.type");
        errors.map(|one| value(one.value.as_ref().and_then(|value| value.value.as_ref()))).collect::<Vec<_>>()
    };
    assert_eq!(failed("2s a closed by server"), ["cut"]);
    assert_eq!(failed("2s a1 reset by server\n2s a2 reset by server"), ["reset"]);
    for end in ["2s a closed by client", "2s a1 reset by client\n2s a2 reset by client"] {
        assert_eq!(failed(end), [""; 0], "{end}");
    }
}

#[test]
fn request_in_a_trace_is_a_child_of_its_clients_span() {
    let script = |flags: &str| {
        RELIST.replace(
            "resourceVersion=0\n",
            &format!("resourceVersion=0 in=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-{flags}\n"),
        )
    };
    let of_client = 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736_u128.to_be_bytes();
    let all = spans(&script("01"));
    let [list, watch, again, relist] = all.as_slice() else { panic!("{all:?}") };
    for span in [list, again] {
        assert_eq!(
            (span.trace_id.as_slice(), span.parent_span_id.as_slice()),
            (&of_client[..], &[0, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7][..])
        );
        assert_eq!(span.flags, 0x301, "sampled, with a parent of another process");
        assert!(span.trace_state.is_empty());
    }
    assert_ne!(list.span_id, again.span_id);
    for span in [watch, relist] {
        assert!(span.parent_span_id.is_empty() && span.flags == 1 && span.trace_id != of_client, "it has no client's trace");
    }
    let links: Vec<_> = relist.links.iter().map(|link| (&link.trace_id, &link.span_id)).collect();
    assert_eq!(links, [again, watch, list].map(|span| (&span.trace_id, &span.span_id)));
    assert_eq!(spans(&script("02")).first().map(|span| span.flags), Some(0x303), "a slow request is exported, and so recorded");
}

#[test]
fn many_requests_and_connections_before_it_take_nothing_from_a_relist() {
    let events = events(
        &RELIST.replace("resourceVersion=0\n", "resourceVersion=0 in=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\n"),
    );
    let fill = |event: &&Event| matches!(event, Event::ConnectionOpened { .. } | Event::Request { .. });
    let others: Vec<_> = events.iter().filter(fill).collect();
    let mut made = ClientSpans::remembering(OtlpLimits::default().remembered);
    for connection in (2..20_000).map(ConnectionId) {
        for event in &others {
            made.of(&on(connection, event));
        }
    }
    let spans: Vec<_> = events.iter().filter_map(|event| made.of(event)).collect();
    let [list, watch, again, relist] = spans.as_slice() else { panic!("{spans:?}") };
    let of_client = 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736_u128.to_be_bytes();
    assert!([list, again].iter().all(|span| span.trace_id == of_client));
    let links: Vec<_> = relist.links.iter().map(|link| (&link.trace_id, &link.span_id)).collect();
    assert_eq!(links, [again, watch, list].map(|span| (&span.trace_id, &span.span_id)));
    let version = |span: &Span| span.attributes.iter().any(|one| one.key == "network.protocol.version");
    assert!([list, watch, again].into_iter().all(version), "its connection is known");
}

#[test]
fn client_decides_about_ordinary_requests_of_its_trace() {
    let number = |flags: &str| {
        let each = (1..1_000).map(|number| {
            let trace = format!("in=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-{flags}");
            format!("1s a{number} HEAD /api/v1/nodes/x {trace}\n1s a{number} written x@1\n")
        });
        spans(&format!("0s a connects client=controller/1.0\n{}", each.collect::<String>())).len()
    };
    assert_eq!((number("01"), number("00")), (999, 0));
    let failed = "0s a connects client=controller/1.0
        1s a1 GET /api/v1/nodes/x in=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00
        1s a1 refused 404 NotFound";
    assert_eq!(spans(failed).len(), 1);
}

#[test]
fn head_is_named_as_it_was_sent() {
    let script = "0s a connects client=controller/1.0
        1s a1 HEAD /api/v1/nodes/x
        1s a1 refused 404 NotFound";
    let text = shown(script);
    assert!(text.starts_with("1s..1s HEAD /api/v1/nodes/{name} ERROR\n  http.request.method=HEAD "), "{text}");
}

fn spans(script: &str) -> Vec<Span> {
    let mut spans = ClientSpans::remembering(OtlpLimits::default().remembered);
    events(script).iter().filter_map(|event| spans.of(event)).collect()
}

fn events(script: &str) -> Vec<Event> {
    let (mut observer, mut events) = (Observer::new(Limits::default()), Vec::new());
    for observation in observer_script::observations(script) {
        observer.observe(observation, &mut |event| events.push(event));
    }
    events
}

/// The same event of another connection.
fn on(other: ConnectionId, event: &Event) -> Event {
    let mut event = event.clone();
    if let Event::ConnectionOpened { connection, .. } = &mut event {
        *connection = other;
    }
    if let Event::Request { record } = &mut event {
        record.id.connection = other;
    }
    event
}

/// Times, names and attributes.
fn shown(script: &str) -> String {
    let second = |nanos: u64| (nanos - START) / 1_000_000_000;
    let each = spans(script).into_iter().map(|span| {
        let attributes: Vec<String> = span
            .attributes
            .iter()
            .map(|one| format!("{}={}", one.key, value(one.value.as_ref().and_then(|value| value.value.as_ref()))))
            .collect();
        let (from, to) = (second(span.start_time_unix_nano), second(span.end_time_unix_nano));
        let failed = span.status.map_or("", |status| if status.code == 2 { " ERROR" } else { "" });
        let lines: Vec<String> = attributes.chunks(4).map(|line| format!("  {}\n", line.join(" "))).collect();
        format!("{from}s..{to}s {}{failed}\n{}", span.name, lines.concat())
    });
    each.collect()
}

fn value(value: Option<&Value>) -> String {
    match value {
        Some(Value::StringValue(text)) => text.clone(),
        Some(Value::IntValue(number)) => number.to_string(),
        other => panic!("{other:?}"),
    }
}
