import { decode, writeInt32 } from '@shardlab/bson'
import { MsgFlag } from '@shardlab/wire'
import t from 'tap'
import { deferred, FakeTarget, open, RawClient } from './gateway-helpers.js'
import { findCompressor } from '../src/gateway/compressors.js'

const bytes = (size: number): string => 'x'.repeat(size)
const refusal = { ok: 0, code: 365, codeName: 'TemporarilyUnavailable' }

t.test('D614 requests that would exceed the memory of requests fail until others are answered', async (t) => {
  const gate = deferred<void>()
  const target = new FakeTarget(async ({ wait, n }) => {
    if (wait === true) await gate.promise
    return { ok: 1, n }
  })
  const reached: unknown[] = []
  const { gateway } = await open(target, {
    limits: { requestBytesMax: 100_000 },
    onLimit: (limit, value) => reached.push([limit, value]),
  })
  t.teardown(() => gateway.close())
  const [waiting, other] = await Promise.all([RawClient.open(gateway), RawClient.open(gateway)])
  waiting.send({ test: 1, n: 1, wait: true, data: bytes(60_000) })
  while (target.commands.length === 0) await new Promise(setImmediate)
  t.match(await other.run({ test: 1, n: 2, data: bytes(60_000) }), refusal)
  t.match(await other.run({ test: 1, n: 3, data: bytes(30_000) }), { ok: 1, n: 3 }, 'a smaller one still fits')
  t.match(await other.run({ test: 1, n: 4, data: bytes(30_000) }), { ok: 1, n: 4 }, 'after it was answered')
  gate.resolve()
  t.match(decode((await waiting.reply()).body), { n: 1 })
  t.match(await other.run({ test: 1, n: 5, data: bytes(60_000) }), { ok: 1, n: 5 })
  t.match(await other.run({ test: 1, n: 6, data: bytes(100_000) }), refusal, 'too large for any time')
  other.send({ test: 1, n: 7, data: bytes(100_000) }, { flags: MsgFlag.moreToCome })
  t.match(await other.run({ test: 1, n: 8 }), { n: 8 }, 'a request without answer is refused without answer')
  t.same(
    target.commands.map(({ body }) => decode(body)['n']),
    [1, 3, 4, 5, 8],
  )
  t.same(
    reached,
    [
      ['requestBytesMax', 100_000],
      ['requestBytesMax', 100_000],
    ],
    'the first refusal, and the first after others were answered',
  )
})

t.test('a part of a request counts, small requests do not, and a closed connection counts nothing', async (t) => {
  const target = new FakeTarget(({ n }) => ({ ok: 1, n }))
  const { gateway } = await open(target, { limits: { requestBytesMax: 65_536 } })
  t.teardown(() => gateway.close())
  const [slow, other] = await Promise.all([RawClient.open(gateway), RawClient.open(gateway)])
  const part = Buffer.alloc(65_000)
  writeInt32(part, 0, 65_536)
  writeInt32(part, 12, 2013)
  slow.write(part)
  // The gateway has read the part when it refuses the other client.
  const large = { test: 1, n: 1, data: bytes(2000) }
  while ((await other.run(large))['ok'] === 1) await new Promise(setImmediate)
  t.match(await other.run(large), refusal)
  t.match(await other.run({ test: 1, n: 2, data: bytes(500) }), { ok: 1 })
  slow.socket.destroy()
  await target.disconnections(1)
  t.match(await other.run(large), { ok: 1 })
})

t.test('a client that only announces a large request does not keep others out', async (t) => {
  const target = new FakeTarget(({ n }) => ({ ok: 1, n }))
  const { gateway } = await open(target, { limits: { requestBytesMax: 200_000 } })
  t.teardown(() => gateway.close())
  const [slow, other] = await Promise.all([RawClient.open(gateway), RawClient.open(gateway)])
  const head = Buffer.alloc(20)
  writeInt32(head, 0, 48_000_000)
  writeInt32(head, 12, 2013)
  slow.write(head)
  for (let n = 0; n < 20; n++) t.match(await other.run({ test: 1, n, data: bytes(100_000) }), { ok: 1, n })
})

t.test('a compressed request counts as it is without compression, and is refused by closing', async (t) => {
  const target = new FakeTarget(() => ({ ok: 1 }))
  const { gateway, lines } = await open(target, { limits: { requestBytesMax: 65_536 } })
  t.teardown(() => gateway.close())
  const client = await RawClient.open(gateway, findCompressor)
  const compressor = findCompressor(2)!
  t.match(await client.run({ test: 1, data: bytes(50_000) }, { compressor }), { ok: 1 })
  t.match(await client.run({ test: 1, data: bytes(50_000) }, { compressor }), { ok: 1 })
  client.send({ test: 1, data: bytes(70_000) }, { compressor })
  await client.close()
  t.match(lines, [{ message: 'request refused: connection closed', fields: { error: /the limit is 65536 bytes/ } }])
  t.equal(target.commands.length, 2)
})

t.test('a gateway listens on several addresses with one port, and counts their connections together', async (t) => {
  const target = new FakeTarget((_, { remote }) => ({ ok: 1, remote }))
  const reached: unknown[] = []
  const { gateway, lines } = await open(target, {
    furtherHosts: ['127.0.0.2'],
    limits: { maxIncomingConnections: 2 },
    onLimit: (limit, value) => reached.push([limit, value]),
  })
  const at = (host: string) => RawClient.open({ ...gateway, host, port: gateway.port } as typeof gateway)
  const [first, second] = [await at('127.0.0.1'), await at('127.0.0.2')]
  t.match(await first.run({ test: 1 }), { ok: 1 })
  t.match(await second.run({ test: 1 }), { ok: 1, remote: /^127\.0\.0\.\d+:/ })
  for (let i = 0; i < 3; i++) await (await at('127.0.0.2')).close()
  t.match(gateway, { connectionsMax: 2, rejectedConnections: 3 })
  t.same(reached, [['maxIncomingConnections', 2]])
  t.match(lines, [{ level: 'warn', message: 'connection refused because there are too many open connections' }])
  t.equal(lines.length, 1, 'only the first refusal is reported')
  second.socket.destroy()
  await target.disconnections(1)
  const third = await at('127.0.0.1')
  t.match(await third.run({ test: 1 }), { ok: 1 })
  await (await at('127.0.0.1')).close()
  t.same([reached.length, lines.length], [2, 2], 'and the first one after a client was accepted')
  await gateway.close()
  await Promise.all([first.close(), third.close()])
  await t.rejects(at('127.0.0.2'), { code: 'ECONNREFUSED' })
})
