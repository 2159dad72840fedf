import { deepStrictEqual, throws } from 'node:assert'
import fc from 'fast-check'
import t from 'tap'
import {
  AddressDirectory,
  attachedObject,
  Attachment,
  catalogue,
  kindShapeAt,
  PacketWriter,
  readPacket,
  readPacketInPlace,
  UnpackableValueError,
} from '../src/index.js'

function addBody(writer: PacketWriter, body: unknown): void {
  const { request } = catalogue['node.command'].example
  writer.addRequest(1, 0, 1, 'node.command', { ...request, body: body as Uint8Array })
}

t.test('attachments arrive as the objects that were sent, whatever is written around them', async () => {
  const step = fc.record({
    writer: fc.nat(3),
    what: fc.oneof(
      { weight: 4, arbitrary: fc.constant('attach') },
      fc.integer({ min: 1, max: 40_000 }),
      fc.constantFrom('refused', 'take'),
    ),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const writers = Array.from({ length: 4 }, (_, i) => ({
        writer: new PacketWriter({ pooled: i > 0 }),
        expected: [] as unknown[],
      }))
      const checkPacket = ({ writer, expected }: (typeof writers)[number]) => {
        const bodies = readPacketInPlace(writer.takeInPlace()).map(
          ([, , , , kind, payload]) => (kindShapeAt(kind).toRequest(payload) as { body: unknown }).body,
        )
        deepStrictEqual(bodies.length, expected.length)
        bodies.forEach((body, i) => {
          const sent = expected[i]
          if (sent instanceof Attachment) deepStrictEqual(body === sent, true)
          else if (Array.isArray(sent)) deepStrictEqual((body as unknown[])[1] === sent[1], true)
          else deepStrictEqual((body as Uint8Array).length, sent)
        })
        expected.length = 0
      }
      for (const [i, { writer: at, what }] of steps.entries()) {
        const { writer, expected } = writers[at]!
        if (what === 'take') checkPacket(writers[at]!)
        else if (what === 'refused')
          throws(() => addBody(writer, [new Attachment({ sizeBytes: 1 }), undefined]), UnpackableValueError)
        else {
          const body = new Attachment({ sizeBytes: i })
          const sent = typeof what === 'number' ? new Uint8Array(what) : i % 2 === 0 ? body : [i, body]
          addBody(writer, sent)
          expected.push(typeof what === 'number' ? what : sent)
        }
      }
      writers.forEach(checkPacket)
    }),
  )
})

t.test('a packet with an attachment cannot leave its thread, and no reader takes one from its bytes', async (test) => {
  const writer = new PacketWriter()
  addBody(writer, new Attachment({ sizeBytes: 1 }))
  test.throws(() => writer.take(), /cannot leave its thread/)
  test.equal(writer.messageCount, 0)
  addBody(writer, new Attachment({ sizeBytes: 1 }))
  const { bytes, start, end } = writer.takeInPlace()
  test.throws(() => readPacket(bytes.subarray(start, end)), /extension type 1/)
  test.throws(() => attachedObject(new Attachment({ sizeBytes: 1 }), AddressDirectory as never), /AddressDirectory/)
})
