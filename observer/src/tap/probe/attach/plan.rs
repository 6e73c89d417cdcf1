//! Maps the functions of a file to eBPF programs.

use observer_ebpf::DescriptorOffsets;

use crate::tap::probe::binary::{GoProbePoints, Http2Function, OpenSslFlavour, OpenSslProbePoints, ProbePoint, TlsLibrary};
use crate::tap::probe::kernel::Probe;

/// A program and its places in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placement {
    pub probe: Probe,
    /// Offsets in the file, in bytes.
    pub offsets: Vec<u64>,
    /// Where the program finds the library's file descriptor.
    pub descriptor: DescriptorOffsets,
}

/// Placements in order of attachment. Returns come before entries: if the entry of a call is seen, its return must be seen, too.
pub(super) fn placements(library: &TlsLibrary) -> Vec<Placement> {
    let mut placements = match library {
        TlsLibrary::GoCryptoTls(points) => of_go(points),
        TlsLibrary::OpenSsl(points) => of_openssl(points),
        TlsLibrary::Unprobed(_) => Vec::new(),
    };
    placements.retain(|placement| !placement.offsets.is_empty());
    placements
}

fn of_go(points: &GoProbePoints) -> Vec<Placement> {
    let at = |probe, points: &[ProbePoint]| Placement { probe, offsets: offsets(points), descriptor: DescriptorOffsets::UNKNOWN };
    vec![
        at(Probe::GoReadReturn, &points.read_returns),
        at(Probe::GoRead, &[points.read]),
        at(Probe::GoWrite, &[points.write]),
        at(Probe::GoClose, points.close.as_slice()),
    ]
}

/// Placements that record header fields in plaintext. They cost microseconds per field, so they are used only for connections older
/// than the probe.
pub(super) fn field_placements(library: &TlsLibrary) -> Vec<Placement> {
    let mut placements = match library {
        TlsLibrary::GoCryptoTls(points) => {
            let at = |probe, functions: &[Http2Function]| Placement {
                probe,
                offsets: functions.iter().map(|function| function.entry.offset).collect(),
                descriptor: DescriptorOffsets::UNKNOWN,
            };
            let encoded = Placement {
                probe: Probe::GoEncoded,
                offsets: offsets(&points.encoding_returns),
                descriptor: DescriptorOffsets::UNKNOWN,
            };
            vec![
                // Fields without their stream are of no use.
                at(Probe::GoHeaders, &points.sent_headers),
                at(Probe::GoSentField, &points.sent_fields),
                encoded,
                // The beginning comes last, so that everything after it is seen completely.
                at(Probe::GoEncodes, &points.encoding),
                at(Probe::GoReceivedField, &points.received_fields),
            ]
        }
        TlsLibrary::OpenSsl(_) | TlsLibrary::Unprobed(_) => Vec::new(),
    };
    placements.retain(|placement| !placement.offsets.is_empty());
    placements
}

fn of_openssl(points: &OpenSslProbePoints) -> Vec<Placement> {
    // Other libraries have unknown offsets, so their sockets are unknown.
    let descriptor = match points.flavour {
        OpenSslFlavour::OpenSsl => DescriptorOffsets::OPENSSL_3_0,
        OpenSslFlavour::BoringSsl | OpenSslFlavour::Unknown => DescriptorOffsets::UNKNOWN,
    };
    let calls = [
        (Probe::SslWrite, &points.write),
        (Probe::SslRead, &points.read),
        (Probe::SslWriteEx, &points.write_ex),
        (Probe::SslReadEx, &points.read_ex),
    ];
    let found = || calls.iter().filter_map(|(probe, call)| call.as_ref().map(|call| (*probe, call)));
    let returns = found().flat_map(|(_, call)| offsets(&call.returns)).collect();
    let mut placements = vec![Placement { probe: Probe::SslReturn, offsets: returns, descriptor: DescriptorOffsets::UNKNOWN }];
    placements.extend(found().map(|(probe, call)| Placement { probe, offsets: vec![call.entry.offset], descriptor }));
    for (probe, point) in [(Probe::SslShutdown, points.shutdown), (Probe::SslFree, points.free)] {
        placements.extend(point.map(|point| Placement {
            probe,
            offsets: vec![point.offset],
            descriptor: DescriptorOffsets::UNKNOWN,
        }));
    }
    placements
}

fn offsets(points: &[ProbePoint]) -> Vec<u64> {
    points.iter().map(|point| point.offset).collect()
}
