/**
 * Valid admin commands with one to three random changes: a refused command changes neither catalog
 * nor data, no refusal is an internal JavaScript error, and every command is answered.
 * `SHARDLAB_SEED` repeats a seed, SHARDLAB_LONG=1 runs twenty times as many.
 */
import t from 'tap'
import { createRandom } from '@shardlab/actor'
import { BSON, type Document } from 'mongodb'
import { changed } from '../fuzz/commands.js'
import { pick } from '../fuzz/values.js'
import { Watchdog } from '../fuzz/watchdog.js'
import { validCommands } from './wrong-input/valid.js'
import { World } from './wrong-input/world.js'

const { SHARDLAB_SEED, SHARDLAB_LONG } = process.env
// A fixed seed makes two runs comparable; a long run draws a new one.
const seed = SHARDLAB_SEED ?? (SHARDLAB_LONG === '1' ? String(Math.floor(Math.random() * 2 ** 31)) : '1')
const total = SHARDLAB_LONG === '1' ? 4000 : 200

/** Commands between two comparisons of the data; they are compared at the end too. */
const dataInterval = 20

/** Longest wait for one answer. */
const answerMs = 30_000

/** Messages of JavaScript's own errors. */
const accident =
  /is not a function|not iterable|Cannot (read|set|mix|convert)|^Invalid (array|typed array|string) length$|call stack/

for (const version of ['4.4', '7.0'] as const) {
  t.test(
    `refused mutations of admin commands change nothing as ${version}, seed ${seed}`,
    { timeout: total * 100 },
    async (t) => {
      const world = await World.start(version)
      t.teardown(() => world.stop())
      const crashed: string[] = []
      world.cluster.on('member', ({ member, state }) => void (state === 'crashed' && crashed.push(member)))
      const watchdog = new Watchdog(`seed ${seed} as ${version}`, answerMs)
      t.teardown(() => watchdog.stop())
      const random = createRandom(`${seed} ${version}`)
      let catalog = await world.catalog()
      let data = await world.data()
      let refused = 0
      for (let i = 0; i < total; i++) {
        const { db, command: right } = pick(random, validCommands)
        let command = BSON.deserialize(BSON.serialize(right), { promoteValues: false }) as Document
        for (let left = 1 + random.below(3); left > 0; left--) command = changed(random, command, validCommands)
        if (Object.keys(command).length === 0) continue
        const text = `${i}: ${BSON.EJSON.stringify(command).slice(0, 400)}`
        watchdog.at(i)
        const { answer, reply } = await world.answer(db, command, 'router')
        if (answer === 'ok') {
          catalog = await world.catalog()
          data = await world.data()
          continue
        }
        refused++
        t.notOk(
          answer === 1 || answer === 8 || accident.test(String(reply['errmsg'])),
          `${text} → ${String(reply['errmsg'])}`,
        )
        t.same(await world.catalog(), catalog, `the catalog is as before ${text}`)
        if (i % dataInterval === 0) t.same(await world.data(), data, `the shards hold what they held before ${text}`)
      }
      t.same(await world.data(), data, "the shards' data are unchanged")
      t.ok(refused > total / 4, `${refused} were refused`)
      t.same(crashed, [])
    },
  )
}
