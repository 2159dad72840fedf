/**
 * Suites of other files on three hosts that NATS connects, in long runs: the drivers' test files on
 * 12 shards of three members, and balancing under traffic.
 */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { withoutNats } from '@shardlab/nats/testing'
import t from 'tap'
import { HostProcesses } from './host-processes.js'

const run = promisify(execFile)
const isLong = process.env['SHARDLAB_LONG'] === '1'
const tests = new URL('../../', import.meta.url).pathname
const skip = isLong ? withoutNats : 'only in long runs'

for (const file of ['conformance/spec.test.js', 'live/balancing.test.js'])
  t.test(`${file} passes on hosts`, { skip, timeout: 3_600_000 }, async (t) => {
    await using hosts = await HostProcesses.start(['H1', 'H2', 'H3'])
    const env = { ...process.env, SHARDLAB_HOSTS: `${hosts.server.url} H1,H2,H3`, SHARDLAB_LONG: '0' }
    const ended = run(process.execPath, [join(tests, file)], { env, maxBuffer: 2 ** 28 })
    await t.resolves(ended.catch(({ stdout }: { stdout: string }) => Promise.reject(new Error(failures(stdout)))))
  })

/** Names of what failed, in the TAP of a child. */
const failures = (tap: string): string =>
  tap
    .split('\n')
    .filter((line) => /^\s*not ok/.test(line))
    .join('\n')
