//! Comparisons of two runs, as text and as Markdown.

use expect_test::expect;
use observer_core::observer::{Comparison, Snapshot};

use super::super::page::tests::script::play;
use super::super::*;

/// A client lists everything from etcd, and relists because it requests no bookmarks; it writes twice.
const BEFORE: &str = "
    0s server v1.30.4
    0s a connects client=my-controller/0.3 pid=7
    0s a1 GET /api/v1/pods
    40ms a1 bytes 7100000
    40ms a1 whole rv=1000 x@500 y@600 z@700
    1s a3 GET /api/v1/pods?resourceVersion=1000&watch=true
    1s a3 opens
    5s a5 PATCH /api/v1/namespaces/default/pods/x
    5s a5 written x@1001
    6s a7 PATCH /api/v1/namespaces/default/pods/x
    6s a7 written x@1002
    300s a3 ERROR 410 Expired
    300s a3 ends
    301s a9 GET /api/v1/pods
    301040ms a9 bytes 7100000
    301040ms a9 whole rv=2000 x@1002 y@600 z@700
    302s a11 GET /api/v1/pods?resourceVersion=2000&watch=true
    302s a11 opens
    310s listening";
/// The same client after its fix; it writes once.
const AFTER: &str = "
    0s server v1.30.4
    0s a connects client=my-controller/0.4 pid=8
    0s a1 GET /api/v1/pods?resourceVersion=0
    20ms a1 bytes 7100000
    20ms a1 whole rv=1000 x@500 y@600 z@700
    1s a3 GET /api/v1/pods?resourceVersion=1000&allowWatchBookmarks=true&watch=true
    1s a3 opens
    5s a5 PATCH /api/v1/namespaces/default/pods/x
    5s a5 written x@1001
    60s a3 BOOKMARK @1500
    310s listening";

#[test]
fn text_of_a_fix_begins_with_the_improvement() {
    let text = comparison_text(["before.cap", "after.cap"], &["a note".to_owned()], &fix(), Colour::Off);
    expect![[r"
        watchtap read: after.cap against before.cap

        better: 1 finding gone, relists 1 → 0, lists from etcd 2 → 0, unchanged objects 2 → 0, 2 more

        before  5 m 10 s · 6 requests · 2 of 2 lists served from etcd (6 objects, 14 MB) · 14 MB
        after   5 m 10 s · 3 requests · 0 of 1 list served from etcd · 7.1 MB
        note: a note

        CHANGE  MEASURE                     BEFORE   AFTER
        better  findings                         2       1
        better  relists                          1       0
        better  lists from etcd                  2       0
        better  unchanged objects                2       0
        better  failed lists and watches         1       0
        better  bytes of lists and watches   14 MB  7.1 MB

        CHANGE  FINDING                                             AMOUNT
        gone    no-bookmarks:my-controller/0.3:pods/all-namespaces  1 relist

        CHANGE  RELISTS BY CAUSE         BEFORE  AFTER
        gone    410 Gone: bookmarks off       1      0

        CHANGE   REQUEST                                 N  SERVED FROM  FAILED  OBJECTS   BYTES  TOTAL (MEDIAN)
        new      list pods · all namespaces · RV=0       1  cache             0        3  7.1 MB           20 ms
        better   watch pods · all namespaces · RV=N  2 → 1  cache         1 → 0        0     0 B               -
        gone     list pods · all namespaces              2  etcd              0        6   14 MB           40 ms
        changed  patch pods · default/               2 → 1  -                 0        0     0 B            1 µs

        0 shapes of requests did not change
    "]]
    .assert_eq(text.as_str());
}

#[test]
fn documentation_shows_a_comparison_as_it_is_printed() {
    let document = include_str!("../../../../docs/comparison.md");
    let text = comparison_text(["before.cap", "after.cap"], &[], &fix_of_many_pods(), Colour::Off).into_string();
    assert!(document.contains(&format!("```\n{text}```\n")), "the sample in docs/comparison.md is to be this one:\n\n{text}");
}

#[test]
fn markdown_of_a_fix_begins_with_the_improvement() {
    let markdown = comparison_markdown(["before.cap", "after.cap"], &["a note".to_owned()], &fix());
    expect![[r"
        **Better:** 1 finding gone, relists 1 → 0, lists from etcd 2 → 0, unchanged objects 2 → 0, 2 more.

        - before `before.cap`: 5 m 10 s · 6 requests · 2 of 2 lists served from etcd (6 objects, 14 MB) · 14 MB
        - after `after.cap`: 5 m 10 s · 3 requests · 0 of 1 list served from etcd · 7.1 MB

        - note: a note

        | change | measure | before | after |
        | --- | --- | ---: | ---: |
        | better | findings | 2 | 1 |
        | better | relists | 1 | 0 |
        | better | lists from etcd | 2 | 0 |
        | better | unchanged objects | 2 | 0 |
        | better | failed lists and watches | 1 | 0 |
        | better | bytes of lists and watches | 14 MB | 7.1 MB |

        | change | finding | amount | change to make |
        | --- | --- | --- | --- |
        | gone | `no-bookmarks:my-controller/0.3:pods/all-namespaces` | 1 relist |  |

        | change | relists by cause | before | after |
        | --- | --- | ---: | ---: |
        | gone | 410 Gone: bookmarks off | 1 | 0 |

        | change | request | number | served from | failed | bytes |
        | --- | --- | ---: | --- | ---: | ---: |
        | new | `list pods · all namespaces · RV=0` | 1 | cache | 0 | 7.1 MB |
        | better | `watch pods · all namespaces · RV=N` | 2 → 1 | cache | 1 → 0 | 0 B |
        | gone | `list pods · all namespaces` | 2 | etcd | 0 | 14 MB |
        | changed | `patch pods · default/` | 2 → 1 | - | 0 | 0 B |

        0 shapes of requests did not change.
    "]]
    .assert_eq(markdown.as_str());
}

#[test]
fn regression_is_stated_first_in_both_formats() {
    let comparison = Comparison::of(&play(AFTER), &play(BEFORE));
    let text = comparison_text(["a", "b"], &[], &comparison, Colour::Off).into_string();
    let answer = text.lines().nth(2).unwrap();
    assert!(answer.starts_with("worse: 1 new finding, relists 0 → 1, lists from etcd 0 → 2"), "{text}");
    let markdown = comparison_markdown(["a", "b"], &[], &comparison).into_string();
    assert!(markdown.starts_with("**Worse:** 1 new finding, relists 0 → 1"), "{markdown}");
    assert!(
        markdown.contains("| **new** | `no-bookmarks:my-controller/0.3:pods/all-namespaces` | 1 relist | Set allowWatchBookmarks"),
        "{markdown}"
    );
}

#[test]
fn equal_runs_are_neither_better_nor_worse() {
    let comparison = Comparison::of(&play(BEFORE), &play(BEFORE));
    let text = comparison_text(["a", "b"], &[], &comparison, Colour::Off).into_string();
    assert_eq!(text.lines().nth(2), Some("neither better nor worse"), "{text}");
    let markdown = comparison_markdown(["a", "b"], &[], &comparison).into_string();
    assert_eq!(markdown.lines().next(), Some("**Neither better nor worse.**"), "{markdown}");
}

#[test]
fn fewer_writes_are_changed_in_neutral_words() {
    let text = comparison_text(["a", "b"], &[], &fix(), Colour::On).into_string();
    let patch = text.lines().find(|line| line.contains("patch pods")).unwrap();
    assert!(patch.starts_with("changed") && patch.contains("2 → 1"), "no colour, no judgement: {patch:?}");
}

#[test]
fn json_has_measures_findings_and_relists() {
    let json = comparison_json(["a", "b"], &[], &fix()).unwrap();
    let json: serde_json::Value = serde_json::from_str(json.as_str()).unwrap();
    assert_eq!(json["measures"][0]["change"], "better");
    assert_eq!((&json["findings"][0]["kind"], &json["findings"][0]["unit"]), (&"no-bookmarks".into(), &"relists".into()));
    assert_eq!(json["findings"][0]["before"]["amount"], 1);
    assert_eq!(json["relists"][0]["cause"], "expired/bookmarks-not-requested");
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows.iter().find(|row| row["verb"] == "patch").unwrap()["change"], "changed");
}

fn fix() -> Comparison {
    let runs: [std::sync::Arc<Snapshot>; 2] = [BEFORE, AFTER].map(play);
    Comparison::of(&runs[0], &runs[1])
}

/// A fix of a client of 900 pods. It has listed everything from etcd, and relisted because it requested no bookmarks.
fn fix_of_many_pods() -> Comparison {
    let pods: Vec<String> = (0..900).map(|number| format!("pod-{number}@500")).collect();
    let pods = pods.join(" ");
    let before = format!(
        "
        0s server v1.30.4
        0s a connects client=my-controller/0.3 pid=7
        0s a1 GET /api/v1/pods
        80ms a1 bytes 2100000
        80ms a1 whole rv=1000 {pods}
        1s a3 GET /api/v1/pods?resourceVersion=1000&watch=true
        1s a3 opens
        2s a5 GET /api/v1/events
        2012ms a5 bytes 80000
        2012ms a5 whole rv=1000 warning@900
        5s a7 PATCH /api/v1/namespaces/default/pods/pod-1
        5005ms a7 written pod-1@1001
        6s a9 PATCH /api/v1/namespaces/default/pods/pod-1
        6005ms a9 written pod-1@1002
        300s a3 bytes 180
        300s a3 ERROR 410 Expired
        300s a3 ends
        301s a11 GET /api/v1/pods
        301080ms a11 bytes 2100000
        301080ms a11 whole rv=2000 {pods}
        302s a13 GET /api/v1/pods?resourceVersion=2000&watch=true
        302s a13 opens
        310s listening"
    );
    let after = format!(
        "
        0s server v1.30.4
        0s a connects client=my-controller/0.4 pid=8
        0s a1 GET /api/v1/pods?resourceVersion=0
        41ms a1 bytes 2100000
        41ms a1 whole rv=1000 {pods}
        1s a3 GET /api/v1/pods?resourceVersion=1000&allowWatchBookmarks=true&watch=true
        1s a3 opens
        5s a5 PATCH /api/v1/namespaces/default/pods/pod-1
        5005ms a5 written pod-1@1001
        60s a3 bytes 210
        60s a3 BOOKMARK @1500
        310s listening"
    );
    Comparison::of(&play(&before), &play(&after))
}
