import t from 'tap'
import { distinguishedName } from '../src/gateway/tls/distinguished-name.js'

t.test('names are written as RFC 2253', async (t) => {
  t.equal(
    distinguishedName('C=US\nO=Shardlab\\, Inc.\nCN=localhost\n'),
    String.raw`CN=localhost,O=Shardlab\, Inc.,C=US`,
  )
  t.equal(distinguishedName('O=a\nCN=b + OU=c'), 'CN=b+OU=c,O=a', 'two attributes of one level')
  t.equal(distinguishedName('CN=#a;"<b> '), String.raw`CN=\#a\;\"\<b\>\ `)
})
