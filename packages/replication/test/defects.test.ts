import t from 'tap'
import { randomRun } from './support/random-run.js'
import type { Defect } from './support/world.js'

const skip = process.env['SHARDLAB_LONG'] !== '1' && 'found late: only in long runs'

const defects: readonly Defect[] = [
  'vote-twice',
  'acknowledge-early',
  'skip-rollback',
  'elect-behind',
  'commit-old-term',
  'unsafe-reconfig',
]

for (const defect of defects) {
  t.test(
    `random runs find the defect ${defect} within 200 seeds`,
    { skip: defect === 'unsafe-reconfig' && skip },
    async (t) => {
      let found = ''
      let seed = 1
      for (; seed <= 200 && found === ''; seed++) {
        try {
          randomRun(seed, [defect])
        } catch (error) {
          found = (error as Error).message.split('\n')[0]!
        }
      }
      t.not(found, '', defect)
      t.comment(`${defect}: ${found}`)
    },
  )
}
