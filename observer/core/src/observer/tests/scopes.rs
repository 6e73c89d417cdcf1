//! Requests for the same objects share a row, whether or not an answer had objects that show the scope.

use super::super::*;
use super::script::play;

#[test]
fn scope_of_a_built_in_resource_is_known_without_objects() {
    let snapshot = shown(&[
        "GET /api/v1/pods|200|items=0",
        "GET /api/v1/pods|200|items=2",
        "GET /api/v1/pods|403|",
        "GET /api/v1/pods?watch=1&resourceVersion=7|200|",
        "GET /api/v1/nodes|200|items=0",
        "GET /api/v1/nodes/one|200|",
        "GET /apis/batch/v1/jobs|200|items=0",
        "GET /apis/rbac.authorization.k8s.io/v1/clusterroles|200|items=0",
    ]);
    let expected = [
        "pods · all namespaces 1",
        "pods · all namespaces 2",
        "jobs.batch · all namespaces 1",
        "clusterroles.rbac.authorization.k8s.io · cluster 1",
        "nodes · cluster 1",
        "watch pods · all namespaces · RV=N 1",
        "other nodes · cluster 1",
    ];
    assert_eq!(rows(&snapshot), sorted(&expected));
}

#[test]
fn learned_custom_resource_scope_merges_its_rows() {
    let widgets = "/apis/example.com/v1/widgets";
    let empty = format!("GET {widgets}|200|items=0");
    let snapshot = shown(&[&empty, &empty]);
    assert_eq!(rows(&snapshot), ["widgets.example.com · all 2"]);

    let of_one = "GET /apis/example.com/v1/namespaces/a/widgets|200|items=0";
    let snapshot = shown(&[&empty, "GET /apis/example.com/v1/gadgets|200|items=0", of_one, &empty]);
    let expected = ["gadgets.example.com · all 1", "widgets.example.com · a/ 1", "widgets.example.com · all namespaces 2"];
    assert_eq!(rows(&snapshot), sorted(&expected));
    assert!(snapshot.requests.iter().all(|request| request.shape.to_string() != "widgets.example.com · all"));
    assert!(
        snapshot.reflectors.iter().all(|row| row.shape.to_string() != "widgets.example.com · all"),
        "{:?}",
        snapshot.reflectors
    );

    let refused = "GET /apis/example.com/v1/namespaces/a/widgets|404|";
    assert_eq!(rows(&shown(&[&empty, refused])), sorted(&["widgets.example.com · a/ 1", "widgets.example.com · all 1"]));

    let with_objects = format!("GET {widgets}|200|items=3");
    let snapshot = shown(&[&empty, &with_objects, &empty]);
    assert_eq!(rows(&snapshot), ["widgets.example.com · all namespaces 3"]);
    assert_eq!(snapshot.lists[0].items, 3);
}

/// Plays requests in order, each as `METHOD URL|STATUS|items=N`.
fn shown(requests: &[&str]) -> Snapshot {
    let mut script = "0s version v1.34.4\n0s open 1\n".to_owned();
    for (stream, request) in (1..).zip(requests) {
        let [request, status, items] = request.split('|').collect::<Vec<_>>()[..] else { panic!("{request}") };
        let mut lines = vec![request.to_owned(), format!("<- {status}")];
        if !items.is_empty() {
            lines.push(format!("list rv=100 {items}"));
        }
        lines.push("end".to_owned());
        script.extend(lines.iter().map(|line| format!("{stream}s 1/{stream} {line}\n")));
    }
    play(&script, Limits::default()).0
}

fn rows(snapshot: &Snapshot) -> Vec<String> {
    let lists = snapshot.lists.iter().map(|row| format!("{} {}", row.shape, row.count));
    let watches = snapshot.watches.iter().map(|row| format!("watch {} {}", row.shape, row.count));
    let others = snapshot.others.iter().map(|row| format!("other {} {}", row.shape, row.count));
    let mut rows: Vec<String> = lists.chain(watches).chain(others).collect();
    rows.sort();
    rows
}

fn sorted(rows: &[&str]) -> Vec<String> {
    let mut rows: Vec<String> = rows.iter().map(|row| (*row).to_owned()).collect();
    rows.sort();
    rows
}
