#!/usr/bin/env bash
# Boots this system's own systemd in private namespaces, over a copy of the root file system that is
# only in memory: systemd_boot.sh DIR. DIR is empty, in a directory whose name nobody else has. The
# test ends the boot by killing it.
# Exit code 77: this place does not allow it; the reason is on stderr.
set -euo pipefail

fail() {
  echo "no private system here: $1" >&2
  exit 77
}

if [[ ${1:-} != inside ]]; then
  dir=$1
  # A group of its own: what systemd makes of groups is made below it, and goes with it.
  for hierarchy in /sys/fs/cgroup/unified /sys/fs/cgroup; do
    [[ ! -e $hierarchy/cgroup.procs ]] || break
  done
  [[ -e $hierarchy/cgroup.procs ]] || fail "no cgroup v2 in $hierarchy"
  group=$hierarchy/$(basename "$(dirname "$dir")")
  mkdir "$group" 2>/dev/null || fail "no control group can be made in $hierarchy"
  echo "$group" >"$dir/group"
  echo $$ >"$group/cgroup.procs" || fail "the control group $group cannot be entered"
  unshare -m -u -i -n -p -f -C true || fail "no namespaces"
  # Nothing of it outlives the test, however that ends.
  exec setpriv --pdeathsig KILL \
    unshare -m -u -i -n -p -f --kill-child -C "${BASH_SOURCE[0]}" inside "$dir"
fi

dir=$2
root=$dir/root
mount --make-rprivate / || fail "no mounts"
mount -t tmpfs tmpfs "$dir" || fail "no tmpfs"
mkdir "$dir"/{upper,work,root}
mount -t overlay overlay -o "lowerdir=/,upperdir=$dir/upper,workdir=$dir/work" "$root" ||
  fail "no overlay of the root file system"
# The kernel's settings are everybody's: to be read only.
mount -t proc proc "$root/proc" || fail "no proc"
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,bind,ro "$root/proc/sys"
mount -t sysfs -o ro sysfs "$root/sys" || fail "no sysfs"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup" || fail "no cgroup2"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null zero full random urandom tty; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
# The build machine's own services are not started.
cat >"$root/etc/systemd/system/epochd-test.target" <<END
[Unit]
Wants=systemd-journald.service
After=systemd-journald.service
END
# Not chroot: the real root would be left as the namespace's, to be written to by who enters it.
mkdir "$root/before"
cd "$root"
pivot_root . before
umount -l before
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin container=oci /lib/systemd/systemd --system \
  --unit=epochd-test.target --log-target=journal --show-status=no
