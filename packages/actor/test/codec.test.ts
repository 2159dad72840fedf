import { deepStrictEqual, throws } from 'node:assert'
import t from 'tap'
import fc from 'fast-check'
import { Packr, Unpackr } from 'msgpackr'
import { value } from './support/payload-values.js'
import {
  AddressDirectory,
  catalogue,
  kindShape,
  kindShapeAt,
  packetTypes,
  PacketWriter,
  readPacket,
  readPacketInPlace,
  UnpackableValueError,
  type Exchange,
  type MessageKind,
  type MessageTuple,
  type Packet,
} from '../src/index.js'

const kinds = Object.keys(catalogue) as MessageKind[]
const exchangeOf = (kind: MessageKind) => catalogue[kind] as unknown as Exchange<never, never>
const nodeExample = catalogue['node.command'].example

const plain = new Unpackr({ useRecords: false })

function addBody(writer: PacketWriter, body: unknown): void {
  writer.addRequest(1, 0, 1, 'node.command', { ...nodeExample.request, body: body as Uint8Array })
}

function bodyOf(packet: Uint8Array, at = 0): unknown {
  const message = readPacket(packet)[at]!
  return (kindShapeAt(message[4]).toRequest(message[5]) as { body: unknown }).body
}

t.test('a message of every kind is read as it was written', async (test) => {
  for (const kind of kinds) {
    const { request, reply } = exchangeOf(kind).example
    const writer = new PacketWriter({ checked: true })
    writer.addRequest(7, 1, 2, kind, request)
    writer.addNotice(1, 2, kind, request)
    writer.addReply(7, 2, 1, kind, reply)
    const messages = readPacket(writer.take())
    const { index, isGossiped, toRequest, toReply } = kindShape(kind)
    test.same(
      messages.map(([type, id, to, from, number]) => [type, id, to, from, number]),
      [
        [packetTypes.request, 7, 1, 2, index],
        [packetTypes.notice, 0, 1, 2, index],
        [packetTypes.reply, 7, 2, 1, index],
      ],
      kind,
    )
    const time = isGossiped ? { clusterTime: null } : {}
    test.same(toRequest(messages[0]![5]), { ...(request as object), ...time }, `${kind} request`)
    test.same(toRequest(messages[1]![5]), { ...(request as object), ...time }, `${kind} notice`)
    test.same(toReply(messages[2]![5]), { ...(reply as object), ...time }, `${kind} reply`)
  }
})

t.test('a packet is plain msgpack', async (test) => {
  const writer = new PacketWriter()
  const { request } = catalogue['client.command'].example
  writer.addRequest(5, 300, 70_000, 'client.command', request)
  writer.addFailure(6, 1, 2, 'client.command', ['unreachable', true, 'no such member'])
  const { index } = kindShape('client.command')
  test.same(plain.unpack(writer.take()), [
    [0, 5, 300, 70_000, index, catalogue['client.command'].requestFields.map((field) => request[field])],
    [3, 6, 1, 2, index, ['unreachable', true, 'no such member']],
  ])
})

t.test('values are written as msgpackr writes them', async (test) => {
  const packr = new Packr({ useRecords: false })
  fc.assert(
    fc.property(value, (body) => {
      const writer = new PacketWriter()
      addBody(writer, body)
      const packet = writer.take()
      deepStrictEqual(bodyOf(packet), body)
      const payload = catalogue['node.command'].requestFields.map((field) =>
        field === 'body' ? body : nodeExample.request[field],
      )
      const bytes = packr.pack([[0, 1, 0, 1, kindShape('node.command').index, payload]])
      if (!containsLongText(body)) deepStrictEqual(Buffer.from(packet).toString('hex'), bytes.toString('hex'))
    }),
  )
  test.pass()
})

/** msgpackr writes a longer header than needed for texts whose length in bytes it guesses wrong. */
function containsLongText(body: unknown): boolean {
  if (typeof body === 'string') return body.length >= 10
  return Array.isArray(body) && body.some(containsLongText)
}

t.test('long texts, byte arrays and arrays are read as they were written', async (test) => {
  for (const body of [
    'x'.repeat(70_000),
    'é'.repeat(40),
    'é'.repeat(200),
    'é'.repeat(40_000),
    'x'.repeat(31) + 'é',
    new Uint8Array(70_000).fill(7),
    Array.from({ length: 70_000 }, (_, i) => i),
  ]) {
    const writer = new PacketWriter()
    addBody(writer, 'first')
    addBody(writer, body)
    addBody(writer, 'last')
    const packet = writer.take()
    test.same(bodyOf(packet, 1), body)
    test.equal(bodyOf(packet, 2), 'last')
    test.same(plain.unpack(packet)[1][5][1], body)
  }
})

t.test('a value that no message can hold is refused, and the packet stays unchanged', async (test) => {
  const refused: [unknown, RegExp][] = [
    [() => 1, /node.command request.body: a value of type function/],
    [undefined, /request.body: a value of type undefined/],
    [1n, /a value of type bigint/],
    [Symbol.iterator, /a value of type symbol/],
    [0.5, /the number 0.5/],
    [Number.NaN, /the number NaN/],
    [2 ** 53, /the number 9007199254740992/],
    [new Date(0), /an object \(Date\)/],
    [new Map(), /an object \(Map\)/],
    [{ a: 1 }, /an object \(Object\)/],
    [Object.create(null), /an object \(without prototype\)/],
    [new Float64Array(1), /an object \(Float64Array\)/],
    [[1, [2, [undefined]]], /a value of type undefined/],
  ]
  const writer = new PacketWriter()
  addBody(writer, 'before')
  for (const [body, message] of refused) {
    test.throws(() => addBody(writer, body), UnpackableValueError)
    test.throws(() => addBody(writer, body), message)
  }
  test.throws(
    () => writer.addReply(1, 1, 1, 'node.command', undefined as never),
    /node.command reply: undefined cannot travel/,
  )
  addBody(writer, 'after')
  test.equal(writer.messageCount, 2)
  const packet = writer.take()
  test.equal(readPacket(packet).length, 2)
  test.equal(bodyOf(packet, 1), 'after')
  const stranger = { ...nodeExample.reply, extra: 1 }
  writer.addReply(1, 1, 1, 'node.command', stranger)
  test.throws(
    () => new PacketWriter({ checked: true }).addReply(1, 1, 1, 'node.command', stranger),
    /node.command reply.extra: a field that the exchange does not have/,
  )
  const heir = Object.assign(Object.create({ inherited: 1 }) as object, nodeExample.reply)
  new PacketWriter({ checked: true }).addReply(1, 1, 1, 'node.command', heir)
})

t.test('an exception while a value is written leaves the packet unchanged', async (test) => {
  const writer = new PacketWriter()
  addBody(writer, 'before')
  const broken = {
    ...nodeExample.request,
    get body(): Uint8Array {
      throw new Error('on purpose')
    },
  }
  test.throws(() => writer.addRequest(1, 0, 1, 'node.command', broken), /on purpose/)
  let deep: unknown = 1
  for (let depth = 0; depth < 100_000; depth++) deep = [deep]
  test.throws(() => addBody(writer, deep), RangeError)
  addBody(writer, 'after')
  const packet = writer.take()
  test.same([bodyOf(packet, 0), bodyOf(packet, 1), readPacket(packet).length], ['before', 'after', 2])
})

t.test(
  'a packet with values that our writer never writes is read by msgpackr, and a truncated packet is refused',
  async (test) => {
    const packr = new Packr({ useRecords: false })
    const { index } = kindShape('node.command')
    for (const body of [{ a: 1 }, 0.1, new Date(0), [1n << 60n], 'x']) {
      const [first, second] = readPacket(
        packr.pack([
          [0, 1, 0, 1, index, [body]],
          [1, 2, 0, 1, index, [body, 7]],
        ]),
      )
      test.same([first![5], second![5]], [[body], [body, 7]])
    }
    const writer = new PacketWriter()
    for (const body of [new Uint8Array(300), 'x'.repeat(300), [2 ** 40, -70_000, 70_000, -5]]) addBody(writer, body)
    const packet = writer.take()
    for (let length = 0; length < packet.length; length += 7)
      test.throws(() => readPacket(packet.subarray(0, length)), `${length} bytes`)
    test.equal(readPacket(packet).length, 3, 'and does not disturb the next packet')
  },
)

t.test('the cache of texts returns the right text for equal hashes', async (test) => {
  const texts = [
    'test',
    'tesu',
    '\uFEFFtest',
    '',
    'x'.repeat(64),
    'x'.repeat(65),
    'tést',
    't\u0000st',
    '\uD800',
    'test',
  ]
  for (const text of [...texts, ...texts]) {
    const writer = new PacketWriter()
    addBody(writer, text)
    test.equal(bodyOf(writer.take()), text === '\uD800' ? '\uFFFD' : text)
  }
})

t.test('a message is a snapshot, a packet has the size of its content, and a writer can be reused', async (test) => {
  const writer = new PacketWriter()
  const body = new Uint8Array([1, 2, 3])
  addBody(writer, body)
  body.fill(9)
  const packet = writer.take()
  test.same(bodyOf(packet), new Uint8Array([1, 2, 3]))
  test.equal(packet.buffer.byteLength, packet.length)
  test.equal((bodyOf(packet) as Uint8Array).buffer, packet.buffer, 'a view on the packet')
  test.equal(writer.messageCount, 0)
  test.equal(writer.sizeBytes, 0)
  addBody(writer, 'again')
  test.equal(bodyOf(writer.take()), 'again')
  for (const count of [0, 15, 16, 70_000]) {
    for (let i = 0; i < count; i++) writer.addNotice(0, 1, 'client.disconnected', { connectionId: i })
    test.equal(readPacket(writer.take()).length, count)
  }
})

t.test('a large packet takes the buffer of its writer along', async (test) => {
  const large = 3 * 1024 * 1024
  for (const pooled of [false, true]) {
    const writer = new PacketWriter({ pooled })
    const other = new PacketWriter({ pooled })
    const packets: Packet[] = []
    for (const size of [10, large, 20, large, 30]) {
      addBody(other, 'between')
      addBody(writer, new Uint8Array(size).fill(size & 0xff))
      packets.push(writer.takeInPlace())
    }
    test.equal(new Set(packets.map(({ buffer }) => buffer)).size > 2, true)
    for (const [i, size] of [10, large, 20, large, 30].entries()) {
      const { bytes, start, end } = packets[i]!
      const body = bodyOf(bytes.subarray(start, end)) as Uint8Array
      test.equal(Buffer.compare(body, new Uint8Array(size).fill(size & 0xff)), 0)
    }
    test.equal(bodyOf(other.take()), 'between')
  }
})

t.test('interleaved pooled writers write the same packets as unpooled ones', async () => {
  const step = fc.record({
    writer: fc.nat(3),
    what: fc.oneof(
      { weight: 8, arbitrary: fc.nat(300) },
      fc.integer({ min: 16_000, max: 90_000 }),
      fc.constantFrom('refused', 'take', 'many'),
    ),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const pairs = Array.from({ length: 4 }, () => ({
        pooled: new PacketWriter({ pooled: true }),
        plain: new PacketWriter(),
      }))
      const taken: { readonly packet: Packet; readonly expected: Uint8Array }[] = []
      const take = ({ pooled, plain }: (typeof pairs)[number]) =>
        taken.push({ packet: pooled.takeInPlace(), expected: plain.take() })
      for (const [i, { writer, what }] of steps.entries()) {
        const pair = pairs[writer]!
        if (what === 'take') take(pair)
        else
          for (const each of [pair.pooled, pair.plain]) {
            if (typeof what === 'number') addBody(each, new Uint8Array(what).fill(i))
            else if (what === 'many') for (let count = 0; count < 9; count++) addBody(each, count)
            else throws(() => addBody(each, undefined), UnpackableValueError)
          }
        deepStrictEqual(pair.pooled.sizeBytes, pair.plain.sizeBytes)
      }
      pairs.forEach(take)
      for (const { packet, expected } of taken) {
        deepStrictEqual(packet.bytes.subarray(packet.start, packet.end), expected)
        deepStrictEqual(packet.bytes.buffer, packet.buffer)
        deepStrictEqual(readPacketInPlace(packet), readPacket(expected))
      }
    }),
  )
})

t.test('each kind has a number', async (test) => {
  kinds.forEach((kind, index) => test.equal(kindShape(kind).index, index))
  test.equal(kindShapeAt(0).kind, kinds[0])
  test.throws(() => kindShape('no.such'), /no message kind no.such/)
  test.throws(() => kindShapeAt(10_000), /no message kind number 10000/)
})

t.test('messages keep their order in a packet', async (test) => {
  const tuples: MessageTuple[] = []
  const writer = new PacketWriter()
  for (let i = 0; i < 100; i++) writer.addRequest(i, 1, 2, 'client.disconnected', { connectionId: i })
  tuples.push(...readPacket(writer.take()))
  test.same(
    tuples.map(([, id]) => id),
    Array.from({ length: 100 }, (_, i) => i),
  )
})

t.test('a directory assigns each address one number', async (test) => {
  const directory = new AddressDirectory()
  test.equal(directory.add('cluster'), 0)
  test.equal(directory.add('shard01'), 1)
  test.equal(directory.add('cluster'), 0)
  test.equal(directory.indexOf('shard01'), 1)
  test.equal(directory.indexOf('shard02'), undefined)
  test.equal(directory.addressOf(1), 'shard01')
  test.equal(directory.addressOf(7), undefined)
  test.same(directory.entries(), [
    [0, 'cluster'],
    [1, 'shard01'],
  ])
  const copy = new AddressDirectory()
  copy.set(1, 'shard01')
  copy.set(1, 'shard01')
  test.equal(copy.size, 2)
  test.throws(() => copy.set(1, 'shard02'), /shard02 cannot have the number 1/)
  test.throws(() => copy.set(2, 'shard01'), /shard01 cannot have the number 2/)
  copy.set(0, 'cluster')
  test.same(copy.entries(), directory.entries())
})

t.test('a member can have further names, which never hide an address', async (t) => {
  const directory = new AddressDirectory()
  const [rs0, rs1] = [directory.add('rs0'), directory.add('rs1')]
  directory.name('rs0', 'east')
  t.equal(directory.indexOf('east'), rs0)
  t.equal(directory.addressOf(rs0), 'rs0')
  t.same(directory.names(), [['east', 'rs0']])
  directory.name('rs1', 'east')
  t.equal(directory.indexOf('east'), rs1, 'a name can move')
  t.throws(() => directory.name('rs0', 'rs1'), /^rs1 is the address of a member/)
  t.throws(() => directory.name('east', 'west'), /^there is no address east/)
  const east = directory.add('east')
  t.equal(directory.addressOf(east), 'east')
  t.equal(directory.indexOf('east'), east, 'a new member takes its address')
  t.same(directory.names(), [])
  t.same(directory.entries().length, 3)
})

t.test('a directory resolves addresses, further names and replica sets', async (t) => {
  const directory = new AddressDirectory()
  directory.add('shard01')
  directory.join('shard01', 'shard01')
  t.same(directory.resolve('shard01'), ['shard01'], 'the only member has the name of its set')
  const members = ['shard02-1', 'shard02-2', 'shard02-3']
  for (const member of members) {
    directory.add(member)
    directory.join('shard02', member)
    directory.join('shard02', member)
    directory.name(member, `127.0.0.1:2701${member.at(-1)!}`)
  }
  t.same(directory.resolve('shard02'), members)
  t.same(directory.resolve('shard02-2'), ['shard02-2'])
  t.same(directory.resolve('127.0.0.1:27013'), ['shard02-3'])
  t.same(directory.resolve('shard03'), [])
  t.equal(directory.indexOf('shard02'), undefined, 'a set with several members is no destination')

  directory.name('shard02', 'east')
  t.same(directory.resolve('east'), members)
  t.throws(() => directory.name('shard01', 'shard02'), /^shard02 is a replica set/)
  const copy = new AddressDirectory()
  for (const [index, address] of directory.entries()) copy.set(index, address)
  for (const member of members) copy.join('shard02', member)
  for (const [name, address] of directory.names()) copy.name(address, name)
  t.same(copy.resolve('east'), members)
  t.same(copy.resolve('127.0.0.1:27011'), ['shard02-1'])

  directory.name('shard01', 'east')
  t.same(directory.resolve('east'), ['shard01'], 'a name can move from a set to a member')
  directory.name('shard02', 'east')
  t.same(directory.resolve('east'), members, 'and back')

  directory.leave('shard02-1')
  directory.leave('shard02-3')
  t.same(directory.resolve('shard02'), ['shard02-2'])
  t.equal(directory.indexOf('east'), directory.indexOf('shard02-2'), 'a set with one member is a destination')
  t.same(directory.resolve('127.0.0.1:27011'), [], 'a member that left has no further names')
  directory.leave('shard02-2')
  t.same(directory.resolve('shard02'), [])
  t.throws(() => directory.leave('shard02'), /^there is no address shard02/)
})
