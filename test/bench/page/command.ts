/**
 * `npm run bench -- page`: measures everything in one sitting and writes it into the page about
 * performance, after each round. A bench that fails is named there; it does not end the others.
 *
 *   --runs=N      rounds of all benches, each of which is on the page; default 3
 *   --only=A,B    these benches; needs --to
 *   --to=FILE     writes a copy of the page there instead
 *   --quick       without the sizes that take long (SHARDLAB_LONG)
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { sit, sittingNames } from './sitting.js'
import { withSitting } from './tables.js'

export const performancePage = fileURLToPath(new URL('../../../../docs/internals/performance.md', import.meta.url))

const runsDefault = 3

/** @returns the exit code */
export async function writePage(args: readonly string[]): Promise<number> {
  const valueOf = (option: string): string | undefined =>
    args.findLast((arg) => arg.startsWith(`--${option}=`))?.slice(option.length + 3)
  const refuse = (text: string): number => {
    process.stderr.write(`bench page: ${text}\n`)
    return 2
  }
  const unknown = args.find((arg) => !/^--(runs=[1-9]\d*|only=.+|to=.+|quick)$/.test(arg))
  if (unknown !== undefined)
    return refuse(`unknown option ${unknown}; --runs=N, --only=A,B, --to=FILE and --quick exist`)
  const names = valueOf('only')?.split(',') ?? sittingNames
  const missing = names.filter((name) => !sittingNames.includes(name))
  if (missing.length > 0)
    return refuse(`unknown bench ${missing.join(', ')}; the benches are ${sittingNames.join(', ')}`)
  const isQuick = args.includes('--quick')
  const target = valueOf('to')
  if (target === undefined && (isQuick || names !== sittingNames))
    return refuse('a part of a sitting does not go into the page: name another file with --to=FILE')
  const before = readFileSync(performancePage, 'utf8')
  const failed = await sit({
    names,
    runs: Number(valueOf('runs') ?? runsDefault),
    isLong: !isQuick,
    onProgress: (line) => process.stderr.write(`bench page: ${line}\n`),
    onRound: (sitting) => writeFileSync(target ?? performancePage, withSitting(before, sitting)),
  })
  return failed.length > 0 ? 1 : 0
}
