/** Load tests that take a moment. */
import type { LoadReport } from '@shardlab/load'

let collections = 0

/** Options of a run of 200 operations, on a collection of its own. */
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

/** Nothing went wrong, and everything is there. */
export const passed = (
  t: { equal(found: unknown, wanted: unknown, message: string): void },
  report: LoadReport,
  name: string,
): void => {
  t.equal(report.endCheck.ok, true, `${name}: ${report.endCheck.examples.join('; ')}`)
  t.equal(report.errors.total, 0, `${name}: ${JSON.stringify(report.errors.byCode)}`)
}
