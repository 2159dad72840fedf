#!/bin/sh
# Makes the certificates of these tests again, each after its subject as openssl prints it.
set -eu
cd "$(dirname "$0")"
# certificate NAME SUBJECT
certificate() {
  openssl req -x509 -utf8 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500 \
    -subj "$2" -keyout /dev/null 2>/dev/null |
    openssl x509 -subject -nameopt RFC2253 -out "$1.pem"
}
certificate plain '/C=US/O=Shardlab, Inc./CN=localhost'
certificate special '/CN=#a;"<b>=\\\+ '
certificate latin '/O=Bäckerei/CN=Jürgen 漢😀'
certificate levels '/O=a/OU=c+CN=b/CN=d'
certificate control "/CN=a$(printf '\nb')"
certificate digits '/CN=a0Ab'
certificate backslash '/CN=a\\+OU=evil'
certificate sum '/CN=a\\ \+ OU=evil'
certificate escape '/CN=a\\0Ab'
certificate space '/CN= '
