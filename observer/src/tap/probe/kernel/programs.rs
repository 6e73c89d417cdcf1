//! All programs of one run, loaded with their maps and attached.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::os::fd::{AsFd as _, AsRawFd as _, RawFd};
use std::path::Path;

use aya::maps::{Array, HashMap as KernelHashMap, Map, MapData, PerCpuArray};
use aya::programs::{BtfTracePoint, FExit, ProgramError};
use aya::{Btf, Ebpf, EbpfLoader, Pod};
use observer_ebpf::{AttachCookie, Filter, NAME_LENGTH, OBJECT};
use rustix::process::{Resource, Rlimit, setrlimit};

use super::api_servers::{ANY, ApiServers};
use super::attach::{Attachment, Probe};
use super::attach_by::{AttachBy, PairBy};
use super::error::KernelError;
use super::offsets::kernel_offsets;
use super::recorded::Recorded;
use super::uprobes::Uprobes;

/// How the programs are loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Size of the ring buffer for plaintext in bytes: a power of two, and a multiple of the page size.
    pub ring_bytes: u32,
    /// Which processes the programs record.
    pub filter: Filter,
    /// The processes that the filter's flags refer to.
    pub selected: Selected,
    /// The addresses of the API servers at first. Connections without one of them are not recorded. The map has room for 64;
    /// [`Recorded::follow`] adds to it.
    pub api_servers: Vec<SocketAddr>,
    /// How the programs are attached to files; by default in the best way that works.
    pub attach_by: Option<AttachBy>,
}

/// Processes that a [`Filter`] selects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selected {
    /// PIDs in watchtap's PID namespace, with start times in clock ticks as in proc(5). The map has room for 4,096.
    pub processes: Vec<(u32, u64)>,
    /// Names, padded with 0. The map has room for 1,024.
    pub names: Vec<[u8; NAME_LENGTH]>,
    /// Numbers of cgroups of version 2, which include their descendants. The map has room for 4,096.
    pub cgroups: Vec<u64>,
}

/// The programs of one run. Dropping it unloads them from the kernel, except those attached to files.
pub struct Programs {
    uprobes: Uprobes,
    ebpf: Ebpf,
    calls: PerCpuArray<MapData, u64>,
    field_calls: PerCpuArray<MapData, u64>,
    btf: Btf,
}

/// A program and the place in the kernel where it is attached.
#[derive(Clone, Copy)]
struct Hook {
    program: &'static str,
    place: Place,
}

#[derive(Clone, Copy)]
enum Place {
    /// A tracepoint, by its name.
    Tracepoint(&'static str),
    /// The returns of a function, by its name.
    Return(&'static str),
}

impl Programs {
    /// Makes the maps and loads the programs for uprobes, so that new processes can be probed at once. One thread may take the
    /// records while another attaches programs.
    pub fn load(options: &Options) -> Result<(Self, Recorded), KernelError> {
        lift_memory_limit();
        let mut ebpf = EbpfLoader::new()
            .map_max_entries("RECORDS", options.ring_bytes)
            .load(OBJECT)
            .map_err(|error| KernelError::Maps(Box::new(error)))?;
        let object = link(&ebpf)?;
        set(&mut ebpf, "FILTER", options.filter.to_bytes())?;
        set(&mut ebpf, "KERNEL_OFFSETS", kernel_offsets()?)?;
        let Selected { processes, names, cgroups } = &options.selected;
        fill(&mut ebpf, "PROCESSES", processes.iter().copied())?;
        fill(&mut ebpf, "NAMES", names.iter().map(|name| (*name, ANY)))?;
        fill(&mut ebpf, "CGROUPS", cgroups.iter().map(|cgroup| (*cgroup, ANY)))?;
        let uprobes = Uprobes::load(&object, options.attach_by)?;
        let mut api_servers = ApiServers::of(take(&mut ebpf, "API_SERVERS")?);
        options.api_servers.iter().try_for_each(|address| api_servers.add(*address))?;
        let recorded = Recorded {
            api_servers,
            records: take(&mut ebpf, "RECORDS")?,
            lifetimes: take(&mut ebpf, "LIFETIMES")?,
            connections: take(&mut ebpf, "CONNECTIONS")?,
            losses: take(&mut ebpf, "LOSSES")?,
        };
        let calls = take(&mut ebpf, "CALLS")?;
        let field_calls = take(&mut ebpf, "FIELD_CALLS")?;
        let btf = Btf::from_sys_fs().map_err(|error| KernelError::Maps(Box::new(error.into())))?;
        Ok((Self { uprobes, ebpf, calls, field_calls, btf }, recorded))
    }

    /// Attaches a program to places of a file, in all processes that run it.
    pub fn attach(&self, probe: Probe, file: &Path, offsets: &[u64], cookie: AttachCookie) -> Result<Attachment, KernelError> {
        self.uprobes.attach(probe, file, offsets, cookie)
    }

    /// How the programs are attached to files.
    pub fn attach_by(&self) -> AttachBy {
        self.uprobes.by()
    }

    /// Starts reporting when processes begin and end.
    pub fn report_processes(&mut self) -> Result<(), KernelError> {
        self.attach_to_tracepoint("process_exec", "sched_process_exec")?;
        self.attach_to_tracepoint("process_exit", "sched_process_exit")
    }

    /// Starts reporting how sockets of recorded connections change.
    pub fn report_sockets(&mut self) -> Result<(), KernelError> {
        self.attach_to_tracepoint("socket_state", "inet_sock_set_state")
    }

    /// Starts to pair connections with sockets, by the sends and receives of the threads that use the connections. This is for TLS
    /// libraries whose descriptor is unknown. It is done in the given way, or else in the best one that works.
    pub fn pair_by_use(&mut self, wanted: Option<PairBy>) -> Result<PairBy, KernelError> {
        let mut why = Vec::new();
        for by in PairBy::ALL.into_iter().filter(|by| wanted.is_none_or(|wanted| wanted == *by)) {
            match self.pair_by(by) {
                Ok(()) => return Ok(by),
                Err(error) => why.push(error.to_string()),
            }
        }
        Err(KernelError::NoPairing(why.join("; ")))
    }

    fn pair_by(&mut self, by: PairBy) -> Result<(), KernelError> {
        match by {
            PairBy::Tracepoints => self.hook_all(&[
                Hook { program: "socket_sent", place: Place::Tracepoint("sock_send_length") },
                Hook { program: "socket_received", place: Place::Tracepoint("sock_recv_length") },
            ]),
            PairBy::Returns => {
                let sent = Hook { program: "tcp_sent", place: Place::Return("tcp_sendmsg") };
                let received = |program| Hook { program, place: Place::Return("tcp_recvmsg") };
                // The verifier refuses the older form where the function has fewer arguments. Where it has more, it would accept the
                // later form, which takes the last argument for the result.
                self.hook_all(&[received("tcp_received_before_5_19"), sent])
                    .or_else(|_refused| self.hook_all(&[received("tcp_received"), sent]))
            }
        }
    }

    /// Attaches all of these programs or none: a send that two ways report would be paired twice.
    fn hook_all(&mut self, hooks: &[Hook]) -> Result<(), KernelError> {
        all_or_none(self, hooks, Self::hook, Self::unhook)
    }

    fn hook(&mut self, hook: &Hook) -> Result<(), KernelError> {
        match hook.place {
            Place::Tracepoint(tracepoint) => self.attach_to_tracepoint(hook.program, tracepoint),
            Place::Return(function) => self.attach_to_return(hook.program, function),
        }
    }

    /// Detaches and unloads a program, as far as it was loaded.
    fn unhook(&mut self, hook: &Hook) {
        let Some(found) = self.ebpf.program_mut(hook.program) else { return };
        let _not_loaded = match hook.place {
            Place::Tracepoint(_) => <&mut BtfTracePoint>::try_from(found).and_then(BtfTracePoint::unload),
            Place::Return(_) => <&mut FExit>::try_from(found).and_then(FExit::unload),
        };
    }

    /// Number of calls of a file's probed functions so far. `file` is the number in the file's attach cookies.
    pub fn calls(&self, file: u16) -> u64 {
        total(&self.calls, file)
    }

    /// Number of calls of the functions that are probed for header fields, as [`Self::calls`].
    pub fn field_calls(&self, file: u16) -> u64 {
        total(&self.field_calls, file)
    }

    fn attach_to_tracepoint(&mut self, program: &'static str, tracepoint: &str) -> Result<(), KernelError> {
        let failed = |why: String| KernelError::Tracepoint { program, why };
        let found = self.ebpf.program_mut(program).ok_or(KernelError::Lacks(program))?;
        let found: &mut BtfTracePoint = found.try_into().map_err(|error: ProgramError| failed(error.to_string()))?;
        found.load(tracepoint, &self.btf).and_then(|()| found.attach()).map_err(|error| failed(error.to_string()))?;
        Ok(())
    }

    fn attach_to_return(&mut self, program: &'static str, function: &str) -> Result<(), KernelError> {
        let failed = |why: String| KernelError::Tracepoint { program, why };
        let found = self.ebpf.program_mut(program).ok_or(KernelError::Lacks(program))?;
        let found: &mut FExit = found.try_into().map_err(|error: ProgramError| failed(error.to_string()))?;
        found.load(function, &self.btf).and_then(|()| found.attach()).map_err(|error| failed(error.to_string()))?;
        Ok(())
    }
}

/// Takes all steps in their order. If one fails, it and those before it are undone, the last one first.
fn all_or_none<C, S, E>(
    context: &mut C,
    steps: &[S],
    take: impl Fn(&mut C, &S) -> Result<(), E>,
    undo: impl Fn(&mut C, &S),
) -> Result<(), E> {
    for (number, step) in steps.iter().enumerate() {
        if let Err(error) = take(context, step) {
            steps.iter().take(number + 1).rev().for_each(|taken| undo(context, taken));
            return Err(error);
        }
    }
    Ok(())
}

fn total(calls: &PerCpuArray<MapData, u64>, file: u16) -> u64 {
    calls.get(&u32::from(file), 0).map(|values| values.iter().sum()).unwrap_or_default()
}

/// Kernels before 5.11 count the memory of maps and programs as locked memory, of which a process may usually have little.
fn lift_memory_limit() {
    // Later kernels need no such right.
    let _needs_right = setrlimit(Resource::Memlock, Rlimit { current: None, maximum: None });
}

impl std::fmt::Debug for Programs {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Programs").field("uprobes", &self.uprobes.probes().collect::<Vec<_>>()).finish_non_exhaustive()
    }
}

fn take<M: TryFrom<Map, Error = aya::maps::MapError>>(ebpf: &mut Ebpf, name: &'static str) -> Result<M, KernelError> {
    let map = ebpf.take_map(name).ok_or(KernelError::Lacks(name))?;
    M::try_from(map).map_err(|error| of_map(name, error))
}

/// Sets the only value of a map.
fn set<V: Pod>(ebpf: &mut Ebpf, name: &'static str, value: V) -> Result<(), KernelError> {
    let map = ebpf.map_mut(name).ok_or(KernelError::Lacks(name))?;
    let mut map: Array<&mut MapData, V> = map.try_into().map_err(|error| of_map(name, error))?;
    map.set(0, value, 0).map_err(|error| of_map(name, error))
}

/// Inserts entries into a map.
fn fill<K: Pod, V: Pod>(ebpf: &mut Ebpf, name: &'static str, entries: impl Iterator<Item = (K, V)>) -> Result<(), KernelError> {
    let map = ebpf.map_mut(name).ok_or(KernelError::Lacks(name))?;
    let map: Result<KernelHashMap<&mut MapData, K, V>, _> = map.try_into();
    let mut map = map.map_err(|error| of_map(name, error))?;
    entries.into_iter().try_for_each(|(key, value)| map.insert(key, value, 0)).map_err(|error| of_map(name, error))
}

fn of_map(name: &'static str, error: aya::maps::MapError) -> KernelError {
    KernelError::Map { name, source: Box::new(error) }
}

/// Parses the object again, and links it to the existing maps.
fn link(ebpf: &Ebpf) -> Result<aya_obj::Object, KernelError> {
    let wrong = |error: &dyn std::fmt::Display| KernelError::Object(error.to_string());
    let mut object = aya_obj::Object::parse(OBJECT).map_err(|error| wrong(&error))?;
    let of_programs: HashSet<usize> = object.programs.values().map(|program| program.section_index).collect();
    let text: HashSet<usize> =
        object.functions.keys().map(|(section, _)| *section).filter(|section| !of_programs.contains(section)).collect();
    let maps: Vec<(String, aya_obj::Map)> = object.maps.drain().collect();
    let made = maps.iter().filter_map(|(name, map)| Some((name.as_str(), descriptor(ebpf.map(name)?)?, map)));
    object.relocate_maps(made, &text).map_err(|error| wrong(&error))?;
    object.relocate_calls(&text).map_err(|error| wrong(&error))?;
    Ok(object)
}

fn descriptor(map: &Map) -> Option<RawFd> {
    let (Map::RingBuf(data)
    | Map::LruHashMap(data)
    | Map::HashMap(data)
    | Map::PerCpuArray(data)
    | Map::Array(data)
    | Map::ProgramArray(data)) = map
    else {
        return None;
    };
    Some(data.fd().as_fd().as_raw_fd())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_step_undoes_those_before_it() {
        for (refused, expected) in [(3, &[1, 2][..]), (2, &[1, -2, -1]), (1, &[-1])] {
            let mut log = Vec::new();
            let take = |log: &mut Vec<i8>, step: &i8| {
                let is_taken = *step != refused;
                log.extend(is_taken.then_some(*step));
                is_taken.then_some(()).ok_or(*step)
            };
            let result = all_or_none(&mut log, &[1, 2], take, |log, step| log.push(-step));
            assert_eq!((result.is_ok(), log.as_slice()), (refused == 3, expected));
        }
    }
}
