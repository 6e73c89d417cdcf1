//! An API server that refuses connections.

use super::screen::{page, small};

#[test]
fn refusing_api_server_is_shown_first_until_it_accepts() {
    let refuses = small(&page("0s server v1.34.4\n10s refusing\n18s a connects as=apps/manager client=a/v1"));
    let first = "API server refuses connections for 8.0 s; watchtap refuses its clients, too";
    assert_eq!(refuses.lines().next().map(str::trim_end), Some(first), "{refuses}");
    let accepts = small(&page("0s server v1.34.4\n10s refusing\n18s listening"));
    assert!(!accepts.contains("refuses"), "{accepts}");
}
