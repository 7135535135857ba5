# A Debian 12 that has seen nothing: made, entered and removed by .ci/run, which sources this.
# What a user's machine lacks is lacking here; what ./learn installs on it is seen as it happens.
# shellcheck shell=bash

bare=        # its folder, while there is one
bare_child=  # what runs in it
bare_user=ada
bare_tree='/home/ada/my course/tinymp'

bare_sources() { # this machine's own places of packages for Debian 12
  grep -lE '^[^#]*bookworm' /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources \
    2>/dev/null
}

bare_make() { # about 400 MB; 3 GB once tinymp is built in it
  local sources
  mapfile -t sources < <(bare_sources)
  [ ${#sources[@]} -gt 0 ] || { echo 'no sources of Debian 12 in /etc/apt' && return 1; }
  bare=$(mktemp -d "${TMPDIR:-/var/tmp}/tinymp-bare.XXXXXX") || return 1
  chmod 755 "$bare"
  # Proxies and whatever else this machine needs to reach its packages.
  apt-config dump | grep -E '^(Acquire|APT::Sandbox)::' | grep -v '^Acquire::IndexTargets' >"$bare.apt"
  # The hook and its package, since usrmerge would bring Perl along.
  mmdebstrap --quiet --variant=minbase --include=sudo,usr-is-merged --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
    --aptopt="$bare.apt" bookworm "$bare" "${sources[@]}" >"$bare.log" 2>&1 || { tail -n 20 "$bare.log" && return 1; }
  cp /etc/hosts /etc/resolv.conf "$bare/etc/"
  echo "127.0.0.1 $(uname -n)" >>"$bare/etc/hosts"
  chroot "$bare" useradd --create-home --shell /bin/bash $bare_user || return 1
  echo "$bare_user ALL=(ALL) NOPASSWD: ALL" >"$bare/etc/sudoers.d/$bare_user"
  mkdir -p "$bare$bare_tree"
  # The working tree as it is, without what git does not know: an archive that somebody unpacked.
  git archive "$(git -c user.name=ci -c user.email=ci@localhost stash create | grep . || echo HEAD)" | tar -x -C "$bare$bare_tree" || return 1
  chroot "$bare" chown -R $bare_user: /home/$bare_user
  bare_packages >"$bare.had"
  printf 'A bare root of %s packages: %s\n' "$(wc -l <"$bare.had")" "$(tr '\n' ' ' <"$bare.had")"
}

# shellcheck disable=SC2016 # dpkg-query's own
bare_packages() { chroot "$bare" dpkg-query -W -f '${Package}\n' | LC_ALL=C sort; }

bare_installed() { # what came since
  printf 'Installed since:%s\n' "$(bare_packages | LC_ALL=C comm -13 "$bare.had" - | sed 's/^/ /' | tr -d '\n')"
}

# Not a chroot, in which the kernel gives no user namespaces, so that bubblewrap would never work. The shell stays, as
# process 1, to wait for orphans.
# shellcheck disable=SC2016 # for the shell inside
bare_inside='
  trap "exit 143" INT TERM HUP
  root=$1 user=$2
  shift 2
  cd "$root" && mount --bind . . && cd "$root" || exit 3
  mount -t proc proc proc && mount -t sysfs -o ro sys sys && mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 pts dev/pts &&
    mount -t tmpfs -o mode=1777 shm dev/shm || exit 3
  ip link set lo up || exit 3  # as on every machine, also on one without a network
  settings=(LANG=C PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games)
  if [ "$user" = root ]; then settings[1]=PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin; fi
  mkdir -p .old && pivot_root . .old && cd / && umount -l .old || exit 3
  home=/home/$user
  if [ "$user" = root ]; then home=/root; fi
  cd "$BARE_TREE" || exit 3
  env -i HOME="$home" USER="$user" "${settings[@]}" setpriv --reuid="$user" --regid="$user" --init-groups "$@"
  exit $?'

bare_enter() { # [--no-network] USER COMMAND...: in the unpacked tree, with nothing of ours in the environment
  local network=() code
  if [ "$1" = --no-network ]; then network=(--net) && shift; fi
  chroot "$bare" chown -R $bare_user: /home/$bare_user # what root built there before
  # In the background, so that an interrupt is heard at once; there a shell turns SIGINT off, which tests would inherit.
  BARE_TREE=$bare_tree env --default-signal=INT,QUIT unshare --mount --propagation private --pid --ipc --fork --kill-child \
    "${network[@]}" bash -c "$bare_inside" bare "$bare" "$@" </dev/null &
  bare_child=$!
  wait $bare_child
  code=$?
  bare_child=
  return $code
}

bare_remove() { # its mounts are its processes' own, and end with them
  [ -n "$bare" ] || return 0
  if [ -n "$bare_child" ]; then kill -KILL "$bare_child" 2>/dev/null && wait "$bare_child" 2>/dev/null; fi
  bare_child=
  rm -rf --one-file-system "$bare" "$bare.apt" "$bare.had" "$bare.log"
  bare=
}
