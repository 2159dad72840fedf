/** `$changeStreamSplitLargeEvent` on a member. */
import type { Document } from '@shardlab/bson'
import t from 'tap'
import { NodeUnderTest } from './support/harness.js'
import { ok, run, Stream } from './support/stream.js'

const split = { $changeStreamSplitLargeEvent: {} }
const images = { fullDocument: 'required', fullDocumentBeforeChange: 'required' }
const large = (letter: string) => letter.repeat(9 * 1024 * 1024)

/** A document of 9 MB is inserted, replaced and updated between two small ones. */
async function write(node: NodeUnderTest): Promise<void> {
  await ok(node, { insert: 'c', documents: [{ _id: 1 }, { _id: 2, a: large('a') }] })
  await ok(node, { update: 'c', updates: [{ q: { _id: 2 }, u: { a: large('b') } }] })
  await ok(node, { update: 'c', updates: [{ q: { _id: 2 }, u: { $set: { a: large('c') } } }] })
  await ok(node, { insert: 'c', documents: [{ _id: 3 }] })
}

async function readAll(stream: Stream): Promise<Document[]> {
  const all = [...stream.first]
  while (all.at(-1)?.['documentKey']?._id !== 3) all.push(...(await stream.read()))
  return all
}

const shapeOf = ({ splitEvent, ...event }: Document) => [
  splitEvent?.fragment ?? 0,
  splitEvent?.of ?? 0,
  ...Object.keys(event).filter((name) => /full|update|Type/.test(name)),
]

const withImages = async (version: '6.0' | '7.0' | '8.0') => {
  const node = new NodeUnderTest({ version, oplogSizeBytes: 128 * 1024 * 1024 })
  await ok(node, { create: 'c', changeStreamPreAndPostImages: { enabled: true } })
  return node
}

t.test('an event that is too large is split, the smallest fields first', async (t) => {
  for (const version of ['6.0', '7.0', '8.0'] as const) {
    const node = await withImages(version)
    const stream = await Stream.open(node, 'c', images, [split])
    await write(node)
    const events = await readAll(stream)
    t.same(events.map(shapeOf), [
      [0, 0, 'operationType', 'fullDocument'],
      [0, 0, 'operationType', 'fullDocument'],
      [1, 2, 'operationType', 'fullDocument'],
      [2, 2, 'fullDocumentBeforeChange'],
      [1, 3, 'operationType', 'fullDocument'],
      [2, 3, 'fullDocumentBeforeChange'],
      [3, 3, 'updateDescription'],
      [0, 0, 'operationType', 'fullDocument'],
    ])
    t.same(Object.keys(events[3]!), ['_id', 'splitEvent', 'fullDocumentBeforeChange'])
    const texts = events.map(({ _id }) => _id._data as string)
    t.same(texts, [...texts].sort(), 'the order of tokens is that of fragments')
    t.match(texts[2], /2B0004$|2904$/, 'the token ends with the number of the fragment, from 0')
    t.match(texts[3], /2B0204$/)
  }
})

t.test('a stream resumes after each fragment', async (t) => {
  const node = await withImages('7.0')
  const stream = await Stream.open(node, 'c', images, [split])
  await write(node)
  const events = await readAll(stream)
  for (const [i, { _id }] of events.slice(0, -1).entries()) {
    const resumed = await Stream.open(node, 'c', { ...images, resumeAfter: _id }, [split])
    t.same(
      (await readAll(resumed)).map((event) => event['_id'] as Document),
      events.slice(i + 1).map((event) => event['_id'] as Document),
    )
  }
})

t.test('a stream that would split an event otherwise cannot be resumed in it', async (t) => {
  const node = await withImages('7.0')
  const stream = await Stream.open(node, 'c', images, [split])
  await write(node)
  const last = (await readAll(stream))[6]!['_id'] as Document
  const resuming = async (options: Document, stages: Document[]) => {
    const $changeStream = { ...options, resumeAfter: last }
    return run(node, { aggregate: 'c', pipeline: [{ $changeStream }, ...stages], cursor: {} })
  }
  const errorLabels = ['NonResumableChangeStreamError']
  t.match(await resuming(images, []), {
    code: 280,
    errmsg: /must include a \$changeStreamSplitLargeEvent/,
    errorLabels,
  })
  t.match(await resuming({}, [split]), { code: 280, errmsg: /not large enough to be split/, errorLabels })
  const other = { $project: { updateDescription: 0, x: 0 } }
  t.match(await resuming(images, [other, split]), { code: 280, errmsg: /produced a different split/, errorLabels })
})

t.test('a large event without the stage ends the stream with 10334', async (t) => {
  const node = await withImages('7.0')
  const stream = await Stream.open(node, 'c', images)
  await write(node)
  const { id } = stream
  let reply: Document = {}
  for (let i = 0; i < 4 && reply['ok'] !== 0; i++) reply = await run(node, { getMore: id, collection: 'c' })
  t.match(reply, { code: 10334, codeName: 'BSONObjectTooLarge' })
  t.equal(reply['errorLabels'], undefined)
})

t.test('the stage is the last one of a change stream, since 6.0.9', async (t) => {
  const node = new NodeUnderTest({ version: '7.0' })
  const refused = async (pipeline: Document[], wanted: Document, of = node) =>
    t.match(await run(of, { aggregate: 'c', pipeline, cursor: {} }), wanted)
  const stream = { $changeStream: {} }
  await refused([split], { code: 20, errmsg: /can only be used in a \$changeStream pipeline/ })
  await refused([stream, split, split], { code: 7182802 })
  await refused([stream, split, { $match: {} }], { code: 7182802 })
  await refused([stream, { $changeStreamSplitLargeEvent: { a: 1 } }], { code: 7182800 })
  await refused([{ $facet: { a: [split] } }], { code: 40600 })
  await refused([stream, split], { code: 40324 }, new NodeUnderTest({ version: '6.0.2' }))
})
