//! TLS libraries that cannot be probed are recognised in the files that contain them, and not in their callers.

use std::path::Path;

use watchtap::tap::probe::binary::{TlsLibrary, UnprobedLibrary, probe_points, read_program};

/// Debian's folder of libraries.
const LIBRARIES: &str = "/usr/lib/x86_64-linux-gnu";

#[test]
fn installed_libraries_are_recognised_but_not_their_callers() {
    let libraries = Path::new(LIBRARIES);
    for (file, expected) in [
        (libraries.join("libgnutls.so.30"), Some(UnprobedLibrary::GnuTls)),
        (libraries.join("libssl3.so"), Some(UnprobedLibrary::Nss)),
        (libraries.join("libmbedtls.so.14"), Some(UnprobedLibrary::MbedTls)),
        (libraries.join("libwolfssl.so.35"), Some(UnprobedLibrary::WolfSsl)),
        ("/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so".into(), Some(UnprobedLibrary::Java)),
        (libraries.join("libcurl-gnutls.so.4"), None),
        ("/usr/lib/jvm/java-17-openjdk-amd64/lib/libjli.so".into(), None),
        ("/usr/bin/wget".into(), None),
    ] {
        if !file.exists() {
            println!("left out: there is no {}", file.display());
            continue;
        }
        let found = probe_points(&read_program(&file).unwrap()).unwrap();
        assert_eq!(found, expected.map(TlsLibrary::Unprobed).into_iter().collect::<Vec<_>>(), "{}", file.display());
    }
}
