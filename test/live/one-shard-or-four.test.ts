/**
 * Applications see no difference between one shard and several: the same operations through the
 * official driver on a cluster of one shard and on one of four whose chunks are split, moved and
 * merged concurrently. `SHARDLAB_SEED=7` runs that seed alone, `SHARDLAB_LONG=1` runs 40.
 */
import t from 'tap'
import { createRandom, type Random } from '@shardlab/actor'
import { EJSON, type Document } from '@shardlab/bson'
import type { Db, MongoServerError } from 'mongodb'
import { TestCluster } from '../support/clusters.js'
import { keys, RandomOperations, type Operation } from './support/random-operations.js'

const { SHARDLAB_SEED, SHARDLAB_LONG } = process.env
const isLong = SHARDLAB_LONG === '1'
const seeds =
  SHARDLAB_SEED === undefined ? Array.from({ length: isLong ? 40 : 2 }, (_, i) => i + 1) : [Number(SHARDLAB_SEED)]
const steps = isLong ? 150 : 50

let one: TestCluster
let four: TestCluster
t.before(async () => {
  one = await TestCluster.start('7.0', { shards: 1 })
  four = await TestCluster.start('7.0', { shards: 4 })
})
t.teardown(async () => {
  await one.stop()
  await four.stop()
})

/** The answer as a client sees it, or the code and place of the error. */
async function answerOf({ run, ordered = true }: Operation, db: Db): Promise<unknown> {
  try {
    const answer = await run(db)
    if (!Array.isArray(answer)) return answer === null || typeof answer !== 'object' ? answer : { ...answer }
    const texts = answer.map((each) => EJSON.stringify(each))
    return ordered ? texts : texts.sort()
  } catch (error) {
    const { code, writeErrors = [] } = error as MongoServerError & {
      readonly writeErrors?: readonly { readonly index: number }[]
    }
    if (code === undefined) throw error
    return { code, index: writeErrors.map(({ index }) => index) }
  }
}

/** One random split, move or merge; errors are ignored. */
async function balance(random: Random, db: Db): Promise<void> {
  const name = random.shuffled(Object.keys(keys).filter((each) => keys[each] !== null))[0]!
  const ns = `${db.databaseName}.${name}`
  const chunks = await four.chunks(db.collection(name))
  const { min, max } = chunks[random.below(chunks.length)]!
  const sample: Document | undefined = (
    await db
      .collection(name)
      .find({}, { sort: { _id: 1 }, skip: random.below(40), limit: 1 })
      .toArray()
  )[0]
  const command = [
    { split: ns, find: { k: sample?.['k'], a: sample?.['a'] } },
    { mergeChunks: ns, bounds: [min, chunks.at(-1)!['max']] },
    { moveChunk: ns, bounds: [min, max], to: four.shardIds[random.below(4)], _waitForDelete: true },
  ][Math.min(2, random.below(8))]!
  await four.admin(command).catch((error: MongoServerError) => {
    if (error.code === undefined && error.errorResponse === undefined) throw error
  })
}

for (const seed of seeds) {
  t.test(
    `seed ${seed} (again: SHARDLAB_SEED=${seed} npm test -- one-shard-or-four)`,
    { timeout: 300_000 },
    async (t) => {
      const random = createRandom(`one or four ${seed}`)
      const operations = new RandomOperations(random.fork('operations'))
      const [small, large] = [await one.database(), await four.database()]
      for (const [name, key] of Object.entries(keys)) {
        for (const [world, db] of [[one, small] as const, [four, large] as const])
          if (key !== null) await world.admin({ shardCollection: `${db.databaseName}.${name}`, key })
      }
      const same = async (operation: Operation): Promise<void> => {
        const expected = await answerOf(operation, small)
        const found = await answerOf(operation, large)
        if (EJSON.stringify(found) !== EJSON.stringify(expected)) t.same(found, expected, operation.text)
        if (operation.changes === undefined) return
        const contents = (db: Db) => db.collection(operation.changes!).find().sort({ _id: 1 }).toArray()
        const [before, after] = [await contents(small), await contents(large)]
        if (EJSON.stringify(after) !== EJSON.stringify(before))
          t.same(after, before, `what is there after ${operation.text}`)
      }
      for (const name of Object.keys(keys)) await same(operations.filling(name))
      const placing = random.fork('placing')
      for (let step = 0, moving = Promise.resolve(); step <= steps && t.passing(); step++) {
        await moving
        if (step === steps) break
        moving = balance(placing, large)
        if (placing.chance(1, 3)) await moving
        await same(operations.next())
      }
      t.pass('the same all the way')
    },
  )
}
