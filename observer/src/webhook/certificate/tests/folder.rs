//! A certificate in files, which another program replaces.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use observer_pki::PrivateAuthority;
use rustls_pki_types::ServerName;

use super::super::bundle::Bundle;
use super::super::{Certificates, Config, Source};
use super::own_authority::served;
use super::scripted_server::{QUICK, await_state};

const NAME: &str = "watchtap.system.svc";
const DAY: Duration = Duration::from_hours(24);

fn start(folder: &Path) -> Certificates {
    let source = Source::Folder(folder.to_owned());
    Certificates::start_at_pace(Config { service: "watchtap.system".parse().unwrap(), source }, QUICK).unwrap()
}

/// Writes a new certificate of a new authority, and returns that authority.
fn write(folder: &Path, name: &str, now: SystemTime) -> Bundle {
    let authority = PrivateAuthority::generate_for(DAY, now).unwrap();
    let identity = authority.issue_server_for(&[ServerName::try_from(name).unwrap()], now, DAY).unwrap();
    let pem = |label: &str, der: &[u8]| format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(der));
    fs::write(folder.join("tls.crt"), pem("CERTIFICATE", &identity.certificate)).unwrap();
    fs::write(folder.join("tls.key"), pem("PRIVATE KEY", identity.key.secret_der())).unwrap();
    [authority.certificate().clone()].into_iter().collect()
}

#[tokio::test]
async fn replaced_files_are_served() {
    let folder = tempfile::tempdir().unwrap();
    let now = SystemTime::now();
    let first = write(folder.path(), NAME, now);
    let mut certificates = start(folder.path());
    await_state(&mut certificates, Certificates::is_ready).await;
    assert_eq!(certificates.problem(), None);
    served(&certificates, &first, NAME).await.unwrap();
    let ends = certificates.expires().unwrap();
    assert!(ends > now + DAY - Duration::from_secs(2) && ends <= now + DAY);
    let second = write(folder.path(), NAME, now + 2 * DAY);
    await_state(&mut certificates, |certificates| certificates.expires() != Some(ends)).await;
    served(&certificates, &second, NAME).await.unwrap();
    served(&certificates, &first, NAME).await.unwrap_err();
}

#[tokio::test]
async fn files_that_cannot_be_used_are_reported_and_the_former_ones_stay() {
    let folder = tempfile::tempdir().unwrap();
    let mut certificates = start(folder.path());
    let reports = |words: &'static str| {
        move |certificates: &Certificates| certificates.problem().is_some_and(|problem| problem.contains(words))
    };
    await_state(&mut certificates, reports("tls.crt: No such file")).await;
    assert!(!certificates.is_ready());
    let good = write(folder.path(), NAME, SystemTime::now());
    await_state(&mut certificates, |certificates| certificates.is_ready() && certificates.problem().is_none()).await;
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    let (certificate, key) = (read("tls.crt"), read("tls.key"));
    let other = tempfile::tempdir().unwrap();
    write(other.path(), NAME, SystemTime::now());
    let key_of_another = fs::read(other.path().join("tls.key")).unwrap();
    for (name, content, words) in [
        ("tls.key", key_of_another.as_slice(), "cannot be used"),
        ("tls.key", b"", "tls.key contains no private key"),
        ("tls.crt", b"nothing", "tls.crt contains no certificate"),
    ] {
        fs::write(folder.path().join(name), content).unwrap();
        await_state(&mut certificates, reports(words)).await;
        assert!(certificates.is_ready());
        served(&certificates, &good, NAME).await.unwrap();
        fs::write(folder.path().join("tls.crt"), &certificate).unwrap();
        fs::write(folder.path().join("tls.key"), &key).unwrap();
        await_state(&mut certificates, |certificates| certificates.problem().is_none()).await;
    }
    let shown = format!("{certificates:?}");
    let key = String::from_utf8(key).unwrap();
    assert!(key.lines().all(|line| !shown.contains(line)));
}

#[tokio::test]
async fn certificate_that_the_api_server_would_refuse_is_reported_and_not_ready() {
    const HOUR: Duration = Duration::from_hours(1);
    let folder = tempfile::tempdir().unwrap();
    let now = SystemTime::now();
    write(folder.path(), "other.system.svc", now);
    let mut certificates = start(folder.path());
    for (name, made, words, is_ready) in [
        ("other.system.svc", now, "not valid for watchtap.system.svc; add this name to dnsNames", false),
        (NAME, now - DAY - HOUR / 2, "has expired", true),
        (NAME, now - 2 * DAY, "has expired", false),
        ("other.system.svc", now - DAY - HOUR / 2, "not valid for watchtap.system.svc", false),
    ] {
        write(folder.path(), name, made);
        // The certificates differ in their ends, so this is the state of the new one.
        let is_new = |certificates: &Certificates| {
            let ends =
                certificates.expires().is_some_and(|ends| ends <= made + DAY && ends + 2 * Duration::from_secs(1) > made + DAY);
            ends && certificates.problem().is_some_and(|problem| problem.contains(words))
        };
        await_state(&mut certificates, is_new).await;
        assert_eq!(certificates.is_ready(), is_ready, "{name}, {words}");
    }
    let good = write(folder.path(), NAME, now);
    await_state(&mut certificates, |certificates| certificates.is_ready() && certificates.problem().is_none()).await;
    served(&certificates, &good, NAME).await.unwrap();
}
