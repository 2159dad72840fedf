/**
 * `npm run bench -- compare REF [--rounds N] [--json]`: the main lines of this checkout and of the
 * commit REF in alternation, as ratios. Exit code 2: wrong arguments.
 */
import { parseArgs } from 'node:util'
import { CheckoutError, executableOf, ownExecutable } from './checkout.js'
import { compare, type ComparedRow } from './compare.js'
import { spread } from '../interleaved.js'

const usage = 'usage: npm run bench -- compare REF [--rounds N] [--json]'
const defaultRounds = 9

export async function runCompare(args: readonly string[]): Promise<number> {
  const parsed = parsedArgs(args)
  if (typeof parsed === 'string') {
    process.stderr.write(`${parsed}\n${usage}\n`)
    return 2
  }
  const { reference, rounds, json } = parsed
  const onProgress = (doing: string): void => void process.stderr.write(`compare: ${doing}\n`)
  try {
    const theirs = await executableOf(reference, onProgress)
    const rows = await compare(ownExecutable, theirs, rounds, onProgress)
    process.stdout.write(
      json ? `${JSON.stringify({ bench: 'compare', reference, rounds, rows })}\n` : textOf(reference, rounds, rows),
    )
    return 0
  } catch (error) {
    if (!(error instanceof CheckoutError)) throw error
    process.stderr.write(`${error.message}\n`)
    return 2
  }
}

function parsedArgs(args: readonly string[]): { reference: string; rounds: number; json: boolean } | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { rounds: { type: 'string' }, json: { type: 'boolean' } },
      allowPositionals: true,
    })
    const [reference, ...others] = positionals
    if (reference === undefined || others.length > 0) return 'compare: name one commit to compare with.'
    const rounds = Number(values.rounds ?? defaultRounds)
    if (!Number.isInteger(rounds) || rounds < 3)
      return `compare: --rounds must be a whole number from 3: ${values.rounds}`
    return { reference, rounds, json: values.json === true }
  } catch (error) {
    return `compare: ${(error as Error).message}`
  }
}

function textOf(reference: string, rounds: number, rows: readonly ComparedRow[]): string {
  const lines = rows.map(
    ({ name, time, cpu }) =>
      `  ${name.padEnd(48)} ${spread(time).padStart(18)}  ${cpu.length === 0 ? 'unknown' : spread(cpu)}`,
  )
  return `compare: this checkout relative to ${reference}; below 1 it is faster

  ${''.padEnd(48)} ${'time'.padStart(18)}  CPU of the process
${lines.join('\n')}

Figures of the emulator, not of MongoDB. Medians of ${rounds} rounds, and the least and greatest; both processes run all the time and serve the rounds in turns. Node ${process.version}.
`
}
