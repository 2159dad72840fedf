/** The checks of random runs find built-in defects within a few seeds. */
import type { MutationName } from '@shardlab/actor'
import t from 'tap'
import { randomRun } from './random-run.js'

const seedsMax = 40

const mutations: readonly (readonly [MutationName, RegExp])[] = [
  ['writeConcernWaitOff', /a linearizable read from .+ lacks document|is lost: it was/],
  ['causalWaitOff', /does not show document/],
]

for (const [mutation, expected] of mutations) {
  t.test(`${mutation} is found`, async (t) => {
    t.setTimeout(300_000)
    let message = ''
    for (let seed = 5000; seed < 5000 + seedsMax && message === ''; seed++) {
      try {
        await randomRun({ seed, mutations: [mutation] })
      } catch (error) {
        message = (error as Error).message
      }
    }
    t.match(message, expected)
  })
}
