/** `shardlab load` on the command line. */
import t from 'tap'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compareReports, parseReport, type LoadReport } from '@shardlab/load'
import { TestCluster } from '../support/clusters.js'
import { shardlab } from '../support/up.js'

const world = await TestCluster.start('7.0')
t.teardown(() => world.stop())

t.test('the command line writes reports and refuses wrong options', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shardlab-load-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const [json, html] = [join(folder, 'a.json'), join(folder, 'a.html')]
  const args = [
    'load',
    '--workload',
    'route-mix',
    '--records',
    '50',
    '--operations',
    '200',
    '--warm-up',
    '0',
    '--drop',
    '--uri',
    world.cluster.uri,
    '--ns',
    'load.cli',
  ]
  const fine = await shardlab(
    ...args,
    '--engine',
    'wire',
    '--expect',
    'errors==0',
    '--expect',
    'p99(targeted)<60s',
    '--json',
    json,
    '--html',
    html,
  )
  t.equal(fine.code, 0, fine.stderr)
  t.match(
    fine.stdout,
    /200 operations[^]*targeted[^]*End check: every acknowledged write is there[^]*emulator's absolute speed/,
  )
  t.match(readFileSync(html, 'utf8'), /^<!doctype html>[^]*What was measured/)
  t.notMatch(readFileSync(html, 'utf8'), / src=|@import/, 'the page loads nothing from the network')
  const report = JSON.parse(readFileSync(json, 'utf8')) as LoadReport
  t.match(report, {
    operations: 200,
    errors: { total: 0 },
    throughput: Number,
    latencyUs: { byOperation: { targeted: {} }, byRoutingClass: { targeted: {} } },
    perShard: { shard01: {} },
    endCheck: { ok: true },
  })
  t.match(compareReports(report, parseReport(readFileSync(json, 'utf8'), json), ['a', 'b']), /throughput[^]* 1\.00/)
  const hollow = { name: 'OptionError', message: /^b\.json is not a whole report: measured is not as it should be$/ }
  t.throws(() => parseReport('{"shardlabLoad":1}', 'b.json'), hollow)
  t.throws(() => parseReport('{}', 'b.json'), {
    name: 'OptionError',
    message: 'b.json is not a report of shardlab load',
  })
  const sentence = async (text: RegExp, ...words: string[]) => {
    const { code, stdout, stderr } = await shardlab('load', ...words)
    t.match({ code, stdout, stderr }, { code: 2, stdout: '', stderr: text })
  }
  await Promise.all([
    sentence(
      /^shardlab: [^\n]*none\/a\.json cannot be written: ENOENT\.\n$/,
      '--uri',
      world.cluster.uri,
      '--json',
      join(folder, 'none/a.json'),
    ),
    sentence(/^shardlab: the sweep sets shards: [^\n]*\n$/, '--up', '--shards 4', '--sweep', 'shards=1,2'),
    sentence(
      /^shardlab: --compare reads two reports[^\n]*: remove --uri\.\n$/,
      '--uri',
      world.cluster.uri,
      '--compare',
      json,
      json,
    ),
    sentence(
      /^shardlab: the fault "crash shard9" was refused: [^\n]*\n$/,
      '--uri',
      world.cluster.uri,
      '--ns',
      'load.f',
      '--fault',
      'crash shard9 at 5s',
    ),
  ])
  const failed = await shardlab(...args, '--expect', 'p50<1us', '--quiet')
  t.equal(failed.code, 1)
  t.match(failed.stderr, /^shardlab: expected p50<1us, but it is [\d.]+ (µs|us|ms|s)\n$/)
  const unreachable = await shardlab('load', '--uri', 'mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=100')
  t.equal(unreachable.code, 2)
  t.match(unreachable.stderr, /^shardlab: nothing answers at [^\n]*\n$/)
})
