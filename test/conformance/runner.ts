/** Runs the tests of a folder against a cluster and counts the results. */
import { MongoClient } from 'mongodb'
import { parseAddress } from './entities.js'
import { exceptionFor } from './exceptions.js'
import { serverFacts, skipOf } from './requirements.js'
import type { Skip, SkipKind } from './skip-kinds.js'
import { loadSpecFiles, type SpecFile, type SpecTest } from './spec-files.js'
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

/** Results of one file: how many tests passed, failed, or were skipped for each kind of reason. */
export type FileResult = Partial<Record<'passed' | 'failed' | SkipKind, number>>

export interface Report {
  readonly totals: Totals
  readonly folders: Record<string, FolderResult>
  readonly files: Record<string, FileResult>
  readonly failures: Failure[]
}

export interface RunOptions {
  /** Routers of the cluster. Tests that ask for several routers get all of them. */
  readonly uri: string
  /** Folder with files in the unified format. */
  readonly dir: string
  /** Only tests for which `path > description` contains this. */
  readonly only?: string
  /** Only files for which this is true. */
  readonly includes?: (path: string, position: number) => boolean
  /** Runs the listed exceptions too: those that pass count as failures. */
  readonly checkExceptions?: boolean
  /** Called after each test. */
  readonly onTest?: (done: number, total: number, name: string) => void
}

interface Case {
  readonly folder: string
  readonly path: string
  readonly file: SpecFile
  readonly test: SpecTest
}

/**
 * Runs all files in `dir`, one test at a time.
 * @throws Error when the folder holds no file in the unified format, or the cluster cannot be
 *   reached
 */
export async function runConformance(options: RunOptions): Promise<Report> {
  const { uri, checkExceptions = false, onTest } = options
  const cases = casesOf(options)
  const address = parseAddress(uri)
  const internal = new MongoClient(uri, { serverSelectionTimeoutMS: 5_000 })
  const run = ({ file, test }: Case): Promise<string | null> =>
    runTest(file, test, address, internal).then(
      () => null,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    )
  const report = new ReportBuilder()
  try {
    const facts = await serverFacts(internal)
    let done = 0
    for (const each of cases) {
      const { file, path, test } = each
      const skip = skipOf(file, test, facts)
      const exception = skip === null ? exceptionFor(path, test.description, facts) : null
      if (skip !== null) report.skip(each, skip)
      else if (exception === null) report.result(each, await run(each))
      else if (checkExceptions && (await run(each)) === null)
        report.result(each, `passes, but is listed as an exception because ${exception.reason}`)
      else report.skip(each, exception)
      onTest?.(++done, cases.length, `${path} > ${test.description}`)
    }
  } finally {
    await internal.close()
  }
  return report.finish()
}

function casesOf({ dir, only, includes = () => true }: RunOptions): Case[] {
  const cases = loadSpecFiles(dir)
    .filter(({ path }, position) => includes(path, position))
    .flatMap(({ folder, path, file }) => file.tests.map((test) => ({ folder, path, file, test })))
    .filter(({ path, test }) => only === undefined || `${path} > ${test.description}`.includes(only))
  if (cases.length === 0)
    throw new Error(`${dir} holds no test${only === undefined ? '' : ` that matches ${JSON.stringify(only)}`}`)
  return cases
}

class ReportBuilder {
  readonly #report: Report = {
    totals: { passed: 0, failed: 0, skipped: 0 },
    folders: {},
    files: {},
    failures: [],
  }

  skip(at: Case, { kind, reason }: Skip): void {
    const { reasons } = this.#count(at, 'skipped', kind)
    reasons[reason] = (reasons[reason] ?? 0) + 1
  }

  /** @param message null: passed */
  result(at: Case, message: string | null): void {
    const outcome = message === null ? 'passed' : 'failed'
    this.#count(at, outcome, outcome)
    const { folder, path, test } = at
    if (message !== null) this.#report.failures.push({ folder, file: path, test: test.description, message })
  }

  finish(): Report {
    return this.#report
  }

  #count({ folder, path }: Case, total: keyof Totals, result: keyof FileResult): FolderResult {
    const { totals, folders, files } = this.#report
    const ofFolder = (folders[folder] ??= { passed: 0, failed: 0, skipped: 0, reasons: {} })
    const ofFile = (files[path] ??= {})
    totals[total]++
    ofFolder[total]++
    ofFile[result] = (ofFile[result] ?? 0) + 1
    return ofFolder
  }
}
