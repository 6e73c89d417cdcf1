//! Large programs are read quickly and only in part.

use std::path::Path;
use std::time::{Duration, Instant};

use watchtap::tap::probe::binary::{TlsLibrary, probe_points, read_program};

/// Stripped, with 80 000 functions. client-go has its own copy of HTTP/2 in addition to that of `net/http`.
#[test]
fn kubectl_is_read_in_time_with_both_http2_copies() {
    let kubectl = Path::new("/usr/bin/kubectl");
    if !kubectl.exists() {
        return println!("left out: no kubectl at {}", kubectl.display());
    }
    let program = read_program(kubectl).unwrap();
    let begun = Instant::now();
    let found = probe_points(&program).unwrap();
    let took = begun.elapsed();
    println!("{took:?}");
    let [TlsLibrary::GoCryptoTls(points)] = found.as_slice() else { panic!("kubectl is a Go program: {found:?}") };
    let http2 = [&points.sent_fields, &points.received_fields, &points.sent_headers, &points.encoding].map(Vec::len);
    assert_eq!(http2, [2; 4], "{points:?}");
    assert!(took < Duration::from_secs(5), "an unoptimised build took {took:?}");
}
