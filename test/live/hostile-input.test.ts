/**
 * Input that well-behaved clients never send, too large or too slow for `test/hostile`: the answer
 * is the server's error or a closed connection, and other connections are not disturbed.
 */
import t, { type Test } from 'tap'
import { encode } from '@shardlab/bson'
import { ShardedCluster } from 'shardlab'
import { encodeCommand } from '@shardlab/wire'
import { RawClient } from '../support/raw-client.js'

const cluster = await ShardedCluster.start({ shards: 2 })
const endpoint = cluster.mongos[0]!
const survivor = await RawClient.connect(endpoint)
t.teardown(async () => {
  survivor.close()
  await cluster.stop()
})
const stillThere = async (t: Test) =>
  t.equal((await survivor.command({ ping: 1, $db: 'admin' }))['ok'], 1, 'another connection is not disturbed')

t.test('a document of 17 MB is refused', async (t) => {
  const raw = await RawClient.connect(endpoint)
  const reply = await raw.command({ insert: 'c', $db: 'app' }, [
    ['documents', [encode({ _id: 1, text: 'x'.repeat(17 * 1024 * 1024) })]],
  ])
  t.equal(reply['ok'], 0)
  t.equal(reply['code'], 10334)
  const nearly = await raw.command({ insert: 'c', $db: 'app' }, [
    ['documents', [encode({ _id: 1, text: 'x'.repeat(16 * 1024 * 1024) })]],
  ])
  t.equal(nearly['ok'], 1)
  t.match(nearly['writeErrors'], [{ index: 0, errmsg: /too large/ }])
  raw.close()
  await stillThere(t)
})

t.test('100,001 writes in one batch are refused', async (t) => {
  const raw = await RawClient.connect(endpoint)
  const one = encode({ q: { _id: 1 }, limit: 1 })
  const reply = await raw.command({ delete: 'c', $db: 'app' }, [
    ['deletes', Array.from({ length: 100_001 }, () => one)],
  ])
  t.match(reply, { ok: 0, code: 16, codeName: 'InvalidLength' })
  raw.close()
  await stillThere(t)
})

t.test('a client that sends a byte at a time is answered, and blocks no other', async (t) => {
  const message = encodeCommand(1, encode({ ping: 1, $db: 'admin' }))
  const slow = await RawClient.connect(endpoint)
  const answer = slow.exchange(message.subarray(0, 1))
  for (let at = 1; at < message.length; at++) {
    await stillThere(t)
    slow.write(message.subarray(at, at + 1))
  }
  t.equal(Buffer.from(await answer).readInt32LE(8), 1, 'the response is to its request')
  slow.close()
})

t.test('a frame that claims 2^31 - 1 bytes closes the connection', async (t) => {
  const header = Buffer.alloc(16)
  header.writeInt32LE(2 ** 31 - 1, 0)
  header.writeInt32LE(2013, 12)
  const client = await RawClient.connect(endpoint)
  await t.rejects(client.exchange(header), { message: 'the connection was closed' })
  await stillThere(t)
})

t.test('a client that disconnects within a message leaves nothing behind', async (t) => {
  const message = encodeCommand(1, encode({ ping: 1, $db: 'admin' }))
  const open = async () => (await survivor.command({ serverStatus: 1, $db: 'admin' }))['connections']['current']
  const before = await open()
  const client = await RawClient.connect(endpoint)
  await client.exchange(message)
  client.write(message.subarray(0, message.length - 5))
  t.equal(await open(), before + 1)
  client.close()
  while ((await open()) !== before);
  await stillThere(t)
})
