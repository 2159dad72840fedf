#!/usr/bin/env bash
# The clients that the live tests drive and that starting a cluster does not need: mongosh from npm (in test/clients), and from Debian's
# packages two drivers in other languages, PyMongo and PHP's. Never fails: where they cannot be installed, those tests skip and say
# so. SHARDLAB_INSTALL_CLIENTS=0 leaves it out.
set -u
export DEBIAN_FRONTEND=noninteractive
say() { echo "clients: $*" >&2; }

[ "${SHARDLAB_INSTALL_CLIENTS:-1}" = 0 ] && { say 'not installed (SHARDLAB_INSTALL_CLIENTS=0)'; exit 0; }
clients=$(cd "$(dirname "$0")/../test/clients" && pwd)
if [ ! -x "$clients/node_modules/.bin/mongosh" ]; then
  if (cd "$clients" && timeout 300 npm install --no-save --silent --no-progress </dev/null >/dev/null 2>&1) && [ -x "$clients/node_modules/.bin/mongosh" ]; then
    say 'installed mongosh'
  else
    say 'could not install mongosh'
  fi
fi

command -v apt-get >/dev/null && command -v dpkg-query >/dev/null || { say 'no apt-get here, skipped'; exit 0; }

missing=()
for package in python3-pymongo python3-pymongo-ext python3-bson-ext php-cli php-mongodb; do
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" != 0 ]; then
  sudo -n true 2>/dev/null || { say "not root, skipped: ${missing[*]}"; exit 0; }
  as_root=(sudo -n)
fi

install() { timeout 300 "${as_root[@]}" apt-get install -y -q --no-install-recommends "$@" </dev/null >/dev/null 2>&1; }
install "${missing[@]}" && { say "installed ${missing[*]}"; exit 0; }
timeout 120 "${as_root[@]}" apt-get update -q </dev/null >/dev/null 2>&1
# One at a time: one that does not exist must not keep the others away.
for package in "${missing[@]}"; do
  if install "$package"; then say "installed $package"; else say "could not install $package"; fi
done
exit 0
