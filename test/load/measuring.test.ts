/**
 * With SHARDLAB_LONG=1: YCSB A to F with 100,000 records through both engines on worker threads,
 * and the cost of a broadcast.
 */
import t from 'tap'
import { runLoad, type LoadReport } from '@shardlab/load'
import { up } from '../support/up.js'
import { passed } from './small-run.js'

const isLong = process.env['SHARDLAB_LONG'] === '1'
t.test(
  'both engines run YCSB A to F with 100,000 records without lost writes',
  { skip: !isLong && 'takes minutes: SHARDLAB_LONG=1' },
  async (t) => {
    const running = await up('--port', '0', '--shards', '3')
    t.teardown(() => running.stop())
    for (const engine of ['driver', 'wire'] as const) {
      for (const workload of ['a', 'b', 'c', 'd', 'e', 'f']) {
        const report = await runLoad({
          uri: running.ready.uri,
          workload,
          engine,
          records: 100_000,
          durationSecs: 5,
          drop: true,
          ...(engine === 'wire' ? { concurrency: 64 } : {}),
        })
        passed(t, report, `${workload}, ${engine}`)
        t.ok(report.endCheck.documents >= 100_000)
        t.comment(`${workload} ${engine}: ${report.throughput} a second, p99 ${report.latencyUs.all.intended.p99} µs`)
      }
    }
  },
)

t.test(
  'with more shards, broadcasts cost more and targeted operations do not',
  { skip: !isLong && 'measures: SHARDLAB_LONG=1' },
  async (t) => {
    const report = await runLoad({
      ...{ uri: '', workload: 'route-mix', engine: 'wire', concurrency: 1, durationSecs: 5, sweep: 'shards=1..16' },
      startCluster: async ({ shards }) => {
        const running = await up('--port', '0', '--runtime', 'inline', '--shards', String(shards))
        return { uri: running.ready.uri, stop: async () => void (await running.stop()) }
      },
    })
    const [first, last] = [report.sweep!.steps[0]!.report, report.sweep!.steps.at(-1)!.report]
    const p50 = (of: LoadReport, name: 'targeted' | 'broadcast') => of.latencyUs.byRoutingClass[name]!.service.p50
    const inTermsOfTargeted = (of: LoadReport) => p50(of, 'broadcast') / p50(of, 'targeted')
    t.ok(
      inTermsOfTargeted(last) > 1.5 * inTermsOfTargeted(first),
      `a broadcast costs ${inTermsOfTargeted(first).toFixed(2)} targeted operations on one shard, ${inTermsOfTargeted(last).toFixed(2)} on sixteen`,
    )
  },
)
