//! A TCP socket of a running process, to be looked at and set from outside.

use std::fs;
use std::net::{SocketAddr, SocketAddrV4, TcpStream};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

/// The process's end of its connection from `local` to `peer`, IPv4 only.
///
/// It is the process's own socket, not another one: an option that is set here is set there, and while this value lives the process cannot close it.
pub fn socket_of_process(process: u32, local: SocketAddr, peer: SocketAddr) -> Result<TcpStream> {
    let link = format!("socket:[{}]", inode(process, local, peer)?);
    for entry in fs::read_dir(format!("/proc/{process}/fd"))? {
        let entry = entry?;
        // One that is closed meanwhile is not the one.
        if fs::read_link(entry.path()).is_ok_and(|target| target.as_os_str() == link.as_str()) {
            let number = entry.file_name().to_string_lossy().parse()?;
            let pid = Pid::from_raw(process.try_into()?).context("no process has the number 0")?;
            let process = pidfd_open(pid, PidfdFlags::empty())?;
            return Ok(pidfd_getfd(process, number, PidfdGetfdFlags::empty())?.into());
        }
    }
    bail!("process {process} does not hold {link}, from {local} to {peer}")
}

/// As `/proc/net/tcp` tells it (proc(5)): the second and third column are the addresses, the tenth is the inode.
fn inode(process: u32, local: SocketAddr, peer: SocketAddr) -> Result<String> {
    let table = fs::read_to_string(format!("/proc/{process}/net/tcp"))?;
    let ends = [column(local)?, column(peer)?];
    let inode = table.lines().find_map(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        (columns.get(1..3)? == ends).then(|| columns.get(9).copied())?
    });
    inode.map(str::to_owned).with_context(|| format!("no connection from {local} to {peer}"))
}

/// The address as a number of the machine, then the port, both in hexadecimal.
fn column(address: SocketAddr) -> Result<String> {
    let SocketAddr::V4(address) = address else { bail!("{address} is not of IPv4") };
    Ok(format!("{:08X}:{:04X}", u32::from_ne_bytes(SocketAddrV4::ip(&address).octets()), address.port()))
}
