//! OpenSSL and the libraries with its interface, shared or linked into a program.

use object::elf::{DT_SONAME, PT_DYNAMIC};

use super::convention::CallValues;
use super::elf::{Elf, u64_at};
use super::error::BinaryError;
use super::function::Function;
use super::probe_point::ProbePoint;
use super::symbols::{FunctionSymbol, Symbols};
use super::unwind_table::UnwindTable;

/// Begins the names of all functions below.
const PREFIX: &str = "SSL_";
const WRITE: &str = "SSL_write";
const READ: &str = "SSL_read";
const WRITE_EX: &str = "SSL_write_ex";
const READ_EX: &str = "SSL_read_ex";
const SHUTDOWN: &str = "SSL_shutdown";
const FREE: &str = "SSL_free";
/// A function that only `BoringSSL` has (its `include/openssl/ssl.h`).
const ONLY_BORING_SSL: &str = "SSL_CTX_set_custom_verify";

/// The functions of a library with OpenSSL's interface that carry plaintext. Arguments are in the registers of the C calling
/// convention.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OpenSslProbePoints {
    /// The project that the library comes from.
    pub flavour: OpenSslFlavour,
    /// Whether other programs load it.
    pub linkage: OpenSslLinkage,
    /// `int SSL_write(SSL *, const void *, int)`.
    pub write: Option<CallProbes>,
    /// `int SSL_read(SSL *, void *, int)`.
    pub read: Option<CallProbes>,
    /// `int SSL_write_ex(SSL *, const void *, size_t, size_t *)`.
    pub write_ex: Option<CallProbes>,
    /// `int SSL_read_ex(SSL *, void *, size_t, size_t *)`.
    pub read_ex: Option<CallProbes>,
    /// `int SSL_shutdown(SSL *)`.
    pub shutdown: Option<ProbePoint>,
    /// `void SSL_free(SSL *)`.
    pub free: Option<ProbePoint>,
    /// Functions that exist but cannot be probed. A function that is neither here nor above is not in the file.
    pub refused: Vec<RefusedFunction>,
}

/// The probes on a call and its returns.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CallProbes {
    /// Each call passes it once, with its arguments in their registers.
    pub entry: ProbePoint,
    /// Each return passes one of them, with the result in its register.
    pub returns: Vec<ProbePoint>,
}

/// A function that exists but cannot be probed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RefusedFunction {
    /// The function's name.
    pub function: &'static str,
    /// Why it cannot be probed.
    pub reason: &'static str,
}

/// The project that a library with OpenSSL's interface comes from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OpenSslFlavour {
    /// OpenSSL 1.1.1 or later, or a library with its `SSL_read_ex`, such as `LibreSSL`.
    OpenSsl,
    /// `BoringSSL` or a library derived from it, such as AWS-LC.
    BoringSsl,
    /// The file has no function that only one of the two has.
    Unknown,
}

/// How programs use the library.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OpenSslLinkage {
    /// A shared library.
    Shared,
    /// Linked into this program.
    Static,
}

/// Finds the probe points in a file that defines `SSL_write` or `SSL_read`.
pub(super) fn find(elf: &Elf<'_>) -> Result<Option<OpenSslProbePoints>, BinaryError> {
    let symbols = Symbols::of(elf)?;
    let found = symbols.functions(PREFIX, &[WRITE, READ, WRITE_EX, READ_EX, SHUTDOWN, FREE, ONLY_BORING_SSL]);
    let [write, read, write_ex, read_ex, shutdown, free, boring] = found.as_slice() else { return Ok(None) };
    if write.is_none() && read.is_none() {
        return Ok(None);
    }
    let mut functions = Functions { elf, unwind: UnwindTable::of(elf), refused: Vec::new() };
    Ok(Some(OpenSslProbePoints {
        flavour: match (boring, write_ex.is_some() || read_ex.is_some()) {
            (Some(_), _) => OpenSslFlavour::BoringSsl,
            (None, true) => OpenSslFlavour::OpenSsl,
            (None, false) => OpenSslFlavour::Unknown,
        },
        linkage: if has_shared_name(elf) { OpenSslLinkage::Shared } else { OpenSslLinkage::Static },
        write: functions.call(WRITE, *write),
        read: functions.call(READ, *read),
        write_ex: functions.call(WRITE_EX, *write_ex),
        read_ex: functions.call(READ_EX, *read_ex),
        shutdown: functions.entry(SHUTDOWN, *shutdown),
        free: functions.entry(FREE, *free),
        refused: functions.refused,
    }))
}

struct Functions<'e, 'a> {
    elf: &'e Elf<'a>,
    unwind: Option<UnwindTable<'e, 'a>>,
    refused: Vec<RefusedFunction>,
}

impl Functions<'_, '_> {
    fn call(&mut self, name: &'static str, symbol: Option<FunctionSymbol>) -> Option<CallProbes> {
        let function = self.function(name, symbol?);
        let probes = function.and_then(|function| {
            Ok(CallProbes { entry: function.entry(CallValues::CArguments)?, returns: function.returns_with(CallValues::CResult)? })
        });
        self.unless_refused(name, probes)
    }

    /// Its returns are not needed, so only the function's own piece is read.
    fn entry(&mut self, name: &'static str, symbol: Option<FunctionSymbol>) -> Option<ProbePoint> {
        let symbol = symbol?;
        let function = match self.extent(symbol, symbol.address) {
            Some((start, end)) => Function::of_range(self.elf, name, start, end.saturating_sub(start)),
            None => Err(BinaryError::Function { function: name, reason: "where it ends is written nowhere" }),
        };
        self.unless_refused(name, function.and_then(|function| function.entry(CallValues::CArguments)))
    }

    fn function(&self, name: &'static str, symbol: FunctionSymbol) -> Result<Function, BinaryError> {
        Function::with_jumps(self.elf, name, symbol.address, |address| self.extent(symbol, address))
    }

    /// Start and end of the piece of code at this address, from the symbol or else from the unwinder.
    fn extent(&self, symbol: FunctionSymbol, address: u64) -> Option<(u64, u64)> {
        let within = address.checked_sub(symbol.address).filter(|within| *within < symbol.length);
        let own = within.and_then(|_| Some((symbol.address, symbol.address.checked_add(symbol.length)?)));
        own.or_else(|| self.unwind.as_ref()?.extent(address))
    }

    fn unless_refused<T>(&mut self, function: &'static str, probes: Result<T, BinaryError>) -> Option<T> {
        let reason = match probes {
            Ok(probes) => return Some(probes),
            Err(BinaryError::Function { reason, .. }) => reason,
            Err(_) => "its code cannot be read",
        };
        self.refused.push(RefusedFunction { function, reason });
        None
    }
}

/// Shared libraries have a name in their dynamic segment; programs, position-independent or not, have none.
fn has_shared_name(elf: &Elf<'_>) -> bool {
    let Some(dynamic) = elf.of_type(PT_DYNAMIC.0).and_then(|dynamic| elf.read(dynamic)) else { return false };
    dynamic.bytes.chunks_exact(16).any(|entry| u64_at(entry, 0).is_some_and(|tag| tag.cast_signed() == DT_SONAME.0))
}
