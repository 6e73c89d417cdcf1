//! Inspects and configures a TCP socket of a running process from outside.

use std::fs;
use std::net::{SocketAddr, SocketAddrV4, TcpStream};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

/// The process's own socket for its connection from `local` to `peer`, IPv4 only.
///
/// The descriptor is a duplicate: an option set here applies to the process, which cannot close the connection while this value
/// lives.
pub fn socket_of_process(process: u32, local: SocketAddr, peer: SocketAddr) -> Result<TcpStream> {
    let link = format!("socket:[{}]", inode(process, local, peer)?);
    for entry in fs::read_dir(format!("/proc/{process}/fd"))? {
        let entry = entry?;
        // A descriptor closed in the meantime is not the one searched for.
        if fs::read_link(entry.path()).is_ok_and(|target| target.as_os_str() == link.as_str()) {
            let number = entry.file_name().to_string_lossy().parse()?;
            let pid = Pid::from_raw(process.try_into()?).context("no process has the number 0")?;
            let process = pidfd_open(pid, PidfdFlags::empty())?;
            return Ok(pidfd_getfd(process, number, PidfdGetfdFlags::empty())?.into());
        }
    }
    bail!("process {process} does not hold {link}, from {local} to {peer}")
}

/// From `/proc/net/tcp` (proc(5)): columns two and three are the addresses, column ten is the inode.
fn inode(process: u32, local: SocketAddr, peer: SocketAddr) -> Result<String> {
    let table = fs::read_to_string(format!("/proc/{process}/net/tcp"))?;
    let ends = [column(local)?, column(peer)?];
    let inode = table.lines().find_map(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        (columns.get(1..3)? == ends).then(|| columns.get(9).copied())?
    });
    inode.map(str::to_owned).with_context(|| format!("no connection from {local} to {peer}"))
}

/// The address as a native-endian number, then the port, both in hexadecimal.
fn column(address: SocketAddr) -> Result<String> {
    let SocketAddr::V4(address) = address else { bail!("{address} is not of IPv4") };
    Ok(format!("{:08X}:{:04X}", u32::from_ne_bytes(SocketAddrV4::ip(&address).octets()), address.port()))
}
