/** Swarms and scenarios in queues of jobs: what travels is data that msgpack keeps. */
import { callerQueue, JobLostError, type JobFunction, type JobQueue } from '@shardlab/jobs'
import { Packr } from 'msgpackr'
import t from 'tap'
import { parseScenario, parseSeedSweep, runScenario, runSwarm, sweepSeeds, sweepText } from '../src/index.js'
import { playTask } from '../src/run/play-task.js'
import { playSwarmTask } from '../src/swarm/swarm-task.js'

const packr = new Packr({ useRecords: false, moreTypes: true })
const copy = <Value>(value: Value): Value => packr.unpack(packr.pack(value)) as Value

/** Jobs of these keys are lost. */
function packingQueue<Input, Output>(play: JobFunction<Input, Output>, lost: readonly string[] = []) {
  const keys: string[] = []
  const queue = callerQueue<Input, Output>(async (call) => copy(await play({ ...call, input: copy(call.input) })))
  const run: JobQueue<Input, Output>['run'] = async (job) => {
    keys.push(job.key)
    if (lost.includes(job.key)) throw new JobLostError('none of its workers is left')
    return queue.run(job)
  }
  return { keys, open: async (): Promise<JobQueue<Input, Output>> => ({ ...queue, run }) }
}

const small = {
  ...{ runs: 2, clients: 1, steps: 1, shards: 1, mongos: 1, members: 1 },
  without: ['membership', 'resharding', 'transactions', 'streams', 'failovers'] as const,
}

t.test('a swarm in a queue has the report of one in this thread', async (t) => {
  const { keys, open } = packingQueue(playSwarmTask)
  const expected = await runSwarm({ ...small, threads: 1 })
  t.same(await runSwarm({ ...small, queue: open }), expected)
  t.same(keys, ['1', '2'])
})

t.test('a run that ends all its workers is a failed run of the swarm', async (t) => {
  const { open } = packingQueue(playSwarmTask, ['2'])
  const { failed, runs } = await runSwarm({ ...small, shrink: false, queue: open })
  t.equal(runs, 2)
  t.match(failed, [
    { seed: 2, checker: 'answers', violations: [{ sentence: 'the run ended each worker that took it' }] },
  ])
})

t.test('the variants of a sweep are played in a queue, with the results of this thread', async (t) => {
  const scenario = parseScenario(
    `version: 1
cluster: { shards: 2 }
collections: [{ ns: shop.orders, key: { customer: 1 } }]
duration: 2s
variants: [{ name: one }, { name: two, cluster: { shards: 3 } }]
`,
    'small.yaml',
  )
  const seeds = parseSeedSweep('seed=3..4')
  const file = sweepSeeds(scenario, seeds)
  t.same(
    file.variants.map(({ name, seed }) => [name, seed]),
    [
      ['one, seed 3', 3],
      ['one, seed 4', 4],
      ['two, seed 3', 3],
      ['two, seed 4', 4],
    ],
  )
  const shares: number[] = []
  const { keys, open } = packingQueue(playTask)
  const runs = await runScenario(file, ({ share }) => shares.push(share), { queue: open })
  t.same(keys, ['0', '1', '2', '3'])
  t.equal(shares.at(-1), 1)
  const here = await runScenario(sweepSeeds(scenario, [4]), () => {}, { queue: async () => callerQueue(playTask) })
  t.same(runs[3]!.result, here[1]!.result)
  const text = sweepText(scenario, seeds, runs.slice(0, 3))
  t.match(text, /^one, 2 seeds:\n +smallest +median +largest +runs\n {2}bytes, largest \/ mean: worst/)
  t.match(text, /\ntwo, 1 seed:\n/)
  t.match(text, /\n1 run did not start\.\n$/)
})

t.test('sweeps of seeds are a range or a list', (t) => {
  t.same(parseSeedSweep('seed=7'), [7])
  t.same(parseSeedSweep('seed = 1, 5,9'), [1, 5, 9])
  const wrong: [string, RegExp][] = [
    ['1..3', /^sweep is "1\.\.3": write it as in "seed=1\.\.20" or "seed=1,5,9"$/],
    ['seed=3..1', /the first seed must not exceed the last one$/],
    ['seed=1..1001', /at most 1000 seeds$/],
    ['seed=4294967296', /seeds are at most 4294967295$/],
    ['seed=1,1', /names a seed twice$/],
  ]
  for (const [text, message] of wrong) t.throws(() => parseSeedSweep(text), { name: 'OptionError', message }, text)
  t.end()
})
