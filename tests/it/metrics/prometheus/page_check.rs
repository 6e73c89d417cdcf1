//! promtool finds nothing to improve in a page.

use std::io::Write as _;
use std::process::Stdio;

use observer_tests::promtool;

use super::super::running::Running;

#[test]
fn promtool_finds_nothing_to_improve() {
    let Some(mut promtool) = promtool().unwrap() else { return };
    let running = Running::start("", &["demo", "--quiet", "--grace", "0s"]);
    let page = loop {
        let page = running.scraper.scrape().unwrap();
        if page.count("watchtap_watches_open", "").unwrap() > 0 {
            break page;
        }
    };
    promtool.args(["check", "metrics"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut checking = promtool.spawn().unwrap();
    checking.stdin.take().unwrap().write_all(page.body()).unwrap();
    let checked = checking.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&[checked.stdout, checked.stderr].concat()).into_owned();
    assert!(checked.status.success() && said.is_empty(), "{said}");
}
