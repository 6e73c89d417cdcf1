#!/bin/sh
# Installs watchtap for the user who runs this: the program of a release for this machine, after a check of its SHA-256.
# It needs no root, and calls no sudo. `sh install.sh --help` has the flags.
#
# Everything is in functions, and the last line calls them: a script that was cut off on its way does nothing.
set -eu

# `cargo xtask release` fills these in: the address of the files of a release, with VERSION in it, and the version of this script.
default_from=''
default_version=''

usage() {
  cat <<'END'
Installs watchtap: downloads the archive for this machine, checks its SHA-256, and puts the program into a folder of yours.

usage: sh install.sh [FLAGS]

  --from URL|FOLDER   where the files of the release are: an address that starts with https://, or a folder
  --version VERSION   the release, such as 0.1.0 [default: the one of this script, or the only one there]
  --dir FOLDER        where to put the program [default: ~/.local/bin]
  --share FOLDER      also install man pages, completions and licences there, such as ~/.local/share
  --kubectl-plugin    also make it a plug-in of kubectl (kubectl watchtap), by two links beside the program
  -h, --help          print this

It replaces only a watchtap that is a file, and reports which version it was. To uninstall, remove the files that it lists.
END
}

fail() {
  printf 'install.sh: %s\n' "$*" >&2
  exit 1
}

usage_error() {
  printf 'install.sh: %s (--help has the flags)\n' "$*" >&2
  exit 2
}

has() {
  command -v "$1" >/dev/null 2>&1
}

# The target of Rust for this machine.
find_target() {
  system=$(uname -s)
  machine=$(uname -m)
  case $system in
  Linux) ;;
  *) fail "there is no archive for $system: build watchtap with cargo (README.md)" ;;
  esac
  case $machine in
  x86_64 | amd64) printf 'x86_64-unknown-linux-musl\n' ;;
  aarch64 | arm64) printf 'aarch64-unknown-linux-musl\n' ;;
  *) fail "there is no archive for $system on $machine: build watchtap with cargo (README.md)" ;;
  esac
}

# fetch NAME FILE: a file of the release.
fetch() {
  case $from in
  https://*)
    if has curl; then
      curl --fail --silent --show-error --location --proto '=https' --output "$2" "$from/$1" || fail "cannot download $from/$1"
    else
      # Each wget follows redirects to http, or knows no flag against it.
      fail 'curl is not there: install it, or download the files of the release, and name their folder (--from)'
    fi
    ;;
  *://*) fail "$from does not start with https://, so the checksums could be changed on their way" ;;
  *)
    [ -d "$from" ] || fail "$from is not a folder (--from)"
    [ -f "$from/$1" ] || fail "$from has no $1"
    cp "$from/$1" "$2"
    ;;
  esac
}

sum_of() {
  if has sha256sum; then
    sha256sum <"$1" | cut -d ' ' -f 1
  elif has shasum; then
    shasum -a 256 <"$1" | cut -d ' ' -f 1
  elif has openssl; then
    openssl dgst -sha256 <"$1" | sed 's/.* //'
  else
    fail 'no program for SHA-256 is there (sha256sum, shasum or openssl), and nothing is installed unchecked'
  fi
}

# find_archive SUMS TARGET: the name of the archive, from the list of checksums.
find_archive() {
  if [ -n "$version" ]; then
    printf 'watchtap-%s-%s.tar.gz\n' "$version" "$2"
    return
  fi
  names=$(sed -n "s/^[0-9a-f]\{64\} [ *]\(watchtap-[0-9A-Za-z.+-]*-$2\.tar\.gz\)\$/\1/p" "$1")
  case $names in
  '') fail "$from has no archive for $2" ;;
  *"
"*) fail "$from has several releases: choose one with --version" ;;
  esac
  printf '%s\n' "$names"
}

# check ARCHIVE SUMS NAME
check() {
  # With --binary, sha256sum writes an asterisk before names.
  expected=$(awk -v name="$3" '$2 == name || $2 == "*" name { print $1 }' "$2")
  [ -n "$expected" ] || fail "SHA256SUMS of $from does not list $3"
  actual=$(sum_of "$1")
  [ "$actual" = "$expected" ] || fail "$3 has the SHA-256 $actual, and SHA256SUMS says $expected: nothing is installed"
}

# check_folder FOLDER FLAG
check_folder() {
  mkdir -p "$1" || fail "cannot create $1: choose another folder with $2"
  [ -w "$1" ] || fail "cannot write into $1: choose another folder with $2"
}

# check_file DESTINATION FLAG: only a file is replaced.
check_file() {
  if [ -h "$1" ] || { [ -e "$1" ] && [ ! -f "$1" ]; }; then
    fail "$1 is there, and is not a file that this script made: remove it, or choose another folder with $2"
  fi
}

# check_link DESTINATION: only a link that this script could have made is replaced. krew has links of the same names.
check_link() {
  if [ -h "$1" ]; then
    [ "$(readlink "$1")" = watchtap ] || fail "$1 is a link to something else: remove it, or choose another folder with --dir"
  elif [ -e "$1" ]; then
    fail "$1 is there, and is not a link: remove it, or choose another folder with --dir"
  fi
}

# check_places FOLDER: all destinations of the files in FOLDER, before the first one is written.
check_places() {
  check_folder "$dir" --dir
  check_file "$dir/watchtap" --dir
  if [ "$plugin" = yes ]; then
    check_link "$dir/kubectl-watchtap"
    check_link "$dir/kubectl_complete-watchtap"
  fi
  [ -z "$share" ] || each_shared "$1" check_shared
}

# place FILE DESTINATION MODE: replaces a file at once, so that no one sees half of it.
place() {
  unfinished=$2.new.$$
  cp "$1" "$unfinished"
  chmod "$3" "$unfinished"
  mv -f "$unfinished" "$2"
  unfinished=''
  printf '  %s\n' "$2"
}

install_program() {
  program=$dir/watchtap
  if [ -f "$program" ]; then
    printf 'replaces %s (%s)\n' "$program" "$("$program" --version 2>/dev/null || printf 'an unknown version')"
  fi
  # In the folder of the program, since temporary folders may forbid that programs run.
  unfinished=$program.try.$$
  cp "$1/watchtap" "$unfinished"
  chmod 755 "$unfinished"
  said=$("$unfinished" --version 2>&1) || fail "the program does not run here: $said"
  rm -f "$unfinished"
  unfinished=''
  printf 'installs %s:\n' "$said"
  place "$1/watchtap" "$program" 755
}

install_links() {
  for link in kubectl-watchtap kubectl_complete-watchtap; do
    rm -f "$dir/$link"
    ln -s watchtap "$dir/$link"
    printf '  %s\n' "$dir/$link"
  done
}

# each_shared FOLDER ACTION: calls ACTION FILE FOLDER-BELOW-SHARE NAME for each file but the program.
each_shared() {
  for page in "$1"/man/man1/*.1; do
    "$2" "$page" man/man1 "${page##*/}"
  done
  "$2" "$1/completions/watchtap" bash-completion/completions watchtap
  "$2" "$1/completions/watchtap.fish" fish/vendor_completions.d watchtap.fish
  "$2" "$1/completions/_watchtap" zsh/site-functions _watchtap
  "$2" "$1/LICENSE" doc/watchtap LICENSE
  "$2" "$1/THIRD-PARTY-LICENSES" doc/watchtap THIRD-PARTY-LICENSES
}

check_shared() {
  check_folder "$share/$2" --share
  check_file "$share/$2/$3" --share
}

place_shared() {
  place "$1" "$share/$2/$3" 644
}

teach_path() {
  case :$PATH: in
  *:"$dir":* | *:"$dir/":*) return ;;
  esac
  case $dir in
  *\'*)
    printf '\n%s is not in PATH. Add it there.\n' "$dir"
    return
    ;;
  esac
  printf '\n%s is not in PATH. Add this line to the file that your shell reads at its start:\n' "$dir"
  case ${SHELL:-} in
  */fish) printf "  fish_add_path '%s'\n" "$dir" ;;
  *) printf "  export PATH='%s':\"\$PATH\"\n" "$dir" ;;
  esac
}

# zsh looks for completions in the folders of fpath alone.
teach_zsh() {
  case $share in
  *\'*) ;;
  *) printf "\nFor completions in zsh, add this line to ~/.zshrc, before compinit:\n  fpath=('%s' \$fpath)\n" "$share/zsh/site-functions" ;;
  esac
}

parse() {
  from=$default_from version=$default_version share='' plugin=no
  dir=${HOME:+$HOME/.local/bin}
  while [ "$#" -gt 0 ]; do
    case $1 in
    --from=* | --version=* | --dir=* | --share=*)
      flag=${1%%=*} value=${1#*=}
      shift
      set -- "$flag" "$value" "$@"
      ;;
    --from | --version | --dir | --share)
      if [ "$#" -lt 2 ] || [ -z "$2" ]; then usage_error "$1 needs a value"; fi
      case $1 in
      --from) from=$2 version='' ;;
      --version) chosen=$2 ;;
      --dir) dir=$2 ;;
      --share) share=$2 ;;
      esac
      shift 2
      ;;
    --kubectl-plugin) plugin=yes && shift ;;
    -h | --help) usage && exit 0 ;;
    *) usage_error "unknown argument $1" ;;
    esac
  done
  version=${chosen:-$version}
  version=${version#v}
  case $version in
  *[!0-9A-Za-z.+-]* | *VERSION*) usage_error "$version is not a version" ;;
  esac
  [ -n "$dir" ] || usage_error 'HOME is not set: name a folder with --dir'
  [ -n "$from" ] || usage_error 'no release is published yet: name the folder or the address of its files with --from'
  # PATH and links need the folder itself, wherever the user is.
  dir=$(absolute "$dir")
  [ -z "$share" ] || share=$(absolute "$share")
}

# absolute FOLDER: without slashes at its end, as it stands in PATH.
absolute() {
  folder=$1
  while [ "${folder%/}" != "$folder" ] && [ "$folder" != / ]; do folder=${folder%/}; done
  case $folder in
  /*) printf '%s\n' "$folder" ;;
  *) printf '%s\n' "$(pwd)/$folder" ;;
  esac
}

# In an address, each VERSION stands for the version. A folder has its own name.
replace_version() {
  case $from in
  https://*VERSION*) [ -n "$version" ] || usage_error "$from has VERSION in it: choose one with --version" ;;
  esac
  while :; do
    case $from in
    https://*VERSION*) from=${from%%VERSION*}$version${from#*VERSION} ;;
    *) break ;;
    esac
  done
  from=${from%/}
}

clean_up() {
  rm -rf "$work"
  [ -z "$unfinished" ] || rm -f "$unfinished"
}

main() {
  chosen='' unfinished=''
  parse "$@"
  replace_version
  target=$(find_target)
  work=$(mktemp -d) || fail 'cannot create a temporary folder'
  trap clean_up EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  fetch SHA256SUMS "$work/sums"
  name=$(find_archive "$work/sums" "$target")
  fetch "$name" "$work/archive"
  check "$work/archive" "$work/sums" "$name"
  mkdir "$work/unpacked"
  tar -xzf "$work/archive" -C "$work/unpacked" || fail "cannot unpack $name"
  unpacked=$work/unpacked/${name%.tar.gz}
  [ -f "$unpacked/watchtap" ] || fail "$name has no program"
  check_places "$unpacked"
  install_program "$unpacked"
  [ "$plugin" = no ] || install_links
  [ -z "$share" ] || each_shared "$unpacked" place_shared
  [ -z "$share" ] || teach_zsh
  teach_path
}

main "$@"
