/** Each defect of a set, in a run in which it is visible. */
import type { MutationName } from '@shardlab/actor'
import t from 'tap'
import { randomRun } from './random-run.js'

const mutations: readonly (readonly [MutationName, seed: number, RegExp])[] = [
  ['writeConcernWaitOff', 5003, /a linearizable read from rs-2 lacks document|is lost: it was acknowledged by/],
  ['causalWaitOff', 5000, /does not show document/],
]

for (const [mutation, seed, message] of mutations) {
  t.test(`${mutation} is found`, async (t) => {
    t.setTimeout(120_000)
    await t.rejects(randomRun({ seed, mutations: [mutation] }), { message })
  })
}
