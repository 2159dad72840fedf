import { deepStrictEqual, ok } from 'node:assert'
import fc from 'fast-check'
import { Packr } from 'msgpackr'
import t from 'tap'
import { catalogue, kindShape, PacketWriter, readPacket } from '../src/index.js'
import { value } from './support/payload-values.js'

const hot = catalogue['node.command'].example.request

function addHot(writer: PacketWriter, db: string): void {
  writer.addRequest(1, 0, 1, 'node.command', { ...hot, db })
}

t.test('payloads of kinds that are not hot are what msgpackr packs', async (test) => {
  const packr = new Packr({ useRecords: false })
  const { request } = catalogue['config.log-change'].example
  const { index, isHot, requestFields } = kindShape('config.log-change')
  test.equal(isHot, false)
  fc.assert(
    fc.property(value, (details) => {
      const writer = new PacketWriter({ checked: true })
      addHot(writer, 'before')
      writer.addRequest(1, 0, 1, 'config.log-change', { ...request, details: details as Uint8Array })
      addHot(writer, 'after')
      const packet = writer.take()
      const payload = requestFields.map((field) =>
        field === 'details' ? details : request[field as keyof typeof request],
      )
      const [before, packed, after] = readPacket(packet).map((message) => message[5])
      deepStrictEqual(packed!.map(withoutBuffers), payload.map(withoutBuffers))
      deepStrictEqual([before![0], after![0]], ['before', 'after'], 'the hot ones next to it')
      const hex = Buffer.from(packet).toString('hex')
      ok(hex.includes(packr.pack([0, 1, 0, 1, index, payload]).toString('hex')))
    }),
    { numRuns: 200 },
  )
})

t.test('payloads of kinds that are not hot refuse what msgpackr would change', async (test) => {
  const writer = new PacketWriter()
  const { request } = catalogue['config.log-change'].example
  const refused: [unknown, RegExp][] = [
    [undefined, /a value of type undefined/],
    [1.5, /the number 1\.5/],
    [1n, /a value of type bigint/],
    [[[new Date(0)]], /an object \(Date\)/],
    [new Map(), /an object \(Map\)/],
  ]
  for (const [details, reason] of refused)
    test.throws(() => writer.addRequest(1, 0, 1, 'config.log-change', { ...request, details: details as Uint8Array }), {
      name: 'UnpackableValueError',
      message: reason,
    })
  test.equal(writer.messageCount, 0)
})

function withoutBuffers(each: unknown): unknown {
  if (each instanceof Uint8Array) return new Uint8Array(each)
  return Array.isArray(each) ? each.map(withoutBuffers) : each
}
