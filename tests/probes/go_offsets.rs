//! In a stripped Go program, the probe points are at the same places as the symbols of the same program without stripping show.

use observer_tests::{GoLink, GoToolchain};
use watchtap::tap::probe::binary::{Execution, GoProbePoints, Http2Function, ProbePoint, TlsLibrary, probe_points};

use crate::disassembly::Disassembly;
use crate::program::Program;

/// One patch release of each known minor.
const TOOLCHAINS: [GoToolchain; 10] = [
    GoToolchain("go1.18.10"),
    GoToolchain("go1.19.13"),
    GoToolchain("go1.20.14"),
    GoToolchain("go1.21.13"),
    GoToolchain("go1.22.12"),
    GoToolchain("go1.23.12"),
    GoToolchain("go1.24.9"),
    GoToolchain("go1.25.5"),
    GoToolchain("go1.26.0"),
    GoToolchain("go1.27.0"),
];

#[test]
fn stripped_program_has_the_offsets_of_its_unstripped_twin() {
    if !GoToolchain::any() {
        return println!("left out: no go on the PATH");
    }
    let mut compared = 0;
    for toolchain in TOOLCHAINS {
        if let Some(reason) = toolchain.missing().unwrap() {
            println!("left out: {} cannot be had here: {reason}", toolchain.0);
            continue;
        }
        for link in GoLink::NATIVE {
            compare(toolchain, link);
        }
        println!("compared: {}", toolchain.0);
        compared += 1;
    }
    assert!(compared > 0, "no Go toolchain can be had, not even the one on the PATH");
}

#[test]
fn arm64_offsets_match_the_symbols_of_the_program() {
    if !GoToolchain::any() {
        return println!("left out: no go on the PATH");
    }
    let toolchain = TOOLCHAINS.into_iter().rev().find(|toolchain| toolchain.missing().unwrap().is_none());
    let twins = toolchain.expect("a Go toolchain").twins(GoLink::ARM64).unwrap();
    let with_symbols = Program::read(&twins.with_symbols);
    let found = go_points(&Program::read(&twins.stripped), "arm64");
    // Behind the branch to `morestack`: that path starts again at the entry, so a call may pass the branch twice.
    let behind_branch = |name: &str| {
        let mut places = with_symbols.symbol(name).unwrap().offsets().step_by(4);
        let is_branch = |at: &u64| {
            let word = with_symbols.bytes[usize::try_from(*at).unwrap()..].first_chunk().unwrap();
            u32::from_le_bytes(*word) & 0xff00_0000 == 0x5400_0000
        };
        places.find(is_branch).unwrap() + 4
    };
    assert_eq!(found.write.offset, behind_branch("crypto/tls.(*Conn).Write"));
    assert_eq!(found.close.unwrap().offset, behind_branch("crypto/tls.(*Conn).Close"));
    let read = with_symbols.symbol("crypto/tls.(*Conn).Read").unwrap().offsets();
    assert_eq!(found.read.offset, behind_branch("crypto/tls.(*Conn).Read"));
    for function in [&found.sent_fields, &found.received_fields, &found.sent_headers, &found.encoding].into_iter().flatten() {
        assert_eq!(function.entry.offset, behind_branch(function.name), "{}", function.name);
    }
    let ret = 0xd65f_03c0_u32.to_le_bytes();
    let expected: Vec<u64> =
        read.step_by(4).filter(|at| with_symbols.bytes[usize::try_from(*at).unwrap()..].starts_with(&ret)).collect();
    assert_eq!(offsets(&found.read_returns), expected);
}

#[track_caller]
fn compare(toolchain: GoToolchain, link: GoLink) {
    let label = format!("{} {link}", toolchain.0);
    let twins = toolchain.twins(link).unwrap_or_else(|error| panic!("{label}: {error:#}"));
    let with_symbols = Program::read(&twins.with_symbols);
    let found = go_points(&Program::read(&twins.stripped), &label);
    assert_eq!(found, go_points(&with_symbols, &label), "{label}: the twins differ");
    assert_eq!(found.version.to_string(), toolchain.0, "{label}");

    let minor = found.version.minor();
    let entry = |name: &str, point: ProbePoint| assert_entry(&with_symbols, name, point, minor, &label);
    entry("crypto/tls.(*Conn).Write", found.write);
    entry("crypto/tls.(*Conn).Read", found.read);
    entry("crypto/tls.(*Conn).Close", found.close.unwrap());
    let http2 = [&found.sent_fields, &found.received_fields, &found.sent_headers, &found.encoding];
    for function in http2.into_iter().flatten() {
        entry(function.name, function.entry);
    }
    let names = |functions: &[Http2Function]| functions.iter().map(|function| function.name).collect::<Vec<_>>();
    assert_eq!(names(&found.sent_fields), ["vendor/golang.org/x/net/http2/hpack.(*Encoder).WriteField"], "{label}");
    assert_eq!(names(&found.received_fields), ["vendor/golang.org/x/net/http2/hpack.(*Decoder).callEmit"], "{label}");
    let sent_headers = match minor {
        27 => "net/http/internal/http2.(*ClientConn).writeHeaders",
        _ => "net/http.(*http2ClientConn).writeHeaders",
    };
    assert_eq!(names(&found.sent_headers), [sent_headers], "{label}");

    let encoding = match minor {
        27 => "net/http/internal/http2.(*clientStream).encodeAndWriteHeaders",
        _ => "net/http.(*http2clientStream).encodeAndWriteHeaders",
    };
    assert_eq!(names(&found.encoding), [encoding], "{label}");

    for (name, returns) in [("crypto/tls.(*Conn).Read", &found.read_returns), (encoding, &found.encoding_returns)] {
        let function = with_symbols.symbol(name).unwrap();
        assert_eq!(offsets(returns), Disassembly::of(&with_symbols, &function).returns(), "{label}: returns of {name}");
    }
}

/// Go 1.21 and later push the frame pointer first. Earlier releases have the branch to `morestack`, or a jump, call or `nop` after
/// it that still has the arguments.
#[track_caller]
fn assert_entry(program: &Program, name: &str, point: ProbePoint, minor: u32, label: &str) {
    const ARGUMENTS: &[&str] = &["ax", "bx", "cx", "di", "si", "r8", "r8d", "r14", "r14d"];
    let symbol = program.symbol(name).unwrap_or_else(|| panic!("{label}: no symbol {name}"));
    assert!(symbol.offsets().contains(&point.offset), "{label}: {name}");
    let code = Disassembly::of(program, &symbol);
    let instruction = code.at(point.offset);
    let expected: &[&str] = if minor < 21 { &["j", "call", "nop"] } else { &["push   %rbp"] };
    assert!(expected.iter().any(|start| instruction.starts_with(start)), "{label}: {name} is probed at `{instruction}`");
    assert_eq!(point.execution, Execution::Emulated, "{label}: {name}");
    for earlier in code.before(point.offset) {
        let target = earlier.rsplit([',', ' ']).next().unwrap_or(earlier);
        let register = target.strip_prefix('%').map(|register| register.trim_start_matches(['r', 'e']));
        let is_kept =
            register.is_none_or(|register| !ARGUMENTS.contains(&register) && !ARGUMENTS.contains(&target.trim_start_matches('%')));
        let only_compares = earlier.starts_with("cmp") || earlier.starts_with("test");
        assert!(is_kept || only_compares, "{label}: {name} has `{earlier}` before its probe");
        assert!(!earlier.starts_with("jmp") && !earlier.starts_with("call"), "{label}: {name} has `{earlier}` before its probe");
    }
}

#[track_caller]
fn go_points(program: &Program, label: &str) -> GoProbePoints {
    match probe_points(&program.bytes).as_deref() {
        Ok([TlsLibrary::GoCryptoTls(points)]) => points.clone(),
        other => panic!("{label}: {}: {other:?}", program.path.display()),
    }
}

fn offsets(points: &[ProbePoint]) -> Vec<u64> {
    points.iter().map(|point| point.offset).collect()
}
