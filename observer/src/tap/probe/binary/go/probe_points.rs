//! The probe points of a Go program.

use super::line_table::{LineTable, Located};
use super::module_record::text_start;
use super::release::GoVersion;
use crate::tap::probe::binary::convention::CallValues;
use crate::tap::probe::binary::elf::Elf;
use crate::tap::probe::binary::error::BinaryError;
use crate::tap::probe::binary::function::Function;
use crate::tap::probe::binary::probe_point::ProbePoint;

const WRITE: &str = "crypto/tls.(*Conn).Write";
const READ: &str = "crypto/tls.(*Conn).Read";
const CLOSE: &str = "crypto/tls.(*Conn).Close";

/// The copies of HPACK: in `net/http`, and in programs that import `golang.org/x/net/http2`, as client-go does.
const SENT_FIELD: &[&str] =
    &["vendor/golang.org/x/net/http2/hpack.(*Encoder).WriteField", "golang.org/x/net/http2/hpack.(*Encoder).WriteField"];
const RECEIVED_FIELD: &[&str] =
    &["vendor/golang.org/x/net/http2/hpack.(*Decoder).callEmit", "golang.org/x/net/http2/hpack.(*Decoder).callEmit"];
/// `net/http` has its own copy of the client: bundled into the package up to Go 1.26, in a package below it from 1.27 on.
const SENT_HEADERS: &[&str] = &[
    "net/http.(*http2ClientConn).writeHeaders",
    "net/http/internal/http2.(*ClientConn).writeHeaders",
    "golang.org/x/net/http2.(*ClientConn).writeHeaders",
];

/// Encodes the header block of a request, and writes it with `writeHeaders`.
const ENCODING: &[&str] = &[
    "net/http.(*http2clientStream).encodeAndWriteHeaders",
    "net/http/internal/http2.(*clientStream).encodeAndWriteHeaders",
    "golang.org/x/net/http2.(*clientStream).encodeAndWriteHeaders",
];

/// The functions of a Go program that carry plaintext. At every point that is not a return, arguments are in the registers of Go's
/// internal calling convention. On amd64 these are AX, BX, CX, DI, SI, R8 in this order, and R14 is the goroutine. On arm64 these are R0 to
/// R5 and R28.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct GoProbePoints {
    /// The release that built the program.
    pub version: GoVersion,
    /// `crypto/tls.(*Conn).Write`: connection, pointer, length, capacity.
    pub write: ProbePoint,
    /// `crypto/tls.(*Conn).Read`: connection, pointer, length, capacity.
    pub read: ProbePoint,
    /// Every return instruction of `Read`. The results are the number of bytes, then the error. The stack pointer is at a return
    /// address: that of this call on amd64, that of its caller on arm64. The caller's space for the arguments comes after this address.
    pub read_returns: Vec<ProbePoint>,
    /// `crypto/tls.(*Conn).Close`: connection. The linker omits it from a program that closes no connection.
    pub close: Option<ProbePoint>,
    /// `hpack.(*Encoder).WriteField`: encoder, pointer and length of the name, pointer and length of the value.
    pub sent_fields: Vec<Http2Function>,
    /// `hpack.(*Decoder).callEmit`: decoder, pointer and length of the name, pointer and length of the value.
    pub received_fields: Vec<Http2Function>,
    /// `writeHeaders` of an HTTP/2 client's connection: connection, stream identifier.
    pub sent_headers: Vec<Http2Function>,
    /// `encodeAndWriteHeaders` of an HTTP/2 client's stream: stream. Copies with unknown returns are left out.
    pub encoding: Vec<Http2Function>,
    /// Every return instruction of the functions in `encoding`.
    pub encoding_returns: Vec<ProbePoint>,
}

/// An HTTP/2 function of which the program may have several copies.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Http2Function {
    /// Its name with its package path.
    pub name: &'static str,
    /// The place where its arguments are seen.
    pub entry: ProbePoint,
}

/// Finds the probe points; `None` if the program is not built by Go, or the linker left `crypto/tls` out.
pub(in crate::tap::probe::binary) fn find(elf: &Elf<'_>) -> Result<Option<GoProbePoints>, BinaryError> {
    let Some(version) = GoVersion::of(elf)? else { return Ok(None) };
    let table = LineTable::find(elf, version.minor())?;
    let of_http2 = [SENT_FIELD, RECEIVED_FIELD, SENT_HEADERS, ENCODING];
    let wanted: Vec<&str> = [WRITE, READ, CLOSE].into_iter().chain(of_http2.into_iter().flatten().copied()).collect();
    let located = table.locate(&wanted)?;
    let located: Vec<_> = wanted.into_iter().zip(located).collect();
    let is_there = |name| located.iter().any(|(found, at)| *found == name && at.is_some());
    if !is_there(WRITE) && !is_there(READ) {
        return Ok(None);
    }
    let functions = Functions { elf, text: text_start(elf, &table, version.minor())?, located };
    let read = functions.require(READ)?;
    let (encoding, encoding_returns) = functions.with_returns(ENCODING)?;
    Ok(Some(GoProbePoints {
        version,
        write: functions.require(WRITE)?.entry(CallValues::GoArguments)?,
        read: read.entry(CallValues::GoArguments)?,
        read_returns: read.returns()?,
        close: functions.function(CLOSE)?.map(|close| close.entry(CallValues::GoArguments)).transpose()?,
        sent_fields: functions.copies(SENT_FIELD)?,
        received_fields: functions.copies(RECEIVED_FIELD)?,
        sent_headers: functions.copies(SENT_HEADERS)?,
        encoding,
        encoding_returns,
    }))
}

struct Functions<'e, 'a> {
    elf: &'e Elf<'a>,
    text: u64,
    located: Vec<(&'static str, Option<Located>)>,
}

impl Functions<'_, '_> {
    fn require(&self, name: &'static str) -> Result<Function, BinaryError> {
        self.function(name)?.ok_or(BinaryError::Function { function: name, reason: "the linker left it out, but not its package" })
    }

    fn copies(&self, names: &[&'static str]) -> Result<Vec<Http2Function>, BinaryError> {
        let found = names.iter().filter_map(|name| {
            let function = self.function(name).transpose()?;
            let entry = function.and_then(|function| function.entry(CallValues::GoArguments));
            Some(entry.map(|entry| Http2Function { name, entry }))
        });
        found.collect()
    }

    /// The functions whose returns are all known, and those returns.
    fn with_returns(&self, names: &[&'static str]) -> Result<(Vec<Http2Function>, Vec<ProbePoint>), BinaryError> {
        let (mut found, mut returns) = (Vec::new(), Vec::new());
        for name in names.iter().copied() {
            let Some(function) = self.function(name)? else { continue };
            if let Ok(own) = function.returns() {
                found.push(Http2Function { name, entry: function.entry(CallValues::GoArguments)? });
                returns.extend(own);
            }
        }
        Ok((found, returns))
    }

    fn function(&self, name: &'static str) -> Result<Option<Function>, BinaryError> {
        let Some(at) = self.located.iter().find(|(found, _)| *found == name).and_then(|(_, at)| *at) else { return Ok(None) };
        let address = self
            .text
            .checked_add(at.start)
            .ok_or(BinaryError::Function { function: name, reason: "it lies behind the last address" })?;
        Function::of_range(self.elf, name, address, at.length).map(Some)
    }
}
