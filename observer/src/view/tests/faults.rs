//! The account of faults in reports.

use expect_test::expect;

use super::super::page::tests::script::play;
use super::super::{Colour, Run, report_markdown, report_text};

const SCRIPT: &str = "0s server v1.16.15
    0s a connects client=my-controller/0.1 pid=7
    0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
    0s a1 whole rv=1000 x@500 y@600
    0s a3 GET /api/v1/pods?resourceVersion=1000&timeoutSeconds=500&watch=true
    0s a3 opens
    60s fault end-watches: all watches end cleanly: a client should watch again
    60s a3 ends
    61s a5 GET /api/v1/pods?resourceVersion=1000&timeoutSeconds=500&watch=true
    61s a5 refused 500 InternalError
    62s a7 GET /api/v1/pods?resourceVersion=1000&timeoutSeconds=500&watch=true
    62s a7 opens
    90s a7 BOOKMARK @1100
    100s fault compact
    120s fault restart for=3s: the API server restarts
    120s refusing
    120001ms a closed by server
    126s listening
    126400ms b connects client=my-controller/0.1 pid=7
    126405ms b1 GET /api/v1/pods?limit=500&resourceVersion=0
    126420ms b1 whole rv=1130 x@500 y@1120
    126430ms b3 GET /api/v1/pods?resourceVersion=1130&timeoutSeconds=333&watch=true
    126435ms b3 opens
    140s shutdown
    141s b closed by client";

#[test]
fn report_has_each_fault_with_what_followed() {
    let text = report_text(&run(), &play(SCRIPT), Colour::Off).into_string();
    let lines = text.lines().skip_while(|line| !line.starts_with("FAULTS")).take_while(|line| !line.is_empty());
    expect![[r"
        FAULTS   each with what clients did until the next one, which is not always because of it
        12:01:00  end-watches
          all watches end cleanly: a client should watch again
          · my-controller/0.1 pods: 1 watch ended (ended by the server); 1 request failed (500 InternalError); 1 watch resumed after 2.0 s; no relist
        12:01:40  compact
          · no watch ended, no request failed, no relist
        12:02:00  restart for=3s
          the API server restarts
          · my-controller/0.1 pods: 1 watch ended (connection closed by the server); 1 relist after 6.4 s (connection refused, listed instead of resuming (client-go < 1.16)), 2 objects, 1 unchanged
          · finding refused-misread:my-controller/0.1:pods/all-namespaces
    "]].assert_eq(&lines.map(|line| line.to_owned() + "\n").collect::<String>());
}

#[test]
fn markdown_report_has_faults_in_place_of_the_note() {
    let text = report_markdown(&run(), &play(SCRIPT)).into_string();
    let lines = text.lines().skip_while(|line| !line.contains("| fault |"));
    expect![[r"
        | when | fault | after it, until the next | new findings |
        | --- | --- | --- | --- |
        | 12:01:00 | `end-watches` | my-controller/0.1 pods: 1 watch ended (ended by the server); 1 request failed (500 InternalError); 1 watch resumed after 2.0 s; no relist |  |
        | 12:01:40 | `compact` | no watch ended, no request failed, no relist |  |
        | 12:02:00 | `restart for=3s` | my-controller/0.1 pods: 1 watch ended (connection closed by the server); 1 relist after 6.4 s (connection refused, listed instead of resuming (client-go &#60; 1.16)), 2 objects, 1 unchanged | refused-misread:my-controller/0.1:pods/all-namespaces |
    "]].assert_eq(&lines.map(|line| line.to_owned() + "\n").collect::<String>());
}

fn run() -> Run {
    Run {
        subcommand: "exec",
        command: Vec::new(),
        exit_code: Some(0),
        silence: Vec::new(),
        budget: None,
        log: None,
        notes: Vec::new(),
    }
}
