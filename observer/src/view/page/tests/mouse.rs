//! The effects of the mouse.

use std::fmt::Write as _;

use ratatui::crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

use super::screen::{page, press, small};
use super::stories::trouble;
use crate::view::page::{Mouse, Page};

#[test]
fn terminal_mouse_events_map_to_acts() {
    let act = |kind| Mouse::of(&MouseEvent { kind, column: 3, row: 7, modifiers: KeyModifiers::NONE });
    assert_eq!(act(MouseEventKind::ScrollDown), Some(Mouse::WheelDown));
    assert_eq!(act(MouseEventKind::ScrollUp), Some(Mouse::WheelUp));
    assert_eq!(act(MouseEventKind::Down(MouseButton::Left)), Some(Mouse::Press { x: 3, y: 7 }));
    assert_eq!(act(MouseEventKind::Down(MouseButton::Right)), None);
    assert_eq!(act(MouseEventKind::Up(MouseButton::Left)), None);
    assert_eq!(act(MouseEventKind::Moved), None);
}

#[test]
fn press_selects_the_row_under_it() {
    let mut page = page(&trouble());
    press_on(&mut page, "kube-rs/2.0");
    assert!(selected_line(&page).contains("kube-rs"), "{}", small(&page));
    press_on(&mut page, "my-controller/0.34");
    assert!(selected_line(&page).contains("my-controller"), "{}", small(&page));
}

#[test]
fn press_on_a_tab_opens_it_from_the_table_and_from_a_detail() {
    let mut page = page(&trouble());
    press_on(&mut page, "4 Clients");
    assert!(small(&page).contains("[4 Clients"));
    press(&mut page, "<enter>");
    press_on(&mut page, "2 Requests");
    assert!(small(&page).contains("[2 Requests") && small(&page).contains("SERVED FROM"));
}

#[test]
fn press_on_a_heading_sorts_and_the_next_one_reverses() {
    let mut page = page(&trouble());
    press_on(&mut page, "CLIENT  ");
    assert!(small(&page).contains("▾CLIENT") && small(&page).contains("sorted by CLIENT"), "{}", small(&page));
    assert!(selected_line(&page).contains("elastic-operator"));
    press_on(&mut page, "CLIENT  ");
    assert!(small(&page).contains("▴CLIENT"), "{}", small(&page));
    assert!(selected_line(&page).contains("my-controller"));
    press_on(&mut page, "RELISTS");
    assert!(small(&page).contains("▾RELISTS"), "{}", small(&page));
}

#[test]
fn wheel_scrolls_a_text_by_three_lines() {
    let mut page = page(&trouble());
    press(&mut page, "?");
    let third = line_after_tabs(&page, 3);
    page.mouse(Mouse::WheelDown);
    assert_eq!(line_after_tabs(&page, 0), third);
    page.mouse(Mouse::WheelUp);
    assert!(line_after_tabs(&page, 0).starts_with("KEYS"), "{}", small(&page));
}

#[test]
fn wheel_scrolls_a_long_table_and_keeps_the_selection_in_sight() {
    let mut script = "0s server v1.34.4\n0s a connects as=apps/manager client=a/v1\n".to_owned();
    for number in 0..40_u32 {
        let (stream, bytes) = (2 * number + 1, 90_000 - 1_000 * number);
        let _infallible = writeln!(
            script,
            "0s a{stream} GET /api/v1/namespaces/n{number:02}/pods?resourceVersion=0\n0s a{stream} bytes {bytes}\n\
             0s a{stream} whole rv=10 x@5"
        );
    }
    let mut page = page(&script);
    press(&mut page, "2");
    assert!(small(&page).contains("n00/"), "{}", small(&page));
    page.mouse(Mouse::WheelDown);
    let screen = small(&page);
    assert!(!screen.contains("n02/") && screen.contains("n03/"), "{screen}");
    assert!(selected_line(&page).contains("n03/"), "{screen}");
    for _ in 0..20 {
        page.mouse(Mouse::WheelDown);
    }
    assert!(small(&page).contains("n39/"), "{}", small(&page));
    for _ in 0..20 {
        page.mouse(Mouse::WheelUp);
    }
    assert!(small(&page).contains("n00/") && !selected_line(&page).contains("n00/"), "{}", small(&page));
}

#[test]
fn press_has_no_effect_while_a_filter_is_typed() {
    let mut page = page(&trouble());
    press(&mut page, "/");
    press_on(&mut page, "4 Clients");
    assert!(small(&page).contains("[1 Reflectors"));
}

/// Presses the first cell that shows `text`.
#[track_caller]
fn press_on(page: &mut Page, text: &str) {
    let lines = super::screen::lines_of(&super::screen::drawn(page, 80, 24));
    let (y, line) =
        lines.iter().enumerate().find(|(_, line)| line.contains(text)).unwrap_or_else(|| panic!("no {text} in {lines:#?}"));
    let x = line[..line.find(text).unwrap()].chars().count();
    page.mouse(Mouse::Press { x: u16::try_from(x).unwrap(), y: u16::try_from(y).unwrap() });
}

fn selected_line(page: &Page) -> String {
    small(page).lines().find(|line| line.starts_with('▸')).unwrap_or_default().to_owned()
}

fn line_after_tabs(page: &Page, number: usize) -> String {
    let screen = small(page);
    screen.lines().skip_while(|line| !line.contains("[1 Reflectors")).nth(1 + number).unwrap_or_default().to_owned()
}
