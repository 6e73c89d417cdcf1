//! Rows from request to judgement, with the counters that real servers showed.

use std::time::Duration;

use super::{
    Attempt, Counters, Judgement, Known, Measured, MetricsPage, ObservedAnswer, Prediction, SHAPES, Scope, Shape, Target, agrees,
    judge, measure,
};
use crate::k8s::{Resource, Verb};
use crate::logs::RangeRead;
use crate::metrics::MetricsReader;
use crate::routing::{Basis, Layer, RevisionHistory, ServerProfile};
use crate::time::Timestamp;

/// A token at revision 700, after `default/a`.
const TOKEN: &str = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NzAwLCJzdGFydCI6ImRlZmF1bHQvYVx1MDAwMCJ9";

#[test]
fn every_namespaced_shape_is_covered_by_the_rules() {
    for minor in [23, 27, 29, 31, 33, 34, 36, 37] {
        for shape in SHAPES {
            let request = shape.request(&roles(), &known()).unwrap();
            assert!(!request.contains(['{', '}']), "{request}");
            let prediction = predict(shape, &format!("1.{minor}.4")).unwrap();
            let verb = shape.title.split([' ', ',']).next().unwrap();
            assert_eq!(prediction.verb.as_str(), verb, "{request}");
            assert!(
                prediction.verdict.served_from.layer().is_some(),
                "{} in 1.{minor}: {:?}",
                shape.title,
                prediction.verdict.served_from
            );
        }
    }
}

#[test]
fn shape_titles_are_unique() {
    let mut titles: Vec<&str> = SHAPES.iter().map(|shape| shape.title).collect();
    titles.sort_unstable();
    titles.dedup();
    assert_eq!(titles.len(), SHAPES.len());
}

#[test]
fn cluster_scoped_resource_has_no_namespace_shape() {
    let target = Target { namespace: None, ..roles() };
    let left_out: Vec<Scope> =
        SHAPES.iter().filter(|shape| shape.request(&target, &known()).is_none()).map(|shape| shape.scope).collect();
    assert_eq!(left_out, [Scope::Namespace]);
}

#[test]
fn continued_shapes_require_a_continue_token() {
    let known = Known { continue_token: None, ..known() };
    let left_out = SHAPES.iter().filter(|shape| shape.request(&roles(), &known).is_none());
    assert!(left_out.clone().all(|shape| shape.title.contains("continued")));
    assert_eq!(left_out.count(), 4);
}

#[test]
fn token_continues_at_its_own_revision_or_at_the_latest() {
    let request = |title| named(title).request(&roles(), &known()).unwrap();
    assert!(request("list, continued").ends_with(&format!("continue={TOKEN}")));
    assert!(predict(named("list, continued"), "1.34.4").unwrap().is_exact);
    let latest = predict(named("list, continued at the latest revision"), "1.34.4").unwrap();
    assert!(!latest.is_exact);
    assert_eq!(latest.verdict.served_from.layer(), Some(Layer::CacheConsistent));
}

#[test]
fn list_is_measured_by_counter_changes() {
    let answered = ObservedAnswer::of_status(200);
    let memory = Counters { cache_lists: 1, ..Counters::default() };
    let consistent = Counters { storage_lists: 1, etcd_gets: 1, consistent_reads: 1, ..memory };
    let bulk = Counters { storage_lists: 1, etcd_lists: 1, ..Counters::default() };
    let one_key = Counters { storage_lists: 1, etcd_gets: 1, ..Counters::default() };
    for (title, moved, expected) in [
        ("list, RV=0", memory, Measured::Layer(Layer::Cache)),
        ("list, RV=N, Exact", memory, Measured::Layer(Layer::Snapshot)),
        ("list, RV=N, limit", memory, Measured::Layer(Layer::Snapshot)),
        ("list, RV unset", consistent, Measured::Layer(Layer::CacheConsistent)),
        ("list, RV unset", bulk, Measured::Layer(Layer::Etcd)),
        ("list, RV unset", Counters { storage_lists: 2, etcd_gets: 1, ..bulk }, Measured::Layer(Layer::Etcd)),
        ("list, RV unset", Counters { fallbacks: 1, storage_lists: 2, etcd_gets: 1, ..bulk }, Measured::AfterWaiting),
        ("list, RV unset, one name", one_key, Measured::Layer(Layer::Etcd)),
        ("list, RV unset", Counters::default(), Measured::NotCounted),
        ("list, RV unset", Counters { cache_lists: 2, ..consistent }, Measured::Noise),
        ("list, RV unset", Counters { cache_lists: 1, ..bulk }, Measured::Noise),
    ] {
        let prediction = predict(named(title), "1.34.4").unwrap();
        assert_eq!(measure(&prediction, &answered, moved), expected, "{title} {moved:?}");
    }
    let refused =
        measure(&predict(named("list, RV=0, Exact"), "1.34.4").unwrap(), &ObservedAnswer::of_status(422), Counters::default());
    assert_eq!(refused, Measured::Refused { status: 422, etcd_touched: false });
}

#[test]
fn watch_is_measured_by_first_events_and_counter_changes() {
    let still = Counters::default();
    let others_watch = Counters { etcd_watch_messages: 3, ..still };
    let expired = |message: &str| ObservedAnswer {
        error_event: Some(410),
        message: Some(message.to_owned()),
        ..ObservedAnswer::of_status(200)
    };
    let failed = ObservedAnswer { error_event: Some(500), ..ObservedAnswer::of_status(200) };
    for (answer, moved, expected) in [
        (ObservedAnswer::of_status(200), still, Measured::Layer(Layer::Cache)),
        (ObservedAnswer { events: 2, ..ObservedAnswer::of_status(200) }, others_watch, Measured::CacheOrEtcd),
        (ObservedAnswer::of_status(200), Counters { initial_events: 7, ..others_watch }, Measured::Layer(Layer::Cache)),
        (ObservedAnswer::of_status(200), others_watch, Measured::CacheOrEtcd),
        (ObservedAnswer::of_status(200), Counters { etcd_lists: 1, ..others_watch }, Measured::Layer(Layer::Etcd)),
        (
            ObservedAnswer::of_status(200),
            Counters { etcd_gets: 1, storage_lists: 1, ..still },
            Measured::Layer(Layer::CacheConsistent),
        ),
        (expired("too old resource version: 1 (184)"), others_watch, Measured::Layer(Layer::Cache)),
        (expired("The resourceVersion for the provided watch is too old."), others_watch, Measured::Layer(Layer::Etcd)),
        (failed, still, Measured::ErrorEvent { code: 500 }),
        (ObservedAnswer::of_status(429), still, Measured::Refused { status: 429, etcd_touched: false }),
        (ObservedAnswer::of_status(200), Counters { cache_lists: 1, ..still }, Measured::Noise),
    ] {
        let prediction = predict(named("watch, RV=N"), "1.34.4").unwrap();
        assert_eq!(measure(&prediction, &answer, moved), expected, "{answer:?} {moved:?}");
    }
}

#[test]
fn initial_objects_prove_the_cache_only_if_it_counted_them() {
    let answered = ObservedAnswer { events: 2, ..ObservedAnswer::of_status(200) };
    for title in ["watch, RV=0", "watch list, RV=N"] {
        let prediction = predict(named(title), "1.34.4").unwrap();
        assert_eq!(measure(&prediction, &answered, Counters::default()), Measured::Layer(Layer::Etcd), "{title}");
        let cached = Counters { initial_events: 2, ..Counters::default() };
        assert_eq!(measure(&prediction, &answered, cached), Measured::Layer(Layer::Cache), "{title}");
        let nothing = measure(&prediction, &ObservedAnswer::of_status(200), Counters::default());
        assert_eq!(nothing, Measured::CacheOrEtcd, "{title}");
    }
}

#[test]
fn refusal_of_the_caller_does_not_count_as_disagreement() {
    let prediction = predict(named("get, RV=0"), "1.34.4").unwrap();
    let refused = |status| Attempt {
        measured: measure(&prediction, &ObservedAnswer::of_status(status), Counters::default()),
        moved: Counters::default(),
        answer: ObservedAnswer::of_status(status),
        control: Some(Counters::default()),
        other_requests: None,
    };
    for (status, expected) in
        [(403, Judgement::NotProvoked), (429, Judgement::Noisy), (503, Judgement::Noisy), (410, Judgement::Disagree)]
    {
        assert_eq!(judge(&prediction, &[refused(status), refused(status), refused(status)]), expected, "{status}");
    }
}

#[test]
fn agreement_during_other_reads_is_noisy() {
    let prediction = predict(named("get, RV=0"), "1.34.4").unwrap();
    let agreeing = |other_requests| Attempt {
        measured: Measured::Layer(Layer::Cache),
        moved: Counters::default(),
        answer: ObservedAnswer::of_status(200),
        control: None,
        other_requests,
    };
    assert_eq!(judge(&prediction, &[agreeing(Some(2))]), Judgement::Noisy);
    assert_eq!(judge(&prediction, &[agreeing(Some(2)), agreeing(Some(0))]), Judgement::Agree);
}

#[test]
fn events_of_either_group_are_counted_by_the_name_of_the_core() {
    let events = Resource { group: "events.k8s.io".to_owned(), version: "v1".to_owned(), resource: "events".to_owned() };
    for text in
        [r#"apiserver_storage_list_total{group="",resource="events"} 3"#, r#"apiserver_storage_list_total{resource="events"} 3"#]
    {
        assert_eq!(page(text, &events).counters(&events).storage_lists, 3, "{text}");
    }
}

#[test]
fn get_with_404_still_measures_its_layer() {
    let prediction = predict(named("get of nothing, RV=0"), "1.34.4").unwrap();
    assert_eq!(prediction.verb, Verb::Get);
    let absent = ObservedAnswer::of_status(404);
    assert_eq!(measure(&prediction, &absent, Counters::default()), Measured::Layer(Layer::Cache));
    assert_eq!(measure(&prediction, &absent, Counters { etcd_gets: 1, ..Counters::default() }), Measured::Layer(Layer::Etcd));
}

#[test]
fn disagreement_requires_two_undisturbed_attempts() {
    let prediction = predict(named("list, RV=0"), "1.34.4").unwrap();
    let attempt = |layer, control| Attempt {
        measured: Measured::Layer(layer),
        moved: Counters::default(),
        answer: ObservedAnswer::of_status(200),
        control,
        other_requests: None,
    };
    let still = Some(Counters::default());
    let disturbed = Some(Counters { cache_lists: 1, ..Counters::default() });
    let (right, wrong) = (attempt(Layer::Cache, None), attempt(Layer::Etcd, still));
    let elsewhere = attempt(Layer::Etcd, disturbed);
    let overheard = Attempt { other_requests: Some(1), ..wrong.clone() };
    for (attempts, expected) in [
        (vec![], Judgement::NotProvoked),
        (vec![right.clone()], Judgement::Agree),
        (vec![wrong.clone(), right], Judgement::Agree),
        (vec![wrong.clone()], Judgement::Noisy),
        (vec![wrong.clone(), wrong.clone()], Judgement::Disagree),
        (vec![wrong.clone(), elsewhere.clone(), elsewhere], Judgement::Noisy),
        (vec![overheard.clone(), overheard], Judgement::Noisy),
        (vec![wrong.clone(), attempt(Layer::CacheConsistent, still)], Judgement::Noisy),
        (vec![wrong.clone(), attempt(Layer::CacheConsistent, still), wrong], Judgement::Disagree),
    ] {
        assert_eq!(judge(&prediction, &attempts), expected, "{attempts:?}");
    }
}

#[test]
fn uncounted_range_reads_are_added_from_the_etcd_log() {
    let read =
        |key: &str, range_end: &str| RangeRead { key: key.to_owned(), range_end: range_end.to_owned(), ..RangeRead::default() };
    let counted = RangeRead { count_only: true, ..read("/registry/roles/", "/registry/roles0") };
    let reads = [
        read("/registry/roles", ""),
        read("/registry/roles/", "/registry/roles0"),
        read("/registry/roles/default/a\0", "/registry/roles0"),
        read("/registry/rolebindings/", "/registry/rolebindings0"),
        counted,
    ];
    let by_counters = Counters { cache_lists: 1, etcd_gets: 3, ..Counters::default() };
    let expected = Counters { cache_lists: 1, etcd_gets: 3, etcd_lists: 2, ..Counters::default() };
    assert_eq!(by_counters.with_etcd_reads(&roles().resource, &reads), expected);
}

#[test]
fn second_outcome_agrees_too() {
    let waited = predict(named("list, RV in the future"), "1.34.4").unwrap();
    assert!(agrees(&waited, &Measured::Refused { status: 504, etcd_touched: false }));
    assert!(!agrees(&waited, &Measured::Refused { status: 410, etcd_touched: false }));
    let consistent = predict(named("list, RV unset"), "1.34.4").unwrap();
    assert!(agrees(&consistent, &Measured::AfterWaiting));
    assert!(!agrees(&consistent, &Measured::NotCounted));
}

#[test]
fn counters_are_found_under_the_labels_of_every_version() {
    const OLD: &str = r#"
kubernetes_build_info{git_version="v1.31.14"} 1
process_start_time_seconds 1.7e+09
apiserver_cache_list_total{index="",resource_prefix="/services/specs"} 5
apiserver_cache_list_total{index="f:x",resource_prefix="/services/specs"} 1
apiserver_storage_list_total{resource="services"} 4
etcd_request_duration_seconds_count{operation="get",type="services"} 3
etcd_request_duration_seconds_count{operation="list",type="services"} 2
etcd_request_duration_seconds_count{operation="list",type="services.example.com"} 9
apiserver_watch_cache_consistent_read_total{fallback="false",resource="/services/specs",success="true"} 1
apiserver_watch_cache_consistent_read_total{fallback="true",resource="/services/specs",success="true"} 7
apiserver_init_events_total{resource="/services/specs"} 8
grpc_client_msg_sent_total{grpc_method="Watch"} 11"#;
    const NEW: &str = r#"
apiserver_cache_list_total{group="",resource="services",index=""} 6
apiserver_storage_list_total{group="",resource="services",storage="watchcache",index=""} 6
apiserver_storage_list_total{group="",resource="services",storage="etcd"} 4
apiserver_storage_list_total{group="example.com",resource="services",storage="etcd"} 4
etcd_request_duration_seconds_count{operation="getCurrentResourceVersion",group="",resource="services"} 3
etcd_request_duration_seconds_count{operation="listStream",group="",resource="services"} 2
etcd_request_duration_seconds_count{operation="listWithCount",group="",resource="services"} 9
apiserver_watch_cache_consistent_read_total{fallback="false",group="",resource="services",success="true"} 1
apiserver_watch_cache_consistent_read_total{fallback="true",group="",resource="services",success="false"} 7
apiserver_init_events_total{group="",resource="services"} 8
grpc_client_msg_sent_total{grpc_method="Watch"} 11"#;
    let services = Resource { group: String::new(), version: "v1".to_owned(), resource: "services".to_owned() };
    let expected = Counters {
        cache_lists: 6,
        storage_lists: 4,
        etcd_gets: 3,
        etcd_lists: 2,
        consistent_reads: 1,
        fallbacks: 7,
        initial_events: 8,
        etcd_watch_messages: 11,
    };
    for text in [OLD, NEW] {
        let page = page(text, &services);
        assert_eq!(page.counters(&services), expected);
        assert!(page.counts_lists());
    }
    let old = page(OLD, &services);
    assert_eq!((old.version.as_deref(), old.started), (Some("v1.31.14"), Some(1.7e9)));
    assert!(!page("up 1", &services).counts_lists());
}

fn page(text: &str, resource: &Resource) -> MetricsPage {
    let mut page = MetricsPage::of(std::slice::from_ref(resource));
    let mut reader = MetricsReader::default();
    reader.push(text.as_bytes(), &mut |sample| page.note(sample));
    reader.finish(&mut |sample| page.note(sample));
    page
}

#[track_caller]
fn named(title: &str) -> &'static Shape {
    SHAPES.iter().find(|shape| shape.title == title).unwrap()
}

fn predict(shape: &Shape, version: &str) -> Option<Prediction> {
    let profile = ServerProfile::of_version(version.parse().unwrap(), Basis::VersionEndpoint);
    let mut history = RevisionHistory::default();
    let now = Timestamp::from_nanos(u64::try_from(Duration::from_mins(1).as_nanos()).unwrap());
    history.note(700, now);
    Prediction::of(&shape.request(&roles(), &known())?, &profile, &history, now)
}

fn roles() -> Target {
    let resource =
        Resource { group: "rbac.authorization.k8s.io".to_owned(), version: "v1".to_owned(), resource: "roles".to_owned() };
    Target { resource, namespace: Some("default".to_owned()), name: "a".to_owned() }
}

fn known() -> Known {
    Known { revision: 700, cached: 700, continue_token: Some(TOKEN.to_owned()) }
}
