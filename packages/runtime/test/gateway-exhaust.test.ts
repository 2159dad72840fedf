import { decode, encode, ObjectId, Long, type Document } from '@shardlab/bson'
import { encodeCommand, MsgFlag } from '@shardlab/wire'
import t from 'tap'
import { deferred, FakeTarget, open, RawClient } from './gateway-helpers.js'

const processId = new ObjectId('0123456789abcdef01234567')
const topologyVersion = (counter: number) => ({ processId, counter: Long.fromNumber(counter) })
const awaitable = { hello: 1, topologyVersion: topologyVersion(0), maxAwaitTimeMS: 1 }
const exhaust = MsgFlag.exhaustAllowed

let lastRequestId = 0
/** The command's name is the first field, as clients send it. */
function send(client: RawClient, command: Document, flags = 0): number {
  client.write(encodeCommand(++lastRequestId, encode({ ...command, $db: 'admin' }), { flags }))
  return lastRequestId
}

t.test('an awaitable hello is answered by a stream of answers, each responding to the one before', async (t) => {
  const gates = [deferred<void>(), deferred<void>(), deferred<void>()]
  let hellos = 0
  const target = new FakeTarget(async () => {
    await gates[hellos]?.promise
    return { topologyVersion: topologyVersion(++hellos), ok: 1 }
  })
  const { gateway } = await open(target)
  t.teardown(() => gateway.close())
  const client = await RawClient.open(gateway)
  let asked = send(client, awaitable, exhaust)
  for (let i = 0; i < 3; i++) {
    gates[i]!.resolve()
    const reply = await client.reply()
    t.equal(reply.responseTo, asked)
    t.equal(reply.flags & MsgFlag.moreToCome, MsgFlag.moreToCome)
    asked = reply.requestId
  }
  const counters = target.commands.slice(0, 3).map(({ body }) => Number(decode(body)['topologyVersion'].counter))
  t.same(counters, [0, 1, 2], 'each request asks for changes since the last answer')
  client.socket.destroy()
  await target.disconnections(1)
})

t.test('a stream whose answers come at once does not starve other clients', async (t) => {
  const target = new FakeTarget((command) =>
    'hello' in command ? { topologyVersion: topologyVersion(0), ok: 1 } : { ok: 1 },
  )
  const { gateway } = await open(target)
  t.teardown(() => gateway.close())
  const streaming = await RawClient.open(gateway)
  const other = await RawClient.open(gateway)
  send(streaming, awaitable, exhaust)
  for (let i = 0; i < 20; i++) await streaming.reply()
  t.same(await other.run({ ping: 1 }), { ok: 1 })
  streaming.socket.end()
  await streaming.close()
  other.socket.end()
  await target.disconnections(2)
  const answered = target.commands.length
  await new Promise(setImmediate)
  t.equal(target.commands.length, answered, 'nothing runs for a client that is gone')
})

t.test('any other request gets one answer', async (t) => {
  const target = new FakeTarget((command): Document =>
    command['fails'] === true ? { ok: 0, code: 1, errmsg: 'no' } : { topologyVersion: topologyVersion(0), ok: 1 },
  )
  const { gateway } = await open(target)
  t.teardown(() => gateway.close())
  const client = await RawClient.open(gateway)
  const cases: [Document, number][] = [
    [{ hello: 1 }, exhaust],
    [awaitable, 0],
    [{ ...awaitable, fails: true }, exhaust],
    [{ ping: 1, topologyVersion: topologyVersion(0), maxAwaitTimeMS: 1 }, exhaust],
  ]
  for (const [command, flags] of cases) {
    const asked = send(client, command, flags)
    const reply = await client.reply()
    t.equal(reply.responseTo, asked)
    t.equal(reply.flags & MsgFlag.moreToCome, 0)
  }
  t.equal(target.commands.length, cases.length)
  client.socket.end()
})
