//! A webhook that allows everything and changes nothing: the least that a webhook with TLS can do.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

use crate::forward::{Http, accept_until_end_of_input, tls_server};

/// Allow every admission until standard input ends
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[arg(long)]
    certificate: PathBuf,
    #[arg(long)]
    key: PathBuf,
}

const ANSWER: &[u8] =
    br#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"705ab4f5-6393-11e8-b7cc-42010a800002","allowed":true}}"#;

/// Prints its port on standard output, and serves.
pub(crate) fn execute(args: &Args) -> Result<()> {
    let tls = TlsAcceptor::from(Arc::new(tls_server(Http::H1, &args.certificate, &args.key)?));
    accept_until_end_of_input(move |client| serve(client, tls.clone()))
}

async fn serve(client: TcpStream, tls: TlsAcceptor) -> Result<()> {
    client.set_nodelay(true)?;
    let stream = TokioIo::new(tls.accept(client).await?);
    let service = service_fn(|request: Request<Incoming>| async move {
        let _read = request.into_body().collect().await;
        Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(ANSWER))))
    });
    Ok(http1::Builder::new().serve_connection(stream, service).await?)
}
