//! Reads a head: start line, field lines, empty line.

use super::fault::Fault;
use super::fields::Fields;
use super::input::Input;
use super::lines::{Line, Lines, MAX_HEAD};
use super::start_line::StartLine;

/// A head that is being read; by default, before its first byte.
#[derive(Debug)]
pub(super) struct Head<S> {
    start: Option<(S, u64)>,
    fields: Fields,
    lines: Lines,
    size: u64,
}

/// A head whose last line has been read.
#[derive(Debug)]
pub(super) struct CompleteHead<S> {
    /// Its first line, without its offset.
    pub(super) start: S,
    /// Its allow-listed fields, identity and framing.
    pub(super) fields: Fields,
    /// Offset of its first line in the direction.
    pub(super) at: u64,
}

/// The result of reading the next bytes of a head.
#[derive(Debug)]
pub(super) enum HeadStep<S> {
    /// More bytes are needed.
    Wait,
    /// The head is complete.
    Done(CompleteHead<S>),
    /// The bytes are not a head.
    Fault(Fault),
}

impl<S> Default for Head<S> {
    fn default() -> Self {
        Self { start: None, fields: Fields::default(), lines: Lines::default(), size: 0 }
    }
}

impl<S: StartLine> Head<S> {
    /// Whether no byte of it has been read.
    pub(super) fn is_fresh(&self) -> bool {
        self.size == 0
    }

    /// Continues reading, up to the end of the head or of `input`.
    pub(super) fn step(&mut self, input: &mut Input<'_>) -> HeadStep<S> {
        loop {
            let before = input.offset();
            let (start, fields) = (&mut self.start, &mut self.fields);
            let read = self.lines.read(input, |line| read_line(start, fields, line));
            self.size = self.size.saturating_add(input.offset().saturating_sub(before));
            if self.size > MAX_HEAD {
                return HeadStep::Fault(Fault::Bound);
            }
            match read {
                None => return HeadStep::Wait,
                Some(Ok(LineRead::More)) => {}
                Some(Ok(LineRead::Last)) => return self.complete(),
                Some(Err(fault)) => return HeadStep::Fault(fault),
            }
        }
    }

    /// Bytes held of an incomplete line.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.lines.held()
    }

    fn complete(&mut self) -> HeadStep<S> {
        let Self { start, fields, .. } = std::mem::take(self);
        match start {
            Some((start, at)) => HeadStep::Done(CompleteHead { start, fields, at }),
            None => HeadStep::Wait,
        }
    }
}

enum LineRead {
    More,
    Last,
}

fn read_line<S: StartLine>(start: &mut Option<(S, u64)>, fields: &mut Fields, line: &Line<'_>) -> Result<LineRead, Fault> {
    let malformed = |what| Fault::Malformed { at: line.at, what };
    match (&start, line.text) {
        (None, []) if S::MAY_FOLLOW_EMPTY_LINES => {}
        // To find the version after a target this long, the complete target would have to be held.
        (None, _) if line.cut => return Err(Fault::Bound),
        (None, text) => *start = Some((S::parse(text).map_err(malformed)?, line.at)),
        (Some(_), []) => {
            fields.close().map_err(malformed)?;
            return Ok(LineRead::Last);
        }
        (Some(_), _) => fields.read(line).map_err(malformed)?,
    }
    Ok(LineRead::More)
}
