//! Upstream behind a forward proxy of the user.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use observer_tests::scripted_forward_proxy::{Protocol, ProxyReply, ScriptedForwardProxy, authorization};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;
use watchtap::api_server::{UpstreamEndpoint, UpstreamError, UpstreamTls, UpstreamTrust};
use watchtap::forward_proxy::ForwardProxy;
use watchtap::tap::proxy::{ListenerState, ProxyConfig};

use super::rig::{End, Rig, config, eventually, read_to_end};
use super::upstream::{ClusterCa, Upstream};

/// Limit of every wait except that for a silent proxy.
const LIMIT: Duration = Duration::from_secs(2);
const PASSWORD: &str = "s3cret";

#[tokio::test]
async fn bytes_and_ends_pass_through_each_kind_of_proxy() {
    for scheme in ["http", "https", "socks5", "socks5h"] {
        let (mut rig, proxy) = Case { scheme, user: "", answer: None, target: "127.0.0.1" }.start();
        let (mut client, mut upstream) = rig.pair().await;
        let large = vec![7; 3 << 20];
        let ((), ()) = tokio::join!(
            async {
                client.write_all(b"request").await.unwrap();
                let mut received = vec![0; large.len()];
                client.read_exact(&mut received).await.unwrap();
                assert_eq!(received, large);
            },
            async {
                upstream.read_exact(&mut [0; 7]).await.unwrap();
                upstream.write_all(&large).await.unwrap();
                upstream.flush().await.unwrap();
            }
        );
        client.shutdown().await.unwrap();
        assert_eq!(read_to_end(&mut upstream).await, (Vec::new(), End::CloseNotify), "{scheme}");
        upstream.shutdown().await.unwrap();
        assert_eq!(read_to_end(&mut client).await, (Vec::new(), End::CloseNotify), "{scheme}");
        assert_eq!(proxy.asked().len(), 1, "{scheme}");
    }
}

#[tokio::test]
async fn proxy_gets_the_unresolved_name_and_the_credentials() {
    for (scheme, expected) in
        [("http", "CONNECT api.invalid:6443 HTTP/1.1\r\nHost: api.invalid:6443\r\n"), ("socks5", "api.invalid:6443")]
    {
        let (mut rig, proxy) = Case { scheme, user: "me:s3cret@", answer: None, target: "api.invalid" }.start();
        rig.pair().await;
        let [asked] = proxy.asked().try_into().unwrap();
        assert!(asked.starts_with(expected), "{asked}");
        assert!(scheme == "socks5" || asked.contains(&authorization("me", PASSWORD)), "{asked}");
    }
}

#[tokio::test]
async fn ipv6_target_is_requested_in_brackets() {
    let (mut rig, proxy) = Case { scheme: "http", user: "", answer: None, target: "2001:db8::1" }.start();
    rig.pair().await;
    assert!(proxy.asked()[0].starts_with("CONNECT [2001:db8::1]:6443 HTTP/1.1\r\n"));
}

#[tokio::test]
async fn failed_proxy_connect_resets_the_client_and_is_reported() {
    let page = b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\nContent-Length: 5\r\n\r\nplead";
    check_failure("http", ProxyReply::Bytes(page.to_vec()), &["407 Proxy Authentication Required", "user name and password"]).await;
    for status in ["502 Bad Gateway", "503 Service Unavailable", "504 Gateway Timeout", "302 Found", "100 Continue"] {
        check_failure("http", ProxyReply::Bytes(format!("HTTP/1.1 {status}\r\n\r\n").into()), &[status]).await;
    }
    check_failure("http", ProxyReply::Bytes(b"SSH-2.0-OpenSSH_9.6\r\n\r\n".to_vec()), &["not valid HTTP"]).await;
    check_failure("http", ProxyReply::Bytes(vec![b'x'; 100_000]), &["not valid HTTP"]).await;
    check_failure("http", ProxyReply::Bytes(b"HTTP/1.1 200".to_vec()), &["closed the connection"]).await;
    check_failure("http", ProxyReply::Silence, &["did not answer within"]).await;
    check_failure("socks5", ProxyReply::Bytes(vec![5, 5, 0, 1, 0, 0, 0, 0, 0, 0]), &["refused"]).await;
    check_failure("socks5", ProxyReply::Bytes(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()), &["not valid SOCKS 5"]).await;
    check_failure("socks5", ProxyReply::Silence, &["did not answer within"]).await;
}

#[tokio::test]
async fn wrong_socks_password_is_reported_but_not_shown() {
    let (rig, _proxy) =
        Case { scheme: "socks5", user: "me:n0t-it@", answer: None, target: "127.0.0.1" }.start_demanding("me", PASSWORD);
    rig.client(&["h2"], None).await.unwrap_err();
    let message = rig.handle.last_upstream_error().unwrap().to_string();
    assert!(message.contains("user name and password") && !message.contains("n0t-it"), "{message}");
}

#[tokio::test]
async fn proxy_with_an_untrusted_certificate_gets_no_request() {
    let stranger = Arc::new(ClusterCa::new().server("127.0.0.1", &[], false));
    let proxy = ScriptedForwardProxy::start(Protocol::Https(stranger), ProxyReply::Silence).unwrap();
    let rig = rig_with_proxy(&format!("https://{}", proxy.address), "127.0.0.1", &ClusterCa::new());
    rig.client(&["h2"], None).await.unwrap_err();
    let message = rig.handle.last_upstream_error().unwrap().to_string();
    assert!(message.contains("TLS handshake with it failed"), "{message}");
    assert!(proxy.asked().is_empty());
}

#[tokio::test]
async fn port_refuses_while_the_forward_proxy_refuses() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let rig = rig_with_proxy(&format!("http://me:s3cret@{}", socket.local_addr().unwrap()), "api.invalid", &ClusterCa::new());
    rig.client(&["h2"], None).await.unwrap_err();
    assert!(rig.refuses().await);
    assert_eq!((rig.handle.state(), rig.handle.counts().reset_instead_of_refused), (ListenerState::Refusing, 1));
    let message = rig.handle.last_upstream_error().unwrap().to_string();
    assert!(message.contains(&format!("the proxy http://{} refuses", socket.local_addr().unwrap())), "{message}");

    let _listener = socket.listen(16).unwrap();
    // The proxy accepts and sends nothing. That shows that TCP is not refused, but it cannot serve a client.
    eventually(|| rig.handle.state() == ListenerState::Listening).await;
    assert!(!rig.refuses().await);
}

#[tokio::test]
async fn port_listens_again_once_the_forward_proxy_answers_503() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let rig = rig_with_proxy(&format!("http://{}", socket.local_addr().unwrap()), "api.invalid", &ClusterCa::new());
    rig.client(&["h2"], None).await.unwrap_err();
    eventually(|| rig.handle.state() == ListenerState::Refusing).await;

    let listener = socket.listen(16).unwrap();
    let denying = tokio::spawn(async move {
        while let Ok((mut tcp, _)) = listener.accept().await {
            // The request is read first, because a reset could discard an answer sent before.
            let refusing = async {
                let _asked = tcp.read(&mut [0; 1024]).await?;
                tcp.write_all(b"HTTP/1.1 503 Service Unavailable\r\n\r\n").await
            };
            refusing.await.ok();
        }
    });
    eventually(|| rig.handle.state() == ListenerState::Listening).await;
    let error = rig.client(&["h2"], None).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    let message = rig.handle.last_upstream_error().unwrap().to_string();
    assert!(message.contains("it answered 503"), "{message}");
    assert!(!rig.refuses().await);
    denying.abort();
}

#[tokio::test]
async fn spare_tunnel_serves_the_next_client() {
    let (mut rig, proxy) = Case { scheme: "http", user: "", answer: None, target: "127.0.0.1" }.start();
    let (mut client, mut upstream) = rig.pair().await;
    upstream.shutdown().await.unwrap();
    read_to_end(&mut client).await;
    assert_eq!(rig.handle.counts().bare_dials, 1);
    rig.pair().await;
    assert_eq!(proxy.asked().len(), 2, "the first client's tunnel and the spare");
}

struct Case {
    scheme: &'static str,
    /// `name:password@`, or empty.
    user: &'static str,
    /// Sent in place of a connection to the upstream.
    answer: Option<ProxyReply>,
    target: &'static str,
}

impl Case {
    fn start(self) -> (Rig, ScriptedForwardProxy) {
        let demanded = (!self.user.is_empty()).then_some(("me", PASSWORD));
        self.start_with(demanded)
    }

    fn start_demanding(self, name: &'static str, password: &'static str) -> (Rig, ScriptedForwardProxy) {
        self.start_with(Some((name, password)))
    }

    fn start_with(self, demanded: Option<(&'static str, &'static str)>) -> (Rig, ScriptedForwardProxy) {
        let ca = ClusterCa::new();
        let upstream = Upstream::start(ca.server("127.0.0.1", &["h2", "http/1.1"], false));
        let protocol = match self.scheme {
            "http" => Protocol::Http,
            "https" => Protocol::Https(Arc::new(ca.server("127.0.0.1", &["http/1.1"], false))),
            _ => Protocol::Socks5(demanded),
        };
        let proxy = ScriptedForwardProxy::start(protocol, self.answer.unwrap_or(ProxyReply::Connect(upstream.address))).unwrap();
        let mut rig = rig_with_proxy(&format!("{}://{}{}", self.scheme, self.user, proxy.address), self.target, &ca);
        rig.upstream = upstream;
        (rig, proxy)
    }
}

fn rig_with_proxy(proxy: &str, target: &str, ca: &ClusterCa) -> Rig {
    let tls = UpstreamTls::new(&UpstreamTrust::Authorities(ca.pem().into()), "127.0.0.1", None).unwrap();
    Rig::without_upstream(ProxyConfig {
        upstream: UpstreamEndpoint { host: target.to_owned(), port: 6443 },
        forward_proxy: Some(ForwardProxy::parse(proxy).unwrap()),
        handshake_limit: LIMIT,
        ..config("127.0.0.1:1".parse().unwrap(), tls)
    })
}

/// Checks that a client is reset, that the port stays open, and that the message contains `said` and no password.
async fn check_failure(scheme: &'static str, answer: ProxyReply, said: &[&str]) {
    let (rig, proxy) = Case { scheme, user: "me:s3cret@", answer: Some(answer), target: "api.invalid" }.start();
    let error = rig.client(&["h2"], None).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset, "{said:?}");
    let failure = rig.handle.last_upstream_error().unwrap();
    assert!(matches!(failure, UpstreamError::ForwardProxy { .. }), "{failure}");
    let message = failure.to_string();
    for part in [&*proxy.address.to_string(), "api.invalid:6443"].iter().chain(said) {
        assert!(message.contains(part), "{part:?} is missing: {message}");
    }
    assert!(!message.contains(PASSWORD), "{message}");
    assert!(!rig.refuses().await, "{message}");
    assert_eq!(rig.handle.counts().reset_instead_of_refused, 0, "{message}");
}
