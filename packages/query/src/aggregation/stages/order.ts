import { BsonType, CommandError, type RawValue } from '@shardlab/bson'
import { RunSorter } from '../../sort/run-sorter.js'
import { sortOrder, type SortKey } from '../../sort/sort-order.js'
import { parseSort } from '../../sort/sort-pattern.js'
import { exactInteger } from '../../values/arithmetic.js'
import { formatField } from '../../values/format.js'
import type { CompiledStage, StageContext, StageOperator } from './stage.js'
import type { StageRun } from './stage-run.js'

interface Entry {
  readonly key: SortKey
  readonly document: Uint8Array
}

export function sortMemoryError(limitBytes: number): CommandError {
  return new CommandError(
    'QueryExceededMemoryLimitNoDiskUseAllowed',
    `Sort exceeded memory limit of ${limitBytes} bytes, but did not opt in to external sorting. Aborting operation. Pass allowDiskUse:true to opt in.`,
  )
}

/** @param limit number of leading documents of the result that are needed */
export function compileSort(argument: RawValue, context: StageContext, limit = Infinity): CompiledStage {
  if (argument.type !== BsonType.object) throw new CommandError(15973, 'the $sort key specification must be an object')
  const sort = parseSort(argument.slice())
  if (sort.parts.length === 0) throw new CommandError(15976, '$sort stage must have at least one sort key')
  const order = sortOrder(sort, context.evaluation.strings)
  const byKey = (a: Entry, b: Entry) => order.compare(a.key, b.key)
  return {
    name: '$sort',
    open(next, rest) {
      let sorter = new RunSorter(byKey)
      let held = 0
      let heldBytes = 0
      const hold = (entry: Entry) => {
        sorter.add(entry)
        held++
        heldBytes += entry.document.length
      }
      return {
        satisfied: false,
        push(document) {
          hold({ key: order.keyOf(document), document })
          if (held > limit * 2 + 64) {
            const all = sorter
            sorter = new RunSorter(byKey)
            held = heldBytes = 0
            while (held < limit) hold(all.next()!)
          }
          if (heldBytes > context.memoryLimitBytes) throw sortMemoryError(context.memoryLimitBytes)
        },
        end: () => rest.emit(next, firstOf(sorter, limit)),
      }
    },
  }
}

function* firstOf(sorter: RunSorter<Entry>, limit: number): Generator<Uint8Array, void> {
  for (let left = limit; left > 0; left--) {
    const entry = sorter.next()
    if (entry === undefined) return
    yield entry.document
  }
}

export function countArgument(name: '$limit' | '$skip', argument: RawValue): number {
  const code = name === '$limit' ? 5107201 : 5107200
  const fail = (why: string): never => {
    throw new CommandError(code, `invalid argument to ${name} stage: ${why}`)
  }
  if (!argument.isNumber()) return fail(`Expected a number in: ${formatField(name, argument)}`)
  const count = exactInteger(argument)
  if (count === null) return fail(`Expected an integer: ${formatField(name, argument)}`)
  if (count < 0n) return fail(`Expected a non-negative number in: ${formatField(name, argument)}`)
  if (name === '$limit' && count === 0n) throw new CommandError(15958, 'the limit must be positive')
  return Number(count)
}

function compileLimit(argument: RawValue): CompiledStage {
  const limit = countArgument('$limit', argument)
  return {
    name: '$limit',
    open(next): StageRun {
      let left = limit
      return {
        push(document) {
          if (left <= 0) return
          left--
          next.push(document)
        },
        end: () => next.end(),
        get satisfied() {
          return left <= 0 || next.satisfied
        },
      }
    },
  }
}

function compileSkip(argument: RawValue): CompiledStage {
  const skip = countArgument('$skip', argument)
  return {
    name: '$skip',
    open(next): StageRun {
      let left = skip
      return {
        push(document) {
          if (left > 0) left--
          else next.push(document)
        },
        end: () => next.end(),
        get satisfied() {
          return next.satisfied
        },
      }
    },
  }
}

export const orderStages: readonly StageOperator[] = [
  {
    name: '$sort',
    manualPage: 'aggregation/sort',
    status: 'complete',
    sharded: 'sort',
    spills: () => true,
    compile: (argument, context) => compileSort(argument, context),
  },
  { name: '$limit', manualPage: 'aggregation/limit', status: 'complete', sharded: 'limit', compile: compileLimit },
  { name: '$skip', manualPage: 'aggregation/skip', status: 'complete', sharded: 'skip', compile: compileSkip },
]
