//! Tests of the requests that count as reads from etcd.

use super::super::*;
use super::script::play;

#[test]
fn lists_and_gets_from_etcd_are_summed_up_by_what_they_delivered() {
    let mut script = "0s version v1.34.4\n0s open 1\n".to_owned();
    let mut ask = |at: u32, lines: &[&str]| script.extend(lines.iter().map(|line| format!("{at}s 1/{at} {line}\n")));
    ask(1, &["GET /api/v1/events", "<- 200", "list rv=9 items=1", "end"]);
    ask(2, &["GET /api/v1/events?limit=500", "<- 200", "list rv=9 items=2", "end"]);
    ask(3, &["GET /api/v1/events", "<- 403", "end"]);
    ask(4, &["GET /api/v1/pods?resourceVersion=0", "<- 200", "list rv=9 items=700", "end"]);
    ask(5, &["GET /api/v1/namespaces/a/pods/x", "<- 200", "end"]);
    ask(6, &["GET /api/v1/namespaces/a/pods/y", "<- 404", "end"]);
    ask(7, &["GET /api/v1/namespaces/a/pods/y?resourceVersion=0", "<- 200", "end"]);
    ask(8, &["GET /api/v1/namespaces/a/pods/y", "<- 403", "end"]);
    let (light, _) = play(&script, Limits::default());
    let expected =
        EtcdReads { objects: 3_u64.into(), bytes: 0_u64.into(), bulk_lists: 0, gets: 2, get_bytes: 0_u64.into(), watches: 0 };
    assert_eq!((light.totals.lists_from_etcd, light.totals.etcd_reads), (2, expected));
    assert_eq!(light.etcd_load(), EtcdLoad::Light, "of one event each");

    script.push_str("9s 1/9 GET /api/v1/events\n9s 1/9 <- 200\n9s 1/9 list rv=9 items=500\n9s 1/9 end\n");
    let (heavy, _) = play(&script, Limits::default());
    assert_eq!((heavy.totals.etcd_reads.bulk_lists, heavy.etcd_load()), (1, EtcdLoad::Heavy));
}
