/** Load tests that take a few seconds. */
import type { LoadReport } from '@shardlab/load'

let collections = 0

/** Options of a run of 200 operations, each run on its own collection. */
export const smallRun = (uri: string) => ({
  ...{
    uri,
    ns: `load.c${collections++}`,
    records: 100,
    operations: 200,
    warmUpSecs: 0,
    threads: 0,
    fieldCount: 3,
    fieldLength: 20,
  },
})

/** The expected report of a run without errors and without lost writes. */
export const passed = (
  t: { equal(found: unknown, wanted: unknown, message: string): void },
  report: LoadReport,
  name: string,
): void => {
  t.equal(report.endCheck.ok, true, `${name}: ${report.endCheck.examples.join('; ')}`)
  t.equal(report.errors.total, 0, `${name}: ${JSON.stringify(report.errors.byCode)}`)
}
