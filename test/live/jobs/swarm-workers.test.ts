/**
 * A swarm on worker processes, of which some are killed: each seed once, as on a single machine.
 * Only with `SHARDLAB_LONG=1`: 2,000 seeds on four workers.
 */
import t from 'tap'
import { natsQueue } from '@shardlab/jobs'
import { JobWatch } from '@shardlab/jobs/testing'
import { NatsServer, withoutNats } from '@shardlab/nats/testing'
import { runSwarm, swarmJobs, type SwarmOptions } from '@shardlab/scenario'
import { WorkerProcess } from './worker-process.js'

const isLong = process.env['SHARDLAB_LONG'] === '1'
const size = { runs: 2000, workers: 4, killed: 2 }
/** The smallest runs: the test is about their results, not about what they find. */
const options: SwarmOptions = {
  ...{ seed: 1, runs: size.runs, clients: 1, steps: 1, shards: 1, mongos: 1, members: 1 },
  without: ['membership', 'resharding', 'unique-library', 'transactions', 'streams', 'registers', 'failovers'],
}

t.test(
  'workers that are killed lose no seed, and no seed counts twice',
  { skip: isLong ? withoutNats : 'only in long runs', timeout: 7_200_000 },
  async (t) => {
    const expected = await runSwarm(options)
    const server = await NatsServer.start()
    t.teardown(() => server.stop())
    const watch = await JobWatch.start(server.url)
    t.teardown(() => watch.end())
    const queue = (parameters: string) =>
      natsQueue(swarmJobs, { nats: { url: server.url }, parameters, ackWaitMs: 2000 })
    const running = runSwarm({ ...options, queue })
    const workers: WorkerProcess[] = []
    for (let i = 0; i < size.workers; i++) workers.push(await WorkerProcess.start(t, server.url))
    for (let i = 1; i <= size.killed; i++) {
      // Each worker has a job in progress at any time.
      await watch.whenTaken((i * size.runs) / 4)
      await workers.pop()!.kill()
    }
    const report = await running
    t.equal(report.runs, size.runs)
    t.same(report, expected)
    t.ok(watch.taken >= size.runs + size.killed, 'the jobs of the killed workers were taken again')
    for (const worker of workers) t.equal(await worker.interrupt(), 130)
  },
)
