//! Notes on a finding, a storm and a relist.

use expect_test::expect;
use observer_core::observer::{FindingKind, Snapshot};

use super::super::note::{finding_note, relist_note, storm_note};
use super::super::page::tests::script::play;
use super::super::page::tests::stories::{storm, trouble};

/// The number of lines that a note may have.
const MOST_LINES: usize = 30;

#[test]
fn note_on_a_finding_has_evidence_reason_change_and_command() {
    let snapshot = play(&trouble());
    let finding = snapshot.findings.iter().find(|finding| finding.kind == FindingKind::StuckReflector).unwrap();
    expect![[r"
        ### Finding `stuck-reflector:elastic-operator/1.18.2:secrets/kube-system/`

        **Observed:** elastic-operator/1.18.2 secrets kube-system/: requests revision 1100 repeatedly; the server has not reached it (since 12:02:34). Timeline, in UTC:

        - 12:03:23.000 requests a list, RV=1100
        - 12:03:26.000 504 Timeout
        - 12:03:27.000 requests a list, RV=1100
        - 12:03:30.000 504 Timeout
        - 12:03:31.000 requests a list, RV=1100
        - 12:03:34.000 504 Timeout

        **Cost:** lasted 3 m 17 s; in the entire run, its reflector sent 17 list requests, which returned 2 objects; its lists and watches delivered 2 objects (0 unchanged) in 90 kB.

        **API server version v1.30.4:** verdict: refused, rule `list-rv` (a resourceVersion without limit: the watch cache answers once it has reached that revision, or 504 after 3 s); see `docs/findings.md#stuck-reflector`.

        **Change:** Restart the client, which helps at once. Then update client-go to 1.18.6 or later, which lists without a resource version after this error.

        **Repeat the request:**

        ```sh
        kubectl get --raw '/api/v1/namespaces/kube-system/secrets?resourceVersion=1100'
        ```
    "]].assert_eq(finding_note(finding, &snapshot).as_str());
}

#[test]
fn note_on_a_storm_names_trigger_members_and_cost() {
    let snapshot = play(&storm());
    expect![[r"
        ### Storm 1

        **Observed:** 12 reflectors of 3 clients relisted within 1.1 s, peak 7 a second, and it is ongoing. Timeline, in UTC:

        - 12:01:40.000 the first relist began
        - 12:01:40.900 it was a storm
        - 12:01:41.100 the last member joined
        - member `fleet-c/v1 kind3s.example.com all namespaces`: 1 relist, 2 objects, 12 kB
        - member `fleet-c/v1 kind2s.example.com all namespaces`: 1 relist, 2 objects, 9.0 kB

        **Cost:** 12 relists (cache: 12), 24 objects (12 unchanged), 60 kB.

        **API server version v1.34.4:** trigger `mass-expiry`; 12 × 410 Gone: no bookmarks sent.

        **Change:** Request bookmarks (allowWatchBookmarks=true), so that the resource versions of quiet watches advance; then look for clients that stopped reading.

        **Repeat the request:**

        ```sh
        kubectl get --raw '/apis/example.com/v1/kind3s?resourceVersion=10'
        ```
    "]].assert_eq(storm_note(&snapshot.storms[0], &snapshot).as_str());
}

#[test]
fn note_on_a_relist_names_cause_and_rule() {
    let snapshot = play(&trouble());
    let list = snapshot.reflectors.iter().find_map(|row| row.last_relist.as_deref()).unwrap();
    expect![[r"
        ### Relist of `my-controller/0.34 pods all namespaces`

        **Observed:** it relisted at 12:03:21.000, which took 90 ms. Timeline, in UTC:

        - 12:00:07.000 2 events within 1.0 s, the newest at RV=1011
        - 12:03:20.000 410 Expired
        - 12:03:20.000 the watch ended with an ERROR event, code 410
        - 12:03:21.090 received 3 objects

        **Cost:** 1 request, 3 objects (2 of 3 unchanged), 7.2 MB.

        **API server version v1.30.4:** 410 Gone, the resource version of the watch had expired: no bookmark had advanced it, and the client had not requested any; verdict: cache, rule `list-rv` (a resourceVersion without limit: the watch cache answers once it has reached that revision, or 504 after 3 s).

        **Change:** Set allowWatchBookmarks=true (client-go's reflectors do), so that the resource version advances while the resource does not change; this needs API server 1.16 or later.

        **Repeat the request:**

        ```sh
        kubectl get --raw '/api/v1/pods?resourceVersion=1011'
        ```
    "]].assert_eq(relist_note(list, &snapshot).as_str());
}

#[test]
fn note_on_lists_has_the_time_line_of_their_client() {
    let items: Vec<String> = (0..600).map(|number| format!("o{number}@{}", number + 1)).collect();
    let items = items.join(" ");
    let script =
        format!("0s server v1.30.4\n0s a connects client=a/v1\n1s a1 GET /api/v1/pods\n2s a1 whole rv=1000 {items}\n3s listening");
    let snapshot = play(&script);
    let finding = snapshot.findings.iter().find(|finding| finding.kind == FindingKind::ListsFromEtcd).unwrap();
    let note = finding_note(finding, &snapshot).into_string();
    assert!(note.contains("12:00:02.000 received 600 objects, RV=1000"), "{note}");
    assert!(note.contains("verdict: etcd, rule `list-unset-etcd` ("), "{note}");
    assert!(note.contains("```sh\nkubectl get --raw '/api/v1/pods'\n```\n"), "{note}");
}

#[test]
fn time_line_of_a_past_finding_ends_with_it() {
    let snapshot = play(&trouble());
    let finding = snapshot.findings.iter().find(|finding| finding.kind == FindingKind::NoBookmarks).unwrap();
    let note = finding_note(finding, &snapshot).into_string();
    assert!(note.contains("\n- 12:03:20.000 410 Expired\n") && !note.contains("\n- 12:04:20"), "the watch after it: {note}");
}

#[test]
fn request_that_cannot_be_repeated_has_its_reason() {
    let mut snapshot = Snapshot::clone(&play(&trouble()));
    snapshot.requests.clear();
    let note = finding_note(&snapshot.findings[0], &snapshot).into_string();
    let last = note.lines().last().unwrap();
    assert!(last.starts_with("**Repeat the request:** no command: none of its requests is among the latest"), "{note}");
}

#[test]
fn notes_have_at_most_thirty_lines() {
    for script in [trouble(), storm()] {
        let snapshot = play(&script);
        let findings = snapshot.findings.iter().map(|finding| finding_note(finding, &snapshot));
        let storms = snapshot.storms.iter().map(|storm| storm_note(storm, &snapshot));
        let relists = snapshot.reflectors.iter().filter_map(|row| row.last_relist.as_deref());
        for note in findings.chain(storms).chain(relists.map(|list| relist_note(list, &snapshot))) {
            let lines = note.as_str().lines().count();
            assert!((10..=MOST_LINES).contains(&lines), "{lines} lines:\n{}", note.as_str());
        }
    }
}
