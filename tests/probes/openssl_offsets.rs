//! In libraries with OpenSSL's interface, the probe points lie in the functions that the symbols name.

use std::path::{Path, PathBuf};

use watchtap::tap::probe::binary::{
    CallProbes, Execution, OpenSslFlavour, OpenSslLinkage, OpenSslProbePoints, TlsLibrary, probe_points,
};

use crate::disassembly::Disassembly;
use crate::program::Program;

#[test]
fn libssl_of_the_system_is_probed_within_its_symbols() {
    let libraries =
        found(&["/usr/lib/x86_64-linux-gnu/libssl.so.3", "/usr/lib64/libssl.so.3", "/lib/x86_64-linux-gnu/libssl.so.3"]);
    let Some(library) = libraries.first() else { return println!("left out: the system has no libssl.so.3") };
    compare(library, OpenSslLinkage::Shared);
}

#[test]
fn openssl_linked_into_node_is_probed_within_its_symbols() {
    let programs = found(&["/usr/bin/node", "/usr/local/bin/node"]);
    let Some(node) = programs.first() else { return println!("left out: no node in the usual places") };
    compare(node, OpenSslLinkage::Static);
}

#[track_caller]
fn compare(path: &Path, linkage: OpenSslLinkage) {
    let program = Program::read(path);
    let points = openssl_points(&program);
    assert_eq!(points.refused, [], "{}", path.display());
    assert_eq!((points.flavour, points.linkage), (OpenSslFlavour::OpenSsl, linkage), "{}", path.display());
    for (name, probes) in [
        ("SSL_write", &points.write),
        ("SSL_read", &points.read),
        ("SSL_write_ex", &points.write_ex),
        ("SSL_read_ex", &points.read_ex),
    ] {
        assert_call(&program, name, probes.as_ref().unwrap_or_else(|| panic!("{name} is missing")));
    }
    for (name, point) in [("SSL_shutdown", points.shutdown), ("SSL_free", points.free)] {
        assert!(program.symbol(name).unwrap().offsets().contains(&point.expect(name).offset), "{name}");
    }
}

/// The entry probe precedes any write to an argument register. Each return in the other disassembly has its own probe: on the
/// return, or on the check of the stack protector before it.
#[track_caller]
fn assert_call(program: &Program, name: &str, probes: &CallProbes) {
    let symbol = program.symbol(name).unwrap_or_else(|| panic!("no symbol {name}"));
    let code = Disassembly::of(program, &symbol);
    for earlier in code.before(probes.entry.offset) {
        let target = earlier.rsplit(',').next().unwrap_or(earlier);
        let is_kept = !["%rdi", "%rsi", "%rdx", "%rcx", "%edi", "%esi", "%edx", "%ecx"].contains(&target);
        assert!(is_kept || earlier.starts_with("test") || earlier.starts_with("cmp"), "{name}: `{earlier}` comes before the probe");
        assert!(!earlier.starts_with('j') && !earlier.starts_with("call"), "{name}: `{earlier}` comes before the probe");
    }
    assert_eq!(probes.entry.execution, Execution::Emulated, "{name}: `{}`", code.at(probes.entry.offset));
    let returns = code.returns();
    assert_eq!(probes.returns.len(), returns.len(), "{name}");
    for point in &probes.returns {
        let instruction = code.at(point.offset);
        let between = code.after(point.offset).take_while(|instruction| *instruction != "ret");
        let writes_result = between.into_iter().any(|instruction| instruction.ends_with("%eax") || instruction.ends_with("%rax"));
        let is_probe_of_return = instruction == "ret" || (point.execution == Execution::Emulated && !writes_result);
        assert!(is_probe_of_return, "{name}: `{instruction}` is no return");
    }
}

#[track_caller]
fn openssl_points(program: &Program) -> OpenSslProbePoints {
    let libraries = probe_points(&program.bytes).unwrap();
    let openssl = libraries.into_iter().find_map(|library| match library {
        TlsLibrary::OpenSsl(points) => Some(points),
        TlsLibrary::GoCryptoTls(_) | TlsLibrary::Unprobed(_) => None,
    });
    openssl.unwrap_or_else(|| panic!("{} has no OpenSSL", program.path.display()))
}

fn found(paths: &[&str]) -> Vec<PathBuf> {
    paths.iter().map(PathBuf::from).filter(|path| path.exists()).collect()
}
