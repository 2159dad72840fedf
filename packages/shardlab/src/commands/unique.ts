import { counted } from '@shardlab/quantities'
import { SingleBar } from 'cli-progress'
import { connectUnique, type Finding, type OnProgress, type UniqueCollection, type Waiting } from '@shardlab/unique'
import { exitCodes } from '../exit-codes.js'
import type { UniqueAction, UniqueCommandOptions } from './unique-options.js'

/** The name determines exit code 2. */
class InputError extends Error {
  override readonly name = 'OptionError'
}

const inputErrors: ReadonlySet<string> = new Set([
  'MisconfiguredProxyError',
  'RefusedOperationError',
  'UnreachableError',
])

interface Report {
  /** Printed with `--json`. */
  readonly json: Readonly<Record<string, unknown>>
  readonly text: string
  /** What to do next; null: nothing. */
  readonly next: string | null
  /** Findings that need attention. */
  readonly findings: readonly Finding[]
}

/** @returns the exit code. @throws InputError */
export async function unique(action: UniqueAction, options: UniqueCommandOptions): Promise<number> {
  const { uri, ns, field, proxies, proxy, missing } = options
  const specs = field.map((fields) => ({ fields: fields.split(',').map((each) => each.trim()), missing }))
  try {
    const connected = await connectUnique(uri, ns, {
      unique: specs,
      proxies,
      ...(proxy === undefined ? {} : { proxy }),
    })
    try {
      const { collection } = connected
      // Only actions that reserve values create collections: a misspelt name must not create one.
      await collection.init({ make: action === 'init' || action === 'backfill' })
      const report = await withProgress(action, await collection.collection.estimatedDocumentCount(), (onProgress) =>
        reportOf(action, collection, onProgress),
      )
      print(report, options)
      return report.findings.length === 0 ? exitCodes.fine : exitCodes.failed
    } finally {
      await connected.close()
    }
  } catch (error) {
    if (error instanceof Error && inputErrors.has(error.name))
      throw new InputError(`${error.message}.`, { cause: error })
    // The server's message for invalid names and missing privileges.
    if (error instanceof Error && error.name === 'MongoServerError')
      throw new InputError(`${ns}: ${error.message}`, { cause: error })
    throw error
  }
}

async function reportOf(action: UniqueAction, collection: UniqueCollection, onProgress: OnProgress): Promise<Report> {
  switch (action) {
    case 'init': {
      const { enforcing, next } = await collection.status()
      const text = enforcing ? 'The proxy collections are ready' : 'The proxy collections are ready for a backfill'
      return { json: { enforcing, next }, text, next, findings: [] }
    }
    case 'backfill': {
      const { findings, ...counts } = await collection.backfill(onProgress)
      const { documents, reserved, already, changed, next } = counts
      const text = `${counted(documents, 'document')}: ${reserved} reserved, ${already} already reserved, ${changed} changed during the run, ${findings.length} not reserved${waitingText(counts)}`
      return { json: counts, text, next, findings }
    }
    case 'verify': {
      const { findings, ...counts } = await collection.verify(onProgress)
      const { documents, reservations, next } = counts
      const text = `${counted(documents, 'document')}, ${counted(reservations, 'reservation')}, ${counted(findings.length, 'finding')}${waitingText(counts)}`
      return { json: counts, text, next, findings }
    }
    case 'repair': {
      const { left, ...counts } = await collection.repair(onProgress)
      const text = `${counts.mended} repaired, ${left.length} not repaired${waitingText(counts)}`
      return { json: counts, text, next: counts.next, findings: left }
    }
    case 'sweep': {
      const counts = await collection.sweep(onProgress)
      const text = `${counted(counts.confirmed, 'reservation')} confirmed, ${counts.released} released${waitingText(counts)}`
      return { json: { ...counts }, text, next: null, findings: [] }
    }
  }
}

/** Incomplete writes: they are running, or their writer stopped. */
function waitingText({ waiting, waitingUntil }: Waiting): string {
  return waitingUntil === null ? '' : `, ${waiting} waiting until ${waitingUntil.toISOString()}`
}

function print({ json, text, next, findings }: Report, { json: asJson }: UniqueCommandOptions): void {
  if (asJson === true) process.stdout.write(`${JSON.stringify({ ok: findings.length === 0, ...json, findings })}\n`)
  else
    process.stdout.write(`${[text, ...findings.map(lineOf), ...(next === null ? [] : [`Next: ${next}`])].join('\n')}\n`)
}

function lineOf(finding: Finding): string {
  const owner = JSON.stringify(finding.owner)
  if (finding.kind === 'invalid') return `  invalid: document ${owner}: ${finding.message}`
  const about = `${finding.field} ${JSON.stringify(finding.value)} of document ${owner}`
  return `  ${finding.kind}: ${about}${'holder' in finding ? `, used by document ${JSON.stringify(finding.holder)}` : ''}`
}

async function withProgress<T>(
  action: UniqueAction,
  documents: number,
  run: (onProgress: OnProgress) => Promise<T>,
): Promise<T> {
  if (process.stderr.isTTY !== true || action === 'init') return run(() => {})
  // These actions check documents and reservations.
  const total = action === 'verify' || action === 'repair' ? documents * 2 : documents
  const bar = new SingleBar({
    format: `${action} {bar} {value}/{total}`,
    stream: process.stderr,
    clearOnComplete: true,
  })
  bar.start(total, 0)
  try {
    return await run(({ looked }) => bar.update(looked))
  } finally {
    bar.stop()
  }
}
