import { RequestFailedError, type MessageKind, type RequestOf } from '@shardlab/actor'
import { CommandError, decode, encode, errorDocument, Long, type Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { Shards } from './support/shards.js'

/** A config server that splits the chunk from 0 to 10 of `db.c` at 5, then replies as defined. */
function splitting(
  answer: () => { error: Uint8Array | null } | undefined,
  version: EmulatedVersion = '7.0',
  key: Document = { a: 1 },
): Shards {
  const shards = new Shards({ version })
  shards.config.shard('db.c', key, [0, 10], ['shard01', 'shard01', 'shard02'])
  const scripted = shards.config.answer.bind(shards.config)
  shards.config.answer = (kind: MessageKind, request: unknown) => {
    if (kind !== 'config.commit-chunk-split' && kind !== 'config.commit-chunks-merge') return scripted(kind, request)
    shards.config.asked.push(kind)
    return answer()
  }
  return shards
}

function apply(shards: Shards): void {
  const { chunks } = shards.config.collections.get('db.c')!
  chunks.splice(1, 1, { ...chunks[1]!, max: { a: 5 }, minor: 3 }, { ...chunks[1]!, min: { a: 5 }, minor: 4 })
}

async function split(shards: Shards, point: unknown = 5): Promise<Document | null> {
  const [epoch, seconds, increment] = shards.config.version('db.c', 'shard01')
  const { error } = await shards.send('shard01', 'shard.split-chunk', {
    ns: 'db.c',
    generation: [epoch, seconds, increment],
    min: encode({ a: 0 }),
    max: encode({ a: 10 }),
    splitPoints: [encode({ a: point })],
  })
  return error === null ? null : decode(error)
}

const globalVersion = (shards: Shards) => shards.direct('shard01', { getShardVersion: 'db.c', $db: 'admin' })

t.test('after a split the shard knows the new chunks', async (t) => {
  const shards = splitting(() => {
    apply(shards)
    return { error: null }
  })
  t.match(await globalVersion(shards), { global: 'UNKNOWN' })
  t.equal(await split(shards), null)
  t.match(await globalVersion(shards), { global: { high: 1, low: 4 } })
})

t.test('a split whose reply was lost succeeds when the catalog has it', async (t) => {
  const lost = () => {
    throw new RequestFailedError('timed-out', 'config', 'lost')
  }
  const done = splitting(() => {
    apply(done)
    return lost()
  })
  t.equal(await split(done), null, 'it was done')
  t.match(await split(splitting(lost)), { ok: 0, code: 202 }, 'it was not')
})

t.test('a split that fails on its second attempt succeeds when the first has committed it', async (t) => {
  const error = errorDocument(new CommandError('BadValue', 'no such chunk'))
  const shards = splitting(() => ({ error }))
  t.match(await split(shards), { code: 2 })
  apply(shards)
  t.equal(await split(shards), null)
})

t.test('a split that fails before the request leaves the catalog unchanged', async (t) => {
  const shards = splitting(() => ({ error: null }))
  shards.contexts.get('shard01')!.failing.add('shard.split-chunk.before-commit')
  t.match(await split(shards), { ok: 0, code: 96 })
  t.notOk(shards.config.asked.includes('config.commit-chunk-split'))
})

t.test('split points on hashed fields must be hashes', async (t) => {
  for (const [version, errmsg] of [
    [
      '4.0',
      'splitChunk cannot split chunk [{ a: 0 }, { a: 10 }), split point a: 5 must be of type NumberLong for hashed shard key patterns',
    ],
    [
      '4.4',
      "splitChunk cannot split chunk [{ a: 0 }, { a: 10 }), split point a: 5Value of type 'int' is not allowed for hashed fields",
    ],
  ] as const) {
    const shards = splitting(() => ({ error: null }), version, { a: 'hashed' })
    t.match(await split(shards), { code: 87, codeName: 'CannotSplit', errmsg })
    t.equal(await split(shards, Long.fromNumber(5)), null)
  }
})

t.test('a merge of a range that is not exactly chunks of the shard is refused', async (t) => {
  const merge = async (shards: Shards, min: Document, max: Document, epoch?: string) => {
    const [own, seconds, increment] = shards.config.version('db.c', 'shard01')
    const request: RequestOf<'shard.merge-chunks'> = {
      ns: 'db.c',
      generation: [epoch ?? own, seconds, increment],
      min: encode(min),
      max: encode(max),
    }
    const { error } = await shards.send('shard01', 'shard.merge-chunks', request)
    return error === null ? null : decode(error)
  }
  for (const [version, code] of [
    ['5.0', 0],
    ['6.0.2', 13388],
    ['8.0', 13388],
  ] as const) {
    const shards = splitting(() => ({ error: null }), version)
    const [global] = shards.config.collections.get('db.c')!.chunks
    t.equal(await merge(shards, global!.min, { a: 10 }), null)
    for (const [min, max] of [
      [{ a: 0 }, { a: 20 }],
      [{ a: 0 }, { a: 7 }],
      [{ a: 3 }, { a: 10 }],
      [{ a: 10 }, { a: 20 }],
    ] as const) {
      const error = await merge(shards, min, max)
      t.equal(error?.['code'] ?? 0, code, `${version} ${JSON.stringify([min, max])}`)
      if (error !== null)
        t.match(error, {
          ns: 'db.c',
          shardId: 'shard01',
          vWanted: {},
          errmsg: /^Range with bounds .* is not owned by this shard\.$/,
        })
    }
    t.equal(
      (await merge(shards, { a: 0 }, { a: 10 }, '0123456789abcdef01234567'))?.['code'] ?? 0,
      code,
      'another creation',
    )
  }
})
