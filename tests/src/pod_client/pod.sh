# Runs a program in a root filesystem as containers have it: read-only, with its volumes. Mounts end with the namespace.
#
# Arguments: an empty folder; pairs of a path in the root filesystem and its source on the machine; `--`; the command.
set -e
pod=$1
shift
mount -t tmpfs -o mode=0755 tmpfs "$pod"
mkdir "$pod/proc" "$pod/dev"
mount --rbind /proc "$pod/proc"
mount --rbind /dev "$pod/dev"
while [ "$1" != -- ]; do
    mkdir -p "$pod$1"
    mount -o bind,ro "$2" "$pod$1"
    shift 2
done
shift
mount -o remount,ro "$pod"
exec chroot "$pod" "$@"
