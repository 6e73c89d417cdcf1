//! Faults around a sidecar: a lost API server, ports that other containers hold, a clock that differs.

use std::io::{self, ErrorKind, Read};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};

use observer_tests::sidecar::Sidecar;
use observer_tests::{Break, TcpHop, connect};
use rcgen::{CertificateParams, KeyPair};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection};

use super::in_cluster::{HTTP1, Pod, get, until};
use super::upstream::{Upstream, VERSION};

#[test]
fn api_server_that_is_lost_and_returns_has_a_line_in_the_log_each_time() {
    let Some(pod) = Pod::new() else { return };
    let api_server = TcpHop::start(pod.upstream.address()).unwrap();
    let sidecar = pod.start_at(api_server.address(), &[]);
    let trusted = pod.volumes.trusted();
    let mut watching = pod.client(&trusted);
    get(&mut watching, "/version");
    for _outage in 0..2 {
        api_server.refuse(true);
        api_server.break_all(Break::Close);
        assert!(!matches!(watching.read(&mut [0]), Ok(1)), "the end of the API server's connection");
        sidecar.line_with("the API server refuses connections; watchtap refuses its clients, too").unwrap();
        assert_eq!(TcpStream::connect(pod.address()).unwrap_err().kind(), ErrorKind::ConnectionRefused);
        api_server.refuse(false);
        sidecar.line_with("watchtap's port accepts connections").unwrap();
        watching = pod.client(&trusted);
        assert_eq!(get(&mut watching, "/version"), VERSION);
    }
}

#[test]
fn container_with_the_port_of_a_restarting_sidecar_reads_nothing_and_is_reported() {
    let Some(pod) = Pod::new() else { return };
    drop(pod.start(&[]));
    let trusted = pod.volumes.trusted();

    let taken = TcpListener::bind(pod.address()).unwrap();
    let read = thread::scope(|scope| {
        let impostor = scope.spawn(|| intercept(&taken));
        let refused = connect(pod.address(), &trusted, HTTP1).unwrap_err();
        assert!(format!("{refused:#}").contains("invalid peer certificate"), "{refused:#}");
        impostor.join().unwrap()
    });
    assert!(read.is_err(), "the client sends nothing without a handshake");
    let mut sidecar = Sidecar::start(&pod.volumes, pod.upstream.address(), &["--container", &pod.container()]).unwrap();
    fails(&mut sidecar, &["--container app", &format!("{} is in use by another container", pod.address()), "`watchtap inject`"]);

    drop(taken);
    // A process that another test starts at this moment may have the listener until it runs its program.
    let is_free = || TcpStream::connect(pod.address()).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused);
    until("the port is free", is_free);
    let _sidecar = pod.start(&[]);
    assert_eq!(get(&mut pod.client(&trusted), "/version"), VERSION);
}

#[test]
fn taken_port_of_the_metrics_is_reported_with_the_remedy() {
    let Some(pod) = Pod::new() else { return };
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let metrics = taken.local_addr().unwrap().to_string();
    let arguments = ["--container", &pod.container(), "--metrics", &metrics];
    let mut sidecar = Sidecar::start(&pod.volumes, pod.upstream.address(), &arguments).unwrap();
    fails(&mut sidecar, &[&format!("--metrics {metrics} is in use"), "declare the port", "`watchtap inject` again"]);
}

#[test]
fn certificate_of_the_api_server_that_is_not_valid_yet_is_reported_as_a_matter_of_clocks() {
    let Some(pod) = Pod::with(Upstream::valid_from(SystemTime::now() + Duration::from_hours(1))) else { return };
    let sidecar = pod.start(&[]);
    // Without a sidecar, the client rejects the certificate itself.
    connect(pod.address(), &pod.volumes.trusted(), HTTP1).unwrap_err();
    let line = sidecar.line_with("is not valid at this time").unwrap();
    assert!(line.contains("check this machine's clock"), "{line}");
}

/// Completes a handshake as a server that has the address of the API server, but a certificate of its own.
fn intercept(listener: &TcpListener) -> io::Result<()> {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap().self_signed(&key).unwrap();
    let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
    let builder = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let config = builder.with_single_cert(vec![certificate.der().clone()], key).unwrap();
    let (mut client, _) = listener.accept()?;
    let mut connection = ServerConnection::new(Arc::new(config)).unwrap();
    while connection.is_handshaking() {
        connection.complete_io(&mut client)?;
    }
    Ok(())
}

#[track_caller]
fn fails(sidecar: &mut Sidecar, words: &[&str]) {
    let (status, _, stderr) = sidecar.wait().unwrap();
    assert_eq!(status.code(), Some(1), "{stderr}");
    assert!(words.iter().all(|word| stderr.contains(word)), "{words:?}: {stderr}");
}
