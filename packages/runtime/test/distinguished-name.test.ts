import { X509Certificate } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { distinguishedName, isOfCluster } from '../src/gateway/tls/distinguished-name.js'

/** Certificates that `make.sh` has made, each after its subject as openssl prints it. */
const folder = new URL('../../test/subjects/', import.meta.url)

function subjectsOf(name: string): { printed: string; ours: string } {
  const file = readFileSync(new URL(name, folder), 'utf8')
  const printed = file.slice('subject='.length, file.indexOf('\n'))
  return { printed, ours: distinguishedName(new X509Certificate(file).subject) }
}

t.test('names are those that openssl prints as RFC 2253, but for control characters', async (t) => {
  const names = readdirSync(folder).filter((name) => name.endsWith('.pem'))
  t.equal(names.length, 10)
  for (const name of names) {
    const { printed, ours } = subjectsOf(name)
    t.equal(ours, name === 'control.pem' ? printed.replace(String.raw`\0A`, '\n') : printed, name)
  }
})

t.test('certificates with different subjects have different names', async (t) => {
  const names = readdirSync(folder).filter((name) => name.endsWith('.pem'))
  t.equal(new Set(names.map((name) => subjectsOf(name).ours)).size, names.length)
})

t.test('certificates of a cluster have the same organizations, units and domains', async (t) => {
  const member = 'C=US\nO=Shop\nOU=Members + OU=Shards\nDC=example\nCN=a'
  t.ok(isOfCluster('DC=example\nOU=Shards\nOU=Members\nO=Shop\nCN=b', member), 'in any order')
  for (const other of ['O=Shop\nOU=Members\nDC=example', 'O=Shop\nOU=Shards\nOU=members\nDC=example', 'CN=a', ''])
    t.notOk(isOfCluster(other, member), other)
  t.notOk(isOfCluster('CN=a', 'CN=a'), 'without any there is no cluster')
})
