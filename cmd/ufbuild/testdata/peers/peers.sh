#!/usr/bin/env bash
# Builds the real servers that tests of remotes talk to, into the directory given, else .peers beside this file:
#
#   reapipeer   the storage code of Buildbarn: BLAKE3, SHA256, zstd; no Execute
#   rw/         Bazel's own RemoteWorker: SHA256, Execute; needs a JDK
#   Slurm     installed; see slurm.sh
#   nginx/      a web server that stores files, for Bazel's HTTP cache
#
# Everything binds loopback. What cannot be had is left out with a line that says so, and its tests leave themselves out. The
# first run takes a few minutes, a later one a second.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
peers=${1:-$here/.peers}
mkdir -p "$peers"

left_out() { echo "peers: $1 is left out: $2" >&2; }

apt_ready=
apt_update() { [ -n "$apt_ready" ] || apt-get update -qq >/dev/null 2>&1; apt_ready=1; }

reapipeer() {
	(cd "$here/reapipeer" && GOFLAGS=-mod=readonly go build -trimpath -o "$peers/reapipeer" .) || left_out reapipeer "it does not build"
}

remote_worker() {
	[ ! -e "$peers/rw/.done" ] || return 0
	command -v apt-get >/dev/null || { left_out RemoteWorker "there is no apt-get"; return; }
	apt_update
	if ! command -v javac >/dev/null; then
		[ "$(id -u)" = 0 ] && apt-get install -y -qq --no-install-recommends openjdk-17-jdk-headless >/dev/null 2>&1 ||
			{ left_out RemoteWorker "there is no javac"; return; }
	fi
	mkdir -p "$peers/rw/deb" "$peers/rw/classes"
	(cd "$peers/rw/deb" && apt-get download -qq bazel-bootstrap-data bazel-bootstrap-source >/dev/null 2>&1) ||
		{ left_out RemoteWorker "its packages are not to be had"; return; }
	for deb in "$peers"/rw/deb/*.deb; do dpkg -x "$deb" "$peers/rw/root"; done
	local src=$peers/rw/root/usr/src/bazel-bootstrap/src/tools/remote/src/main/java
	local main=$src/com/google/devtools/build/remote/worker/RemoteWorker.java
	# The worker as it comes listens on every interface.
	sed -i 's/NettyServerBuilder.forPort(workerOptions.listenPort)/NettyServerBuilder.forAddress(new java.net.InetSocketAddress(java.net.InetAddress.getLoopbackAddress(), workerOptions.listenPort))/' "$main"
	grep -q getLoopbackAddress "$main" || { left_out RemoteWorker "its source is not the one that is known"; return; }
	javac -nowarn -d "$peers/rw/classes" -cp "$peers/rw/root/usr/share/bazel/A-server.jar" $(find "$src" -name '*.java') 2>/dev/null &&
		touch "$peers/rw/.done" || left_out RemoteWorker "it does not compile"
}

nginx() {
	[ ! -x "$peers/nginx/usr/sbin/nginx" ] || return 0
	command -v apt-get >/dev/null || { left_out nginx "there is no apt-get"; return; }
	apt_update
	mkdir -p "$peers/nginx/deb"
	# Unpacked, not installed: an installed one would start.
	(cd "$peers/nginx/deb" && apt-get download -qq nginx >/dev/null 2>&1) || { left_out nginx "its package is not to be had"; return; }
	for deb in "$peers"/nginx/deb/*.deb; do dpkg -x "$deb" "$peers/nginx"; done
	"$peers/nginx/usr/sbin/nginx" -V >/dev/null 2>&1 || { rm -rf "$peers/nginx"; left_out nginx "it does not start"; }
}

# Its plugins lie at a fixed place, so it is installed; slurm.sh beside this file starts and stops one node of it.
slurm() {
	! command -v slurmctld >/dev/null || ! command -v slurmd >/dev/null || ! command -v munged >/dev/null || return 0
	command -v apt-get >/dev/null && [ "$(id -u)" = 0 ] || { left_out Slurm "it is not installed"; return; }
	apt_update
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends slurmctld slurmd slurm-client munge >/dev/null 2>&1 ||
		left_out Slurm "its packages are not to be had"
}

reapipeer
remote_worker
nginx
slurm
exit 0
