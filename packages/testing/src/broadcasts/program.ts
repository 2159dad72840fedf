/** `shardlab-broadcasts FOLDER`: the report of all processes of a run. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { checkCount } from './broadcast-report.js'
import { htmlOf, textOf } from './render.js'
import { mergeRows, type BroadcastRow } from './rows.js'

const usage = `Usage: shardlab-broadcasts FOLDER [--json] [--html FILE] [--max N]

Prints which lines of an application made broadcasts. FOLDER is that of BroadcastReport.

  --json       print JSON instead of text
  --html FILE  write a page, too
  --max N      exit code 1 when there were more than N broadcasts

Exit codes: 0 printed; 1 more than --max; 2 wrong usage.
`

/** @returns the exit code */
export function printBroadcasts(args: readonly string[]): number {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        json: { type: 'boolean' },
        html: { type: 'string' },
        max: { type: 'string' },
        help: { type: 'boolean' },
      },
    })
    if (values.help === true) {
      process.stdout.write(usage)
      return 0
    }
    const max = values.max === undefined ? undefined : Number(values.max)
    if (positionals.length !== 1) throw new Error('name one folder, that of BroadcastReport')
    if (max !== undefined && !(Number.isInteger(max) && max >= 0))
      throw new Error(`--max is ${values.max}; it must be a whole number from 0`)
    const rows = mergeRows(partsIn(positionals[0]!))
    process.stdout.write(values.json === true ? `${JSON.stringify(rows, null, 2)}\n` : textOf(rows))
    if (values.html !== undefined) writeFileSync(values.html, htmlOf(rows))
    return isWithin(rows, max) ? 0 : 1
  } catch (error) {
    process.stderr.write(
      `shardlab-broadcasts: ${(error as Error).message.split('\n')[0]} (--help lists the options).\n`,
    )
    return 2
  }
}

function partsIn(folder: string): BroadcastRow[][] {
  if (!existsSync(folder))
    throw new Error(`folder ${folder} does not exist: run the tests with a BroadcastReport first`)
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'))
  return files.map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as BroadcastRow[])
}

function isWithin(rows: readonly BroadcastRow[], max: number | undefined): boolean {
  try {
    checkCount(rows, max, '--max')
    return true
  } catch (error) {
    process.stderr.write(`${(error as Error).message.split('\n')[0]!.replace(/:$/, '.')}\n`)
    return false
  }
}
