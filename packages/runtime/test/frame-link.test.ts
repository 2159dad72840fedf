import fc from 'fast-check'
import { unpack } from 'msgpackr'
import t from 'tap'
import { decodeMessage, encodePart, encodeState } from '../src/nats/frame-codec.js'
import { FrameLink } from '../src/nats/frame-link.js'

const bytes = (length: number, fill = length): Uint8Array => new Uint8Array(length).fill(fill)

/** Two ends, and what is under way between them. */
function pair(options: { readonly messageBytesMax?: number; readonly unreceivedBytesMax?: number } = {}) {
  const { messageBytesMax = 64, unreceivedBytesMax = 1_000_000 } = options
  const ends = [0, 1].map((i) => {
    const end = {
      underWay: [] as Uint8Array[],
      /** Since the last break. */
      frames: [] as Uint8Array[],
      broken: [] as string[],
      limits: [] as number[],
      link: new FrameLink({
        messageBytesMax,
        unreceivedBytesMax,
        send: (message) => end.underWay.push(message),
        onFrame: (frame) => end.frames.push(frame),
        onBroken: (why) => {
          end.broken.push(why)
          end.frames = []
        },
        onLimit: (value) => end.limits.push(value),
      }),
      deliver: (): boolean => {
        const message = end.underWay.shift()
        if (message !== undefined) ends[1 - i]!.link.receive(message)
        return message !== undefined
      },
    }
    return end
  })
  return ends as [(typeof ends)[0], (typeof ends)[0]]
}

function settle(ends: ReturnType<typeof pair>): void {
  for (let round = 0; round < 5; round++) {
    for (const { link } of ends) link.tick()
    while (ends[0].deliver() || ends[1].deliver());
  }
}

t.test('frames of any size arrive whole and in order, in both directions', (t) => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(1), fc.nat(300), fc.boolean())), (writes) => {
      const ends = pair()
      const sent: Uint8Array[][] = [[], []]
      for (const [from, length, delivers] of writes) {
        const frame = bytes(length, sent[from]!.length)
        sent[from]!.push(frame)
        ends[from]!.link.write(frame)
        if (delivers) ends[from]!.deliver()
      }
      settle(ends)
      return (
        ends.every(({ broken }) => broken.length === 0) &&
        [0, 1].every((i) => Buffer.concat(ends[1 - i]!.frames).equals(Buffer.concat(sent[i]!))) &&
        [0, 1].every((i) => ends[1 - i]!.frames.length === sent[i]!.length)
      )
    }),
  )
  t.end()
})

t.test('with losses, what arrives after a break of both ends is a sequence without gaps', (t) => {
  const action = fc.record({
    end: fc.nat(1),
    kind: fc.constantFrom('write', 'deliver', 'lose', 'tick'),
    length: fc.nat(150),
  })
  fc.assert(
    fc.property(fc.array(action, { maxLength: 200 }), (actions) => {
      const ends = pair()
      const writes = [0, 0]
      /** Numbers of the frames that arrived, by the receiver. */
      const arrived = (i: number) => ends[i]!.frames.map((frame) => new DataView(frame.buffer).getUint32(0))
      const consecutive = (numbers: number[]) => numbers.every((n, i) => i === 0 || n === numbers[i - 1]! + 1)
      const write = (i: number, length: number) => {
        const frame = new Uint8Array(4 + length)
        new DataView(frame.buffer).setUint32(0, writes[i]!++)
        ends[i]!.link.write(frame)
      }
      for (const { end, kind, length } of actions) {
        if (kind === 'write') write(end, length)
        else if (kind === 'deliver') ends[end]!.deliver()
        else if (kind === 'lose') ends[end]!.underWay.shift()
        else ends[end]!.link.tick()
        if (!consecutive(arrived(0)) || !consecutive(arrived(1))) return false
      }
      // Without further losses the ends agree again, and everything arrives.
      settle(ends)
      const from = [...writes]
      for (const i of [0, 1]) for (let k = 0; k < 3; k++) write(i, 200)
      settle(ends)
      return [0, 1].every((i) => {
        const last = arrived(1 - i).slice(-3)
        return last.length === 3 && last.every((n, k) => n === from[i]! + k)
      })
    }),
    { numRuns: 500 },
  )
  t.end()
})

t.test('a loss is noticed without further frames, and by both ends', (t) => {
  const [one, other] = pair()
  one.link.write(bytes(10))
  one.underWay.length = 0
  settle([one, other])
  t.same(other.broken, ['messages between the hosts were lost'])
  t.same(one.broken, ['the other host has closed the connection'])
  t.end()
})

t.test('a link breaks when the other end does not receive for too long', (t) => {
  const [one, other] = pair({ unreceivedBytesMax: 500 })
  one.link.write(bytes(2000))
  t.same(one.broken, [], 'one frame may be larger')
  one.link.write(bytes(1))
  t.same(one.limits, [2001])
  t.same(one.broken, ['the other host received too slowly'])
  settle([one, other])
  one.link.write(bytes(400))
  settle([one, other])
  one.link.write(bytes(400))
  settle([one, other])
  t.equal(one.broken.length, 1, 'received bytes no longer count')
  t.equal(other.frames.length, 2)
  t.end()
})

t.test('an idle link sends nothing', (t) => {
  const ends = pair()
  ends[0].link.write(bytes(10))
  settle(ends)
  for (const { link } of ends) link.tick()
  t.same(
    ends.map(({ underWay }) => underWay.length),
    [0, 0],
  )
  t.end()
})

t.test('messages are msgpack, and anything else is ignored', (t) => {
  const part = { epoch: 1, number: 4_000_000_000, received: 3, left: 2 }
  t.same(unpack(encodePart(part, Uint8Array.of(9, 8))), [1, 4_000_000_000, 3, 2, Buffer.of(9, 8)])
  t.same(unpack(encodeState(part)), [1, 4_000_000_000, 3])
  t.same(decodeMessage(encodePart(part, Uint8Array.of(9, 8))), { ...part, bytes: Uint8Array.of(9, 8) })
  t.same(decodeMessage(encodeState(part)), { ...part, left: 0, bytes: null })
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.nat(60), (noise, cut) => {
      const [one, other] = pair()
      one.link.receive(noise)
      one.link.receive(encodePart(part, bytes(20)).subarray(0, Math.min(cut, 46)))
      one.link.write(bytes(5))
      settle([one, other])
      return other.frames.length === 1
    }),
  )
  t.end()
})
