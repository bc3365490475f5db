#!/usr/bin/env bash
# Starts and stops a Slurm of one node on loopback: slurm.sh start DIR, slurm.sh stop DIR. Needs the Debian packages
# slurmctld, slurmd, slurm-client and munge, and root.
set -euo pipefail
verb=$1 dir=$2
here=$(cd "$(dirname "$0")" && pwd)
stop() {
	for name in slurmd ctld munge/munged; do
		[ ! -s "$dir/$name.pid" ] || kill "$(cat "$dir/$name.pid")" 2>/dev/null || true
	done
}
case $verb in
stop) stop ;;
start)
	mkdir -p "$dir"/{ctld,slurmd,log,munge}
	chmod 700 "$dir/munge"
	host=$(hostname -s)
	port=$((20000 + (RANDOM * 2) % 12000)) # below what the kernel gives to clients; two tests may run beside each other
	sed -e "s|@DIR@|$dir|g" -e "s|@HOST@|$host|g" -e "s|@PORT@|$port|" -e "s|@PORT2@|$((port + 1))|" "$here/slurm.conf.in" >"$dir/slurm.conf"
	dd if=/dev/urandom of="$dir/munge/key" bs=1024 count=1 2>/dev/null
	chmod 400 "$dir/munge/key"
	chown -R root "$dir/munge"
	munged --force --key-file="$dir/munge/key" --socket="$dir/munge/sock" --pid-file="$dir/munge/munged.pid" \
		--log-file="$dir/munge/log" --seed-file="$dir/munge/seed" --num-threads=2
	export SLURM_CONF=$dir/slurm.conf
	slurmctld -c
	slurmd
	for _ in $(seq 100); do
		[ "$(sinfo -h -o %t 2>/dev/null)" != idle ] || exit 0
		sleep 0.2
	done
	tail -5 "$dir"/log/* >&2
	exit 1
	;;
esac
