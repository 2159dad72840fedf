/**
 * The drivers' test files, as far as they run on a sharded cluster without the features that are
 * missing. SHARDLAB_SPEC_DIR names their folder; without it, the test is skipped.
 * `npm run conformance` prints the same by folder.
 */
import t from 'tap'
import { ShardedCluster } from 'shardlab'
import { exceptions } from './exceptions.js'
import { runConformance } from './runner.js'
import { defaultSpecFolder, loadSpecFiles } from './spec-files.js'

const dir = defaultSpecFolder()
const missing =
  dir === null ? `no test files in ${process.env['SHARDLAB_SPEC_DIR'] ?? '../shared/conformance/spec'}` : undefined

t.test(
  "the drivers' test files pass, except for the known exceptions",
  { ...(missing === undefined ? {} : { skip: missing }) },
  async (t) => {
    await using cluster = await ShardedCluster.start({ shards: 2, mongos: 2, runtime: 'inline' })
    const { totals, folders, failures } = await runConformance({ uri: cluster.uri, dir: dir! })
    for (const [folder, { passed, failed, skipped }] of Object.entries(folders)) {
      const ofFolder = failures.filter((each) => each.folder === folder)
      t.equal(failed, 0, `${folder}: ${passed} passed, ${skipped} skipped`)
      for (const { file, test, message } of ofFolder) t.fail(`${file} > ${test}: ${message}`)
    }
    t.ok(totals.passed > 0, `${totals.passed} passed`)
  },
)

t.test('every exception names an existing test', { ...(missing === undefined ? {} : { skip: missing }) }, async (t) => {
  const files = new Map(
    loadSpecFiles(dir!).map(({ path, file }) => [path, file.tests.map(({ description }) => description)]),
  )
  for (const { path, tests = [] } of exceptions) {
    // A folder named by SHARDLAB_SPEC_DIR may hold a part of the files.
    const there = files.get(path)
    if (there === undefined) continue
    t.same(
      tests.filter((each) => !there.includes(each)),
      [],
      path,
    )
  }
})
