//! A scraper of watchtap's metrics, byte by byte over TCP.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use flate2::read::GzDecoder;

const LIMIT: Duration = Duration::from_secs(30);
/// Maximum size of an inflated page, in bytes.
const LONGEST: u64 = 16 << 20;

/// The address of a server of metrics.
#[derive(Clone, Copy, Debug)]
pub struct Scraper {
    address: SocketAddr,
}

/// A response.
#[derive(Debug)]
pub struct Scraped {
    /// Such as 200.
    pub status: u16,
    /// The header fields, in lower case.
    pub head: String,
    body: Vec<u8>,
}

impl Scraper {
    /// The server at an address.
    pub const fn at(address: SocketAddr) -> Self {
        Self { address }
    }

    /// The server that watchtap has announced in its output.
    pub fn announced_in(output: &str) -> Result<Self> {
        let announced = output.lines().find_map(|line| line.split_once("metrics: http://")?.1.split_once("/metrics"));
        let (address, _) = announced.with_context(|| format!("no address of metrics in {output}"))?;
        Ok(Self { address: address.parse()? })
    }

    /// The IP address and port of the server.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// A connection to the server.
    pub fn connect(&self) -> Result<TcpStream> {
        let stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(LIMIT))?;
        Ok(stream)
    }

    /// The metrics in the text format.
    pub fn scrape(&self) -> Result<Scraped> {
        let scraped = self.get("/metrics", "")?;
        ensure!(scraped.status == 200, "{scraped:?}");
        Ok(scraped)
    }

    /// The response to a GET. `fields` are header fields, each with its line end.
    pub fn get(&self, path: &str, fields: &str) -> Result<Scraped> {
        self.request(&format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{fields}\r\n", self.address))
    }

    /// The response to a request.
    pub fn request(&self, request: &str) -> Result<Scraped> {
        let mut stream = self.connect()?;
        stream.write_all(request.as_bytes())?;
        Scraped::read(&mut stream)
    }
}

impl Scraped {
    /// Reads a response until the server closes the connection.
    pub fn read(stream: &mut TcpStream) -> Result<Self> {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes)?;
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").context("no complete head")?;
        let head = String::from_utf8(bytes[..end].to_vec())?.to_ascii_lowercase();
        let status = head.split(' ').nth(1).context("no status")?.parse()?;
        Ok(Self { status, head, body: bytes.split_off(end + 4) })
    }

    /// The body as it came.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// The body as text, inflated if it is compressed.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let read = if self.head.contains("content-encoding: gzip") {
            inflating(&self.body).take(LONGEST).read_to_string(&mut text)
        } else {
            self.body.as_slice().read_to_string(&mut text)
        };
        read.map_or_else(|error| error.to_string(), |_| text)
    }

    /// All samples: name and labels, and the number, each as it is written.
    pub fn samples(&self) -> Result<BTreeMap<String, String>> {
        let text = self.text();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let samples = lines.map(|line| {
            let (series, number) = line.rsplit_once(' ').with_context(|| format!("no sample: {line}"))?;
            Ok((series.to_owned(), number.to_owned()))
        });
        samples.collect()
    }

    /// The sum of all samples of a name whose labels contain `labels`, such as `verb="LIST"`. Their numbers are integers.
    pub fn count(&self, name: &str, labels: &str) -> Result<u64> {
        let samples = self.samples()?;
        let of_name = samples.iter().filter(|(series, _)| {
            let (found, of_it) = series.split_once('{').unwrap_or((series, ""));
            found == name && of_it.contains(labels)
        });
        of_name.map(|(series, number)| number.parse::<u64>().with_context(|| format!("{series} {number}"))).sum()
    }
}

#[expect(clippy::disallowed_methods, reason = "the caller bounds what it reads")]
fn inflating(body: &[u8]) -> GzDecoder<&[u8]> {
    GzDecoder::new(body)
}
