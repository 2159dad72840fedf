/**
 * Input that well-behaved clients never send: the answer is the server's error or a closed
 * connection, and the cluster stays up.
 */
import t, { type Test } from 'tap'
import { MongoClient } from 'mongodb'
import { encode } from '@shardlab/bson'
import { createRandom } from '@shardlab/actor'
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

async function attempt(message: Uint8Array): Promise<'closed' | 'answered'> {
  const client = await RawClient.connect(endpoint)
  const outcome = await Promise.race([
    client.exchange(message).then(
      () => 'answered' as const,
      () => 'closed' as const,
    ),
    client.closed().then(() => 'closed' as const),
  ])
  client.close()
  return outcome
}

t.test('a document of 17 MB is refused', async (t) => {
  const client = await MongoClient.connect(cluster.uri)
  await t.rejects(
    client
      .db('app')
      .collection('c')
      .insertOne({ text: 'x'.repeat(17 * 1024 * 1024) }),
  )
  await client.close()
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

t.test("an unknown command gets the server's error", async (t) => {
  t.match(await survivor.command({ fly: 1, $db: 'admin' }), {
    ok: 0,
    code: 59,
    codeName: 'CommandNotFound',
    errmsg: "no such command: 'fly'",
  })
})

t.test("unknown, missing and mistyped arguments get the server's errors", async (t) => {
  t.match(await survivor.command({ find: 'c', shoe: 1, $db: 'app' }), { ok: 0, code: 40415 })
  t.match(await survivor.command({ find: 'c', filter: 'x', $db: 'app' }), { ok: 0, code: 14, codeName: 'TypeMismatch' })
  t.match(await survivor.command({ insert: 'c', $db: 'app' }), { ok: 0, code: 40414 })
  t.match(await survivor.command({ find: 'c', filter: { a: { $foo: 1 } }, $db: 'app' }), {
    ok: 0,
    code: 2,
    codeName: 'BadValue',
  })
  t.match(await survivor.command({ find: '', $db: 'app' }), { ok: 0, code: 73, codeName: 'InvalidNamespace' })
})

t.test('invalid BSON gets an error or closes the connection', async (t) => {
  const body = Buffer.from(encode({ ping: 1, $db: 'admin', text: 'abc' }))
  body[body.indexOf('text') + 5] = 200
  await attempt(encodeCommand(1, body))
  await stillThere(t)
})

t.test('a truncated frame does no harm', async (t) => {
  const message = encodeCommand(1, encode({ ping: 1, $db: 'admin' }))
  const client = await RawClient.connect(endpoint)
  client.write(message.subarray(0, message.length - 5))
  client.close()
  await stillThere(t)
})

t.test('a frame that claims 2^31 - 1 bytes closes the connection', async (t) => {
  const header = Buffer.alloc(16)
  header.writeInt32LE(2 ** 31 - 1, 0)
  header.writeInt32LE(2013, 12)
  t.equal(await attempt(header), 'closed')
  await stillThere(t)
})

t.test('random bytes do no harm', async (t) => {
  const random = createRandom('hostile input')
  for (let i = 0; i < 50; i++) {
    const bytes = random.bytes(16 + random.below(300))
    const client = await RawClient.connect(endpoint)
    client.write(bytes)
    client.close()
  }
  await stillThere(t)
})
