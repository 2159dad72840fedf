/**
 * Suites of other files on sets of three members: a share of them, in long runs all whose fixtures
 * leave the number of members open (`test/support/members.ts`).
 */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'

const run = promisify(execFile)
const isLong = process.env['SHARDLAB_LONG'] === '1'
const tests = new URL('../', import.meta.url).pathname

const fixtures = /from '[./]*\/(clusters|connected|balanced-cluster|analysed-cluster|two-shard-cluster)\.js'/
const share = ['simulation/cut-messages.test.js', 'live/merging-shards.test.js']

function suites(): string[] {
  if (!isLong) return share
  const folders = ['conformance', 'live', 'load', 'simulation', 'unique']
  return folders
    .flatMap((folder) =>
      readdirSync(join(tests, folder), { recursive: true, encoding: 'utf8' }).map((at) => join(folder, at)),
    )
    .filter((file) => file.endsWith('.test.js') && fixtures.test(readFileSync(join(tests, file), 'utf8')))
    .toSorted()
}

const found = suites()
t.ok(
  share.every((file) => found.includes(file)),
  'the share is found, too',
)

for (const file of found) {
  t.test(`${file} passes on sets of three`, { timeout: 1_800_000 }, async (t) => {
    const env = { ...process.env, SHARDLAB_MEMBERS: '3' }
    const ended = run(process.execPath, [join(tests, file)], { env, maxBuffer: 2 ** 28 })
    await t.resolves(ended.catch(({ stdout }: { stdout: string }) => Promise.reject(new Error(failures(stdout)))))
  })
}

/** Names of what failed, in the TAP of a child. */
const failures = (tap: string): string =>
  tap
    .split('\n')
    .filter((line) => /^\s*not ok/.test(line))
    .join('\n')
