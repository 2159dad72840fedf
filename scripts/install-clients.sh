#!/usr/bin/env bash
# Installs clients for the live tests: mongosh, Mongoose, Jest, older majors of the Node.js driver
# and newer versions of Node.js from npm (in test/clients), and drivers in other languages from
# Debian's packages: PyMongo with pytest, and PHP's, with --all also those that need a compiler or a
# runtime; a NATS server and a reader of msgpack; and a Chromium for the tests of reports.
# Tests of clients that are missing skip and say so. SHARDLAB_INSTALL_CLIENTS=0 installs nothing.
# Exit code 1: a client is missing although this machine has npm, or apt-get and root.
set -u
export DEBIAN_FRONTEND=noninteractive
failed=0
say() { echo "clients: $*" >&2; }

[ "${SHARDLAB_INSTALL_CLIENTS:-1}" = 0 ] && { say 'not installed (SHARDLAB_INSTALL_CLIENTS=0)'; exit 0; }
clients=$(cd "$(dirname "$0")/../test/clients" && pwd)
have_npm() { [ -x "$clients/node_modules/.bin/mongosh" ] && [ -d "$clients/node_modules/mongoose" ] && [ -d "$clients/node_modules/mongodb3" ] && [ -d "$clients/node_modules/jest" ] && [ -d "$clients/node_modules/mongodb-runner" ] && [ -d "$clients/node_modules/vitest" ]; }
if ! have_npm; then
  if (cd "$clients" && timeout 300 npm install --legacy-peer-deps --no-save --silent --no-progress </dev/null >/dev/null 2>&1) && have_npm; then
    say 'installed the clients from npm'
  else
    say 'could not install the clients from npm'
    failed=1
  fi
fi

command -v apt-get >/dev/null && command -v dpkg-query >/dev/null || { say 'no apt-get here, skipped'; exit $failed; }

wanted=(python3-pytest python3-pymongo python3-pymongo-ext python3-bson-ext python3-msgpack nats-server php-cli php-mongodb chromium)
if [ "${1:-}" = --all ]; then
  wanted+=(python3-mongoengine ruby-mongo libmongodb-perl gcc pkg-config libmongoc-dev golang-go golang-mongodb-mongo-driver-dev)
  # Any JDK will do: the newest one of the distribution only where there is none.
  command -v javac >/dev/null || wanted+=(default-jdk-headless)
  wanted+=(libmongodb-java junit5)
fi
missing=()
for package in "${wanted[@]}"; do
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit $failed

as_root=()
if [ "$(id -u)" != 0 ]; then
  sudo -n true 2>/dev/null || { say "not root, skipped: ${missing[*]}"; exit $failed; }
  as_root=(sudo -n)
fi

install() { timeout 300 "${as_root[@]}" apt-get install -y -q --no-install-recommends "$@" </dev/null >/dev/null 2>&1; }
install "${missing[@]}" && { say "installed ${missing[*]}"; exit $failed; }
timeout 120 "${as_root[@]}" apt-get update -q </dev/null >/dev/null 2>&1
# One at a time: a package that does not exist must not stop the installation of the others.
for package in "${missing[@]}"; do
  if install "$package"; then say "installed $package"; else say "could not install $package" && failed=1; fi
done
exit $failed
