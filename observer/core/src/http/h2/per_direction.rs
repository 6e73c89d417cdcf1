//! A value for each direction.

use super::super::Direction;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PerDirection<T> {
    pub(super) request: T,
    pub(super) response: T,
}

impl<T> PerDirection<T> {
    pub(super) fn of(&self, direction: Direction) -> &T {
        match direction {
            Direction::Request => &self.request,
            Direction::Response => &self.response,
        }
    }

    pub(super) fn of_mut(&mut self, direction: Direction) -> &mut T {
        match direction {
            Direction::Request => &mut self.request,
            Direction::Response => &mut self.response,
        }
    }
}

/// The other direction.
pub(super) fn opposite(direction: Direction) -> Direction {
    match direction {
        Direction::Request => Direction::Response,
        Direction::Response => Direction::Request,
    }
}
