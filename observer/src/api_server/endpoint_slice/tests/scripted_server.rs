//! An API server on loopback that answers requests for the EndpointSlice as a test decides.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use observer_pki::{PrivateAuthority, ServerIdentity};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use crate::api_server::{ServiceInPod, UpstreamEndpoint};

/// The token of the pod, which may be in no message.
pub(crate) const TOKEN: &str = "c4n4ry";

/// The reaction of the server to a request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// Answers with this status and body.
    Answer(u16, String),
    /// Sends nothing.
    Silence,
    /// Closes the connection.
    Close,
}

/// The server, and the folder with the credential of a pod.
pub(crate) struct ScriptedServer {
    address: SocketAddr,
    folder: TempDir,
    shared: Arc<Mutex<(Reply, Vec<String>)>>,
    serving: JoinHandle<()>,
}

impl ScriptedServer {
    pub(crate) async fn start(listen: &str, reply: Reply) -> Self {
        let authority = PrivateAuthority::generate().unwrap();
        let ServerIdentity { certificate, key, .. } = authority.issue_server(&[], SystemTime::now()).unwrap();
        let builder = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
        let builder = builder.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let tls = TlsAcceptor::from(Arc::new(builder.with_single_cert(vec![certificate], key).unwrap()));
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in [("ca.crt", authority.certificate_pem()), ("token", TOKEN.to_owned())] {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        let listener = TcpListener::bind(listen).await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Mutex::new((reply, Vec::new())));
        let serving = tokio::spawn(serve(listener, tls, Arc::clone(&shared)));
        Self { address, folder, shared, serving }
    }

    /// Answers in another way from now on.
    pub(crate) fn reply(&self, reply: Reply) {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).0 = reply;
    }

    /// The heads of all requests.
    pub(crate) fn received(&self) -> Vec<String> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).1.clone()
    }

    /// The service in a pod whose credential is valid for this server.
    pub(crate) fn service(&self) -> ServiceInPod {
        let at = UpstreamEndpoint { host: self.address.ip().to_string(), port: self.address.port() };
        ServiceInPod { at, authority: Some(self.folder.path().join("ca.crt")) }
    }

    /// Removes a file of the credential.
    pub(crate) fn remove(&self, name: &str) {
        std::fs::remove_file(self.folder.path().join(name)).unwrap();
    }
}

impl Reply {
    /// An EndpointSlice with these addresses.
    pub(crate) fn slice(addresses: &[&str]) -> Self {
        let endpoints: Vec<_> = addresses.iter().map(|address| json!({"addresses": [address]})).collect();
        let ports = json!([{"name": "https", "port": 6443, "protocol": "TCP"}]);
        Self::Answer(200, json!({"kind": "EndpointSlice", "endpoints": endpoints, "ports": ports}).to_string())
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(listener: TcpListener, tls: TlsAcceptor, shared: Arc<Mutex<(Reply, Vec<String>)>>) {
    while let Ok((socket, _)) = listener.accept().await {
        let Ok(mut stream) = tls.accept(socket).await else { continue };
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let Ok(byte) = stream.read_u8().await else { break };
            head.push(byte);
        }
        let reply = {
            let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
            shared.1.push(String::from_utf8(head).unwrap());
            shared.0.clone()
        };
        match reply {
            Reply::Answer(status, body) => {
                let answer = format!("HTTP/1.1 {status} Scripted\r\nContent-Length: {}\r\n\r\n{body}", body.len());
                // The client may have given up.
                let _written = stream.write_all(answer.as_bytes()).await;
                let _flushed = stream.flush().await;
            }
            Reply::Silence => {
                let _end = stream.read_u8().await;
            }
            Reply::Close => {}
        }
    }
}
