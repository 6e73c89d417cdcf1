# The first process of a node: furnishes the node's namespaces, and then becomes its init. Nothing here outlives the namespaces.
# Arguments: the node's folder, the program `pause`, and then the addresses of the node.
set -eu
PATH=/usr/sbin:/usr/bin:/sbin:/bin
folder=$1 pause=$2
shift 2

# A new mount namespace gets nothing from the machine and gives it nothing. Inside, the kubelet needs shared mounts.
mount --make-rshared /
mount -t tmpfs -o mode=755 tmpfs /run
mount -t tmpfs -o mode=755 tmpfs /var/lib
mkdir /run/lock /run/netns
for data in containerd kubelet; do
  mkdir "$folder/$data" "/var/lib/$data"
  mount --bind "$folder/$data" "/var/lib/$data"
done
mkdir "$folder/log"
mount --bind "$folder/log" /var/log

# The kubelet insists on these values, which belong to the entire machine. It finds them here, and the machine keeps its own.
mkdir "$folder/sysctl"
for setting in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 \
  kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
  name=${setting%=*}
  file=$folder/sysctl/$(basename "$name")
  echo "${setting#*=}" >"$file"
  mount --bind "$file" "/proc/sys/$name"
done

hostname node
ip link set lo up
for address; do
  ip address add "$address/32" dev lo
done

: >"$folder/isolated"
exec "$pause"
