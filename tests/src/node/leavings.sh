# Removes what the kernel does not remove with the last process of a node: its cgroups, and its folder.
# Arguments: the name of the cgroups, the folder. Standard input ends with the test process, however that ends.
cgroup=$1 folder=$2
read -r request || request=remove

left() {
  find /sys/fs/cgroup/*/"$cgroup" -depth -type d "$@" 2>/dev/null
}
# A cgroup cannot be removed before the kernel has ended its last process.
attempts=300
while [ -n "$(left)" ] && [ "$attempts" -gt 0 ]; do
  left -exec rmdir {} +
  attempts=$((attempts - 1))
  sleep 0.1
done
if [ "$request" != keep ]; then
  rm -rf "$folder"
fi
