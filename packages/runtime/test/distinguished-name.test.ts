import t from 'tap'
import { distinguishedName, isOfCluster } from '../src/gateway/tls/distinguished-name.js'

t.test('names are written as RFC 2253', async (t) => {
  t.equal(
    distinguishedName('C=US\nO=Shardlab\\, Inc.\nCN=localhost\n'),
    String.raw`CN=localhost,O=Shardlab\, Inc.,C=US`,
  )
  t.equal(distinguishedName('O=a\nCN=b + OU=c'), 'CN=b+OU=c,O=a', 'two attributes of one level')
  t.equal(distinguishedName('CN=#a;"<b> '), String.raw`CN=\#a\;\"\<b\>\ `)
})

t.test('certificates of a cluster have the same organizations, units and domains', async (t) => {
  const member = 'C=US\nO=Shop\nOU=Members + OU=Shards\nDC=example\nCN=a'
  t.ok(isOfCluster('DC=example\nOU=Shards\nOU=Members\nO=Shop\nCN=b', member), 'in any order')
  for (const other of ['O=Shop\nOU=Members\nDC=example', 'O=Shop\nOU=Shards\nOU=members\nDC=example', 'CN=a', ''])
    t.notOk(isOfCluster(other, member), other)
  t.notOk(isOfCluster('CN=a', 'CN=a'), 'without any there is no cluster')
})
