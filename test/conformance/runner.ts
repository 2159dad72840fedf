/** Runs the tests of a folder against a cluster and counts the results. */
import { MongoClient } from 'mongodb'
import { parseAddress } from './entities.js'
import { exceptionFor } from './exceptions.js'
import { serverFacts, skipReason } from './requirements.js'
import { loadSpecFiles } from './spec-files.js'
import { runTest } from './test-run.js'

export interface Totals {
  passed: number
  failed: number
  skipped: number
}

export interface Failure {
  readonly folder: string
  readonly file: string
  readonly test: string
  readonly message: string
}

export interface FolderResult extends Totals {
  /** Reasons for skipped tests, with the number of tests. */
  readonly reasons: Record<string, number>
}

export interface Report {
  readonly totals: Totals
  readonly folders: Record<string, FolderResult>
  readonly failures: Failure[]
}

export interface RunOptions {
  /** Routers of the cluster. Tests that ask for several routers get all of them. */
  readonly uri: string
  /** Folder with files in the unified format. */
  readonly dir: string
  /** Only tests for which `path > description` contains this. */
  readonly only?: string
  /** Called after each test. */
  readonly onTest?: (done: number, total: number, name: string) => void
}

/**
 * Runs all files in `dir`, one test at a time.
 * @throws Error when the folder holds no file in the unified format, or the cluster cannot be
 *   reached
 */
export async function runConformance({ uri, dir, only, onTest }: RunOptions): Promise<Report> {
  const cases = loadSpecFiles(dir)
    .flatMap(({ folder, path, file }) => file.tests.map((test) => ({ folder, path, file, test })))
    .filter(({ path, test }) => only === undefined || `${path} > ${test.description}`.includes(only))
  if (cases.length === 0)
    throw new Error(`${dir} holds no test${only === undefined ? '' : ` that matches ${JSON.stringify(only)}`}`)
  const address = parseAddress(uri)
  const internal = new MongoClient(uri, { serverSelectionTimeoutMS: 5_000 })
  const report: Report = { totals: { passed: 0, failed: 0, skipped: 0 }, folders: {}, failures: [] }
  try {
    const facts = await serverFacts(internal)
    let done = 0
    for (const { folder, path, file, test } of cases) {
      const result = (report.folders[folder] ??= { passed: 0, failed: 0, skipped: 0, reasons: {} })
      const count = (name: keyof Totals) => {
        result[name]++
        report.totals[name]++
      }
      let failure: Failure | null = null
      const reason = skipReason(file, test, facts) ?? exceptionFor(path, test.description)
      if (reason !== null) {
        count('skipped')
        result.reasons[reason] = (result.reasons[reason] ?? 0) + 1
      } else {
        failure = await runTest(file, test, address, internal).then(
          () => null,
          (error: unknown) => ({
            folder,
            file: path,
            test: test.description,
            message: error instanceof Error ? error.message : String(error),
          }),
        )
        count(failure === null ? 'passed' : 'failed')
        if (failure !== null) report.failures.push(failure)
      }
      onTest?.(++done, cases.length, `${path} > ${test.description}`)
    }
  } finally {
    await internal.close()
  }
  return report
}
