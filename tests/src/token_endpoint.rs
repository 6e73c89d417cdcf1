//! An identity provider with one function: it issues an ID token for a refresh token (OIDC Core 1.0 §12).

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result};
use serde_json::json;

/// Serves HTTP on loopback until the test process ends, with one request per connection.
#[derive(Debug)]
pub struct TokenEndpoint {
    address: SocketAddr,
    refreshed: Arc<Mutex<Vec<String>>>,
}

impl TokenEndpoint {
    /// Starts a provider that issues this ID token together with another refresh token.
    pub fn start(id_token: &str, refresh_token: &str) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let refreshed = Arc::<Mutex<Vec<String>>>::default();
        let issuer = format!("http://{address}");
        let discovery = json!({"issuer": issuer, "token_endpoint": format!("{issuer}/token")});
        let tokens = json!({
            "access_token": "unused", "token_type": "Bearer", "expires_in": 3600, "id_token": id_token, "refresh_token": refresh_token,
        });
        let provider = Provider { discovery: discovery.to_string(), tokens: tokens.to_string(), refreshed: Arc::clone(&refreshed) };
        let provider = Arc::new(provider);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let provider = Arc::clone(&provider);
                // A client may connect without a request, or leave early; the other clients do not wait for it.
                thread::spawn(move || provider.answer(client).ok());
            }
        });
        Ok(Self { address, refreshed })
    }

    /// The value for `idp-issuer-url`.
    pub fn issuer(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The form bodies of the token requests so far.
    pub fn refreshed(&self) -> Vec<String> {
        self.refreshed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

struct Provider {
    discovery: String,
    tokens: String,
    refreshed: Arc<Mutex<Vec<String>>>,
}

impl Provider {
    fn answer(&self, client: TcpStream) -> Result<()> {
        let mut client = BufReader::new(client);
        let (target, length) = request(&mut client)?;
        let mut form = vec![0; length];
        client.read_exact(&mut form)?;
        let (status, body) = match target.as_str() {
            "/.well-known/openid-configuration" => ("200 OK", self.discovery.as_str()),
            "/token" => {
                self.refreshed.lock().unwrap_or_else(PoisonError::into_inner).push(String::from_utf8_lossy(&form).into_owned());
                ("200 OK", self.tokens.as_str())
            }
            _ => ("404 Not Found", "{}"),
        };
        let length = body.len();
        let head =
            format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
        Ok(client.get_mut().write_all((head + body).as_bytes())?)
    }
}

/// Reads one request: its target and the length of its body.
fn request(client: &mut impl BufRead) -> Result<(String, usize)> {
    let mut lines = client.lines();
    let first = lines.next().context("no request")??;
    let target = first.split(' ').nth(1).context("no target")?.to_owned();
    let mut length = 0;
    for line in lines {
        let line = line?.to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
    }
    Ok((target, length))
}
