import t from 'tap'
import { randomRun } from './support/random-run.js'

const first = Number(process.env['SHARDLAB_SEED'] ?? Math.floor(Math.random() * 1e9))
const count = Number(process.env['SHARDLAB_RUNS'] ?? 40)

t.test('elections, commit points and rollbacks keep every acknowledged write under random faults', async (t) => {
  let elections = 0
  let rollbacks = 0
  let acknowledged = 0
  for (let i = 0; i < count; i++) {
    const set = randomRun(first + i)
    elections += set.elections
    rollbacks += set.rollbacks
    acknowledged += set.acknowledged.length
  }
  t.comment(`${count} runs from seed ${first}: ${elections} elections, ${rollbacks} rollbacks, ${acknowledged} writes`)
  t.ok(elections > count, 'members were replaced')
  t.ok(rollbacks > 0, 'entries were rolled back')
  t.ok(acknowledged > count * 20, 'writes were acknowledged')
})
