#!/bin/sh
# Makes the certificates of these tests again. They are valid for a hundred years.
set -eu
cd "$(dirname "$0")"
days=36500
authority() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days "$days" \
    -subj "/O=Shardlab/OU=Tests/CN=$2" -keyout "$1.key" -out "$1.pem" 2>/dev/null
}
# certificate NAME AUTHORITY SUBJECT EXTENSION [openssl options]
certificate() {
  name=$1 by=$2 subject=$3 extension=$4
  shift 4
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "$subject" \
    -keyout "$name.key" -out "$name.csr" 2>/dev/null
  printf '%s\n' "$extension" > "$name.ext"
  openssl x509 -req -in "$name.csr" -CA "$by.pem" -CAkey "$by.key" -CAcreateserial \
    -extfile "$name.ext" -out "$name.crt" "$@" 2>/dev/null
  cat "$name.crt" "$name.key" > "$name.pem"
}
names='subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1'
authority ca 'Authority of tests'
authority other-ca 'Another authority'
certificate server ca '/C=US/O=Shardlab, Inc./OU=Tests/CN=localhost' "$names" -days "$days"
certificate server-2 ca '/O=Shardlab/OU=Tests/CN=rotated' "$names" -days "$days"
certificate server-expired ca '/O=Shardlab/CN=localhost' "$names" -days -1
certificate client ca '/O=Shardlab/OU=Clients/CN=client' 'extendedKeyUsage=clientAuth' -days "$days"
certificate client-expired ca '/O=Shardlab/OU=Clients/CN=expired' 'extendedKeyUsage=clientAuth' -days -1
certificate client-revoked ca '/O=Shardlab/OU=Clients/CN=revoked' 'extendedKeyUsage=clientAuth' -days "$days"
certificate client-other other-ca '/O=Shardlab/OU=Clients/CN=client' 'extendedKeyUsage=clientAuth' -days "$days"
openssl ec -in server.key -aes256 -passout pass:secret -out encrypted.key 2>/dev/null
cat server.crt encrypted.key > server-encrypted.pem
: > index.txt
echo 01 > crlnumber
printf '[ca]\ndefault_ca=d\n[d]\ndatabase=index.txt\ncrlnumber=crlnumber\ndefault_md=sha256\n' > crl.cnf
openssl ca -config crl.cnf -revoke client-revoked.crt -keyfile ca.key -cert ca.pem 2>/dev/null
openssl ca -config crl.cnf -gencrl -crldays "$days" -keyfile ca.key -cert ca.pem -out crl.pem 2>/dev/null
rm -f ./*.key ./*.csr ./*.ext ./*.crt ./*.srl index.txt* crlnumber* crl.cnf
